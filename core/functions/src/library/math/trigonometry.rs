//! Trigonometric and hyperbolic functions.

use std::f64::consts::PI;

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::numerics::real::Real;
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("ACOS", 1, 1, "s", |call| number_result(call.number(0)?.arc_cosine())),
    eager("ACOSH", 1, 1, "s", |call| number_result(call.number(0)?.area_cosine())),
    eager("ACOT", 1, 1, "s", |call| number_result(PI / 2.0 - call.number(0)?.arc_tangent())),
    eager("ACOTH", 1, 1, "s", |call| {
        let number = call.number(0)?;
        ensure(number.abs() > 1.0, ErrorCode::Num)?;
        number_result(number.recip().area_tangent())
    }),
    eager("ASIN", 1, 1, "s", |call| number_result(call.number(0)?.arc_sine())),
    eager("ASINH", 1, 1, "s", |call| {
        let number = call.number(0)?;
        number_result(number.abs().area_sine().copysign(number))
    }),
    eager("ATAN", 1, 1, "s", |call| number_result(call.number(0)?.arc_tangent())),
    eager("ATAN2", 2, 2, "s", atan2),
    eager("ATANH", 1, 1, "s", |call| {
        let number = call.number(0)?;
        ensure(number.abs() < 1.0, ErrorCode::Num)?;
        number_result(number.area_tangent())
    }),
    eager("COS", 1, 1, "s", |call| number_result(angle(call)?.cosine())),
    eager("COSH", 1, 1, "s", |call| number_result(call.number(0)?.hyperbolic_cosine())),
    eager("COT", 1, 1, "s", |call| reciprocal(angle(call)?.tangent())),
    eager("COTH", 1, 1, "s", |call| reciprocal(call.number(0)?.hyperbolic_tangent())),
    eager("CSC", 1, 1, "s", |call| reciprocal(angle(call)?.sine())),
    eager("CSCH", 1, 1, "s", |call| hyperbolic_reciprocal(call.number(0)?, Real::hyperbolic_sine)),
    eager("DEGREES", 1, 1, "s", |call| number_result(call.number(0)? * 180.0 / PI)),
    eager("PI", 0, 0, "s", |_| Ok(PI.into())),
    eager("RADIANS", 1, 1, "s", |call| number_result(call.number(0)? * PI / 180.0)),
    eager("SEC", 1, 1, "s", |call| reciprocal(angle(call)?.cosine())),
    eager("SECH", 1, 1, "s", |call| {
        hyperbolic_reciprocal(call.number(0)?, Real::hyperbolic_cosine)
    }),
    eager("SIN", 1, 1, "s", |call| number_result(angle(call)?.sine())),
    eager("SINH", 1, 1, "s", |call| number_result(call.number(0)?.hyperbolic_sine())),
    eager("TAN", 1, 1, "s", |call| number_result(angle(call)?.tangent())),
    eager("TANH", 1, 1, "s", |call| number_result(call.number(0)?.hyperbolic_tangent())),
];

/// Excel's trigonometric functions fail with `#NUM!` for angles of 2²⁷ radians or more.
const LARGEST_ANGLE: f64 = 134_217_728.0;

fn angle(call: &Call<'_, '_>) -> Outcome<f64> {
    let angle = call.number(0)?;
    ensure(angle.abs() < LARGEST_ANGLE, ErrorCode::Num)?;
    Ok(angle)
}

fn reciprocal(number: f64) -> Outcome<Operand> {
    ensure(number != 0.0, ErrorCode::Div0)?;
    number_result(number.recip())
}

fn hyperbolic_reciprocal(number: f64, function: fn(f64) -> f64) -> Outcome<Operand> {
    let value = function(number);
    if value.is_infinite() { Ok(0.0.into()) } else { reciprocal(value) }
}

fn atan2(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, y) = (call.number(0)?, call.number(1)?);
    ensure(x != 0.0 || y != 0.0, ErrorCode::Div0)?;
    // Adding 0 converts negative zero to positive zero, so that the result is π instead of −π.
    number_result((y + 0.0).arc_tangent_of_ratio(x + 0.0))
}
