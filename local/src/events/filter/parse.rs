//! Reads patterns, and refuses what Lambda would not take or what is not supported here.

use serde_json::{Map, Value};

use super::{
    Comparison, Condition, FILTERS_MAX, Field, FilterError, NESTING_MAX, PATTERN_BYTES_MAX, Pattern,
};

const OR: &str = "$or";

fn fault<T>(path: &str, why: impl Into<String>) -> Result<T, FilterError> {
    let path = if path.is_empty() { "the pattern" } else { path };
    Err(FilterError { path: path.to_owned(), why: why.into() })
}

pub(super) fn filters(criteria: Option<&Value>) -> Result<Vec<Pattern>, FilterError> {
    let Some(criteria) = criteria else { return Ok(Vec::new()) };
    let Some(filters) = criteria.get("Filters").and_then(Value::as_array) else {
        return fault("FilterCriteria", "it has no list of Filters");
    };
    if filters.len() > FILTERS_MAX {
        return fault("FilterCriteria", format!("Lambda takes {FILTERS_MAX} filters"));
    }
    let texts = filters.iter().map(|filter| filter.get("Pattern").and_then(Value::as_str));
    texts
        .map(|text| match text {
            Some(text) => pattern_of(text),
            None => fault("FilterCriteria", "a filter has no Pattern"),
        })
        .collect()
}

fn pattern_of(text: &str) -> Result<Pattern, FilterError> {
    if text.len() > PATTERN_BYTES_MAX {
        return fault("", format!("it has more than {PATTERN_BYTES_MAX} bytes"));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => pattern("", &fields, 0),
        Ok(_) => fault("", "it is not an object"),
        Err(error) => fault("", format!("it is not JSON: {error}")),
    }
}

fn pattern(path: &str, fields: &Map<String, Value>, depth: usize) -> Result<Pattern, FilterError> {
    if depth >= NESTING_MAX {
        return fault(path, format!("it is nested deeper than {NESTING_MAX} levels"));
    }
    if fields.is_empty() {
        return fault(path, "an empty object matches nothing that Lambda would send");
    }
    let mut pattern = Pattern { fields: Vec::new(), alternatives: Vec::new() };
    for (name, value) in fields {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if name == OR {
            pattern.alternatives.push(alternatives(&path, value, depth)?);
        } else {
            pattern.fields.push((name.clone(), field(&path, value, depth)?));
        }
    }
    Ok(pattern)
}

fn alternatives(path: &str, value: &Value, depth: usize) -> Result<Vec<Pattern>, FilterError> {
    let branches = value.as_array().map(Vec::as_slice).unwrap_or_default();
    if branches.len() < 2 {
        return fault(path, "it needs a list of two patterns or more");
    }
    let branch = |branch: &Value| match branch {
        Value::Object(fields) => pattern(path, fields, depth + 1),
        _ => fault(path, "each branch is an object"),
    };
    branches.iter().map(branch).collect()
}

fn field(path: &str, value: &Value, depth: usize) -> Result<Field, FilterError> {
    match value {
        Value::Object(fields) => pattern(path, fields, depth + 1).map(Field::Inside),
        Value::Array(conditions) if conditions.is_empty() => fault(path, "the list is empty"),
        Value::Array(conditions) => {
            let conditions = conditions.iter().map(|one| condition(path, one));
            conditions.collect::<Result<_, _>>().map(Field::Value)
        }
        _ => fault(path, "a value is matched by a list, as in [\"x\"]"),
    }
}

fn condition(path: &str, value: &Value) -> Result<Condition, FilterError> {
    let operators = match value {
        Value::Object(operators) => operators,
        Value::Array(_) => return fault(path, "a list inside a list"),
        plain => return Ok(Condition::Equals(plain.clone())),
    };
    let mut operators = operators.iter();
    let (Some((name, operand)), None) = (operators.next(), operators.next()) else {
        return fault(path, "a condition is one operator with its operand");
    };
    match (name.as_str(), operand) {
        ("prefix", Value::String(text)) => Ok(Condition::Prefix(text.clone())),
        ("suffix", Value::String(text)) => Ok(Condition::Suffix(text.clone())),
        ("equals-ignore-case", Value::String(text)) => {
            Ok(Condition::EqualsIgnoringCase(text.clone()))
        }
        ("exists", Value::Bool(exists)) => Ok(Condition::Exists(*exists)),
        ("anything-but", operand) => anything_but(path, operand),
        ("numeric", Value::Array(bounds)) => numeric(path, bounds),
        ("prefix" | "suffix" | "equals-ignore-case" | "exists" | "numeric", _) => {
            fault(path, format!("`{name}` has an operand of the wrong type"))
        }
        _ => fault(path, format!("there is no operator `{name}` here")),
    }
}

fn anything_but(path: &str, operand: &Value) -> Result<Condition, FilterError> {
    let is_plain = |value: &Value| value.is_string() || value.is_number();
    match operand {
        Value::Array(values) if !values.is_empty() && values.iter().all(is_plain) => {
            Ok(Condition::AnythingBut(values.clone()))
        }
        Value::Object(inner) if inner.len() == 1 => match inner.get("prefix") {
            Some(Value::String(text)) => Ok(Condition::AnythingButPrefix(text.clone())),
            _ => fault(path, "`anything-but` takes values or a `prefix`"),
        },
        value if is_plain(value) => Ok(Condition::AnythingBut(vec![value.clone()])),
        _ => fault(path, "`anything-but` takes texts and numbers, or a `prefix`"),
    }
}

fn numeric(path: &str, bounds: &[Value]) -> Result<Condition, FilterError> {
    let (pairs, rest) = bounds.as_chunks::<2>();
    if pairs.is_empty() || pairs.len() > 2 || !rest.is_empty() {
        return fault(path, "`numeric` takes one comparison and number, or two");
    }
    let bound = |[comparison, number]: &[Value; 2]| {
        let comparison = comparison.as_str().and_then(comparison_named);
        match (comparison, number.as_f64()) {
            (Some(comparison), Some(number)) => Ok((comparison, number)),
            _ => fault(path, "`numeric` compares by =, <, <=, > or >= with a number"),
        }
    };
    pairs.iter().map(bound).collect::<Result<_, _>>().map(Condition::Numeric)
}

fn comparison_named(name: &str) -> Option<Comparison> {
    Some(match name {
        "=" => Comparison::Equal,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}
