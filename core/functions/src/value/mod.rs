//! Conversion and comparison of values, dates and number formats.

pub(crate) mod calendar;
pub(crate) mod day_count;
pub(crate) mod number_format;
mod text_date;
mod text_number;
pub(crate) mod wildcard;

use std::cmp::Ordering;

use cellar_sheet::cell::{ErrorCode, Value};

pub(crate) use cellar_sheet::cell::general_of_15_digits as general_text;
pub(crate) use text_date::{DateRules, parse_date_and_time};
pub(crate) use text_number::parse_number;

use crate::number::to_15_digits;
use crate::operand::{Outcome, Stop};

/// Converts a value to a number. In dates such as 2/3/2024, the month comes first. Dates without a
/// year are rejected.
pub(crate) fn to_number(value: &Value) -> Outcome<f64> {
    to_number_by(value, DateRules::default())
}

/// Converts a value to a number, like operators and most functions. `rules` specifies how dates in
/// text are converted.
pub(crate) fn to_number_by(value: &Value, rules: DateRules) -> Outcome<f64> {
    match value {
        Value::Empty => Ok(0.0),
        Value::Number(number) => Ok(*number),
        Value::Bool(value) => Ok(f64::from(u8::from(*value))),
        Value::Text(text) => parse_number(text, rules).ok_or(Stop::Error(ErrorCode::Value)),
        Value::Error(code) => Err((*code).into()),
    }
}

/// Converts a value to a string.
pub(crate) fn to_text(value: &Value) -> Outcome<String> {
    Ok(match value {
        Value::Empty => String::new(),
        Value::Number(number) => general_text(*number),
        Value::Bool(true) => "TRUE".to_owned(),
        Value::Bool(false) => "FALSE".to_owned(),
        Value::Text(text) => text.clone(),
        Value::Error(code) => return Err((*code).into()),
    })
}

/// Converts a value to a boolean.
pub(crate) fn to_bool(value: &Value) -> Outcome<bool> {
    match value {
        Value::Empty => Ok(false),
        Value::Number(number) => Ok(*number != 0.0),
        Value::Bool(value) => Ok(*value),
        Value::Text(text) => bool_of_text(text).ok_or(Stop::Error(ErrorCode::Value)),
        Value::Error(code) => Err((*code).into()),
    }
}

pub(crate) fn bool_of_text(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("TRUE") {
        Some(true)
    } else if text.eq_ignore_ascii_case("FALSE") {
        Some(false)
    } else {
        None
    }
}

/// Returns the rank of the type of a value in the sort order: numbers, strings, booleans, error
/// values, empty cells.
pub(crate) fn type_rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::Text(_) => 1,
        Value::Bool(_) => 2,
        Value::Error(_) => 3,
        Value::Empty => 4,
    }
}

/// Compares two values, like the comparison operators. An empty cell equals 0, the empty string and
/// FALSE.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Empty, Value::Empty) => Ordering::Equal,
        (Value::Empty, other) => compare(&empty_like(other), other),
        (other, Value::Empty) => compare(other, &empty_like(other)),
        _ => compare_filled(left, right),
    }
}

fn empty_like(other: &Value) -> Value {
    match other {
        Value::Text(_) => Value::Text(String::new()),
        Value::Bool(_) => Value::Bool(false),
        _ => Value::Number(0.0),
    }
}

/// Compares two values. An empty cell equals only another empty cell.
pub(crate) fn compare_filled(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(*left, *right),
        (Value::Text(left), Value::Text(right)) => compare_texts(left, right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Error(left), Value::Error(right)) => left.number().cmp(&right.number()),
        _ => type_rank(left).cmp(&type_rank(right)),
    }
}

/// Compares two numbers, rounded to 15 significant digits.
pub(crate) fn compare_numbers(left: f64, right: f64) -> Ordering {
    const CLOSE: f64 = 1e-14;
    let difference = (left - right).abs();
    if difference > left.abs() * CLOSE || difference == 0.0 {
        return left.partial_cmp(&right).unwrap_or(Ordering::Equal);
    }
    to_15_digits(left).partial_cmp(&to_15_digits(right)).unwrap_or(Ordering::Equal)
}

/// Compares two strings, ignoring case.
pub(crate) fn compare_texts(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        let left = left.bytes().map(|byte| byte.to_ascii_lowercase());
        return left.cmp(right.bytes().map(|byte| byte.to_ascii_lowercase()));
    }
    left.chars().flat_map(char::to_lowercase).cmp(right.chars().flat_map(char::to_lowercase))
}

/// Returns whether two strings are equal, ignoring case.
pub(crate) fn equal_texts(left: &str, right: &str) -> bool {
    compare_texts(left, right).is_eq()
}
