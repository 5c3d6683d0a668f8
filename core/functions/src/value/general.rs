//! The number format `General`.

/// Number of digits that Excel shows of a number in a text.
const DIGITS: usize = 15;
/// Numbers from 10 to this power on are shown with an exponent.
const LARGEST_EXPONENT: i32 = 20;
/// Smaller numbers are shown with an exponent.
const SMALLEST_EXPONENT: i32 = -10;

/// Converts a number to a text with at most 15 significant digits.
pub(crate) fn general_text(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let (digits, exponent) = significant_digits(number, DIGITS);
    let sign = if number < 0.0 { "-" } else { "" };
    if (SMALLEST_EXPONENT..=LARGEST_EXPONENT).contains(&exponent) {
        return format!("{sign}{}", plain(&digits, exponent));
    }
    format!("{sign}{}", scientific(&digits, exponent))
}

/// Returns the digits of the absolute value without trailing zeros, and the exponent of the first.
pub(crate) fn significant_digits(number: f64, digits: usize) -> (String, i32) {
    let text = format!("{:.*e}", digits.saturating_sub(1), number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text.as_str(), "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let trimmed = digits.trim_end_matches('0');
    let digits = if trimmed.is_empty() { "0" } else { trimmed };
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn plain(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("0.{}{digits}", "0".repeat(zeros));
    }
    let integer_digits = usize::try_from(exponent + 1).unwrap_or(1);
    let integer: String =
        digits.chars().chain(std::iter::repeat('0')).take(integer_digits).collect();
    let fraction: String = digits.chars().skip(integer_digits).collect();
    if fraction.is_empty() { integer } else { format!("{integer}.{fraction}") }
}

fn scientific(digits: &str, exponent: i32) -> String {
    let first: String = digits.chars().take(1).collect();
    let rest: String = digits.chars().skip(1).collect();
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}{point}{rest}E{sign}{:02}", exponent.abs())
}
