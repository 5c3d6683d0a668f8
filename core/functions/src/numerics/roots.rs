//! Root finding for functions of one variable.

/// Finds the `x` in `low..=high` at which an increasing function equals `value`, by bisection.
pub(crate) fn invert_increasing(
    function: impl Fn(f64) -> f64,
    value: f64,
    low: f64,
    high: f64,
) -> f64 {
    const MOST_HALVINGS: u32 = 1_100;
    let (mut low, mut high) = (low, high);
    for _ in 0..MOST_HALVINGS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if function(middle) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (below, above) = (value - function(low), function(high) - value);
    if below.abs() < above.abs() { low } else { high }
}

/// Finds an upper bound for bisection: a power of two at which an increasing function is at least
/// `value`. Stops at the first power above 10³⁰⁰.
pub(crate) fn upper_bound(function: impl Fn(f64) -> f64, value: f64) -> f64 {
    let mut high = 1.0;
    while function(high) < value && high < 1e300 {
        high *= 2.0;
    }
    high
}

/// Finds a root by Newton's method with a numerical derivative, starting at `guess`. Returns `None`
/// if the iteration does not converge.
pub(crate) fn newton(function: impl Fn(f64) -> f64, guess: f64, tolerance: f64) -> Option<f64> {
    const MOST_STEPS: u32 = 100;
    let mut rate = guess;
    for _ in 0..MOST_STEPS {
        let value = function(rate);
        let step = rate.abs().max(1e-2) * 1e-6;
        let slope = (function(rate + step) - function(rate - step)) / (2.0 * step);
        if !value.is_finite() || !slope.is_finite() || slope == 0.0 {
            return None;
        }
        let next = rate - value / slope;
        if !next.is_finite() {
            return None;
        }
        if (next - rate).abs() <= tolerance * next.abs().max(1.0) {
            return Some(next);
        }
        rate = next;
    }
    None
}
