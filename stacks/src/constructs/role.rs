//! `AWS::IAM::Role`.

use serde_json::{Map, Value, json};

use super::policy::document;
use super::properties::Properties;
use super::{Construct, ResourceType, Statement};

/// A service that may take on a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Lambda, for the functions.
    Lambda,
}

/// A role with inline policies only: they come and go with it, and no managed policy of somebody
/// else can widen it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    service: Service,
    policies: Vec<(String, Vec<Statement>)>,
}

impl Role {
    /// A role without permissions that only this service takes on.
    pub fn assumed_by(service: Service) -> Self {
        Self { service, policies: Vec::new() }
    }

    /// Adds an inline policy; its name has to be unique within the role.
    #[must_use]
    pub fn policy(mut self, name: &str, statements: impl Into<Vec<Statement>>) -> Self {
        self.policies.push((name.to_owned(), statements.into()));
        self
    }

    fn trust(&self) -> Value {
        document([json!({
            "Effect": "Allow",
            "Principal": { "Service": self.service.principal() },
            "Action": "sts:AssumeRole",
        })])
    }

    fn inline_policies(&self) -> Value {
        let policies = self.policies.iter().map(|(name, statements)| {
            json!({
                "PolicyName": name,
                "PolicyDocument": document(statements.iter().map(Value::from)),
            })
        });
        Value::Array(policies.collect())
    }
}

impl Construct for Role {
    const TYPE: ResourceType = ResourceType::Role;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set("AssumeRolePolicyDocument", self.trust())
            .set("Policies", self.inline_policies())
            .into_map()
    }

    fn reasons(&self) -> Vec<(String, String)> {
        self.policies
            .iter()
            .flat_map(|(_, statements)| statements)
            .filter_map(Statement::reason)
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
