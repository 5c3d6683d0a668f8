//! Bessel functions of integer order, computed by the same approximations as in Excel. Orders 0 and
//! 1 use polynomials (Abramowitz and Stegun 9.4 and 9.8, Hart), and higher orders use recurrences.
//! Results are accurate to about eight digits.

use crate::numerics::real::Real;

#[allow(clippy::approx_constant, reason = "Excel uses these digits")]
const TWO_OVER_PI: f64 = 0.636_619_772;
#[allow(clippy::approx_constant, reason = "Excel uses these digits")]
const QUARTER_PI: f64 = 0.785_398_164;
const THREE_QUARTERS_PI: f64 = 2.356_194_491;
/// The smallest |x| for which the Bessel functions of the first and second kind are computed by
/// their asymptotic expansions.
const ASYMPTOTIC_START: f64 = 8.0;
/// Larger values start the backward recurrences at a higher order, which makes them more accurate.
const ACCURACY: usize = 40;
/// Backward recurrences are rescaled when a value exceeds this threshold, to prevent overflow.
const RESCALING_THRESHOLD: f64 = 1e10;

/// Evaluates a polynomial by Horner's method. The coefficients are in ascending order of powers.
fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

const EVEN_0: [f64; 5] =
    [1.0, -0.109_862_862_7e-2, 0.273_451_040_7e-4, -0.207_337_063_9e-5, 0.209_388_721_1e-6];
const ODD_0: [f64; 5] = [
    -0.156_249_999_5e-1,
    0.143_048_876_5e-3,
    -0.691_114_765_1e-5,
    0.762_109_516_1e-6,
    -0.934_935_152e-7,
];
const EVEN_1: [f64; 5] =
    [1.0, 0.183_105e-2, -0.351_639_649_6e-4, 0.245_752_017_4e-5, -0.240_337_019e-6];
/// A copy of `EVEN_1` with one coefficient repeated. Excel's BESSELJ contains this error, so its
/// results for |x| ≥ 8 are accurate to only five digits.
const EVEN_1_OF_J: [f64; 6] = [
    1.0,
    0.183_105e-2,
    -0.351_639_649_6e-4,
    -0.351_639_649_6e-4,
    0.245_752_017_4e-5,
    -0.240_337_019e-6,
];
const ODD_1: [f64; 5] =
    [0.046_874_999_95, -0.200_269_087_3e-3, 0.844_919_909_6e-5, -0.882_289_87e-6, 0.105_787_412e-6];

/// Computes the Bessel functions of the first and second kind for large `x` by their asymptotic
/// expansions.
fn asymptotic_expansions(x: f64, phase: f64, even: &[f64], odd: &[f64]) -> (f64, f64) {
    let z = ASYMPTOTIC_START / x;
    let angle = x - phase;
    let (even, odd) = (polynomial(z * z, even), z * polynomial(z * z, odd));
    let amplitude = (TWO_OVER_PI / x).sqrt();
    (
        amplitude * (angle.cosine() * even - angle.sine() * odd),
        amplitude * (angle.sine() * even + angle.cosine() * odd),
    )
}

fn j_zero(x: f64) -> f64 {
    if x.abs() >= ASYMPTOTIC_START {
        return asymptotic_expansions(x.abs(), QUARTER_PI, &EVEN_0, &ODD_0).0;
    }
    let above = [
        57_568_490_574.0,
        -13_362_590_354.0,
        651_619_640.7,
        -11_214_424.18,
        77_392.330_17,
        -184.905_245_6,
    ];
    let below =
        [57_568_490_411.0, 1_029_532_985.0, 9_494_680.718, 59_272.648_53, 267.853_271_2, 1.0];
    polynomial(x * x, &above) / polynomial(x * x, &below)
}

fn j_one(x: f64) -> f64 {
    if x.abs() >= ASYMPTOTIC_START {
        return asymptotic_expansions(x.abs(), THREE_QUARTERS_PI, &EVEN_1_OF_J, &ODD_1).0
            * x.signum();
    }
    let above = [
        72_362_614_232.0,
        -7_895_059_235.0,
        242_396_853.1,
        -2_972_611.439,
        15_704.482_60,
        -30.160_366_06,
    ];
    let below =
        [144_725_228_442.0, 2_300_535_178.0, 18_583_304.74, 99_447.433_94, 376.999_139_7, 1.0];
    x * polynomial(x * x, &above) / polynomial(x * x, &below)
}

