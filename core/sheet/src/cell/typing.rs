//! Converts typed text to values and formulas. Text becomes a number, date or boolean only if the
//! value is displayed as exactly the same text. Codes such as `0E8` and `007` therefore remain text.

use std::ops::RangeInclusive;

use super::date::{DateTime, SECONDS_PER_HOUR, SECONDS_PER_MINUTE, to_serial};
use super::format::{DateToken, MAX_DECIMALS, date_tokens, display};
use super::general::GENERAL;
use super::value::Value;

/// The recognized date formats. All of them start with the year, because the order of day and month
/// is ambiguous otherwise.
const DATE_FORMATS: [&str; 4] =
    ["yyyy-mm-dd", "yyyy/mm/dd", "yyyy-mm-dd hh:mm:ss", "yyyy-mm-ddThh:mm:ss"];

/// A recognized value or formula, and the number format in which the value is displayed as it was
/// typed.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedText {
    pub value: Value,
    /// Formula, starting with `=`. Its value is [`Value::Empty`].
    pub formula: Option<String>,
    /// Number format, or `None` for `General`.
    pub format: Option<String>,
}

impl TypedText {
    /// Creates a value without a formula, displayed in the number format `General`.
    #[must_use]
    pub fn of_value(value: Value) -> Self {
        Self { value, formula: None, format: None }
    }
}

/// Converts a text that was typed into a cell. A text that starts with `=` is a formula, whose
/// syntax is not checked here. Any other text is converted by [`typed_or_text`].
#[must_use]
pub fn typed_cell(text: &str) -> TypedText {
    if !text.starts_with('=') {
        return typed_or_text(text);
    }
    TypedText { value: Value::Empty, formula: Some(text.to_owned()), format: None }
}

/// Recognizes a number, date or boolean that is displayed exactly as `text`.
#[must_use]
pub fn recognise(text: &str) -> Option<TypedText> {
    match text {
        "TRUE" => {
            return Some(TypedText::of_value(Value::Bool(true)));
        }
        "FALSE" => {
            return Some(TypedText::of_value(Value::Bool(false)));
        }
        _ => {}
    }
    recognise_number(text).or_else(|| recognise_date(text))
}

/// Converts typed text to a number, date, boolean or error value. Text that is none of these
/// remains text. Empty text becomes [`Value::Empty`].
#[must_use]
pub fn typed_or_text(text: &str) -> TypedText {
    if text.is_empty() {
        return TypedText::of_value(Value::Empty);
    }
    if let Some(typed) = recognise(text) {
        return typed;
    }
    let value = match text.parse() {
        Ok(code) => Value::Error(code),
        Err(_) => Value::Text(text.to_owned()),
    };
    TypedText::of_value(value)
}

fn recognise_number(text: &str) -> Option<TypedText> {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let has_only_decimal_characters =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    if !has_digit || !has_only_decimal_characters {
        return None;
    }
    let value = Value::Number(text.parse().ok()?);
    if display(&value, GENERAL) == text {
        return Some(TypedText::of_value(value));
    }
    let (_, decimals) = text.split_once('.')?;
    if decimals.is_empty() || decimals.len() > MAX_DECIMALS {
        return None;
    }
    let fixed_decimals_format = format!("0.{}", "0".repeat(decimals.len()));
    if display(&value, &fixed_decimals_format) != text {
        return None;
    }
    Some(TypedText { format: Some(fixed_decimals_format), ..TypedText::of_value(value) })
}

fn recognise_date(text: &str) -> Option<TypedText> {
    DATE_FORMATS.iter().find_map(|format| {
        let serial = to_serial(parse_date(text, &date_tokens(format)?)?)?;
        let value = Value::Number(serial);
        if display(&value, format) != text {
            return None;
        }
        Some(TypedText { format: Some((*format).to_owned()), ..TypedText::of_value(value) })
    })
}

