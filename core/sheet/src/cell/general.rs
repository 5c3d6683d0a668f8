//! The number format `General`.

/// Number format of a cell without an explicit format.
pub const GENERAL: &str = "General";

/// Formats a number as the shortest string that parses to the same number.
#[must_use]
pub fn general(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude >= 1e21 || (magnitude < 1e-6 && magnitude > 0.0) {
        format!("{number:e}")
    } else {
        format!("{number}")
    }
}

/// Rounds a number to 15 significant digits, the precision with which Excel displays numbers. The
/// largest numbers, which would become infinite, are returned unchanged.
pub(super) fn with_displayed_digits(number: f64) -> f64 {
    let rounded = format!("{number:.14e}").parse::<f64>().unwrap_or(number);
    if rounded.is_finite() { rounded } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_15_digits() {
        let texts = [
            (0.1 + 0.2, "0.3"),
            (2.974_999_999_999_999_6, "2.975"),
            (-1.0 / 3.0, "-0.333333333333333"),
            (123_456_789_012_345_680.0, "123456789012346000"),
            (1e-300 * 1.1, "1.1e-300"),
            (f64::MAX, "1.7976931348623157e308"),
            (0.0, "0"),
        ];
        for (number, text) in texts {
            assert_eq!(general(with_displayed_digits(number)), text, "{number}");
        }
    }
}