fn y_zero(x: f64) -> f64 {
    if x >= ASYMPTOTIC_START {
        return asymptotic_expansions(x, QUARTER_PI, &EVEN_0, &ODD_0).1;
    }
    let above = [
        -2_957_821_389.0,
        7_062_834_065.0,
        -512_359_803.6,
        10_879_881.29,
        -86_327.927_57,
        228.462_273_3,
    ];
    let below = [40_076_544_269.0, 745_249_964.8, 7_189_466.438, 47_447.264_70, 226.103_024_4, 1.0];
    polynomial(x * x, &above) / polynomial(x * x, &below)
        + TWO_OVER_PI * j_zero(x) * x.natural_logarithm()
}

fn y_one(x: f64) -> f64 {
    if x >= ASYMPTOTIC_START {
        return asymptotic_expansions(x, THREE_QUARTERS_PI, &EVEN_1, &ODD_1).1;
    }
    let above = [
        -0.490_060_494_3e13,
        0.127_527_439_0e13,
        -0.515_343_813_9e11,
        0.734_926_455_1e9,
        -0.423_792_272_6e7,
        0.851_193_793_5e4,
    ];
    let below = [
        0.249_958_057_0e14,
        0.424_441_966_4e12,
        0.373_365_036_7e10,
        0.224_590_400_2e8,
        0.102_042_605_0e6,
        0.354_963_288_5e3,
        1.0,
    ];
    x * polynomial(x * x, &above) / polynomial(x * x, &below)
        + TWO_OVER_PI * (j_one(x) * x.natural_logarithm() - 1.0 / x)
}

/// The |x| below which `i_zero` and `i_one` use the approximation for small arguments.
const I_LIMIT: f64 = 3.75;
/// The largest `x` for which `k_zero` and `k_one` use the approximation for small arguments.
const K_LIMIT: f64 = 2.0;

fn i_zero(x: f64) -> f64 {
    let absolute = x.abs();
    if absolute < I_LIMIT {
        let coefficients =
            [1.0, 3.515_622_9, 3.089_942_4, 1.206_749_2, 0.265_973_2, 0.360_768e-1, 0.458_13e-2];
        return polynomial((x / I_LIMIT).powi(2), &coefficients);
    }
    let coefficients = [
        0.398_942_28,
        0.132_859_2e-1,
        0.225_319e-2,
        -0.157_565e-2,
        0.916_281e-2,
        -0.205_770_6e-1,
        0.263_553_7e-1,
        -0.164_763_3e-1,
        0.392_377e-2,
    ];
    absolute.exponential() / absolute.sqrt() * polynomial(I_LIMIT / absolute, &coefficients)
}

fn i_one(x: f64) -> f64 {
    let absolute = x.abs();
    let value = if absolute < I_LIMIT {
        let coefficients = [
            0.5,
            0.878_905_94,
            0.514_988_69,
            0.150_849_34,
            0.265_873_3e-1,
            0.301_532e-2,
            0.324_11e-3,
        ];
        absolute * polynomial((x / I_LIMIT).powi(2), &coefficients)
    } else {
        let coefficients = [
            0.398_942_28,
            -0.398_802_4e-1,
            -0.362_018e-2,
            0.163_801e-2,
            -0.103_155_5e-1,
            0.228_296_7e-1,
            -0.289_531_2e-1,
            0.178_765_4e-1,
            -0.420_059e-2,
        ];
        absolute.exponential() / absolute.sqrt() * polynomial(I_LIMIT / absolute, &coefficients)
    };
    if x < 0.0 { -value } else { value }
}

fn k_zero(x: f64) -> f64 {
    if x <= K_LIMIT {
        let coefficients = [
            -0.577_215_66,
            0.422_784_20,
            0.230_697_56,
            0.348_859_0e-1,
            0.262_698e-2,
            0.107_50e-3,
            0.74e-5,
        ];
        return -(x / 2.0).natural_logarithm() * i_zero(x) + polynomial(x * x / 4.0, &coefficients);
    }
    let coefficients = [
        1.253_314_14,
        -0.783_235_8e-1,
        0.218_956_8e-1,
        -0.106_244_6e-1,
        0.587_872e-2,
        -0.251_540e-2,
        0.532_08e-3,
    ];
    (-x).exponential() / x.sqrt() * polynomial(K_LIMIT / x, &coefficients)
}

