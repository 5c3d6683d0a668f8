//! Conversions of interest rates and fractional prices.

use cellar_sheet::cell::{ErrorCode, Value};

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("DOLLARDE", 2, 2, "s", |call| dollars(call, true)),
    eager("DOLLARFR", 2, 2, "s", |call| dollars(call, false)),
    eager("EFFECT", 2, 2, "s", |call| {
        let (nominal, periods) = (call.number(0)?, call.number(1)?.trunc());
        ensure(nominal > 0.0 && periods >= 1.0, ErrorCode::Num)?;
        number_result((1.0 + nominal / periods).power(periods) - 1.0)
    }),
    eager("FVSCHEDULE", 2, 2, "sw", |call| {
        let mut value = call.number(0)?;
        for rate in &call.matrix(1)?.values {
            value *= match rate {
                Value::Number(rate) => 1.0 + rate,
                Value::Empty => 1.0,
                Value::Error(code) => return Err((*code).into()),
                _ => return Err(ErrorCode::Value.into()),
            };
        }
        number_result(value)
    }),
    eager("NOMINAL", 2, 2, "s", |call| {
        let (effective, periods) = (call.number(0)?, call.number(1)?.trunc());
        ensure(effective > 0.0 && periods >= 1.0, ErrorCode::Num)?;
        number_result(((1.0 + effective).power(1.0 / periods) - 1.0) * periods)
    }),
    eager("PDURATION", 3, 3, "s", |call| {
        let (rate, present, future) = (call.number(0)?, call.number(1)?, call.number(2)?);
        ensure(rate > 0.0 && present > 0.0 && future > 0.0, ErrorCode::Num)?;
        number_result(
            (future.natural_logarithm() - present.natural_logarithm())
                / (1.0 + rate).natural_logarithm(),
        )
    }),
    eager("RRI", 3, 3, "s", |call| {
        let (periods, present, future) = (call.number(0)?, call.number(1)?, call.number(2)?);
        ensure(periods > 0.0 && present != 0.0, ErrorCode::Num)?;
        let ratio = future / present;
        ensure(ratio >= 0.0, ErrorCode::Num)?;
        number_result(ratio.power(1.0 / periods) - 1.0)
    }),
];

/// Converts a price between fractional and decimal notation. In fractional notation with the
/// denominator 16, 1.02 is 1 + 2/16.
fn dollars(call: &Call<'_, '_>, to_decimal: bool) -> Outcome<Operand> {
    let (price, denominator) = (call.number(0)?, call.number(1)?.trunc());
    ensure(denominator >= 0.0, ErrorCode::Num)?;
    ensure(denominator >= 1.0, ErrorCode::Div0)?;
    let digits = 10_f64.power(denominator.decimal_logarithm().ceil());
    let (integer, fraction) = (price.trunc(), price.fract());
    number_result(if to_decimal {
        integer + fraction * digits / denominator
    } else {
        integer + fraction * denominator / digits
    })
}
