//! Formats the values of cells for display.
//!
//! The supported number formats are `General`, fixed decimals (`0`, `0.0`, `0.00`, …), and dates
//! and times composed of `yyyy`, `mm`, `dd`, `hh`, `mm`, `ss` and separators. A value with any
//! other number format is displayed as `General`.

use std::fmt::Write;

use super::Value;
use super::date::{DateTime, from_serial};

/// Number format of a cell without an explicit format.
pub const GENERAL: &str = "General";
/// Maximum number of decimals in a supported number format. An `f64` has about 15 significant
/// digits.
pub(super) const MAX_DECIMALS: usize = 15;

/// Returns the text that displays `value` in the number format `format`.
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

/// Returns the number of decimals in a number format such as `0`, `0.0` or `0.00`, or `None` for
/// any other number format.
pub(super) fn decimals_of(format: &str) -> Option<usize> {
    if format == "0" {
        return Some(0);
    }
    let decimals = format.strip_prefix("0.")?;
    let has_only_zeros = decimals.bytes().all(|byte| byte == b'0');
    let is_supported = has_only_zeros && (1..=MAX_DECIMALS).contains(&decimals.len());
    if is_supported { Some(decimals.len()) } else { None }
}

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

/// Returns `None` if `format` is not a supported date format.
pub(super) fn date_tokens(format: &str) -> Option<Vec<DateToken>> {
    let mut tokens = Vec::new();
    let mut remaining = format;
    while let Some(first) = remaining.chars().next() {
        let after_repetitions = remaining.trim_start_matches(first);
        let repetitions = remaining.len() - after_repetitions.len();
        let token = match (first, repetitions) {
            ('y', 4) => DateToken::Year,
            ('m', 2) if tokens.contains(&DateToken::Hour) => DateToken::Minute,
            ('m', 2) => DateToken::Month,
            ('d', 2) => DateToken::Day,
            ('h', 2) => DateToken::Hour,
            ('s', 2) => DateToken::Second,
            ('-' | '/' | '.' | ':' | ' ' | 'T', 1) => DateToken::Separator(first),
            _ => return None,
        };
        tokens.push(token);
        remaining = after_repetitions;
    }
    let has_only_separators = tokens.iter().all(|token| matches!(token, DateToken::Separator(_)));
    if has_only_separators { None } else { Some(tokens) }
}

pub(super) fn display_date(date: DateTime, tokens: &[DateToken]) -> String {
    let mut text = String::new();
    for token in tokens {
        // Writing to a `String` cannot fail.
        let _ = match token {
            DateToken::Year => write!(text, "{:04}", date.year),
            DateToken::Month => write!(text, "{:02}", date.month),
            DateToken::Day => write!(text, "{:02}", date.day),
            DateToken::Hour => write!(text, "{:02}", date.hour()),
            DateToken::Minute => write!(text, "{:02}", date.minute()),
            DateToken::Second => write!(text, "{:02}", date.second()),
            DateToken::Separator(separator) => write!(text, "{separator}"),
        };
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
