//! Formats the values of cells for display.
//!
//! Exports display millions of cells, so the most frequent number formats are displayed without
//! the general rules: `General`, fixed decimals (`0`, `0.0`, `0.00`, …), and dates and times
//! composed of `yyyy`, `mm`, `dd`, `hh`, `mm`, `ss` and separators. A [`DisplayFormat`] displays many
//! values in one number format, which it parses at most once.

use std::cell::OnceCell;
use std::fmt::Write;

use super::Value;
use super::date::SplitSerial;
use super::general::{GENERAL, general_of_15_digits, push_general};
use super::number_format::NumberFormat;

/// Maximum number of decimals in a number format of typed numbers. A number has 15 significant
/// digits.
pub(super) const MAX_DECIMALS: usize = 15;

/// Returns the text that displays `value` in the number format `format`. A format that cannot be
/// parsed displays numbers as `General` and text as it is.
#[must_use]
pub fn display(value: &Value, format: &str) -> String {
    let mut text = String::new();
    DisplayFormat::new(format).push_value(value, &mut text);
    text
}

/// Returns the text that displays the result of a formula. In the number format `General`, a number
/// has at most 15 significant digits, as in Excel, so that `=0.1+0.2` displays 0.3.
#[must_use]
pub fn display_result(value: &Value, format: &str) -> String {
    match value {
        Value::Number(number) if format == GENERAL => general_of_15_digits(*number),
        _ => display(value, format),
    }
}

/// Displays values in one number format. A format that cannot be parsed displays numbers as
/// `General` and text as it is.
#[derive(Debug)]
pub struct DisplayFormat<'a> {
    code: &'a str,
    shape: Shape,
    /// `None` if the format cannot be parsed.
    parsed: OnceCell<Option<NumberFormat>>,
}

#[derive(Debug)]
enum Shape {
    General,
    /// Number of decimals, from 0 to `MAX_DECIMALS`.
    Decimals(usize),
    Date(Vec<DateToken>),
    Other,
}

impl<'a> DisplayFormat<'a> {
    /// Prepares a number format, such as `0.00`.
    #[must_use]
    pub fn new(code: &'a str) -> Self {
        let shape = if code == GENERAL {
            Shape::General
        } else if let Some(decimals) = decimals_of(code) {
            Shape::Decimals(decimals)
        } else {
            date_tokens(code).map_or(Shape::Other, Shape::Date)
        };
        Self { code, shape, parsed: OnceCell::new() }
    }

    /// Returns the number format, as it was passed to [`DisplayFormat::new`].
    #[must_use]
    pub fn code(&self) -> &'a str {
        self.code
    }

    /// Appends the text that displays a value. (Writing to a `String` cannot fail.)
    pub fn push_value(&self, value: &Value, text: &mut String) {
        match value {
            Value::Empty => {}
            Value::Number(number) => self.push_number(*number, text),
            Value::Text(content) => self.push_text(content, text),
            Value::Bool(boolean) => text.push_str(if *boolean { "TRUE" } else { "FALSE" }),
            Value::Error(code) => {
                let _ = write!(text, "{code}");
            }
        }
    }

    /// Appends the text that displays a number.
    pub fn push_number(&self, number: f64, text: &mut String) {
        let is_displayed = match &self.shape {
            Shape::General => {
                push_general(number, text);
                true
            }
            Shape::Decimals(decimals) if is_far_from_a_tie(number.abs(), *decimals) => {
                push_decimals(number, *decimals, text);
                true
            }
            Shape::Date(tokens) => push_date(number, tokens, text).is_some(),
            Shape::Decimals(_) | Shape::Other => false,
        };
        if is_displayed {
            return;
        }
        match self.parsed() {
            Some(parsed) => text.push_str(&parsed.display(number)),
            None => push_general(number, text),
        }
    }

    /// Appends the text that displays a text. Text has a section of its own in formats with `@` or
    /// with four sections.
    pub fn push_text(&self, content: &str, text: &mut String) {
        const SEPARATORS_OF_FOUR_SECTIONS: usize = 3;
        let may_format_text = matches!(self.shape, Shape::Other)
            && self.code != "@"
            && (self.code.contains('@')
                || self.code.matches(';').count() >= SEPARATORS_OF_FOUR_SECTIONS);
        match if may_format_text { self.parsed() } else { None } {
            Some(parsed) => text.push_str(&parsed.display_text(content)),
            None => text.push_str(content),
        }
    }

    fn parsed(&self) -> Option<&NumberFormat> {
        self.parsed.get_or_init(|| NumberFormat::parse(self.code).ok()).as_ref()
    }
}

/// The number must be far from a tie.
fn push_decimals(number: f64, decimals: usize, text: &mut String) {
    let start = text.len();
    // Writing to a `String` cannot fail.
    let _ = write!(text, "{:.decimals$}", number.abs());
    let digits = text.get(start..).unwrap_or_default();
    let is_zero = digits.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    // A number that is rounded to zero has no sign. A negative zero is displayed as it was typed.
    if number.is_sign_negative() && (number == 0.0 || !is_zero) {
        text.insert(start, '-');
    }
}

