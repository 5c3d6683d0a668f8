//! Parses filter patterns. Rejects invalid and unsupported patterns.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::pattern::{Comparison, Condition, Field, Pattern};
use crate::error::FilterError;

/// Matches Lambda's limit.
pub(super) const MAX_PATTERN_BYTES: usize = 4_096;
/// Matches Lambda's default quota.
pub(super) const MAX_FILTERS: usize = 5;
pub(super) const MAX_NESTING_DEPTH: usize = 32;

/// Number of comparisons that a numeric filter condition may have.
const PERMITTED_COMPARISONS: RangeInclusive<usize> = 1..=2;

const OR: &str = "$or";

fn filter_error<T>(path: &str, why: impl Into<String>) -> Result<T, FilterError> {
    let path = if path.is_empty() { "the pattern" } else { path };
    Err(FilterError { path: path.to_owned(), why: why.into() })
}

pub(super) fn parse_filters(criteria: Option<&Value>) -> Result<Vec<Pattern>, FilterError> {
    let Some(criteria) = criteria else { return Ok(Vec::new()) };
    let Some(filters) = criteria.get("Filters").and_then(Value::as_array) else {
        return filter_error("FilterCriteria", "Filters is not a list");
    };
    if filters.len() > MAX_FILTERS {
        return filter_error(
            "FilterCriteria",
            format!("there are {} filters; at most {MAX_FILTERS} are allowed", filters.len()),
        );
    }
    let mut patterns = Vec::new();
    for filter in filters {
        let Some(pattern_text) = filter.get("Pattern").and_then(Value::as_str) else {
            return filter_error("FilterCriteria", "a filter has no Pattern");
        };
        patterns.push(parse_pattern_text(pattern_text)?);
    }
    Ok(patterns)
}

fn parse_pattern_text(pattern_text: &str) -> Result<Pattern, FilterError> {
    if pattern_text.len() > MAX_PATTERN_BYTES {
        return filter_error(
            "",
            format!(
                "the pattern is {} bytes long; at most {MAX_PATTERN_BYTES} are allowed",
                pattern_text.len()
            ),
        );
    }
    match serde_json::from_str(pattern_text) {
        Ok(Value::Object(fields)) => parse_pattern("", &fields, 0),
        Ok(_) => filter_error("", "it is not an object"),
        Err(error) => filter_error("", format!("it is not JSON: {error}")),
    }
}

fn parse_pattern(
    path: &str,
    fields: &Map<String, Value>,
    depth: usize,
) -> Result<Pattern, FilterError> {
    if depth >= MAX_NESTING_DEPTH {
        return filter_error(
            path,
            format!("the pattern is nested more than {MAX_NESTING_DEPTH} levels deep"),
        );
    }
    if fields.is_empty() {
        return filter_error(path, "the pattern is an empty object, which matches no record");
    }
    let mut pattern = Pattern { fields: Vec::new(), alternatives: Vec::new() };
    for (name, value) in fields {
        let field_path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if name == OR {
            pattern.alternatives.push(parse_alternatives(&field_path, value, depth)?);
        } else {
            pattern.fields.push((name.clone(), parse_field(&field_path, value, depth)?));
        }
    }
    Ok(pattern)
}

fn parse_alternatives(
    path: &str,
    value: &Value,
    depth: usize,
) -> Result<Vec<Pattern>, FilterError> {
    let branches = value.as_array().map(Vec::as_slice).unwrap_or_default();
    if branches.len() < 2 {
        return filter_error(path, "`$or` must be a list of at least two patterns");
    }
    let mut patterns = Vec::new();
    for branch in branches {
        let Value::Object(fields) = branch else {
            return filter_error(path, "each item must be an object");
        };
        patterns.push(parse_pattern(path, fields, depth + 1)?);
    }
    Ok(patterns)
}

