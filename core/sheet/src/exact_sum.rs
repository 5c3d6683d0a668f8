//! Sums of floating-point numbers that do not depend on the order of addition.

/// A sum without rounding errors, computed with the algorithm of Shewchuk (1997). It is stored as a
/// few non-overlapping numbers whose exact sum equals the exact sum of all added numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExactSum {
    /// Non-overlapping numbers in ascending order of magnitude.
    parts: Vec<f64>,
    is_too_large: bool,
}

impl ExactSum {
    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        let mut carried = number;
        let mut kept = Vec::with_capacity(self.parts.len() + 1);
        for part in &self.parts {
            let (sum, error) = two_sum(carried, *part);
            if !sum.is_finite() {
                self.is_too_large = true;
                return;
            }
            if error != 0.0 {
                kept.push(error);
            }
            carried = sum;
        }
        if carried != 0.0 {
            kept.push(carried);
        }
        self.parts = kept;
        self.is_too_large |= !number.is_finite();
    }

    /// Returns numbers whose exact sum is this sum. Use [`ExactSum::add_parts`] to add them to
    /// another sum.
    #[must_use]
    pub fn parts(&self) -> &[f64] {
        &self.parts
    }

    /// Returns whether the sum or an intermediate result is outside the range of `f64`.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Adds another sum, given by its [`ExactSum::parts`] and [`ExactSum::is_too_large`].
    pub fn add_parts(&mut self, parts: &[f64], is_too_large: bool) {
        parts.iter().for_each(|part| self.add(*part));
        self.is_too_large |= is_too_large;
    }

    /// Returns the sum, rounded to the nearest `f64`, or `None` if it is outside the range of
    /// `f64`.
    #[must_use]
    pub fn total(&self) -> Option<f64> {
        if self.is_too_large {
            return None;
        }
        let mut largest_first = self.parts.iter().rev();
        let mut total = largest_first.next().copied().unwrap_or(0.0);
        let mut error = 0.0;
        for part in largest_first.by_ref() {
            (total, error) = two_sum(total, *part);
            if error != 0.0 {
                break;
            }
        }
        // A sum halfway between two numbers is rounded to the even one. In this case, the largest
        // part that was not added yet decides whether the other number is nearer.
        let smaller = largest_first.next().copied().unwrap_or(0.0);
        if (error > 0.0 && smaller > 0.0) || (error < 0.0 && smaller < 0.0) {
            let doubled = error * 2.0;
            let other = total + doubled;
            if (other - total).to_bits() == doubled.to_bits() {
                total = other;
            }
        }
        total.is_finite().then_some(total)
    }
}

/// Returns the rounded sum of two numbers and its rounding error (Knuth's TwoSum algorithm).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    (sum, error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(numbers: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        numbers.iter().for_each(|number| sum.add(*number));
        sum
    }

    proptest! {
        #[test]
        fn the_order_and_the_pages_do_not_matter(
            numbers in prop::collection::vec(-1e15..1e15_f64, 0..40), exponents in prop::collection::vec(-30..30, 40),
            cut in 0_usize..40,
        ) {
            let scaled: Vec<f64> = numbers
                .iter().zip(&exponents).map(|(number, exponent)| number * 10_f64.powi(*exponent)).collect();
            let whole = sum(&scaled).total();
            let reversed: Vec<f64> = scaled.iter().rev().copied().collect();
            prop_assert_eq!(sum(&reversed).total(), whole);
            let (first, second) = scaled.split_at(cut.min(scaled.len()));
            let mut pages = sum(first);
            pages.add_parts(sum(second).parts(), false);
            prop_assert_eq!(pages.total(), whole);
        }
    }

    #[test]
    fn sums_are_correctly_rounded() {
        assert_eq!(sum(&[]).total(), Some(0.0));
        assert_eq!(sum(&[0.1; 10]).total(), Some(1.0));
        assert_eq!(sum(&[1e100, 1.0, -1e100]).total(), Some(1.0));
        assert_eq!(sum(&[1e16, 1.0, 1e-16]).total(), Some(10_000_000_000_000_002.0));
        assert_eq!(sum(&[1e16, 1.0, -1e-16]).total(), Some(1e16));
        assert_eq!(sum(&[-1e16, -1.0, -1e-16]).total(), Some(-10_000_000_000_000_002.0));
        assert_eq!(sum(&[1.0, -1.0]).parts(), [0.0; 0]);
    }

    #[test]
    fn a_sum_above_the_largest_number_is_none() {
        assert_eq!(sum(&[f64::MAX]).total(), Some(f64::MAX));
        assert_eq!(sum(&[f64::MAX, f64::MAX]).total(), None);
        assert_eq!(sum(&[f64::MIN, f64::MIN]).total(), None);
        assert_eq!(sum(&[f64::INFINITY]).total(), None);
        let mut pages = sum(&[1.0]);
        pages.add_parts(&[], true);
        assert!(pages.is_too_large() && pages.total().is_none());
    }
}
