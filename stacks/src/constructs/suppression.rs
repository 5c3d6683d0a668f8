//! A finding of a template checker that does not apply, with its reason beside the resource.

use serde_json::{Map, Value, json};

/// A rule of a checker, by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A rule of cfn-lint, such as `W3005`.
    CfnLint(String),
    /// A rule of checkov, such as `CKV_AWS_116`.
    Checkov(String),
    /// A rule of cloudformation-validate, such as `W9013`.
    CloudFormationValidate(String),
}

impl Rule {
    /// A rule of cfn-lint.
    pub fn cfn_lint(id: impl Into<String>) -> Self {
        Self::CfnLint(id.into())
    }

    /// A rule of checkov.
    pub fn checkov(id: impl Into<String>) -> Self {
        Self::Checkov(id.into())
    }

    /// A rule of cloudformation-validate.
    pub fn cloudformation_validate(id: impl Into<String>) -> Self {
        Self::CloudFormationValidate(id.into())
    }
}

/// One rule that is not applied to one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The rule.
    pub rule: Rule,
    /// Why it does not apply.
    pub reason: String,
}

/// Adds suppressions to a resource's `Metadata`, in the form that each checker reads. cfn-lint
/// has no place for reasons, so they stand next to its list; cloudformation-validate reads none, so
/// that whoever runs it has to (`tests/integration/template_linters.rs`).
pub(crate) fn write_suppressions(suppressions: &[Suppression], metadata: &mut Map<String, Value>) {
    let mut skipped = Vec::new();
    let mut accepted = Vec::new();
    let mut ignored = Vec::new();
    let mut reasons = Map::new();
    for Suppression { rule, reason } in suppressions {
        match rule {
            Rule::Checkov(id) => skipped.push(json!({ "id": id, "comment": reason })),
            Rule::CloudFormationValidate(id) => {
                accepted.push(json!({ "id": id, "comment": reason }));
            }
            Rule::CfnLint(id) => {
                ignored.push(Value::from(id.as_str()));
                reasons.insert(id.clone(), Value::from(reason.as_str()));
            }
        }
    }
    if !skipped.is_empty() {
        metadata.insert("checkov".to_owned(), json!({ "skip": skipped }));
    }
    if !accepted.is_empty() {
        metadata.insert("cloudformation-validate".to_owned(), json!({ "skip": accepted }));
    }
    if !ignored.is_empty() {
        let section = json!({ "config": { "ignore_checks": ignored }, "reasons": reasons });
        metadata.insert("cfn-lint".to_owned(), section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_checker_finds_its_own_rules() {
        let suppressions = [
            Suppression { rule: Rule::checkov("CKV_AWS_1"), reason: "one".to_owned() },
            Suppression { rule: Rule::cfn_lint("W1"), reason: "two".to_owned() },
            Suppression { rule: Rule::cloudformation_validate("W2"), reason: "three".to_owned() },
        ];
        let mut metadata = Map::new();
        write_suppressions(&suppressions, &mut metadata);
        assert_eq!(
            Value::Object(metadata),
            json!({
                "checkov": {"skip": [{"id": "CKV_AWS_1", "comment": "one"}]},
                "cloudformation-validate": {"skip": [{"id": "W2", "comment": "three"}]},
                "cfn-lint": {"config": {"ignore_checks": ["W1"]}, "reasons": {"W1": "two"}}
            })
        );
    }

    #[test]
    fn without_suppressions_there_is_nothing() {
        let mut metadata = Map::new();
        write_suppressions(&[], &mut metadata);
        assert!(metadata.is_empty());
    }
}
