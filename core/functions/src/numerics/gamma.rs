//! The gamma function and the incomplete gamma functions.

use crate::numerics::real::Real;
use std::f64::consts::PI;

#[allow(clippy::excessive_precision, reason = "the digits are as published")]
/// Coefficients of the Lanczos approximation for g = 607/128, computed by Paul Godfrey.
const LANCZOS: [f64; 15] = [
    0.999_999_999_999_997_1,
    57.156_235_665_862_92,
    -59.597_960_355_475_49,
    14.136_097_974_741_746,
    -0.491_913_816_097_620_2,
    0.339_946_499_848_118_9e-4,
    0.465_236_289_270_485_8e-4,
    -0.983_744_753_048_795_6e-4,
    0.158_088_703_224_912_48e-3,
    -0.210_264_441_724_104_88e-3,
    0.217_439_618_115_212_64e-3,
    -0.164_318_106_536_763_9e-3,
    0.844_182_239_838_527_4e-4,
    -0.261_908_384_015_814_1e-4,
    0.368_991_826_595_316_2e-5,
];
const LANCZOS_G: f64 = 607.0 / 128.0;
const LN_SQRT_2_PI: f64 = 0.918_938_533_204_672_7;
const LARGEST_FACTORIAL: f64 = 170.0;

/// Computes the natural logarithm of the gamma function. `x` must be positive.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    if x < 0.5 {
        return (PI / (PI * x).sine()).natural_logarithm() - ln_gamma(1.0 - x);
    }
    if x > 1e8 {
        return (x - 0.5) * x.natural_logarithm() - x + LN_SQRT_2_PI + 1.0 / (12.0 * x);
    }
    if x == 1.0 || x == 2.0 {
        return 0.0;
    }
    let shifted = x - 1.0;
    let mut sum = 0.0;
    for (index, coefficient) in LANCZOS.iter().enumerate().rev() {
        sum += if index == 0 { *coefficient } else { coefficient / (shifted + index as f64) };
    }
    let base = shifted + LANCZOS_G + 0.5;
    LN_SQRT_2_PI + (shifted + 0.5) * base.natural_logarithm() - base + sum.natural_logarithm()
}

/// Computes the gamma function. Returns infinity at its poles.
pub(crate) fn gamma(x: f64) -> f64 {
    if x.fract() == 0.0 && x > 0.0 && x <= LARGEST_FACTORIAL + 1.0 {
        let mut product = 1.0;
        let mut factor = 2.0;
        while factor < x {
            product *= factor;
            factor += 1.0;
        }
        return product;
    }
    if x < 0.5 {
        if x.fract() == 0.0 {
            return f64::INFINITY;
        }
        return PI / ((PI * x).sine() * gamma(1.0 - x));
    }
    if x > 12.0 && x < LARGEST_FACTORIAL + 2.0 {
        // The recurrence Γ(x + 1) = x·Γ(x) from an argument near 10 is more accurate than the
        // exponential of a large logarithm.
        let steps = (x - 10.0).floor();
        let base = x - steps;
        let mut product = gamma(base);
        let mut factor = base;
        while factor < x - 0.5 {
            product *= factor;
            factor += 1.0;
        }
        return product;
    }
    ln_gamma(x).exponential()
}

/// Computes the regularized lower incomplete gamma function P(a, x).
pub(crate) fn lower_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x < a + 1.0 { gamma_series(a, x) } else { 1.0 - gamma_fraction(a, x) }
}

/// Computes the regularized upper incomplete gamma function Q(a, x).
pub(crate) fn upper_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    if x < a + 1.0 { 1.0 - gamma_series(a, x) } else { gamma_fraction(a, x) }
}

/// Computes xᵃ · e⁻ˣ / Γ(a).
pub(crate) fn gamma_factor(a: f64, x: f64) -> f64 {
    (a * x.natural_logarithm() - x - ln_gamma(a)).exponential()
}

const MOST_TERMS: u32 = 20_000;

fn gamma_series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    let mut denominator = a;
    for _ in 0..MOST_TERMS {
        denominator += 1.0;
        term *= x / denominator;
        sum += term;
        if term.abs() < sum.abs() * 1e-17 {
            break;
        }
    }
    sum * gamma_factor(a, x)
}

fn gamma_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut result = d;
    for step in 1..=MOST_TERMS {
        let step = f64::from(step);
        let numerator = -step * (step - a);
        b += 2.0;
        d = numerator * d + b;
        d = 1.0 / if d.abs() < TINY { TINY } else { d };
        c = b + numerator / c;
        c = if c.abs() < TINY { TINY } else { c };
        result *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    result * gamma_factor(a, x)
}
