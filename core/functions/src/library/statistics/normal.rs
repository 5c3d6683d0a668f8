//! The normal distribution and related distributions.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::numerics::beta::incomplete_beta_of_parts;
use crate::numerics::erf::{normal_cumulative, normal_density, normal_inverse};
use crate::numerics::real::Real;
use crate::numerics::roots::{invert_increasing, upper_bound};
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[
    eager("CONFIDENCE", 3, 3, "s", confidence),
    eager("CONFIDENCE.NORM", 3, 3, "s", confidence),
    eager("CONFIDENCE.T", 3, 3, "s", |call| {
        let (alpha, deviation, size) = confidence_arguments(call)?;
        ensure(size > 1.0, ErrorCode::Div0)?;
        number_result(t_inverse(1.0 - alpha / 2.0, size - 1.0) * deviation / size.sqrt())
    }),
    eager("FISHER", 1, 1, "s", |call| {
        let x = call.number(0)?;
        ensure(x.abs() < 1.0, ErrorCode::Num)?;
        number_result(x.area_tangent())
    }),
    eager("FISHERINV", 1, 1, "s", |call| number_result(call.number(0)?.hyperbolic_tangent())),
    eager("GAUSS", 1, 1, "s", |call| {
        let z = call.number(0)?;
        number_result(crate::numerics::erf::erf(z / std::f64::consts::SQRT_2) / 2.0)
    }),
    eager("LOGINV", 3, 3, "s", log_normal_inverse),
    eager("LOGNORM.DIST", 4, 4, "s", |call| {
        let is_cumulative = call.boolean(3)?;
        log_normal(call, is_cumulative)
    }),
    eager("LOGNORM.INV", 3, 3, "s", log_normal_inverse),
    eager("LOGNORMDIST", 3, 3, "s", |call| log_normal(call, true)),
    eager("NORM.DIST", 4, 4, "s", normal),
    eager("NORM.INV", 3, 3, "s", normal_inverse_of),
    eager("NORM.S.DIST", 2, 2, "s", |call| {
        let z = call.number(0)?;
        number_result(if call.boolean(1)? { normal_cumulative(z) } else { normal_density(z) })
    }),
    eager("NORM.S.INV", 1, 1, "s", standard_inverse),
    eager("NORMDIST", 4, 4, "s", normal),
    eager("NORMINV", 3, 3, "s", normal_inverse_of),
    eager("NORMSDIST", 1, 1, "s", |call| number_result(normal_cumulative(call.number(0)?))),
    eager("NORMSINV", 1, 1, "s", standard_inverse),
    eager("PHI", 1, 1, "s", |call| number_result(normal_density(call.number(0)?))),
    eager("STANDARDIZE", 3, 3, "s", |call| {
        let (x, mean, deviation) = (call.number(0)?, call.number(1)?, call.number(2)?);
        ensure(deviation > 0.0, ErrorCode::Num)?;
        number_result((x - mean) / deviation)
    }),
    eager("T.DIST", 3, 3, "s", |call| {
        let (x, freedom) = (call.number(0)?, freedom(call, 1)?);
        let is_cumulative = call.boolean(2)?;
        number_result(if is_cumulative { t_cumulative(x, freedom) } else { t_density(x, freedom) })
    }),
    eager("T.DIST.2T", 2, 2, "s", |call| {
        let (x, freedom) = (call.number(0)?, freedom(call, 1)?);
        ensure(x >= 0.0, ErrorCode::Num)?;
        number_result(t_two_tails(x, freedom))
    }),
    eager("T.DIST.RT", 2, 2, "s", |call| {
        let (x, freedom) = (call.number(0)?, freedom(call, 1)?);
        number_result(t_cumulative(-x, freedom))
    }),
    eager("T.INV", 2, 2, "s", |call| {
        let (probability, freedom) = (call.number(0)?, freedom(call, 1)?);
        ensure(probability > 0.0 && probability < 1.0, ErrorCode::Num)?;
        number_result(t_inverse(probability, freedom))
    }),
    eager("T.INV.2T", 2, 2, "s", t_inverse_two_tails),
    eager("TDIST", 3, 3, "s", |call| {
        let (x, freedom, tails) = (call.number(0)?, freedom(call, 1)?, call.integer(2)?);
        ensure(x >= 0.0 && (tails == 1 || tails == 2), ErrorCode::Num)?;
        let both = t_two_tails(x, freedom);
        number_result(if tails == 2 { both } else { both / 2.0 })
    }),
    eager("TINV", 2, 2, "s", t_inverse_two_tails),
];

