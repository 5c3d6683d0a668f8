//! Whether a record matches a pattern.

use serde_json::Value;

use super::{Comparison, Condition, Field, Pattern};

/// Whether the value, if there is one, matches.
pub(super) fn matches(pattern: &Pattern, value: Option<&Value>) -> bool {
    // A list matches if one of its objects does.
    if let Some(Value::Array(items)) = value {
        return items.iter().any(|item| matches(pattern, Some(item)));
    }
    let fields = pattern.fields.iter();
    let mut fields = fields.map(|(name, field)| (field, value.and_then(|value| value.get(name))));
    let mut alternatives = pattern.alternatives.iter();
    fields.all(|(field, inner)| match field {
        Field::Inside(pattern) => matches(pattern, inner),
        Field::Value(conditions) => conditions.iter().any(|condition| holds(condition, inner)),
    }) && alternatives.all(|branches| branches.iter().any(|branch| matches(branch, value)))
}

fn holds(condition: &Condition, value: Option<&Value>) -> bool {
    match (condition, value) {
        // Only a value at the end of a path exists for a filter, not an object on the way.
        (Condition::Exists(exists), value) => {
            value.is_some_and(|value| !value.is_object()) == *exists
        }
        (_, None) => false,
        (condition, Some(Value::Array(items))) => {
            items.iter().any(|item| holds(condition, Some(item)))
        }
        (condition, Some(value)) => of_value(condition, value),
    }
}

fn of_value(condition: &Condition, value: &Value) -> bool {
    let text = value.as_str();
    match condition {
        Condition::Exists(exists) => *exists,
        Condition::Equals(wanted) => equal(wanted, value),
        Condition::EqualsIgnoringCase(wanted) => {
            text.is_some_and(|text| text.to_lowercase() == wanted.to_lowercase())
        }
        Condition::Prefix(prefix) => text.is_some_and(|text| text.starts_with(prefix)),
        Condition::Suffix(suffix) => text.is_some_and(|text| text.ends_with(suffix)),
        Condition::AnythingBut(values) => {
            !value.is_object() && !values.iter().any(|refused| equal(refused, value))
        }
        Condition::AnythingButPrefix(prefix) => text.is_some_and(|text| !text.starts_with(prefix)),
        // DynamoDB's numbers are texts in its records, and no numeric filter matches them.
        Condition::Numeric(bounds) => value.as_f64().is_some_and(|number| {
            bounds.iter().all(|(comparison, bound)| comparison.holds(number, *bound))
        }),
    }
}

/// Numbers are equal by value, however they are written.
fn equal(wanted: &Value, value: &Value) -> bool {
    match (wanted.as_f64(), value.as_f64()) {
        (Some(wanted), Some(number)) => Comparison::Equal.holds(number, wanted),
        _ => wanted == value,
    }
}

impl Comparison {
    fn holds(self, number: f64, bound: f64) -> bool {
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
