//! Factorials, combinations, permutations, common divisors and common multiples.

use cellar_sheet::cell::{ErrorCode, Value};

use super::super::collect::{NonNumeric, Origin};
use crate::call::{Call, ensure, number_result};
use crate::function::{Function, MANY, eager};
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome, Stop};
use crate::value::to_number;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("COMBIN", 2, 2, "s", |call| {
        let (number, chosen) = (whole(call, 0)?, whole(call, 1)?);
        ensure(number >= chosen, ErrorCode::Num)?;
        number_result(combinations(number, chosen))
    }),
    eager("COMBINA", 2, 2, "s", |call| {
        let (number, chosen) = (whole(call, 0)?, whole(call, 1)?);
        if chosen == 0.0 {
            return Ok(1.0.into());
        }
        ensure(number > 0.0, ErrorCode::Num)?;
        number_result(combinations(number + chosen - 1.0, chosen))
    }),
    eager("FACT", 1, 1, "s", |call| {
        let number = whole(call, 0)?;
        ensure(number <= 170.0, ErrorCode::Num)?;
        number_result(factorial(number))
    }),
    eager("FACTDOUBLE", 1, 1, "s", double_factorial),
    eager("GCD", 1, MANY, "w", |call| {
        let mut result = 0.0;
        for number in integer_arguments(call)? {
            result = common_divisor(result, number);
        }
        number_result(result)
    }),
    eager("LCM", 1, MANY, "w", least_common_multiple),
    eager("MULTINOMIAL", 1, MANY, "w", multinomial),
    eager("PERMUT", 2, 2, "s", |call| {
        let (number, chosen) = (whole(call, 0)?, whole(call, 1)?);
        ensure(number > 0.0 && number >= chosen, ErrorCode::Num)?;
        number_result(falling_factorial(number, chosen))
    }),
    eager("PERMUTATIONA", 2, 2, "s", |call| {
        let (number, chosen) = (whole(call, 0)?, whole(call, 1)?);
        number_result(number.power(chosen))
    }),
];

/// Returns the integer part of an argument. Fails with `#NUM!` if it is negative.
fn whole(call: &Call<'_, '_>, index: usize) -> Outcome<f64> {
    let number = call.number(index)?.trunc();
    ensure(number >= 0.0, ErrorCode::Num)?;
    Ok(number)
}

pub(crate) fn factorial(number: f64) -> f64 {
    let mut product = 1.0;
    let mut factor = 2.0;
    while factor <= number && product < f64::INFINITY {
        product *= factor;
        factor += 1.0;
    }
    product
}

/// Computes the falling factorial: `number` · (`number` − 1) · …, with `count` factors.
fn falling_factorial(number: f64, count: f64) -> f64 {
    let mut product: f64 = 1.0;
    let mut taken = 0.0;
    while taken < count && product.is_finite() && product != 0.0 {
        product *= number - taken;
        taken += 1.0;
    }
    product
}

pub(crate) fn combinations(number: f64, chosen: f64) -> f64 {
    let chosen = chosen.min(number - chosen);
    if chosen < 0.0 {
        return f64::NAN;
    }
    let mut result: f64 = 1.0;
    let mut taken = 1.0;
    while taken <= chosen && result.is_finite() {
        // The product is divisible by `taken`, so rounding the quotient keeps small results exact.
        let factor = number - chosen + taken;
        let product = result * factor;
        result = if product < 9e15 { (product / taken).round() } else { result * (factor / taken) };
        taken += 1.0;
    }
    result
}

fn double_factorial(call: &Call<'_, '_>) -> Outcome<Operand> {
    let number = call.number(0)?.trunc();
    ensure((-1.0..=300.0).contains(&number), ErrorCode::Num)?;
    let mut product = 1.0;
    let mut factor = number;
    while factor > 1.0 {
        product *= factor;
        factor -= 2.0;
    }
    number_result(product)
}

/// Returns the integer parts of the arguments of `GCD` or `LCM`. An empty cell counts as 0 in a
/// range, and is skipped if the argument refers to it alone.
fn integer_arguments(call: &Call<'_, '_>) -> Outcome<Vec<f64>> {
    /// 2⁵³. Not every larger integer is representable as a floating-point number.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let mut numbers = Vec::new();
    for operand in call.arguments {
        let is_range = match operand {
            Operand::Omitted => return Err(ErrorCode::NotAvailable.into()),
            Operand::Reference(areas) => !areas.iter().all(|area| area.is_cell()),
            _ => false,
        };
        call.visit_operand(operand, &mut |origin, value| {
            let number = match (origin, value) {
                (Origin::Cell, Value::Empty) if is_range => 0.0,
                (Origin::Cell, Value::Empty) => return Ok(()),
                (_, Value::Bool(_)) => return Err(Stop::Error(ErrorCode::Value)),
                (_, value) => to_number(value)?,
            };
            ensure((0.0..LARGEST).contains(&number), ErrorCode::Num)?;
            numbers.push(number.trunc());
            Ok(())
        })?;
        if is_range && numbers.is_empty() {
            numbers.push(0.0);
        }
    }
    ensure(!numbers.is_empty(), ErrorCode::Value)?;
    Ok(numbers)
}

fn common_divisor(first: f64, second: f64) -> f64 {
    let (mut first, mut second) = (first, second);
    while second != 0.0 {
        (first, second) = (second, first % second);
    }
    first
}

fn least_common_multiple(call: &Call<'_, '_>) -> Outcome<Operand> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let mut result: f64 = 1.0;
    for number in integer_arguments(call)? {
        if number == 0.0 {
            return Ok(0.0.into());
        }
        result = result / common_divisor(result, number) * number;
        ensure(result < LARGEST, ErrorCode::Num)?;
    }
    number_result(result)
}

fn multinomial(call: &Call<'_, '_>) -> Outcome<Operand> {
    let mut sum = 0.0;
    let mut result = 1.0;
    for number in call.collect_numbers(0, NonNumeric::Skip)? {
        let number = number.trunc();
        ensure(number >= 0.0, ErrorCode::Num)?;
        sum += number;
        result *= combinations(sum, number);
    }
    number_result(result)
}
