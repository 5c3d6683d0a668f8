//! The error function and the standard normal distribution.

use crate::numerics::real::Real;
use std::f64::consts::{PI, SQRT_2};

/// The smallest `x` for which the continued fraction is more accurate than the series.
const FRACTION_START: f64 = 2.0;

pub(crate) fn erf(x: f64) -> f64 {
    let absolute = x.abs();
    let value = if absolute < FRACTION_START { series(absolute) } else { 1.0 - fraction(absolute) };
    value.copysign(x)
}

pub(crate) fn erfc(x: f64) -> f64 {
    if x < FRACTION_START { 1.0 - erf(x) } else { fraction(x) }
}

fn series(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut step = 1.0;
    while term > sum * 1e-17 && term > 0.0 {
        term *= 2.0 * x * x / (2.0 * step + 1.0);
        sum += term;
        step += 1.0;
    }
    2.0 / PI.sqrt() * (-x * x).exponential() * sum
}

/// Computes erfc(x) by a continued fraction, evaluated from the innermost term outwards.
fn fraction(x: f64) -> f64 {
    const TERMS: u32 = 200;
    if x > 30.0 {
        return 0.0;
    }
    let mut value = x;
    for term in (1..=TERMS).rev() {
        value = x + f64::from(term) / 2.0 / value;
    }
    (-x * x).exponential() / (PI.sqrt() * value)
}

/// Computes the cumulative distribution function of the standard normal distribution.
pub(crate) fn normal_cumulative(z: f64) -> f64 {
    0.5 * erfc(-z / SQRT_2)
}

pub(crate) fn normal_density(z: f64) -> f64 {
    (-z * z / 2.0).exponential() / (2.0 * PI).sqrt()
}

/// Computes the inverse of the cumulative distribution function of the standard normal
/// distribution.
pub(crate) fn normal_inverse(probability: f64) -> f64 {
    if probability == 0.5 {
        return 0.0;
    }
    if probability > 0.5 {
        return -normal_inverse(1.0 - probability);
    }
    // A rational approximation (Abramowitz and Stegun 26.2.23), refined by Halley's method.
    let t = (-2.0 * probability.natural_logarithm()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = numerator / denominator - t;
    for _ in 0..6 {
        let error = (normal_cumulative(z) - probability) / normal_density(z);
        if !error.is_finite() {
            break;
        }
        z -= error / (1.0 + z * error / 2.0);
    }
    z
}
