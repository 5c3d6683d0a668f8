//! Decimal digits of numbers, and their rounding for display.

/// From this number on, all digits of a number are kept.
const FIRST_LONG_INTEGER: f64 = 1e15;

/// A nonnegative decimal number.
///
/// A number has 15 significant digits, as in Excel, so that 0.1 + 0.2 is exactly 0.3. A number of
/// 10¹⁵ or more has the digits of its shortest form, because exports must not lose the digits of
/// long identifiers. Rounding is half up, on the decimal digits: 1.005 becomes 1.01.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    /// ASCII digits, without zeros at the start and end. Empty for 0.
    digits: Vec<u8>,
    /// Number of digits before the decimal point. Negative if zeros follow the point.
    point: i32,
}

impl Decimal {
    pub(super) fn of(magnitude: f64) -> Self {
        if magnitude < FIRST_LONG_INTEGER {
            return Self::of_15_digits(magnitude);
        }
        Self::of_scientific(&format!("{magnitude:e}"))
    }

    /// A number of 10¹⁵ or more has only 15 significant digits too.
    pub(super) fn of_15_digits(magnitude: f64) -> Self {
        Self::of_scientific(&format!("{magnitude:.14e}"))
    }

    fn of_scientific(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let mut decimal = Self { digits, point: exponent.saturating_add(1) };
        decimal.remove_trailing_zeros();
        decimal
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Number of digits before the decimal point. Not positive for numbers below 1.
    pub(super) fn point(&self) -> i32 {
        self.point
    }

    /// Multiplies by a power of ten.
    pub(super) fn shift(&mut self, exponent: i32) {
        if !self.is_zero() {
            self.point = self.point.saturating_add(exponent);
        }
    }

    pub(super) fn round(&mut self, decimals: usize) {
        let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
        let Ok(kept_digits) = usize::try_from(self.point.saturating_add(decimals)) else {
            self.digits.clear();
            self.point = 0;
            return;
        };
        let Some(first_dropped) = self.digits.get(kept_digits).copied() else { return };
        self.digits.truncate(kept_digits);
        if first_dropped >= b'5' {
            self.increment_last_digit();
        }
        self.remove_trailing_zeros();
    }

    fn increment_last_digit(&mut self) {
        // A 9 becomes a trailing zero, which is not stored.
        while let Some(digit) = self.digits.pop() {
            if digit < b'9' {
                self.digits.push(digit + 1);
                return;
            }
        }
        self.digits.push(b'1');
        self.point = self.point.saturating_add(1);
    }

    fn remove_trailing_zeros(&mut self) {
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    /// Number of digits of the integer part. 0 for numbers below 1.
    pub(super) fn integer_length(&self) -> usize {
        usize::try_from(self.point).unwrap_or(0)
    }

    /// Number of digits after the decimal point.
    pub(super) fn decimal_length(&self) -> usize {
        let digits = i32::try_from(self.digits.len()).unwrap_or(i32::MAX);
        usize::try_from(digits.saturating_sub(self.point)).unwrap_or(0)
    }

    /// Returns a digit of the integer part. Place 0 is the last one.
    pub(super) fn integer_digit(&self, place: usize) -> char {
        match self.integer_length().checked_sub(place.saturating_add(1)) {
            Some(index) => self.digit(index),
            None => '0',
        }
    }

    /// Returns a digit after the decimal point. Index 0 is the first one.
    pub(super) fn decimal_digit(&self, index: usize) -> char {
        let index = i32::try_from(index).unwrap_or(i32::MAX);
        match usize::try_from(self.point.saturating_add(index)) {
            Ok(index) => self.digit(index),
            Err(_) => '0',
        }
    }

    fn digit(&self, index: usize) -> char {
        self.digits.get(index).copied().map_or('0', char::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(magnitude: f64, decimals: usize) -> String {
        let mut decimal = Decimal::of(magnitude);
        decimal.round(decimals);
        let integer = (0..decimal.integer_length().max(1)).rev();
        let integer: String = integer.map(|place| decimal.integer_digit(place)).collect();
        let fraction: String = (0..decimals).map(|index| decimal.decimal_digit(index)).collect();
        format!("{integer}.{fraction}")
    }

    #[test]
    fn rounds_the_decimal_digits_half_up() {
        for (magnitude, decimals, text) in [
            (1.005, 2, "1.01"),
            (2.675, 2, "2.68"),
            (0.5, 0, "1."),
            (1.5, 0, "2."),
            (2.5, 0, "3."),
            (0.49, 0, "0."),
            (0.07, 1, "0.1"),
            (0.04, 1, "0.0"),
            (9.96, 1, "10.0"),
            (0.996, 2, "1.00"),
            (1e-300, 2, "0.00"),
            (0.0, 1, "0.0"),
            (105.0, 0, "105."),
            (0.1 + 0.2, 17, "0.30000000000000000"),
        ] {
            assert_eq!(rounded(magnitude, decimals), text, "{magnitude} with {decimals}");
        }
    }

    #[test]
    fn keeps_15_digits_or_all_digits_of_the_integer_part() {
        assert_eq!(rounded(123_456_789_012_345.67, 2), "123456789012346.00");
        assert_eq!(rounded(1_234_567_890_123_456.0, 0), "1234567890123456.");
        assert_eq!(rounded(12_345_678_901_234_568.0, 1), "12345678901234568.0");
    }
}
