//! Conditions of statements, and which of them let more through.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::pattern::{Case, covers};
use crate::difference::text::substitution_text;

/// Operators and keys with their values; all of them have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Condition(BTreeMap<(String, String), BTreeSet<String>>);

/// What more values of an operator do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    /// Let more through: one of them has to match.
    Alternatives,
    /// Let less through: none of them may match.
    Exclusions,
    /// One can only say whether they are the same.
    Opaque,
}

impl Condition {
    /// The condition of a statement in normal form.
    pub(super) fn of(value: Option<&Value>) -> Self {
        let mut condition = Self::default();
        match value {
            None => {}
            Some(Value::Object(operators)) => {
                for (operator, keys) in operators {
                    condition.read(operator, keys);
                }
            }
            Some(other) => condition.add("", "", [text(other)]),
        }
        condition
    }

    fn read(&mut self, operator: &str, keys: &Value) {
        match keys {
            Value::Object(keys) => {
                for (key, values) in keys {
                    let values = match values {
                        Value::Array(values) => values.iter().map(text).collect(),
                        single => vec![text(single)],
                    };
                    self.add(operator, key, values);
                }
            }
            other => self.add(operator, "", [text(other)]),
        }
    }

    /// Adds an operator with a key.
    pub(super) fn add(
        &mut self,
        operator: &str,
        key: &str,
        values: impl IntoIterator<Item = String>,
    ) {
        let place = (operator.to_owned(), key.to_owned());
        self.0.entry(place).or_default().extend(values);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values at a place. The names of keys are the same in upper and lower case.
    fn values(&self, (operator, key): &(String, String)) -> Option<&BTreeSet<String>> {
        let is_there =
            |place: &(String, String)| place.0 == *operator && place.1.eq_ignore_ascii_case(key);
        self.0.iter().find(|(place, _)| is_there(place)).map(|(_, values)| values)
    }

    /// Whether it lets through all that the other one does. In doubt it does not.
    pub(super) fn admits_all_of(&self, other: &Self) -> bool {
        self.0.iter().all(|(place, values)| {
            let Some(others) = other.values(place) else { return false };
            let operator = place.0.as_str();
            let among = |value: &String, all: &BTreeSet<String>| {
                all.iter().any(|pattern| matches(operator, pattern, value))
            };
            match kind(operator) {
                Values::Alternatives => others.iter().all(|value| among(value, values)),
                Values::Exclusions => values.iter().all(|value| among(value, others)),
                Values::Opaque => values == others,
            }
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ((operator, key), values)) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str(" and ")?;
            }
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let words = [operator.as_str(), key.as_str(), &values.join(", ")];
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            formatter.write_str(&words.join(" "))?;
        }
        Ok(())
    }
}

fn text(value: &Value) -> String {
    substitution_text(value).unwrap_or_else(|| value.to_string())
}

/// The operator without `ForAllValues:` and its like, and without `IfExists`.
fn base(operator: &str) -> &str {
    let name = operator.rsplit_once(':').map_or(operator, |(_, name)| name);
    name.strip_suffix("IfExists").unwrap_or(name)
}

fn kind(operator: &str) -> Values {
    match base(operator) {
        "StringEquals"
        | "StringEqualsIgnoreCase"
        | "StringLike"
        | "NumericEquals"
        | "DateEquals"
        | "BinaryEquals"
        | "IpAddress"
        | "ArnEquals"
        | "ArnLike"
        | "Bool" => Values::Alternatives,
        "StringNotEquals"
        | "StringNotEqualsIgnoreCase"
        | "StringNotLike"
        | "NumericNotEquals"
        | "DateNotEquals"
        | "NotIpAddress"
        | "ArnNotEquals"
        | "ArnNotLike" => Values::Exclusions,
        _ => Values::Opaque,
    }
}

fn matches(operator: &str, pattern: &str, value: &str) -> bool {
    match base(operator) {
        "StringLike" | "StringNotLike" | "ArnLike" | "ArnNotLike" | "ArnEquals"
        | "ArnNotEquals" => covers(pattern, value, Case::Counts),
        _ => pattern == value,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use serde_json::json;

    use super::*;

    fn admits(one: Value, other: Value) -> bool {
        Condition::of(Some(&one)).admits_all_of(&Condition::of(Some(&other)))
    }

    #[test]
    fn fewer_keys_let_more_through() {
        let one = json!({"StringEquals": {"a": ["x"]}});
        let two = json!({"StringEquals": {"a": ["x"], "b": ["y"]}});
        assert!(admits(one.clone(), two.clone()));
        assert!(!admits(two, one.clone()));
        assert!(admits(json!({}), one.clone()));
        assert!(!admits(one, json!({})));
    }

    #[test]
    fn more_values_let_more_through_unless_they_are_left_out() {
        let values = |operator: &str, values: &[&str]| json!({ operator: { "Key": values } });
        for operator in ["StringEquals", "ForAnyValue:StringLike", "BoolIfExists", "IpAddress"] {
            assert!(admits(values(operator, &["x", "y"]), values(operator, &["x"])), "{operator}");
            assert!(!admits(values(operator, &["x"]), values(operator, &["x", "y"])), "{operator}");
        }
        for operator in ["StringNotEquals", "ForAllValues:StringNotLike", "NotIpAddress"] {
            assert!(!admits(values(operator, &["x", "y"]), values(operator, &["x"])), "{operator}");
            assert!(admits(values(operator, &["x"]), values(operator, &["x", "y"])), "{operator}");
        }
        assert!(!admits(values("NumericLessThan", &["2"]), values("NumericLessThan", &["1"])));
        assert!(admits(values("StringLike", &["a/*"]), values("StringLike", &["a/b/*"])));
        assert!(!admits(values("StringEquals", &["a/*"]), values("StringEquals", &["a/b"])));
    }

    #[test]
    fn keys_are_the_same_in_any_case() {
        let key = |key: &str| json!({"Bool": {key: "false"}});
        assert!(admits(key("aws:SecureTransport"), key("aws:securetransport")));
    }

    #[test]
    fn it_is_shown_on_one_line() {
        let condition = json!({"Bool": {"k": "false"}, "StringLike": {"p": ["a", {"Ref": "B"}]}});
        let text = Condition::of(Some(&condition)).to_string();
        assert_eq!(text, "Bool k false and StringLike p ${B}, a");
    }
}