/// Returns whether the number is rounded alike in binary, which is several times as fast, and as a
/// decimal number of 15 digits. Below 10¹¹, the 15 digits and the multiplication change less than a
/// thousandth of the last displayed digit.
fn is_far_from_a_tie(magnitude: f64, decimals: usize) -> bool {
    const POWERS: [f64; MAX_DECIMALS + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let scaled = POWERS.get(decimals).map_or(f64::INFINITY, |power| magnitude * power);
    scaled < 1e11 && (scaled.fract() - 0.5).abs() > 1e-3
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

/// Returns `None` if `format` has other parts than those of [`DateToken`].
pub(super) fn date_tokens(format: &str) -> Option<Vec<DateToken>> {
    let mut tokens = Vec::new();
    let mut last_unit = None;
    let mut remaining = format;
    while let Some(first) = remaining.chars().next() {
        let after_repetitions = remaining.trim_start_matches(first);
        let repetitions = remaining.len() - after_repetitions.len();
        let token = match (first, repetitions) {
            ('y', 4) => DateToken::Year,
            ('m', 2) if last_unit == Some(DateToken::Hour) => DateToken::Minute,
            ('m', 2) => DateToken::Month,
            ('d', 2) => DateToken::Day,
            ('h', 2) => DateToken::Hour,
            // In `mm:ss`, the minutes are before the seconds.
            ('s', 2) if last_unit == Some(DateToken::Month) => return None,
            ('s', 2) => DateToken::Second,
            ('-' | '/' | '.' | ':' | ' ' | 'T', 1) => DateToken::Separator(first),
            _ => return None,
        };
        if !matches!(token, DateToken::Separator(_)) {
            last_unit = Some(token);
        }
        tokens.push(token);
        remaining = after_repetitions;
    }
    last_unit.map(|_| tokens)
}

/// Returns `None`, and appends nothing, if the number is not a date.
fn push_date(number: f64, tokens: &[DateToken], text: &mut String) -> Option<()> {
    let is_time = |token: &DateToken| {
        matches!(token, DateToken::Hour | DateToken::Minute | DateToken::Second)
    };
    // A date without a time is only corrected for the imprecision of serials.
    let second_decimals = if tokens.iter().any(is_time) { 0 } else { 3 };
    let split = SplitSerial::of(number, second_decimals)?;
    let date = split.date()?;
    for token in tokens {
        // Writing to a `String` cannot fail.
        let _ = match token {
            DateToken::Year => write!(text, "{:04}", date.year),
            DateToken::Month => write!(text, "{:02}", date.month),
            DateToken::Day => write!(text, "{:02}", date.day),
            DateToken::Hour => write!(text, "{:02}", split.hour()),
            DateToken::Minute => write!(text, "{:02}", split.minute()),
            DateToken::Second => write!(text, "{:02}", split.second()),
            DateToken::Separator(separator) => write!(text, "{separator}"),
        };
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            (1.005, "0.00", "1.01"),
            (-0.001, "0.00", "0.00"),
            (-0.0, "0.00", "-0.00"),
            (0.0, "0.0", "0.0"),
            (1_234_567_890_123_456.0, "0", "1234567890123456"),
            (40_909.0, "yyyy/mm/dd", "2012/01/01"),
            (40_909.5, "yyyy-mm-dd hh:mm:ss", "2012-01-01 12:00:00"),
            (40_909.5, "hh:mm dd.mm.yyyy", "12:00 01.01.2012"),
            (40_909.999_999, "yyyy-mm-dd", "2012-01-01"),
            (0.5, "yyyy-mm-dd", "0.5"),
            (0.5, "hh:mm", "12:00"),
            (12.0, "#,##0 \"pieces\"", "12 pieces"),
            (12.0, "--", "--"),
            (12.0, "", "12"),
            (12.0, "nonsense", "12"),
        ] {
            assert_eq!(display(&Value::Number(number), format), text, "{number} as {format}");
        }
    }

    #[test]
    fn text_under_formats() {
        for (format, text) in [
            ("General", "x"),
            ("0.00", "x"),
            ("@", "x"),
            ("\"Mr. \"@", "Mr. x"),
            ("0;-0;0;\"text\"", "text"),
            (";;;", ""),
            ("nonsense@", "x"),
        ] {
            assert_eq!(display(&Value::Text("x".into()), format), text, "{format}");
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

    proptest! {
        #[test]
        fn frequent_formats_are_displayed_as_if_they_were_parsed(
            number in prop_oneof![any::<f64>(), -3e6..3e6, -1e12..1e12, 0.0..100.0, (-9_999..9_999).prop_map(|n| f64::from(n) / 1000.0)],
            format in prop_oneof!["0|0\\.0{1,15}", "(yyyy|mm|dd|hh|ss|[-/.: T]){1,8}"],
        ) {
            prop_assume!(number.is_finite());
            let parsed = NumberFormat::parse(&format).map(|it| it.display(number));
            if decimals_of(&format).is_some() || date_tokens(&format).is_some() {
                prop_assert_eq!(Ok(display(&Value::Number(number), &format)), parsed);
            }
        }
    }
}
