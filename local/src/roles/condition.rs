//! Conditions of policy statements. Only the operators that the template uses are supported.

use cellar_stacks::wildcard::{Case, matches_wildcards};
use serde_json::Value;

use super::access_request::{AccessRequest, ConditionKey};

#[derive(Debug)]
pub(super) struct Condition {
    quantifier: Quantifier,
    comparison: Comparison,
    key: ConditionKey,
    permitted_values: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
enum Quantifier {
    /// The request must contain exactly one value, and the value must match.
    One,
    /// Like `One`, but a request without any value also meets the condition.
    OneIfExists,
    /// All values in the request must match. A request without any value also meets the condition.
    All,
    /// At least one value.
    Any,
}

#[derive(Clone, Copy, Debug)]
enum Comparison {
    Equals,
    Like,
}

const VARIABLE_START: &str = "${";

/// Reads a string or a nonempty list of strings. Returns an error if a string contains a policy
/// variable.
pub(super) fn read_strings(name: &str, value: &Value) -> Result<Vec<String>, String> {
    let wrong_type = || format!("{name} must be a string or a nonempty list of strings");
    let values = match value {
        Value::Array(values) if values.is_empty() => return Err(wrong_type()),
        Value::Array(values) => values.as_slice(),
        single_value => std::slice::from_ref(single_value),
    };
    let mut strings = Vec::new();
    for value in values {
        let string = value.as_str().ok_or_else(wrong_type)?;
        if string.contains(VARIABLE_START) {
            return Err(format!(
                "{name} contains a policy variable, which is not supported: {string}"
            ));
        }
        strings.push(string.to_owned());
    }
    Ok(strings)
}

impl Condition {
    /// The statement applies only if all conditions are met.
    pub(super) fn read(property: Option<&Value>) -> Result<Vec<Self>, String> {
        let Some(property) = property else { return Ok(vec![]) };
        let operators = property.as_object().ok_or("Condition is not an object")?;
        let mut conditions = Vec::new();
        for (operator, keys) in operators {
            let keys = keys.as_object().ok_or_else(|| format!("{operator} has no keys"))?;
            for (key_name, values) in keys {
                conditions.push(Self::read_condition(operator, key_name, values)?);
            }
        }
        Ok(conditions)
    }

    fn read_condition(operator: &str, key_name: &str, values: &Value) -> Result<Self, String> {
        let (quantifier, comparison_name) = match operator.split_once(':') {
            None => match operator.strip_suffix("IfExists") {
                None => (Quantifier::One, operator),
                Some(comparison_name) => (Quantifier::OneIfExists, comparison_name),
            },
            Some(("ForAllValues", comparison_name)) => (Quantifier::All, comparison_name),
            Some(("ForAnyValue", comparison_name)) => (Quantifier::Any, comparison_name),
            Some(_) => return Err(unsupported_operator(operator)),
        };
        let comparison = match comparison_name {
            "StringEquals" => Comparison::Equals,
            "StringLike" => Comparison::Like,
            _ => return Err(unsupported_operator(operator)),
        };
        let key = ConditionKey::from_name(key_name)
            .ok_or_else(|| format!("the condition key {key_name} is not supported"))?;
        let expects_one_value = matches!(quantifier, Quantifier::One | Quantifier::OneIfExists);
        if key.is_multivalued() == expects_one_value {
            return Err(format!(
                "the operator {operator} cannot be used with the condition key {key_name}"
            ));
        }
        let permitted_values = read_strings(key_name, values)?;
        Ok(Self { quantifier, comparison, key, permitted_values })
    }

    pub(super) fn is_met_by(&self, request: &AccessRequest) -> bool {
        let values = request.values(self.key).unwrap_or_default();
        match self.quantifier {
            Quantifier::One | Quantifier::OneIfExists => match values {
                [only_value] => self.permits(only_value),
                [] => matches!(self.quantifier, Quantifier::OneIfExists),
                _ => false,
            },
            Quantifier::All => values.iter().all(|value| self.permits(value)),
            Quantifier::Any => values.iter().any(|value| self.permits(value)),
        }
    }

