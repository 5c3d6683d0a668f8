//! Continuous probability distributions: beta, chi-squared, exponential, F, gamma and Weibull.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::numerics::beta::{incomplete_beta, incomplete_beta_of_parts, ln_beta};
use crate::numerics::gamma::{gamma, gamma_factor, ln_gamma, lower_gamma, upper_gamma};
use crate::numerics::real::Real;
use crate::numerics::roots::{invert_increasing, upper_bound};
use crate::operand::{Operand, Outcome};

/// Estimated number of times a distribution function is evaluated to compute its inverse.
pub(super) const INVERSION: usize = 100;

pub(super) static FUNCTIONS: &[Function] = &[
    eager("BETA.DIST", 4, 6, "s", |call| beta(call, Some(3), 4)),
    eager("BETA.INV", 3, 5, "s", beta_inverse),
    eager("BETADIST", 3, 5, "s", |call| beta(call, None, 3)),
    eager("BETAINV", 3, 5, "s", beta_inverse),
    eager("CHIDIST", 2, 2, "s", chi_squared_right),
    eager("CHIINV", 2, 2, "s", chi_squared_inverse_right),
    eager("CHISQ.DIST", 3, 3, "s", chi_squared),
    eager("CHISQ.DIST.RT", 2, 2, "s", chi_squared_right),
    eager("CHISQ.INV", 2, 2, "s", |call| {
        let (probability, freedom) = (call.number(0)?, degrees(call, 1)?);
        call.spend_iterations(freedom, INVERSION)?;
        ensure((0.0..1.0).contains(&probability), ErrorCode::Num)?;
        number_result(2.0 * gamma_inverse(probability, freedom / 2.0))
    }),
    eager("CHISQ.INV.RT", 2, 2, "s", chi_squared_inverse_right),
    eager("EXPON.DIST", 3, 3, "s", exponential),
    eager("EXPONDIST", 3, 3, "s", exponential),
    eager("F.DIST", 4, 4, "s", f_distribution),
    eager("F.DIST.RT", 3, 3, "s", f_right),
    eager("F.INV", 3, 3, "s", |call| {
        let (probability, first, second) = (call.number(0)?, degrees(call, 1)?, degrees(call, 2)?);
        call.spend_iterations(first + second, INVERSION)?;
        ensure((0.0..1.0).contains(&probability), ErrorCode::Num)?;
        let cumulative = |x: f64| 1.0 - f_tail(x, first, second);
        number_result(invert_from_zero(cumulative, probability))
    }),
    eager("F.INV.RT", 3, 3, "s", f_inverse_right),
    eager("FDIST", 3, 3, "s", f_right),
    eager("FINV", 3, 3, "s", f_inverse_right),
    eager("GAMMA", 1, 1, "s", |call| {
        let x = call.number(0)?;
        ensure(x > 0.0 || x.fract() != 0.0, ErrorCode::Num)?;
        number_result(gamma(x))
    }),
    eager("GAMMA.DIST", 4, 4, "s", gamma_distribution),
    eager("GAMMA.INV", 3, 3, "s", gamma_inverse_of),
    eager("GAMMADIST", 4, 4, "s", gamma_distribution),
    eager("GAMMAINV", 3, 3, "s", gamma_inverse_of),
    eager("GAMMALN", 1, 1, "s", gamma_logarithm),
    eager("GAMMALN.PRECISE", 1, 1, "s", gamma_logarithm),
    eager("WEIBULL", 4, 4, "s", weibull),
    eager("WEIBULL.DIST", 4, 4, "s", weibull),
];

fn invert_from_zero(cumulative: impl Fn(f64) -> f64 + Copy, probability: f64) -> f64 {
    if probability <= 0.0 {
        return 0.0;
    }
    invert_increasing(cumulative, probability, 0.0, upper_bound(cumulative, probability))
}

/// Returns degrees of freedom as an integer. Fails with `#NUM!` outside 1 to 10¹⁰.
fn degrees(call: &Call<'_, '_>, index: usize) -> Outcome<f64> {
    let degrees = call.number(index)?.trunc();
    ensure((1.0..=1e10).contains(&degrees), ErrorCode::Num)?;
    Ok(degrees)
}

