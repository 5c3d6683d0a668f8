//! Logarithmic axes.

/// An axis that maps values to pixels by their logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LogAxis {
    /// Decimal logarithms of the first and the last value.
    first: f64,
    last: f64,
    first_pixel: f64,
    last_pixel: f64,
}

impl LogAxis {
    /// Creates an axis from the smallest to the largest value. Returns `None` without values.
    pub(super) fn tight(
        values: impl Iterator<Item = f64>,
        first_pixel: f64,
        last_pixel: f64,
    ) -> Option<Self> {
        let mut logarithms = None;
        for value in values.filter(|value| *value > 0.0) {
            let (first, last) = logarithms.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
            logarithms = Some((value.log10().min(first), value.log10().max(last)));
        }
        let (first, last) = logarithms?;
        Some(Self { first, last, first_pixel, last_pixel })
    }

    /// Creates an axis from a power of ten to another one. Returns `None` without values above zero.
    pub(super) fn of_decades(
        values: impl Iterator<Item = f64>,
        first_pixel: f64,
        last_pixel: f64,
    ) -> Option<Self> {
        let tight = Self::tight(values, first_pixel, last_pixel)?;
        let first = tight.first.floor();
        Some(Self { first, last: tight.last.ceil().max(first + 1.0), ..tight })
    }

    /// Returns the pixel of a value. If the axis has only one value, its pixel is in the middle.
    pub(super) fn place(&self, value: f64) -> f64 {
        let fraction = match self.last - self.first {
            0.0 => 0.5,
            decades => (value.log10() - self.first) / decades,
        };
        self.first_pixel + (self.last_pixel - self.first_pixel) * fraction
    }

    /// Returns the powers of ten on the axis.
    pub(super) fn decades(&self) -> Vec<f64> {
        let mut decades = Vec::new();
        let mut exponent = self.first.ceil();
        while exponent <= self.last {
            decades.push(10_f64.powf(exponent));
            exponent += 1.0;
        }
        decades
    }
}

/// Returns both ends of a line of proportional growth. The line begins in the lower left corner and
/// ends at the upper or at the right edge.
pub(super) fn diagonal(across: &LogAxis, up: &LogAxis) -> ((f64, f64), (f64, f64)) {
    let decades = (across.last - across.first).min(up.last - up.first);
    let end_x = across.place(10_f64.powf(across.first + decades));
    let end_y = up.place(10_f64.powf(up.first + decades));
    ((across.first_pixel, up.first_pixel), (end_x, end_y))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-6, "{one} {other}");
    }

    #[test]
    fn values_are_placed_by_their_logarithm() {
        let axis = LogAxis::tight([10.0, 1_000.0].into_iter(), 0.0, 200.0).unwrap();
        assert_near(axis.place(100.0), 100.0);
        assert_eq!(axis.decades().len(), 3);
        let upwards = LogAxis::of_decades([0.03, 2.0, 0.0].into_iter(), 300.0, 0.0).unwrap();
        assert_near(upwards.place(0.01), 300.0);
        assert_near(upwards.place(10.0), 0.0);
        assert_near(upwards.place(1.0), 100.0);
        assert_eq!(LogAxis::of_decades([0.0].into_iter(), 0.0, 1.0), None);
        let one = LogAxis::tight([5.0].into_iter(), 0.0, 200.0).unwrap();
        assert_near(one.place(5.0), 100.0);
        assert_eq!(LogAxis::of_decades([10.0].into_iter(), 0.0, 1.0).unwrap().decades().len(), 2);
    }

    #[test]
    fn proportional_growth_ends_at_an_edge() {
        let across = LogAxis::tight([10.0, 1_000.0].into_iter(), 0.0, 200.0).unwrap();
        let tall = LogAxis::of_decades([1.0, 10_000.0].into_iter(), 400.0, 0.0).unwrap();
        let ((x1, y1), (x2, y2)) = diagonal(&across, &tall);
        assert!(x1 == 0.0 && y1 == 400.0);
        assert_near(x2, 200.0);
        assert_near(y2, 200.0);
        let flat = LogAxis::of_decades([1.0, 10.0].into_iter(), 400.0, 0.0).unwrap();
        let (_, (x2, y2)) = diagonal(&across, &flat);
        assert_near(x2, 100.0);
        assert_near(y2, 0.0);
    }
}
