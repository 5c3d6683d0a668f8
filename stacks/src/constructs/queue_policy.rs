//! `AWS::SQS::QueuePolicy`.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::handle::Handle;
use super::policy::{Statement, policy_document};
use super::properties::Properties;
use super::queue::Queue;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// A resource policy of a queue. It contains only deny statements, because roles grant access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePolicy {
    queue: Expression,
    statements: Vec<Statement>,
}

impl QueuePolicy {
    /// Creates a policy that denies every request that does not use TLS.
    pub fn tls_only(queue: &Handle<Queue>) -> Self {
        let statement = Statement::deny_everyone(
            "DenyPlainHttp",
            ["sqs:*"],
            [queue.arn()],
            json!({ "Bool": { "aws:SecureTransport": "false" } }),
        );
        Self { queue: queue.url(), statements: vec![statement] }
    }
}

impl Construct for QueuePolicy {
    const TYPE: ResourceType = ResourceType::QueuePolicy;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set("PolicyDocument", policy_document(self.statements.iter().map(Value::from)))
            .set("Queues", vec![Value::from(self.queue)])
            .into_map()
    }
}
