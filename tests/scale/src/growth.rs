//! Compares the figures of several sizes: the exponent of the growth, and its limits.

use crate::figures::{Growth, Quantity, SizeFigures, Step};

/// Maximum exponent of a nearly constant quantity: for 100 times as many cells, it is 3.2 times as
/// large.
pub const MAX_CONSTANT_EXPONENT: f64 = 0.25;
/// Maximum exponent of a linear quantity: for 100 times as many cells, it is 200 times as large.
pub const MAX_LINEAR_EXPONENT: f64 = 1.15;

/// Returns the exponent e of the power law `value = factor × cells^e` that fits points of cells and
/// values best. Returns `None` for less than two sizes. Values below `floor` count as `floor`.
#[must_use]
pub fn exponent(points: &[(u64, f64)], floor: f64) -> Option<f64> {
    let logarithms: Vec<(f64, f64)> =
        points.iter().map(|(cells, value)| ((*cells as f64).ln(), value.max(floor).ln())).collect();
    let count = logarithms.len() as f64;
    let mean_cells = logarithms.iter().map(|(cells, _)| cells).sum::<f64>() / count;
    let mean_value = logarithms.iter().map(|(_, value)| value).sum::<f64>() / count;
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (cells, value) in &logarithms {
        covariance += (cells - mean_cells) * (value - mean_value);
        variance += (cells - mean_cells) * (cells - mean_cells);
    }
    if variance > 0.0 { Some(covariance / variance) } else { None }
}

/// Returns the exponent of a quantity in a step.
#[must_use]
pub fn exponent_of(sizes: &[SizeFigures], step: Step, quantity: Quantity) -> Option<f64> {
    let mut points = Vec::new();
    for size in sizes {
        points.push((size.cells, size.value(step, quantity)?));
    }
    exponent(&points, quantity.floor())
}

/// Lists the quantities that grow faster than they may.
#[must_use]
pub fn list_fast_growth(sizes: &[SizeFigures]) -> Vec<String> {
    let mut found = Vec::new();
    for step in Step::ALL {
        for quantity in Quantity::ALL {
            let max_exponent = match quantity.growth(step) {
                Growth::Constant => MAX_CONSTANT_EXPONENT,
                Growth::Linear => MAX_LINEAR_EXPONENT,
            };
            let Some(exponent) = exponent_of(sizes, step, quantity) else { continue };
            if exponent > max_exponent {
                let (step, quantity) = (step.label(), quantity.label());
                found.push(format!(
                    "{step}: {quantity} grows with exponent {exponent:.2}; at most {max_exponent} is allowed"
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use cellar_api::cost::Cost;

    use super::*;
    use crate::figures::StepFigures;

    fn assert_near(exponent: Option<f64>, expected: f64) {
        assert!(exponent.is_some_and(|it| (it - expected).abs() < 1e-9), "{exponent:?} {expected}");
    }

    #[test]
    fn the_exponent_is_the_slope_of_the_logarithms() {
        assert_near(exponent(&[(10, 2.0), (1_000, 2.0)], 0.0), 0.0);
        assert_near(exponent(&[(10, 2.0), (100, 20.0), (1_000, 200.0)], 0.0), 1.0);
        assert_near(exponent(&[(10, 3.0), (1_000, 30_000.0)], 0.0), 2.0);
        // Values below the floor are noise.
        assert_near(exponent(&[(10, 0.01), (1_000, 0.04)], 0.05), 0.0);
        assert_near(exponent(&[(10, 0.01), (1_000, 5.0)], 0.05), 1.0);
        assert_eq!(exponent(&[(10, 1.0)], 0.0), None);
        assert_eq!(exponent(&[(10, 1.0), (10, 2.0)], 0.0), None);
        assert_eq!(exponent(&[], 0.0), None);
    }

    fn sizes(step: Step, wall_s: [f64; 2], stack_peak_bytes: [u64; 2]) -> Vec<SizeFigures> {
        let size = |cells, index: usize| SizeFigures {
            cells,
            csv_bytes: 0,
            stored_objects: 0,
            stored_bytes: 0,
            steps: vec![StepFigures {
                wall_s: wall_s[index],
                stack_peak_bytes: stack_peak_bytes[index],
                ..StepFigures::of_cost(step, &Cost::default())
            }],
        };
        vec![size(100, 0), size(10_000, 1)]
    }

    #[test]
    fn quantities_that_grow_too_fast_are_listed() {
        let found = |step, wall_s, peaks| list_fast_growth(&sizes(step, wall_s, peaks));
        assert_eq!(found(Step::ViewFirst, [1.0, 3.1], [1, 2]), [""; 0]);
        let line = "view first rows: time grows with exponent 0.26; at most 0.25 is allowed";
        assert_eq!(found(Step::ViewFirst, [1.0, 3.3], [1, 2]), [line]);
        assert_eq!(found(Step::Import, [1.0, 190.0], [1, 2]), [""; 0]);
        assert_eq!(found(Step::Import, [1.0, 210.0], [1, 2]).len(), 1);
        assert_eq!(found(Step::Import, [1.0, 1.0], [50_000_000, 500_000_000]).len(), 1);
    }
}
