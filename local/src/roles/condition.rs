//! Conditions of statements: the operators that the template uses, and no others.

use cellar_stacks::wildcard::{Case, matches};
use serde_json::Value;

use super::ask::{Ask, ConditionKey};
use super::read::texts;

/// One operator on one key.
#[derive(Debug)]
pub(super) struct Condition {
    quantifier: Quantifier,
    test: Test,
    key: ConditionKey,
    values: Vec<String>,
}

/// How many of the request's values have to pass.
#[derive(Clone, Copy, Debug)]
enum Quantifier {
    /// The only one, which has to be there.
    One,
    /// All that are there, if any.
    All,
    /// At least one.
    Any,
}

#[derive(Clone, Copy, Debug)]
enum Test {
    Equals,
    Like,
}

impl Condition {
    /// All conditions of a statement: each has to hold.
    pub(super) fn read(property: Option<&Value>) -> Result<Vec<Self>, String> {
        let Some(property) = property else { return Ok(vec![]) };
        let operators = property.as_object().ok_or("Condition is no map")?;
        let mut all = Vec::new();
        for (operator, keys) in operators {
            let keys = keys.as_object().ok_or_else(|| format!("{operator} has no keys"))?;
            for (key, values) in keys {
                all.push(Self::of(operator, key, values)?);
            }
        }
        Ok(all)
    }

    fn of(operator: &str, name: &str, values: &Value) -> Result<Self, String> {
        let (quantifier, test) = match operator.split_once(':') {
            None => (Quantifier::One, operator),
            Some(("ForAllValues", test)) => (Quantifier::All, test),
            Some(("ForAnyValue", test)) => (Quantifier::Any, test),
            Some(_) => (Quantifier::One, ""),
        };
        let test = match test {
            "StringEquals" => Test::Equals,
            "StringLike" => Test::Like,
            _ => return Err(format!("the operator {operator} is not understood here")),
        };
        let key = ConditionKey::named(name)
            .ok_or_else(|| format!("the condition key {name} is not understood here"))?;
        if key.has_many() == matches!(quantifier, Quantifier::One) {
            return Err(format!("{operator} is not for the values of {name}"));
        }
        Ok(Self { quantifier, test, key, values: texts(name, values)? })
    }

    /// Whether it holds for what is asked.
    pub(super) fn holds(&self, ask: &Ask) -> bool {
        let found = ask.values(self.key).unwrap_or_default();
        match self.quantifier {
            Quantifier::One => matches!(found, [only] if self.admits(only)),
            Quantifier::All => found.iter().all(|value| self.admits(value)),
            Quantifier::Any => found.iter().any(|value| self.admits(value)),
        }
    }

    fn admits(&self, value: &str) -> bool {
        self.values.iter().any(|own| match self.test {
            Test::Equals => own == value,
            Test::Like => matches(own, value, Case::Sensitive),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "values as json! gives them")]

    use serde_json::json;

    use super::*;

    fn hold(condition: Value, key: ConditionKey, values: Option<&[&str]>) -> bool {
        let mut ask = Ask::new("s3:ListBucket", "arn:aws:s3:::b");
        if let Some(values) = values {
            ask = ask.with(key, values.iter().map(|value| (*value).to_owned()).collect());
        }
        let conditions = Condition::read(Some(&condition)).unwrap();
        conditions.iter().all(|condition| condition.holds(&ask))
    }

    #[test]
    fn all_values_have_to_be_among_those_of_the_statement() {
        let condition =
            || json!({ "ForAllValues:StringEquals": { "dynamodb:Attributes": ["E", "N"] } });
        let holds = |values| hold(condition(), ConditionKey::Attributes, values);
        assert!(holds(Some(&["E"][..])) && holds(Some(&["N", "E"])));
        assert!(!holds(Some(&["E", "B"])) && !holds(Some(&["e"])) && !holds(Some(&["E*"])));
        assert!(holds(None) && holds(Some(&[])), "as in AWS: nothing is not outside");
    }

    #[test]
    fn any_value_has_to_be_among_those_of_the_statement() {
        let condition = || json!({ "ForAnyValue:StringLike": { "dynamodb:Attributes": "E*" } });
        let holds = |values| hold(condition(), ConditionKey::Attributes, values);
        assert!(holds(Some(&["B", "Ex"][..])));
        assert!(!holds(Some(&["B", "xE"])) && !holds(Some(&[])) && !holds(None));
    }

    #[test]
    fn a_text_has_to_be_there_and_be_like_one_of_the_statement() {
        let like = |values| {
            let condition = json!({ "StringLike": { "S3:PREFIX": ["uploads/*", "a?c"] } });
            hold(condition, ConditionKey::Prefix, values)
        };
        assert!(
            like(Some(&["uploads/x/y"][..])) && like(Some(&["uploads/"])) && like(Some(&["abc"]))
        );
        assert!(
            !like(Some(&["upload"])) && !like(Some(&["ac"])) && !like(Some(&[""])) && !like(None)
        );
        let equals = |value| {
            let condition = json!({ "StringEquals": { "s3:prefix": "uploads/*" } });
            hold(condition, ConditionKey::Prefix, Some(&[value]))
        };
        assert!(equals("uploads/*") && !equals("uploads/x"));
    }

    #[test]
    fn every_key_has_to_hold() {
        let condition = || {
            json!({
                "StringLike": { "s3:prefix": "uploads/*" },
                "StringEquals": { "kms:ViaService": "s3.local.amazonaws.com" },
            })
        };
        assert!(!hold(condition(), ConditionKey::Prefix, Some(&["uploads/x"])));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (condition, named) in [
            (json!({ "StringNotEquals": { "s3:prefix": "x" } }), "StringNotEquals"),
            (json!({ "StringLikeIfExists": { "s3:prefix": "x" } }), "StringLikeIfExists"),
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