fn parse_date(text: &str, tokens: &[DateToken]) -> Option<DateTime> {
    let mut date = DateTime { year: 0, month: 0, day: 0, second_of_day: 0 };
    let mut remaining_text = text;
    for token in tokens {
        match token {
            DateToken::Separator(separator) => {
                remaining_text = remaining_text.strip_prefix(*separator)?;
            }
            DateToken::Year => date.year = take_number(&mut remaining_text, 4, 0..=9_999)?,
            DateToken::Month => date.month = take_number(&mut remaining_text, 2, 0..=99)?,
            DateToken::Day => date.day = take_number(&mut remaining_text, 2, 0..=99)?,
            DateToken::Hour => {
                let hour = take_number(&mut remaining_text, 2, 0..=23)?;
                date.second_of_day += hour * SECONDS_PER_HOUR;
            }
            DateToken::Minute => {
                let minute = take_number(&mut remaining_text, 2, 0..=59)?;
                date.second_of_day += minute * SECONDS_PER_MINUTE;
            }
            DateToken::Second => {
                date.second_of_day += take_number(&mut remaining_text, 2, 0..=59)?;
            }
        }
    }
    if remaining_text.is_empty() { Some(date) } else { None }
}

/// Removes a number of `digit_count` digits from the start of `remaining_text` and returns it.
/// Returns `None` if there are too few digits or the number is not in `allowed_range`.
fn take_number(
    remaining_text: &mut &str,
    digit_count: usize,
    allowed_range: RangeInclusive<i64>,
) -> Option<i64> {
    let (digits, text_after) = remaining_text.split_at_checked(digit_count)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    *remaining_text = text_after;
    digits.parse().ok().filter(|number| allowed_range.contains(number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn typed_text_always_shows_as_the_text(text in "[-+0-9.eE/: TRUEFALS#N]{0,20}|\\PC{0,20}") {
            let typed = typed_or_text(&text);
            prop_assert_eq!(display(&typed.value, typed.format.as_deref().unwrap_or(GENERAL)), text);
        }

        #[test]
        fn shortest_numbers_are_numbers(number in -1e15..1e15_f64) {
            let text = super::super::general(number);
            // Numbers below 1e-6 are displayed with an exponent. Text with an exponent is not
            // recognized.
            prop_assume!(!text.contains('e'));
            prop_assert_eq!(recognise(&text).unwrap().value, Value::Number(number));
        }
    }

    #[test]
    fn recognizes_numbers_dates_and_booleans() {
        for (text, value, format) in [
            ("12", Value::Number(12.0), None),
            ("-89.23450472", Value::Number(-89.234_504_72), None),
            ("0.0", Value::Number(0.0), Some("0.0")),
            ("12.80", Value::Number(12.8), Some("0.00")),
            ("TRUE", Value::Bool(true), None),
            ("2012/01/01", Value::Number(40_909.0), Some("yyyy/mm/dd")),
            ("2006-01-01", Value::Number(38_718.0), Some("yyyy-mm-dd")),
            ("2012-01-01T12:00:00", Value::Number(40_909.5), Some("yyyy-mm-ddThh:mm:ss")),
        ] {
            let format = format.map(str::to_owned);
            assert_eq!(recognise(text), Some(TypedText { value, formula: None, format }), "{text}");
        }
    }

    #[test]
    fn text_that_starts_with_an_equals_sign_is_a_formula() {
        let formula = typed_cell("=SUM(A1:A3)");
        assert_eq!((formula.value, formula.format), (Value::Empty, None));
        assert_eq!(formula.formula.as_deref(), Some("=SUM(A1:A3)"));
        for text in [" =A1", "'=A1", "A1", "2.50", ""] {
            assert_eq!(typed_cell(text), typed_or_text(text), "{text}");
        }
        assert_eq!(typed_or_text("=A1").value, Value::Text("=A1".to_owned()));
    }

    #[test]
    fn keeps_other_text() {
        for text in [
            "0E8",
            "007",
            "+5",
            "1e5",
            "1,000",
            "NaN",
            "inf",
            "-",
            ".",
            "1.",
            ".5",
            "--1",
            "1-2",
            "true",
            "True",
            "12345678901234567890",
            "2012/02/30",
            "2012/1/1",
            "01/02/2012",
            "2012-01-01T24:00:00",
            " 1",
            "1 ",
            "1899-12-31",
            "0.1000000000000000055511",
        ] {
            assert_eq!(recognise(text), None, "{text}");
            assert_eq!(typed_or_text(text).value, Value::Text(text.to_owned()));
        }
    }
}