/// Returns the lower and upper bound of a beta distribution. The defaults are 0 and 1.
fn bounds(call: &Call<'_, '_>, first: usize) -> Outcome<(f64, f64)> {
    Ok((call.number_or(first, 0.0)?, call.number_or(first + 1, 1.0)?))
}

fn beta(call: &Call<'_, '_>, cumulative: Option<usize>, first_bound: usize) -> Outcome<Operand> {
    let (x, a, b) = (call.number(0)?, call.number(1)?, call.number(2)?);
    call.spend_iterations(a + b, 1)?;
    let is_cumulative = cumulative.map_or(Ok(true), |index| call.boolean(index))?;
    let (low, high) = bounds(call, first_bound)?;
    let is_inside = (low..=high).contains(&x) && low < high;
    ensure(a > 0.0 && b > 0.0 && is_inside, ErrorCode::Num)?;
    let place = (x - low) / (high - low);
    if is_cumulative {
        return number_result(incomplete_beta(a, b, place));
    }
    let at_edge = (place == 0.0 && a < 1.0) || (place == 1.0 && b < 1.0);
    ensure(!at_edge, ErrorCode::Num)?;
    let power = |base: f64, exponent: f64| {
        if exponent == 0.0 { 0.0 } else { exponent * base.natural_logarithm() }
    };
    let logarithm = power(place, a - 1.0) + power(1.0 - place, b - 1.0) - ln_beta(a, b);
    number_result(logarithm.exponential() / (high - low))
}

fn beta_inverse(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (probability, a, b) = (call.number(0)?, call.number(1)?, call.number(2)?);
    call.spend_iterations(a + b, INVERSION)?;
    let (low, high) = bounds(call, 3)?;
    let is_valid = probability > 0.0 && probability < 1.0 && a > 0.0 && b > 0.0 && low < high;
    ensure(is_valid, ErrorCode::Num)?;
    let place = invert_increasing(|x| incomplete_beta(a, b, x), probability, 0.0, 1.0);
    number_result(low + place * (high - low))
}

fn chi_squared(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, freedom) = (call.number(0)?, degrees(call, 1)?);
    call.spend_iterations(freedom, 1)?;
    let is_cumulative = call.boolean(2)?;
    ensure(x >= 0.0, ErrorCode::Num)?;
    if is_cumulative {
        return number_result(lower_gamma(freedom / 2.0, x / 2.0));
    }
    number_result(gamma_density(x, freedom / 2.0, 2.0)?)
}

fn chi_squared_right(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, freedom) = (call.number(0)?, degrees(call, 1)?);
    call.spend_iterations(freedom, 1)?;
    ensure(x >= 0.0, ErrorCode::Num)?;
    number_result(upper_gamma(freedom / 2.0, x / 2.0))
}

fn chi_squared_inverse_right(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (probability, freedom) = (call.number(0)?, degrees(call, 1)?);
    call.spend_iterations(freedom, INVERSION)?;
    ensure(probability > 0.0 && probability <= 1.0, ErrorCode::Num)?;
    let rest = |x: f64| -upper_gamma(freedom / 2.0, x / 2.0);
    if probability == 1.0 {
        return Ok(0.0.into());
    }
    let high = upper_bound(rest, -probability);
    number_result(invert_increasing(rest, -probability, 0.0, high))
}

fn exponential(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, rate) = (call.number(0)?, call.number(1)?);
    let is_cumulative = call.boolean(2)?;
    ensure(x >= 0.0 && rate > 0.0, ErrorCode::Num)?;
    number_result(if is_cumulative {
        -(-rate * x).exponential_minus_1()
    } else {
        rate * (-rate * x).exponential()
    })
}

/// Computes the right tail of the F distribution: the probability of a value larger than `x`.
/// `first` and `second` are the degrees of freedom.
pub(super) fn f_tail(x: f64, first: f64, second: f64) -> f64 {
    let total = second + first * x;
    incomplete_beta_of_parts(second / 2.0, first / 2.0, second / total, first * x / total)
}

