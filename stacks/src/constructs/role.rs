//! `AWS::IAM::Role`.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::handle::Handle;
use super::policy::{Statement, policy_document};
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// An AWS service that can assume a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Lambda,
}

/// A role with inline policies. Managed policies are not supported, because a change to a managed
/// policy would silently change the permissions of the role. Inline policies are deleted together
/// with the role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    service: Service,
    policies: Vec<(String, Vec<Statement>)>,
}

impl Role {
    /// Creates a role without permissions. Only `service` can assume the role.
    pub fn assumed_by(service: Service) -> Self {
        Self { service, policies: Vec::new() }
    }

    /// Adds an inline policy. The name must be unique within the role.
    #[must_use]
    pub fn policy(mut self, name: &str, statements: impl Into<Vec<Statement>>) -> Self {
        self.policies.push((name.to_owned(), statements.into()));
        self
    }

    fn trust_policy(&self) -> Value {
        policy_document([json!({
            "Effect": "Allow",
            "Principal": { "Service": self.service.principal() },
            "Action": "sts:AssumeRole",
        })])
    }

    fn inline_policies(&self) -> Value {
        let policies = self.policies.iter().map(|(name, statements)| {
            json!({
                "PolicyName": name,
                "PolicyDocument": policy_document(statements.iter().map(Value::from)),
            })
        });
        Value::Array(policies.collect())
    }
}

impl Handle<Role> {
    /// Returns the physical name of the role.
    pub fn name(&self) -> Expression {
        self.reference()
    }

    pub fn arn(&self) -> Expression {
        self.attribute("Arn")
    }
}

impl Construct for Role {
    const TYPE: ResourceType = ResourceType::Role;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set("AssumeRolePolicyDocument", self.trust_policy())
            .set("Policies", self.inline_policies())
            .into_map()
    }

    fn wildcard_reasons(&self) -> Vec<(String, String)> {
        self.policies
            .iter()
            .flat_map(|(_, statements)| statements)
            .filter_map(Statement::wildcard_reason)
            .collect()
    }
}

impl Service {
    const fn principal(self) -> &'static str {
        match self {
            Self::Lambda => "lambda.amazonaws.com",
        }
    }
}