fn parse_field(path: &str, value: &Value, depth: usize) -> Result<Field, FilterError> {
    match value {
        Value::Object(fields) => parse_pattern(path, fields, depth + 1).map(Field::Nested),
        Value::Array(items) if items.is_empty() => filter_error(path, "the list is empty"),
        Value::Array(items) => {
            let conditions: Result<_, _> =
                items.iter().map(|item| parse_condition(path, item)).collect();
            Ok(Field::Value(conditions?))
        }
        _ => filter_error(path, "the conditions on a value must be a list, such as [\"x\"]"),
    }
}

fn parse_condition(path: &str, value: &Value) -> Result<Condition, FilterError> {
    let operators = match value {
        Value::Object(operators) => operators,
        Value::Array(_) => return filter_error(path, "it is a list in a list"),
        plain_value => return Ok(Condition::Equals(plain_value.clone())),
    };
    let mut operators = operators.iter();
    let (Some((operator, operand)), None) = (operators.next(), operators.next()) else {
        return filter_error(path, "a condition must have exactly one operator");
    };
    match (operator.as_str(), operand) {
        ("prefix", Value::String(text)) => Ok(Condition::Prefix(text.clone())),
        ("suffix", Value::String(text)) => Ok(Condition::Suffix(text.clone())),
        ("equals-ignore-case", Value::String(text)) => {
            Ok(Condition::EqualsIgnoringCase(text.clone()))
        }
        ("exists", Value::Bool(exists)) => Ok(Condition::Exists(*exists)),
        ("anything-but", operand) => parse_anything_but(path, operand),
        ("numeric", Value::Array(bounds)) => parse_numeric(path, bounds),
        ("prefix" | "suffix" | "equals-ignore-case" | "exists" | "numeric", _) => {
            filter_error(path, format!("`{operator}` has an operand of the wrong type"))
        }
        _ => filter_error(path, format!("the operator `{operator}` is not supported")),
    }
}

fn parse_anything_but(path: &str, operand: &Value) -> Result<Condition, FilterError> {
    let is_text_or_number = |value: &Value| value.is_string() || value.is_number();
    match operand {
        Value::Array(values) if !values.is_empty() && values.iter().all(is_text_or_number) => {
            Ok(Condition::AnythingBut(values.clone()))
        }
        Value::Object(operators) if operators.len() == 1 => match operators.get("prefix") {
            Some(Value::String(text)) => Ok(Condition::AnythingButPrefix(text.clone())),
            _ => filter_error(path, "`anything-but` requires values or a `prefix`"),
        },
        value if is_text_or_number(value) => Ok(Condition::AnythingBut(vec![value.clone()])),
        _ => filter_error(path, "`anything-but` requires strings and numbers, or a `prefix`"),
    }
}

fn parse_numeric(path: &str, operands: &[Value]) -> Result<Condition, FilterError> {
    let (comparison_pairs, unpaired_operands) = operands.as_chunks::<2>();
    let is_complete = unpaired_operands.is_empty();
    if !is_complete || !PERMITTED_COMPARISONS.contains(&comparison_pairs.len()) {
        return filter_error(path, "`numeric` requires one or two comparisons, each with a number");
    }
    let mut bounds = Vec::new();
    for [comparison, number] in comparison_pairs {
        let comparison = comparison.as_str().and_then(parse_comparison);
        let (Some(comparison), Some(number)) = (comparison, number.as_f64()) else {
            return filter_error(path, "`numeric` requires =, <, <=, > or >=, and a number");
        };
        bounds.push((comparison, number));
    }
    Ok(Condition::Numeric(bounds))
}

fn parse_comparison(symbol: &str) -> Option<Comparison> {
    match symbol {
        "=" => Some(Comparison::Equal),
        "<" => Some(Comparison::Less),
        "<=" => Some(Comparison::LessOrEqual),
        ">" => Some(Comparison::Greater),
        ">=" => Some(Comparison::GreaterOrEqual),
        _ => None,
    }
}
