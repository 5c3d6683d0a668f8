//! Arithmetic, logarithms and square roots.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::evaluate::power;
use crate::function::{Function, eager};
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("ABS", 1, 1, "s", |call| number_result(call.number(0)?.abs())),
    eager("EXP", 1, 1, "s", |call| number_result(call.number(0)?.exponential())),
    eager("LN", 1, 1, "s", |call| number_result(positive(call, 0)?.natural_logarithm())),
    eager("LOG", 1, 2, "s", logarithm),
    eager("LOG10", 1, 1, "s", |call| number_result(positive(call, 0)?.decimal_logarithm())),
    eager("MOD", 2, 2, "s", modulo),
    eager("POWER", 2, 2, "s", |call| number_result(power(call.number(0)?, call.number(1)?)?)),
    eager("QUOTIENT", 2, 2, "s", |call| {
        let (numerator, denominator) = (call.number(0)?, call.number(1)?);
        ensure(denominator != 0.0, ErrorCode::Div0)?;
        number_result((numerator / denominator).trunc())
    }),
    eager("SIGN", 1, 1, "s", |call| {
        let number = call.number(0)?;
        number_result(if number == 0.0 { 0.0 } else { number.signum() })
    }),
    eager("SQRT", 1, 1, "s", |call| number_result(call.number(0)?.sqrt())),
    eager("SQRTPI", 1, 1, "s", |call| {
        number_result((call.number(0)? * std::f64::consts::PI).sqrt())
    }),
];

fn positive(call: &Call<'_, '_>, index: usize) -> Outcome<f64> {
    let number = call.number(index)?;
    ensure(number > 0.0, ErrorCode::Num)?;
    Ok(number)
}

fn logarithm(call: &Call<'_, '_>) -> Outcome<Operand> {
    let number = positive(call, 0)?;
    if !call.has(1) {
        return number_result(number.decimal_logarithm());
    }
    let base = positive(call, 1)?;
    ensure(base != 1.0, ErrorCode::Div0)?;
    if base == 10.0 {
        return number_result(number.decimal_logarithm());
    }
    if base == 2.0 {
        return number_result(number.binary_logarithm());
    }
    number_result(number.natural_logarithm() / base.natural_logarithm())
}

fn modulo(call: &Call<'_, '_>) -> Outcome<Operand> {
    /// Excel's `MOD` fails with `#NUM!` if the quotient is at least this large.
    const LARGEST_QUOTIENT: f64 = 1_125_900_000_000.0;
    let (number, divisor) = (call.number(0)?, call.number(1)?);
    ensure(divisor != 0.0, ErrorCode::Div0)?;
    let quotient = number / divisor;
    ensure(quotient.abs() < LARGEST_QUOTIENT, ErrorCode::Num)?;
    let rest = number % divisor;
    let has_other_sign = rest != 0.0 && (rest < 0.0) != (divisor < 0.0);
    number_result(if has_other_sign { rest + divisor } else { rest })
}
