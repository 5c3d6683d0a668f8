//! Rounding functions.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::number::to_15_digits;
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("CEILING", 2, 2, "s", ceiling),
    eager("CEILING.MATH", 1, 3, "s", |call| round_mode(call, true)),
    eager("CEILING.PRECISE", 1, 2, "s", |call| precise(call, f64::ceil)),
    eager("EVEN", 1, 1, "s", |call| {
        let number = call.number(0)?;
        number_result(((number.abs() / 2.0).ceil() * 2.0).copysign(number))
    }),
    eager("FLOOR", 2, 2, "s", floor),
    eager("FLOOR.MATH", 1, 3, "s", |call| round_mode(call, false)),
    eager("FLOOR.PRECISE", 1, 2, "s", |call| precise(call, f64::floor)),
    eager("INT", 1, 1, "s", |call| number_result(call.number(0)?.floor())),
    eager("ISO.CEILING", 1, 2, "s", |call| precise(call, f64::ceil)),
    eager("MROUND", 2, 2, "s", round_to_multiple),
    eager("ODD", 1, 1, "s", |call| {
        let number = call.number(0)?;
        let odd = ((number.abs() + 1.0) / 2.0).ceil() * 2.0 - 1.0;
        number_result(odd.copysign(number))
    }),
    eager("ROUND", 2, 2, "s", |call| at_digits(call, f64::round)),
    eager("ROUNDDOWN", 2, 2, "s", |call| at_digits(call, f64::trunc)),
    eager("ROUNDUP", 2, 2, "s", |call| at_digits(call, away_from_zero)),
    eager("TRUNC", 1, 2, "s", |call| at_digits(call, f64::trunc)),
];

fn away_from_zero(number: f64) -> f64 {
    number.abs().ceil().copysign(number)
}

/// Rounds a number to `digits` decimal places. Only the first 15 significant digits of the number
/// are considered, so that binary rounding errors do not affect the result.
pub(crate) fn round_at(number: f64, digits: f64, round: fn(f64) -> f64) -> f64 {
    const LARGEST_POWER: f64 = 308.0;
    let digits = digits.trunc();
    if number == 0.0 || digits > LARGEST_POWER {
        return number;
    }
    if digits < -LARGEST_POWER {
        return round(0.0);
    }
    let power = 10_f64.power(digits.abs());
    let scaled = if digits < 0.0 { number / power } else { number * power };
    if !scaled.is_finite() || scaled.abs() >= 1e15 {
        return number;
    }
    let rounded = round(to_15_digits(scaled));
    if digits < 0.0 { rounded * power } else { rounded / power }
}

fn at_digits(call: &Call<'_, '_>, round: fn(f64) -> f64) -> Outcome<Operand> {
    number_result(round_at(call.number(0)?, call.number_or(1, 0.0)?, round))
}

/// Rounds a number to a multiple of `significance`. A quotient whose first 15 significant digits
/// form an integer counts as that integer.
fn multiple(number: f64, significance: f64, round: fn(f64) -> f64) -> f64 {
    let quotient = number / significance;
    let rounded = round(to_15_digits(quotient));
    rounded * significance
}

fn ceiling(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (number, significance) = (call.number(0)?, call.number(1)?);
    if number == 0.0 || significance == 0.0 {
        return Ok(0.0.into());
    }
    ensure(number < 0.0 || significance > 0.0, ErrorCode::Num)?;
    number_result(multiple(number, significance, f64::ceil))
}

fn floor(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (number, significance) = (call.number(0)?, call.number(1)?);
    if number == 0.0 {
        return Ok(0.0.into());
    }
    ensure(significance != 0.0, ErrorCode::Div0)?;
    ensure(number < 0.0 || significance > 0.0, ErrorCode::Num)?;
    number_result(multiple(number, significance, f64::floor))
}

/// Computes `CEILING.MATH` or `FLOOR.MATH`. A nonzero mode reverses the rounding direction of
/// negative numbers.
fn round_mode(call: &Call<'_, '_>, is_up: bool) -> Outcome<Operand> {
    let number = call.number(0)?;
    let significance = call.given_number_or(1, 1.0)?.abs();
    let mode = call.number_or(2, 0.0)?;
    if number == 0.0 || significance == 0.0 {
        return Ok(0.0.into());
    }
    let is_up = if number < 0.0 && mode != 0.0 { !is_up } else { is_up };
    number_result(multiple(number, significance, if is_up { f64::ceil } else { f64::floor }))
}

fn precise(call: &Call<'_, '_>, round: fn(f64) -> f64) -> Outcome<Operand> {
    let number = call.number(0)?;
    let significance = call.given_number_or(1, 1.0)?.abs();
    if number == 0.0 || significance == 0.0 {
        return Ok(0.0.into());
    }
    number_result(multiple(number, significance, round))
}

fn round_to_multiple(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (number, significance) = (call.number(0)?, call.number(1)?);
    if number == 0.0 || significance == 0.0 {
        return Ok(0.0.into());
    }
    ensure((number < 0.0) == (significance < 0.0), ErrorCode::Num)?;
    number_result((number / significance).round() * significance)
}
