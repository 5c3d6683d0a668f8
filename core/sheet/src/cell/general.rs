//! The number format `General`.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use super::decimal::Decimal;

/// Number format of a cell without an explicit format.
pub const GENERAL: &str = "General";

/// Formats a number as the shortest string that parses to the same number.
#[must_use]
pub fn general(number: f64) -> String {
    let mut text = String::new();
    push_general(number, &mut text);
    text
}

/// Appends the text of [`general`].
pub(super) fn push_general(number: f64, text: &mut String) {
    let magnitude = number.abs();
    // Writing to a `String` cannot fail.
    let _ = if magnitude >= 1e21 || (magnitude < 1e-6 && magnitude > 0.0) {
        write!(text, "{number:e}")
    } else {
        write!(text, "{number}")
    };
}

/// Formats a number with at most 15 significant digits, as Excel does when it converts numbers to
/// texts. It differs from [`general`] where 15 digits do not distinguish a number from others, and
/// writes exponents as in `1.5E+21`.
#[must_use]
pub fn general_of_15_digits(number: f64) -> String {
    /// Exponents of numbers that are written without an exponent.
    const PLAIN_EXPONENTS: RangeInclusive<i32> = -10..=20;
    let mut decimal = Decimal::of_15_digits(number.abs());
    if decimal.is_zero() {
        return "0".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let exponent = decimal.point().saturating_sub(1);
    if PLAIN_EXPONENTS.contains(&exponent) {
        return format!("{sign}{}", plain(&decimal));
    }
    decimal.shift(exponent.saturating_neg());
    let sign_of_exponent = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{}E{sign_of_exponent}{:02}", plain(&decimal), exponent.unsigned_abs())
}

fn plain(decimal: &Decimal) -> String {
    let places = (0..decimal.integer_length().max(1)).rev();
    let mut text: String = places.map(|place| decimal.integer_digit(place)).collect();
    if decimal.decimal_length() > 0 {
        text.push('.');
    }
    text.extend((0..decimal.decimal_length()).map(|index| decimal.decimal_digit(index)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_at_most_15_digits() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (-1.5, "-1.5"),
            (0.1 + 0.2, "0.3"),
            (1_234_567_890_123_456.0, "1234567890123460"),
            (1e20, "100000000000000000000"),
            (1e21, "1E+21"),
            (-1.25e100, "-1.25E+100"),
            (1e-10, "0.0000000001"),
            (1.5e-11, "1.5E-11"),
        ] {
            assert_eq!(general_of_15_digits(number), text);
        }
    }
}
