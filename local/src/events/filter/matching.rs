//! Matches records against filter patterns.

use serde_json::Value;

use super::pattern::{Comparison, Condition, Field, Pattern};

/// A missing value (`None`) can match a pattern that requires a field to be absent.
pub(super) fn matches_pattern(pattern: &Pattern, value: Option<&Value>) -> bool {
    // A list matches if at least one of its items matches.
    if let Some(Value::Array(items)) = value {
        return items.iter().any(|item| matches_pattern(pattern, Some(item)));
    }
    for (name, field) in &pattern.fields {
        let field_value = value.and_then(|value| value.get(name));
        if !matches_field(field, field_value) {
            return false;
        }
    }
    for branches in &pattern.alternatives {
        if !branches.iter().any(|branch| matches_pattern(branch, value)) {
            return false;
        }
    }
    true
}

fn matches_field(field: &Field, value: Option<&Value>) -> bool {
    match field {
        Field::Nested(pattern) => matches_pattern(pattern, value),
        Field::Value(conditions) => conditions.iter().any(|condition| is_met(condition, value)),
    }
}

fn is_met(condition: &Condition, value: Option<&Value>) -> bool {
    if let Condition::Exists(must_exist) = condition {
        // An object does not count as an existing value, because Lambda's `exists` applies only to
        // leaf values.
        let exists = value.is_some_and(|value| !value.is_object());
        return exists == *must_exist;
    }
    match value {
        None => false,
        Some(Value::Array(items)) => items.iter().any(|item| is_met(condition, Some(item))),
        Some(value) => is_met_by_value(condition, value),
    }
}

fn is_met_by_value(condition: &Condition, value: &Value) -> bool {
    let text = value.as_str();
    match condition {
        Condition::Exists(must_exist) => *must_exist,
        Condition::Equals(expected) => is_equal(expected, value),
        Condition::EqualsIgnoringCase(expected) => {
            text.is_some_and(|text| text.to_lowercase() == expected.to_lowercase())
        }
        Condition::Prefix(prefix) => text.is_some_and(|text| text.starts_with(prefix)),
        Condition::Suffix(suffix) => text.is_some_and(|text| text.ends_with(suffix)),
        Condition::AnythingBut(excluded_values) => {
            !value.is_object() && !excluded_values.iter().any(|excluded| is_equal(excluded, value))
        }
        Condition::AnythingButPrefix(prefix) => text.is_some_and(|text| !text.starts_with(prefix)),
        // DynamoDB stream records contain numbers as strings, so numeric filters never match them.
        Condition::Numeric(bounds) => value.as_f64().is_some_and(|number| {
            bounds.iter().all(|(comparison, bound)| comparison.is_met(number, *bound))
        }),
    }
}

/// Numbers are equal if they have the same value, as `5` and `5.0`.
fn is_equal(expected: &Value, value: &Value) -> bool {
    match (expected.as_f64(), value.as_f64()) {
        (Some(expected_number), Some(number)) => Comparison::Equal.is_met(number, expected_number),
        _ => expected == value,
    }
}

impl Comparison {
    fn is_met(self, number: f64, bound: f64) -> bool {
        let Some(order) = number.partial_cmp(&bound) else { return false };
        match self {
            Self::Equal => order.is_eq(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}
