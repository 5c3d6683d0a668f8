//! Parses filter patterns. Rejects invalid and unsupported patterns.

use serde_json::{Map, Value};

use super::pattern::{Comparison, Condition, Field, Pattern};
use crate::error::FilterError;

/// Maximum pattern length in bytes. Matches Lambda's limit.
pub(super) const PATTERN_BYTES_MAX: usize = 4_096;
/// Maximum number of filters per event source. Matches Lambda's default quota.
pub(super) const FILTERS_MAX: usize = 5;
/// Maximum nesting depth of a pattern.
pub(super) const NESTING_MAX: usize = 32;

const OR: &str = "$or";

fn fault<T>(path: &str, why: impl Into<String>) -> Result<T, FilterError> {
    let path = if path.is_empty() { "the pattern" } else { path };
    Err(FilterError { path: path.to_owned(), why: why.into() })
}

pub(super) fn parse_filters(criteria: Option<&Value>) -> Result<Vec<Pattern>, FilterError> {
    let Some(criteria) = criteria else { return Ok(Vec::new()) };
    let Some(filters) = criteria.get("Filters").and_then(Value::as_array) else {
        return fault("FilterCriteria", "Filters is not a list");
    };
    if filters.len() > FILTERS_MAX {
        return fault(
            "FilterCriteria",
            format!("it has {} filters; at most {FILTERS_MAX} are allowed", filters.len()),
        );
    }
    let texts = filters.iter().map(|filter| filter.get("Pattern").and_then(Value::as_str));
    texts
        .map(|text| match text {
            Some(text) => parse_pattern_text(text),
            None => fault("FilterCriteria", "a filter has no Pattern"),
        })
        .collect()
}

fn parse_pattern_text(text: &str) -> Result<Pattern, FilterError> {
    if text.len() > PATTERN_BYTES_MAX {
        return fault(
            "",
            format!("it has {} bytes; at most {PATTERN_BYTES_MAX} are allowed", text.len()),
        );
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => parse_pattern("", &fields, 0),
        Ok(_) => fault("", "it is not an object"),
        Err(error) => fault("", format!("it is not JSON: {error}")),
    }
}

fn parse_pattern(
    path: &str,
    fields: &Map<String, Value>,
    depth: usize,
) -> Result<Pattern, FilterError> {
    if depth >= NESTING_MAX {
        return fault(path, format!("it is nested more than {NESTING_MAX} levels deep"));
    }
    if fields.is_empty() {
        return fault(path, "it is an empty object, which matches no record");
    }
    let mut pattern = Pattern { fields: Vec::new(), alternatives: Vec::new() };
    for (name, value) in fields {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if name == OR {
            pattern.alternatives.push(parse_alternatives(&path, value, depth)?);
        } else {
            pattern.fields.push((name.clone(), parse_field(&path, value, depth)?));
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
        return fault(path, "it must be a list of at least two patterns");
    }
    let branch = |branch: &Value| match branch {
        Value::Object(fields) => parse_pattern(path, fields, depth + 1),
        _ => fault(path, "each item must be an object"),
    };
    branches.iter().map(branch).collect()
}

fn parse_field(path: &str, value: &Value, depth: usize) -> Result<Field, FilterError> {
    match value {
        Value::Object(fields) => parse_pattern(path, fields, depth + 1).map(Field::Nested),
        Value::Array(conditions) if conditions.is_empty() => fault(path, "the list is empty"),
        Value::Array(conditions) => {
            let conditions = conditions.iter().map(|item| parse_condition(path, item));
            conditions.collect::<Result<_, _>>().map(Field::Value)
        }
        _ => fault(path, "the conditions on a value must be a list, such as [\"x\"]"),
    }
}

fn parse_condition(path: &str, value: &Value) -> Result<Condition, FilterError> {
    let operators = match value {
        Value::Object(operators) => operators,
        Value::Array(_) => return fault(path, "it is a list in a list"),
        plain => return Ok(Condition::Equals(plain.clone())),
    };
    let mut operators = operators.iter();
    let (Some((name, operand)), None) = (operators.next(), operators.next()) else {
        return fault(path, "a condition must have exactly one operator");
    };
    match (name.as_str(), operand) {
        ("prefix", Value::String(text)) => Ok(Condition::Prefix(text.clone())),
        ("suffix", Value::String(text)) => Ok(Condition::Suffix(text.clone())),
        ("equals-ignore-case", Value::String(text)) => {
            Ok(Condition::EqualsIgnoringCase(text.clone()))
        }
        ("exists", Value::Bool(exists)) => Ok(Condition::Exists(*exists)),
        ("anything-but", operand) => parse_anything_but(path, operand),
        ("numeric", Value::Array(bounds)) => parse_numeric(path, bounds),
        ("prefix" | "suffix" | "equals-ignore-case" | "exists" | "numeric", _) => {
            fault(path, format!("`{name}` has an operand of the wrong type"))
        }
        _ => fault(path, format!("the operator `{name}` is not supported")),
    }
}

fn parse_anything_but(path: &str, operand: &Value) -> Result<Condition, FilterError> {
    let is_plain = |value: &Value| value.is_string() || value.is_number();
    match operand {
        Value::Array(values) if !values.is_empty() && values.iter().all(is_plain) => {
            Ok(Condition::AnythingBut(values.clone()))
        }
        Value::Object(inner) if inner.len() == 1 => match inner.get("prefix") {
            Some(Value::String(text)) => Ok(Condition::AnythingButPrefix(text.clone())),
            _ => fault(path, "`anything-but` requires values or a `prefix`"),
        },
        value if is_plain(value) => Ok(Condition::AnythingBut(vec![value.clone()])),
        _ => fault(path, "`anything-but` requires strings and numbers, or a `prefix`"),
    }
}

fn parse_numeric(path: &str, bounds: &[Value]) -> Result<Condition, FilterError> {
    let (pairs, rest) = bounds.as_chunks::<2>();
    if pairs.is_empty() || pairs.len() > 2 || !rest.is_empty() {
        return fault(path, "`numeric` requires one or two comparisons, each with a number");
    }
    let bound = |[comparison, number]: &[Value; 2]| {
        let comparison = comparison.as_str().and_then(parse_comparison);
        match (comparison, number.as_f64()) {
            (Some(comparison), Some(number)) => Ok((comparison, number)),
            _ => fault(path, "`numeric` requires =, <, <=, > or >=, and a number"),
        }
    };
    pairs.iter().map(bound).collect::<Result<_, _>>().map(Condition::Numeric)
}

fn parse_comparison(name: &str) -> Option<Comparison> {
    Some(match name {
        "=" => Comparison::Equal,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}