fn k_one(x: f64) -> f64 {
    if x <= K_LIMIT {
        let coefficients = [
            1.0,
            0.154_431_44,
            -0.672_785_79,
            -0.181_568_97,
            -0.191_940_2e-1,
            -0.110_404e-2,
            -0.468_6e-4,
        ];
        return (x / 2.0).natural_logarithm() * i_one(x)
            + polynomial(x * x / 4.0, &coefficients) / x;
    }
    let coefficients = [
        1.253_314_14,
        0.234_986_19,
        -0.365_562_0e-1,
        0.150_426_8e-1,
        -0.780_353e-2,
        0.325_614e-2,
        -0.682_45e-3,
    ];
    (-x).exponential() / x.sqrt() * polynomial(K_LIMIT / x, &coefficients)
}

/// Computes the Bessel function of order `order` by forward recurrence from orders 0 and 1. `sign`
/// is the sign of the lower-order term in the recurrence.
fn forward_recurrence(x: f64, order: usize, zero: f64, one: f64, sign: f64) -> f64 {
    let (mut below, mut current) = (zero, one);
    if order == 0 {
        return zero;
    }
    for step in 1..order {
        (below, current) = (current, 2.0 * step as f64 / x * current + sign * below);
    }
    current
}

fn with_parity(value: f64, x: f64, order: usize) -> f64 {
    if x < 0.0 && !order.is_multiple_of(2) { -value } else { value }
}

/// Returns an order at which a backward recurrence down to `order` can start.
fn recurrence_start(order: usize) -> usize {
    let root = crate::number::to_length(((ACCURACY * order) as f64).sqrt());
    order + root
}

/// Computes the Bessel function of the first kind.
pub(crate) fn bessel_j(x: f64, order: usize) -> f64 {
    let absolute = x.abs();
    match order {
        0 => return j_zero(x),
        1 => return j_one(x),
        _ if absolute == 0.0 => return 0.0,
        _ if absolute > order as f64 => {
            let value =
                forward_recurrence(absolute, order, j_zero(absolute), j_one(absolute), -1.0);
            return with_parity(value, x, order);
        }
        _ => {}
    }
    let (mut above, mut current) = (0.0, 1.0_f64);
    let (mut result, mut sum) = (0.0, 0.0);
    for step in (1..=2 * (recurrence_start(order) / 2)).rev() {
        (above, current) = (current, 2.0 * step as f64 / absolute * current - above);
        if current.abs() > RESCALING_THRESHOLD {
            (above, current) = (above / RESCALING_THRESHOLD, current / RESCALING_THRESHOLD);
            (result, sum) = (result / RESCALING_THRESHOLD, sum / RESCALING_THRESHOLD);
        }
        if !step.is_multiple_of(2) {
            sum += current;
        }
        if step == order {
            result = above;
        }
    }
    with_parity(result / (2.0 * sum - current), x, order)
}

/// Computes the Bessel function of the second kind. `x` must be positive.
pub(crate) fn bessel_y(x: f64, order: usize) -> f64 {
    forward_recurrence(x, order, y_zero(x), y_one(x), -1.0)
}

/// Computes the modified Bessel function of the first kind.
pub(crate) fn bessel_i(x: f64, order: usize) -> f64 {
    match order {
        0 => return i_zero(x),
        1 => return i_one(x),
        _ if x == 0.0 => return 0.0,
        _ => {}
    }
    let (mut above, mut current) = (0.0, 1.0_f64);
    let mut result = 0.0;
    for step in (1..=2 * recurrence_start(order)).rev() {
        (above, current) = (current, 2.0 * step as f64 / x.abs() * current + above);
        if current.abs() > RESCALING_THRESHOLD {
            (above, current, result) = (
                above / RESCALING_THRESHOLD,
                current / RESCALING_THRESHOLD,
                result / RESCALING_THRESHOLD,
            );
        }
        if step == order {
            result = above;
        }
    }
    with_parity(result * i_zero(x) / current, x, order)
}

/// Computes the modified Bessel function of the second kind. `x` must be positive.
pub(crate) fn bessel_k(x: f64, order: usize) -> f64 {
    forward_recurrence(x, order, k_zero(x), k_one(x), 1.0)
}
