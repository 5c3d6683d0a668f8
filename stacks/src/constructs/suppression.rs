//! Suppressions of linter rules that do not apply to a resource. The template states the reason for
//! each suppression.

use serde_json::{Map, Value, json};

/// The id of a linter rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A cfn-lint rule, such as `W3005`.
    CfnLint(String),
    /// A checkov rule, such as `CKV_AWS_116`.
    Checkov(String),
    /// A rule of cloudformation-validate, such as `W9013`.
    CloudFormationValidate(String),
}

impl Rule {
    pub fn cfn_lint(id: impl Into<String>) -> Self {
        Self::CfnLint(id.into())
    }

    pub fn checkov(id: impl Into<String>) -> Self {
        Self::Checkov(id.into())
    }

    pub fn cloudformation_validate(id: impl Into<String>) -> Self {
        Self::CloudFormationValidate(id.into())
    }
}

/// A suppressed linter rule of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    pub rule: Rule,
    /// Reason why the rule does not apply.
    pub reason: String,
}

/// Adds suppressions to the `Metadata` of a resource, in the format of each linter.
///
/// The cfn-lint format has no field for reasons, so a separate map contains the reasons.
/// cloudformation-validate does not support suppressions, so
/// `tests/integration/template_linters.rs` removes the suppressed findings from its output.
pub(crate) fn write_suppressions(suppressions: &[Suppression], metadata: &mut Map<String, Value>) {
    let mut checkov_skips = Vec::new();
    let mut cloudformation_validate_skips = Vec::new();
    let mut cfn_lint_ids = Vec::new();
    let mut cfn_lint_reasons = Map::new();
    for Suppression { rule, reason } in suppressions {
        match rule {
            Rule::Checkov(id) => checkov_skips.push(json!({ "id": id, "comment": reason })),
            Rule::CloudFormationValidate(id) => {
                cloudformation_validate_skips.push(json!({ "id": id, "comment": reason }));
            }
            Rule::CfnLint(id) => {
                cfn_lint_ids.push(id.as_str());
                cfn_lint_reasons.insert(id.clone(), Value::from(reason.as_str()));
            }
        }
    }
    if !checkov_skips.is_empty() {
        metadata.insert("checkov".to_owned(), json!({ "skip": checkov_skips }));
    }
    if !cloudformation_validate_skips.is_empty() {
        let section = json!({ "skip": cloudformation_validate_skips });
        metadata.insert("cloudformation-validate".to_owned(), section);
    }
    if !cfn_lint_ids.is_empty() {
        let section = json!({
            "config": { "ignore_checks": cfn_lint_ids },
            "reasons": cfn_lint_reasons,
        });
        metadata.insert("cfn-lint".to_owned(), section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_linter_has_its_own_section() {
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
    fn without_suppressions_the_metadata_is_unchanged() {
        let mut metadata = Map::new();
        write_suppressions(&[], &mut metadata);
        assert!(metadata.is_empty());
    }
}
