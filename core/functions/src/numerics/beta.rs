//! The beta function and the regularized incomplete beta function.

use super::gamma::ln_gamma;
use crate::numerics::real::Real;

pub(crate) fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// Computes the regularized incomplete beta function Iₓ(a, b).
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    incomplete_beta_of_parts(a, b, x, 1.0 - x)
}

/// Computes the regularized incomplete beta function Iₓ(a, b). `rest` is 1 − `x`, which the caller
/// passes because computing it from an `x` close to 1 would lose digits.
pub(crate) fn incomplete_beta_of_parts(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if rest <= 0.0 {
        return 1.0;
    }
    let factor =
        (a * x.natural_logarithm() + b * rest.natural_logarithm() - ln_beta(a, b)).exponential();
    if x < (a + 1.0) / (a + b + 2.0) {
        factor * fraction(a, b, x) / a
    } else {
        1.0 - factor * fraction(b, a, rest) / b
    }
}

/// Evaluates the continued fraction of the incomplete beta function by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST_TERMS: u32 = 20_000;
    let avoid_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / avoid_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for step in 1..=MOST_TERMS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / avoid_zero(1.0 + even * d);
        c = avoid_zero(1.0 + even / c);
        result *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / avoid_zero(1.0 + odd * d);
        c = avoid_zero(1.0 + odd / c);
        result *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    result
}
