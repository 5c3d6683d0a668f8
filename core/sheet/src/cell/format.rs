//! Formats values as displayed text.
//!
//! Supported formats: `General`, fixed decimals (`0`, `0.0`, `0.00`, …), and dates and times
//! composed of `yyyy`, `mm`, `dd`, `hh`, `mm`, `ss` and separators. Other formats are stored
//! unchanged and displayed as `General`.

use std::fmt::Write;

use super::Value;
use super::date::{DateTime, from_serial};

/// Number format of a cell without an explicit format.
pub const GENERAL: &str = "General";
/// Maximum number of decimals in a supported format. An `f64` has at most 15 significant decimal
/// digits.
pub(super) const MAX_DECIMALS: usize = 15;

/// Returns the text displayed for `value` with the number format `format`.
#[must_use]
pub fn display(value: &Value, format: &str) -> String {
    match value {
        Value::Empty => String::new(),
        Value::Number(number) => display_number(*number, format),
        Value::Text(text) => text.clone(),
        Value::Bool(true) => "TRUE".to_owned(),
        Value::Bool(false) => "FALSE".to_owned(),
        Value::Error(code) => code.to_string(),
    }
}

fn display_number(number: f64, format: &str) -> String {
    if format == GENERAL {
        return general(number);
    }
    if let Some(decimals) = decimals_of(format) {
        return format!("{number:.decimals$}");
    }
    date_tokens(format)
        .and_then(|tokens| Some(display_date(from_serial(number)?, &tokens)))
        .unwrap_or_else(|| general(number))
}

/// Formats a number as the shortest text that parses to the same number.
#[must_use]
pub fn general(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude >= 1e21 || (magnitude < 1e-6 && magnitude > 0.0) {
        format!("{number:e}")
    } else {
        format!("{number}")
    }
}

/// Returns the number of decimals in a format such as `0`, `0.0` or `0.00`, or `None` for any other
/// format.
pub(super) fn decimals_of(format: &str) -> Option<usize> {
    let decimals = match format.strip_prefix('0')?.strip_prefix('.') {
        None => return (format == "0").then_some(0),
        Some(decimals) => decimals,
    };
    let is_all_zeros = !decimals.is_empty() && decimals.bytes().all(|byte| byte == b'0');
    (is_all_zeros && decimals.len() <= MAX_DECIMALS).then_some(decimals.len())
}

/// A token of a date format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateToken {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Separator(char),
}

/// Parses a date format into tokens. Returns `None` for any other format.
pub(super) fn date_tokens(format: &str) -> Option<Vec<DateToken>> {
    let mut tokens = Vec::new();
    let mut remaining = format;
    while let Some(first) = remaining.chars().next() {
        let repetitions = remaining.len() - remaining.trim_start_matches(first).len();
        let (token, length) = match (first, repetitions) {
            ('y', 4) => (DateToken::Year, 4),
            ('m', 2) if tokens.contains(&DateToken::Hour) => (DateToken::Minute, 2),
            ('m', 2) => (DateToken::Month, 2),
            ('d', 2) => (DateToken::Day, 2),
            ('h', 2) => (DateToken::Hour, 2),
            ('s', 2) => (DateToken::Second, 2),
            ('-' | '/' | '.' | ':' | ' ' | 'T', 1) => (DateToken::Separator(first), 1),
            _ => return None,
        };
        tokens.push(token);
        remaining = remaining.get(length..)?;
    }
    let has_field = tokens.iter().any(|token| !matches!(token, DateToken::Separator(_)));
    has_field.then_some(tokens)
}

pub(super) fn display_date(date: DateTime, tokens: &[DateToken]) -> String {
    let mut text = String::new();
    for token in tokens {
        let (number, width) = match token {
            DateToken::Year => (date.year, 4),
            DateToken::Month => (date.month, 2),
            DateToken::Day => (date.day, 2),
            DateToken::Hour => (date.second_of_day / 3_600, 2),
            DateToken::Minute => (date.second_of_day / 60 % 60, 2),
            DateToken::Second => (date.second_of_day % 60, 2),
            DateToken::Separator(separator) => {
                text.push(*separator);
                continue;
            }
        };
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{number:0width$}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_under_formats() {
        for (number, format, text) in [
            (12.0, "General", "12"),
            (-0.25, "General", "-0.25"),
            (1e300, "General", "1e300"),
            (1e-9, "General", "1e-9"),
            (12.0, "0", "12"),
            (12.8, "0.00", "12.80"),
            (0.0, "0.0", "0.0"),
            (40_909.0, "yyyy/mm/dd", "2012/01/01"),
            (40_909.5, "yyyy-mm-dd hh:mm:ss", "2012-01-01 12:00:00"),
            (0.5, "yyyy-mm-dd", "0.5"),
            (12.0, "#,##0 \"pieces\"", "12"),
            (12.0, "--", "12"),
            (12.0, "", "12"),
        ] {
            assert_eq!(display(&Value::Number(number), format), text, "{number} as {format}");
        }
    }

    #[test]
    fn limits_decimals() {
        let format = |decimals| format!("0.{}", "0".repeat(decimals));
        assert_eq!(decimals_of(&format(MAX_DECIMALS)), Some(MAX_DECIMALS));
        assert_eq!(decimals_of(&format(MAX_DECIMALS + 1)), None);
        for other in ["0.", "00", "0.0x", ".0", "1.0"] {
            assert_eq!(decimals_of(other), None);
        }
    }
}
