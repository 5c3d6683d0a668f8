//! IAM policy statements.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::properties::Properties;
use crate::expression::Expression;

/// The version of the IAM policy language. IAM identifies versions by date.
const POLICY_VERSION: &str = "2012-10-17";

/// Effect of a policy statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Allow,
    /// Denies the actions, even if another statement allows them.
    Deny,
}

/// Resources of a policy statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resources {
    /// The resources that match one of these ARNs or ARN patterns.
    Exactly(Vec<Expression>),
    /// All resources. Use this only for actions that do not support resource ARNs.
    Any {
        /// The reason why the statement cannot be restricted to specific resources.
        reason: String,
    },
}

/// A policy statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    id: String,
    effect: Effect,
    actions: Vec<String>,
    resources: Resources,
    applies_to_everyone: bool,
    condition: Option<Value>,
}

impl Statement {
    /// Creates a statement that allows the actions on the resources. `id` must consist of letters
    /// and digits. An action or literal ARN with a wildcard makes
    /// [`Stack::synthesize`](crate::stack::Stack::synthesize) fail.
    pub fn allow<const N: usize>(
        id: &str,
        actions: [&str; N],
        resources: impl Into<Vec<Expression>>,
    ) -> Self {
        Self::new(id, Effect::Allow, actions, Resources::Exactly(resources.into()))
    }

    /// Creates a statement that allows the actions on all resources. Use this only for actions that
    /// do not support resource ARNs. `reason` is written to the template.
    pub fn allow_on_any_resource<const N: usize>(
        id: &str,
        actions: [&str; N],
        reason: &str,
    ) -> Self {
        Self::new(id, Effect::Allow, actions, Resources::Any { reason: reason.to_owned() })
    }

    /// Restricts the statement to requests that meet `condition`.
    #[must_use]
    pub fn only_if(mut self, condition: Value) -> Self {
        self.condition = Some(condition);
        self
    }

    /// Creates a statement that denies the actions to everyone if `condition` is met.
    pub fn deny_everyone<const N: usize>(
        id: &str,
        actions: [&str; N],
        resources: impl Into<Vec<Expression>>,
        condition: Value,
    ) -> Self {
        let statement = Self::new(id, Effect::Deny, actions, Resources::Exactly(resources.into()));
        Self { applies_to_everyone: true, condition: Some(condition), ..statement }
    }

    fn new<const N: usize>(
        id: &str,
        effect: Effect,
        actions: [&str; N],
        resources: Resources,
    ) -> Self {
        Self {
            id: id.to_owned(),
            effect,
            actions: actions.map(str::to_owned).to_vec(),
            resources,
            applies_to_everyone: false,
            condition: None,
        }
    }

    /// Returns the statement's id, and the reason why the statement allows all resources. Returns
    /// `None` if the statement allows only specific resources.
    pub(super) fn wildcard_reason(&self) -> Option<(String, String)> {
        match &self.resources {
            Resources::Exactly(_) => None,
            Resources::Any { reason } => Some((self.id.clone(), reason.clone())),
        }
    }
}

impl From<&Statement> for Value {
    fn from(statement: &Statement) -> Self {
        let resources = match &statement.resources {
            Resources::Exactly(arns) => Self::from(arns.clone()),
            Resources::Any { .. } => Self::from("*"),
        };
        let principal = if statement.applies_to_everyone { Some("*") } else { None };
        Properties::new()
            .set("Sid", statement.id.as_str())
            .set("Effect", statement.effect.name())
            .set_option("Principal", principal)
            .set("Action", statement.actions.clone())
            .set("Resource", resources)
            .set_option("Condition", statement.condition.clone())
            .into()
    }
}

impl Effect {
    const fn name(self) -> &'static str {
        match self {
            Self::Allow => "Allow",
            Self::Deny => "Deny",
        }
    }
}

pub(super) fn policy_document(statements: impl IntoIterator<Item = Value>) -> Value {
    json!({
        "Version": POLICY_VERSION,
        "Statement": Value::Array(statements.into_iter().collect()),
    })
}

/// Returns no statements if `document` is malformed.
pub(crate) fn statements_of(document: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let statements = document.get("Statement").and_then(Value::as_array);
    statements.into_iter().flatten().filter_map(Value::as_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowing_statement_names_actions_and_resources() {
        let statement =
            Statement::allow("Read", ["dynamodb:Query"], [Expression::attribute("T", "Arn")]);
        assert_eq!(
            Value::from(&statement),
            json!({
                "Sid": "Read",
                "Effect": "Allow",
                "Action": ["dynamodb:Query"],
                "Resource": [{"Fn::GetAtt": ["T", "Arn"]}],
            })
        );
        assert_eq!(statement.wildcard_reason(), None);
    }

    #[test]
    fn a_statement_for_any_resource_keeps_its_reason() {
        let statement = Statement::allow_on_any_resource("Trace", ["xray:Put"], "no ARNs");
        assert_eq!(Value::from(&statement)["Resource"], "*");
        assert_eq!(statement.wildcard_reason(), Some(("Trace".to_owned(), "no ARNs".to_owned())));
    }

    #[test]
    fn a_denying_statement_is_for_everyone() {
        let condition = json!({"Bool": {"aws:SecureTransport": "false"}});
        let statement = Statement::deny_everyone("Tls", ["s3:*"], [], condition.clone());
        let value = Value::from(&statement);
        assert_eq!((&value["Effect"], &value["Principal"]), (&json!("Deny"), &json!("*")));
        assert_eq!(value["Condition"], condition);
    }
}