fn f_distribution(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, first, second) = (call.number(0)?, degrees(call, 1)?, degrees(call, 2)?);
    call.spend_iterations(first + second, 1)?;
    let is_cumulative = call.boolean(3)?;
    ensure(x >= 0.0, ErrorCode::Num)?;
    if is_cumulative {
        let total = second + first * x;
        let cumulative =
            incomplete_beta_of_parts(first / 2.0, second / 2.0, first * x / total, second / total);
        return number_result(cumulative);
    }
    if x == 0.0 {
        ensure(first >= 2.0, ErrorCode::Num)?;
        return number_result(if first == 2.0 { 1.0 } else { 0.0 });
    }
    let logarithm = first / 2.0 * (first / second).natural_logarithm()
        + (first / 2.0 - 1.0) * x.natural_logarithm()
        - (first + second) / 2.0 * (first * x / second).natural_logarithm_plus_1()
        - ln_beta(first / 2.0, second / 2.0);
    number_result(logarithm.exponential())
}

fn f_right(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, first, second) = (call.number(0)?, degrees(call, 1)?, degrees(call, 2)?);
    call.spend_iterations(first + second, 1)?;
    ensure(x >= 0.0, ErrorCode::Num)?;
    number_result(f_tail(x, first, second))
}

fn f_inverse_right(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (probability, first, second) = (call.number(0)?, degrees(call, 1)?, degrees(call, 2)?);
    call.spend_iterations(first + second, INVERSION)?;
    ensure(probability > 0.0 && probability <= 1.0, ErrorCode::Num)?;
    if probability == 1.0 {
        return Ok(0.0.into());
    }
    let rest = |x: f64| -f_tail(x, first, second);
    number_result(invert_increasing(rest, -probability, 0.0, upper_bound(rest, -probability)))
}

fn gamma_density(x: f64, alpha: f64, scale: f64) -> Outcome<f64> {
    if x == 0.0 {
        ensure(alpha >= 1.0, ErrorCode::Num)?;
        return Ok(if alpha == 1.0 { 1.0 / scale } else { 0.0 });
    }
    Ok(gamma_factor(alpha, x / scale) / x)
}

fn gamma_distribution(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, alpha, scale) = (call.number(0)?, call.number(1)?, call.number(2)?);
    call.spend_iterations(alpha, 1)?;
    let is_cumulative = call.boolean(3)?;
    ensure(x >= 0.0 && alpha > 0.0 && scale > 0.0, ErrorCode::Num)?;
    if is_cumulative {
        return number_result(lower_gamma(alpha, x / scale));
    }
    number_result(gamma_density(x, alpha, scale)?)
}

fn gamma_inverse(probability: f64, alpha: f64) -> f64 {
    invert_from_zero(|x| lower_gamma(alpha, x), probability)
}

fn gamma_inverse_of(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (probability, alpha, scale) = (call.number(0)?, call.number(1)?, call.number(2)?);
    call.spend_iterations(alpha, INVERSION)?;
    let is_valid = (0.0..1.0).contains(&probability) && alpha > 0.0 && scale > 0.0;
    ensure(is_valid, ErrorCode::Num)?;
    number_result(scale * gamma_inverse(probability, alpha))
}

fn gamma_logarithm(call: &Call<'_, '_>) -> Outcome<Operand> {
    let x = call.number(0)?;
    ensure(x > 0.0, ErrorCode::Num)?;
    number_result(ln_gamma(x))
}

fn weibull(call: &Call<'_, '_>) -> Outcome<Operand> {
    let (x, shape, scale) = (call.number(0)?, call.number(1)?, call.number(2)?);
    let is_cumulative = call.boolean(3)?;
    ensure(x >= 0.0 && shape > 0.0 && scale > 0.0, ErrorCode::Num)?;
    let power = (x / scale).power(shape);
    number_result(if is_cumulative {
        -(-power).exponential_minus_1()
    } else {
        shape / scale * (x / scale).power(shape - 1.0) * (-power).exponential()
    })
}
