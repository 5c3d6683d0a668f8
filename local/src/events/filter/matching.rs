//! Matches records against filter patterns.

use serde_json::Value;

use super::pattern::{Comparison, Condition, Field, Pattern};

/// Returns whether a value, which may be missing, matches a pattern.
pub(super) fn matches_pattern(pattern: &Pattern, value: Option<&Value>) -> bool {
    // A list matches if any of its items matches.
    if let Some(Value::Array(items)) = value {
        return items.iter().any(|item| matches_pattern(pattern, Some(item)));
    }
    let fields_match = pattern.fields.iter().all(|(name, field)| {
        let inner = value.and_then(|value| value.get(name));
        match field {
            Field::Nested(pattern) => matches_pattern(pattern, inner),
            Field::Value(conditions) => conditions.iter().any(|condition| is_met(condition, inner)),
        }
    });
    let mut alternatives = pattern.alternatives.iter();
    let alternatives_match =
        alternatives.all(|branches| branches.iter().any(|branch| matches_pattern(branch, value)));
    fields_match && alternatives_match
}

fn is_met(condition: &Condition, value: Option<&Value>) -> bool {
    match (condition, value) {
        // Filters apply only to leaf values, so an object does not count as an existing value.
        (Condition::Exists(exists), value) => {
            value.is_some_and(|value| !value.is_object()) == *exists
        }
        (_, None) => false,
        (condition, Some(Value::Array(items))) => {
            items.iter().any(|item| is_met(condition, Some(item)))
        }
        (condition, Some(value)) => is_met_by_value(condition, value),
    }
}

fn is_met_by_value(condition: &Condition, value: &Value) -> bool {
    let text = value.as_str();
    match condition {
        Condition::Exists(exists) => *exists,
        Condition::Equals(wanted) => is_equal(wanted, value),
        Condition::EqualsIgnoringCase(wanted) => {
            text.is_some_and(|text| text.to_lowercase() == wanted.to_lowercase())
        }
        Condition::Prefix(prefix) => text.is_some_and(|text| text.starts_with(prefix)),
        Condition::Suffix(suffix) => text.is_some_and(|text| text.ends_with(suffix)),
        Condition::AnythingBut(values) => {
            !value.is_object() && !values.iter().any(|refused| is_equal(refused, value))
        }
        Condition::AnythingButPrefix(prefix) => text.is_some_and(|text| !text.starts_with(prefix)),
        // DynamoDB encodes numbers as strings in stream records, so numeric filters never match
        // them.
        Condition::Numeric(bounds) => value.as_f64().is_some_and(|number| {
            bounds.iter().all(|(comparison, bound)| comparison.is_met(number, *bound))
        }),
    }
}

/// Compares two values. Numbers compare by value rather than by notation.
fn is_equal(wanted: &Value, value: &Value) -> bool {
    match (wanted.as_f64(), value.as_f64()) {
        (Some(wanted), Some(number)) => Comparison::Equal.is_met(number, wanted),
        _ => wanted == value,
    }
}

impl Comparison {
    fn is_met(self, number: f64, bound: f64) -> bool {
        let order = number.partial_cmp(&bound);
        order.is_some_and(|order| match self {
            Self::Equal => order.is_eq(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        })
    }
}
