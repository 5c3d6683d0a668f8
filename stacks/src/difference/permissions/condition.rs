//! Conditions of policy statements. A condition can be compared with another one to determine
//! whether it allows all requests that the other one allows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::pattern::{Case, covers};
use crate::difference::text::substitution_text;

/// The condition of a policy statement: a set of values for each operator and key. A request must
/// satisfy all operators.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Condition {
    values: BTreeMap<(Operator, Key), BTreeSet<String>>,
}

type Operator = String;
type Key = String;

/// Replaces the operator or key of a condition that cannot be interpreted, such as an `Fn::If`.
const UNREADABLE: &str = "";

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueSemantics {
    /// A request must match at least one value, so additional values allow more requests.
    AnyOf,
    /// A request must not match any value, so additional values allow fewer requests.
    NoneOf,
    /// The meaning of the values is unknown, so two conditions are comparable only if their values
    /// are equal.
    Unknown,
}

impl Condition {
    pub(super) fn parse(value: Option<&Value>) -> Self {
        let mut condition = Self::default();
        match value {
            None => {}
            Some(Value::Object(operators)) => {
                for (operator, keys) in operators {
                    condition.add_keys(operator, keys);
                }
            }
            Some(unreadable) => {
                condition.add_values(UNREADABLE, UNREADABLE, [value_text(unreadable)]);
            }
        }
        condition
    }

    fn add_keys(&mut self, operator: &str, keys: &Value) {
        match keys {
            Value::Object(keys) => {
                for (key, values) in keys {
                    match values {
                        Value::Array(list) => {
                            self.add_values(operator, key, list.iter().map(value_text));
                        }
                        single_value => self.add_values(operator, key, [value_text(single_value)]),
                    }
                }
            }
            unreadable => self.add_values(operator, UNREADABLE, [value_text(unreadable)]),
        }
    }

    pub(super) fn add_values(
        &mut self,
        operator: &str,
        key: &str,
        values: impl IntoIterator<Item = String>,
    ) {
        let operator_and_key = (operator.to_owned(), key.to_owned());
        self.values.entry(operator_and_key).or_default().extend(values);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Letter case in the key is ignored.
    fn values_of(&self, operator: &str, key: &str) -> Option<&BTreeSet<String>> {
        let mut entries = self.values.iter();
        let (_, values) = entries.find(|((entry_operator, entry_key), _)| {
            entry_operator == operator && entry_key.eq_ignore_ascii_case(key)
        })?;
        Some(values)
    }

    /// Returns whether this condition allows every request that `other` allows. If this cannot be
    /// determined, returns `false`.
    pub(super) fn permits_all_of(&self, other: &Self) -> bool {
        self.values.iter().all(|((operator, key), values)| {
            let Some(other_values) = other.values_of(operator, key) else { return false };
            match value_semantics(operator) {
                ValueSemantics::AnyOf => are_all_covered(operator, other_values, values),
                ValueSemantics::NoneOf => are_all_covered(operator, values, other_values),
                ValueSemantics::Unknown => values == other_values,
            }
        })
    }
}

fn are_all_covered(operator: &str, values: &BTreeSet<String>, patterns: &BTreeSet<String>) -> bool {
    values
        .iter()
        .all(|value| patterns.iter().any(|pattern| pattern_covers_value(operator, pattern, value)))
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ((operator, key), values)) in self.values.iter().enumerate() {
            if index > 0 {
                formatter.write_str(" and ")?;
            }
            let value_list = values.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let mut fields = vec![operator.as_str(), key.as_str(), &value_list];
            fields.retain(|field| !field.is_empty());
            formatter.write_str(&fields.join(" "))?;
        }
        Ok(())
    }
}

fn value_text(value: &Value) -> String {
    substitution_text(value).unwrap_or_else(|| value.to_string())
}

/// Removes a prefix such as `ForAllValues:` and the suffix `IfExists` from an operator.
fn base_operator(operator: &str) -> &str {
    let without_prefix = operator.rsplit_once(':').map_or(operator, |(_, suffix)| suffix);
    without_prefix.strip_suffix("IfExists").unwrap_or(without_prefix)
}

fn value_semantics(operator: &str) -> ValueSemantics {
    match base_operator(operator) {
        "StringEquals"
        | "StringEqualsIgnoreCase"
        | "StringLike"
        | "NumericEquals"
        | "DateEquals"
        | "BinaryEquals"
        | "IpAddress"
        | "ArnEquals"
        | "ArnLike"
        | "Bool" => ValueSemantics::AnyOf,
        "StringNotEquals"
        | "StringNotEqualsIgnoreCase"
        | "StringNotLike"
        | "NumericNotEquals"
        | "DateNotEquals"
        | "NotIpAddress"
        | "ArnNotEquals"
        | "ArnNotLike" => ValueSemantics::NoneOf,
        _ => ValueSemantics::Unknown,
    }
}

fn pattern_covers_value(operator: &str, pattern: &str, value: &str) -> bool {
    match base_operator(operator) {
        "StringLike" | "StringNotLike" | "ArnLike" | "ArnNotLike" | "ArnEquals"
        | "ArnNotEquals" => covers(pattern, value, Case::Sensitive),
        _ => pattern == value,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use serde_json::json;

    use super::*;

    fn admits(one: Value, other: Value) -> bool {
        Condition::parse(Some(&one)).permits_all_of(&Condition::parse(Some(&other)))
    }

    #[test]
    fn fewer_keys_permit_more() {
        let one = json!({"StringEquals": {"a": ["x"]}});
        let two = json!({"StringEquals": {"a": ["x"], "b": ["y"]}});
        assert!(admits(one.clone(), two.clone()));
        assert!(!admits(two, one.clone()));
        assert!(admits(json!({}), one.clone()));
        assert!(!admits(one, json!({})));
    }

    #[test]
    fn more_values_permit_more_unless_they_are_exclusions() {
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
    fn keys_are_case_insensitive() {
        let key = |key: &str| json!({"Bool": {key: "false"}});
        assert!(admits(key("aws:SecureTransport"), key("aws:securetransport")));
    }

    #[test]
    fn a_condition_is_displayed_on_one_line() {
        let condition = json!({"Bool": {"k": "false"}, "StringLike": {"p": ["a", {"Ref": "B"}]}});
        let text = Condition::parse(Some(&condition)).to_string();
        assert_eq!(text, "Bool k false and StringLike p ${B}, a");
    }
}