fn confidence_arguments(call: &Call<'_, '_>) -> Outcome<(f64, f64, f64)> {
    let (alpha, deviation, size) = (call.number(0)?, call.number(1)?, call.number(2)?.trunc());
    let is_valid = alpha > 0.0 && alpha < 1.0 && deviation > 0.0 && size >= 1.0;
    ensure(is_valid, ErrorCode::Num)?;
    Ok((alpha, deviation, size))
}

fn confidence(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (alpha, deviation, size) = confidence_arguments(call)?;
    number_result(-normal_inverse(alpha / 2.0) * deviation / size.sqrt())
}

fn log_normal(call: &Call<'_, '_>, is_cumulative: bool) -> Outcome<Operand> {
    let (x, mean, deviation) = (call.number(0)?, call.number(1)?, call.number(2)?);
    ensure(x > 0.0 && deviation > 0.0, ErrorCode::Num)?;
    let z = (x.natural_logarithm() - mean) / deviation;
    let result =
        if is_cumulative { normal_cumulative(z) } else { normal_density(z) / deviation / x };
    number_result(result)
}

fn log_normal_inverse(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (probability, mean, deviation) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let is_valid = probability > 0.0 && probability < 1.0 && deviation > 0.0;
    ensure(is_valid, ErrorCode::Num)?;
    number_result((mean + deviation * normal_inverse(probability)).exponential())
}

fn normal(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, mean, deviation) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let is_cumulative = call.boolean(3)?;
    ensure(deviation > 0.0, ErrorCode::Num)?;
    let z = (x - mean) / deviation;
    let result = if is_cumulative { normal_cumulative(z) } else { normal_density(z) / deviation };
    number_result(result)
}

fn normal_inverse_of(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (probability, mean, deviation) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let is_valid = probability > 0.0 && probability < 1.0 && deviation > 0.0;
    ensure(is_valid, ErrorCode::Num)?;
    number_result(mean + deviation * normal_inverse(probability))
}

fn standard_inverse(call: &Call<'_, '_>) -> Outcome<Operand> {
    let probability = call.number(0)?;
    ensure(probability > 0.0 && probability < 1.0, ErrorCode::Num)?;
    number_result(normal_inverse(probability))
}

/// Returns degrees of freedom as an integer. Fails with `#NUM!` if they are less than 1.
fn freedom(call: &Call<'_, '_>, index: usize) -> Outcome<f64> {
    let freedom = call.number(index)?.trunc();
    ensure(freedom >= 1.0, ErrorCode::Num)?;
    call.spend_iterations(freedom, super::continuous::INVERSION)?;
    Ok(freedom)
}

pub(super) fn t_two_tails(x: f64, freedom: f64) -> f64 {
    let square = x * x;
    let total = freedom + square;
    incomplete_beta_of_parts(freedom / 2.0, 0.5, freedom / total, square / total)
}

fn t_cumulative(x: f64, freedom: f64) -> f64 {
    let tail = t_two_tails(x, freedom) / 2.0;
    if x < 0.0 { tail } else { 1.0 - tail }
}

fn t_density(x: f64, freedom: f64) -> f64 {
    let logarithm =
        -crate::numerics::beta::ln_beta(freedom / 2.0, 0.5) - 0.5 * freedom.natural_logarithm();
    (logarithm - (freedom + 1.0) / 2.0 * (x * x / freedom).natural_logarithm_plus_1()).exponential()
}

fn t_inverse(probability: f64, freedom: f64) -> f64 {
    if probability == 0.5 {
        return 0.0;
    }
    let tail = 2.0 * probability.min(1.0 - probability);
    let x = t_of_tails(tail, freedom);
    if probability < 0.5 { -x } else { x }
}

fn t_of_tails(tails: f64, freedom: f64) -> f64 {
    let decreasing = |x: f64| -t_two_tails(x, freedom);
    let high = upper_bound(decreasing, -tails);
    invert_increasing(decreasing, -tails, 0.0, high)
}

fn t_inverse_two_tails(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (probability, freedom) = (call.number(0)?, freedom(call, 1)?);
    ensure(probability > 0.0 && probability <= 1.0, ErrorCode::Num)?;
    number_result(if probability == 1.0 { 0.0 } else { t_of_tails(probability, freedom) })
}