    fn permits(&self, value: &str) -> bool {
        self.permitted_values.iter().any(|permitted_value| match self.comparison {
            Comparison::Equals => permitted_value == value,
            Comparison::Like => matches_wildcards(permitted_value, value, Case::Sensitive),
        })
    }
}

fn unsupported_operator(operator: &str) -> String {
    format!("the operator {operator} is not supported")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use serde_json::json;

    use super::*;

    fn is_met(condition: Value, key: ConditionKey, values: Option<&[&str]>) -> bool {
        let mut request = AccessRequest::new("s3:ListBucket", "arn:aws:s3:::b");
        if let Some(values) = values {
            request =
                request.with_key(key, values.iter().map(|value| (*value).to_owned()).collect());
        }
        let conditions = Condition::read(Some(&condition)).unwrap();
        conditions.iter().all(|condition| condition.is_met_by(&request))
    }

    #[test]
    fn for_all_values_requires_every_value_to_match() {
        let condition =
            || json!({ "ForAllValues:StringEquals": { "dynamodb:Attributes": ["E", "N"] } });
        let met = |values| is_met(condition(), ConditionKey::Attributes, values);
        assert!(met(Some(&["E"][..])) && met(Some(&["N", "E"])));
        assert!(!met(Some(&["E", "B"])) && !met(Some(&["e"])) && !met(Some(&["E*"])));
        assert!(met(None) && met(Some(&[])), "as in AWS, an empty set matches");
    }

    #[test]
    fn for_any_value_requires_one_value_to_match() {
        let condition = || json!({ "ForAnyValue:StringLike": { "dynamodb:Attributes": "E*" } });
        let met = |values| is_met(condition(), ConditionKey::Attributes, values);
        assert!(met(Some(&["B", "Ex"][..])));
        assert!(!met(Some(&["B", "xE"])) && !met(Some(&[])) && !met(None));
    }

    #[test]
    fn a_single_value_must_exist_and_match() {
        let like = |values| {
            let condition = json!({ "StringLike": { "S3:PREFIX": ["uploads/*", "a?c"] } });
            is_met(condition, ConditionKey::Prefix, values)
        };
        assert!(
            like(Some(&["uploads/x/y"][..])) && like(Some(&["uploads/"])) && like(Some(&["abc"]))
        );
        assert!(
            !like(Some(&["upload"])) && !like(Some(&["ac"])) && !like(Some(&[""])) && !like(None)
        );
        let equals = |value| {
            let condition = json!({ "StringEquals": { "s3:prefix": "uploads/*" } });
            is_met(condition, ConditionKey::Prefix, Some(&[value]))
        };
        assert!(equals("uploads/*") && !equals("uploads/x"));
    }

    #[test]
    fn conditions_on_existing_keys_are_met_without_the_key() {
        let met = |operator: &str, values| {
            is_met(json!({ operator: { "s3:prefix": "uploads/*" } }), ConditionKey::Prefix, values)
        };
        assert!(met("StringLikeIfExists", None) && !met("StringLike", None));
        for operator in ["StringLike", "StringLikeIfExists"] {
            assert!(met(operator, Some(&["uploads/x"])) && !met(operator, Some(&["x"])));
        }
    }

    #[test]
    fn every_condition_must_be_met() {
        let condition = || {
            json!({
                "StringLike": { "s3:prefix": "uploads/*" },
                "StringEquals": { "kms:ViaService": "s3.local.amazonaws.com" },
            })
        };
        assert!(!is_met(condition(), ConditionKey::Prefix, Some(&["uploads/x"])));
    }

    #[test]
    fn names_unsupported_conditions() {
        for (condition, named) in [
            (json!({ "StringNotEquals": { "s3:prefix": "x" } }), "StringNotEquals"),
            (json!({ "ForAnyValue:StringLikeIfExists": { "s3:prefix": "x" } }), "IfExists"),
            (json!({ "BoolIfExists": { "aws:SecureTransport": "false" } }), "BoolIfExists"),
            (json!({ "ForSome:StringLike": { "s3:prefix": "x" } }), "ForSome:StringLike"),
            (json!({ "Bool": { "aws:SecureTransport": "false" } }), "Bool"),
            (json!({ "StringEquals": { "aws:SourceIp": "x" } }), "aws:SourceIp"),
            (json!({ "StringEquals": { "dynamodb:Attributes": "x" } }), "dynamodb:Attributes"),
            (json!({ "ForAnyValue:StringEquals": { "s3:prefix": "x" } }), "s3:prefix"),
            (json!({ "StringEquals": { "s3:prefix": 1 } }), "s3:prefix"),
            (json!({ "StringEquals": { "s3:prefix": "${aws:username}" } }), "${"),
            (json!({ "StringEquals": "x" }), "StringEquals"),
            (json!("x"), "Condition"),
        ] {
            let error = Condition::read(Some(&condition)).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }
}
