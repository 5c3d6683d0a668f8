//! `AWS::SQS::QueuePolicy`.

use serde_json::{Map, Value, json};

use super::policy::document;
use super::properties::Properties;
use super::{Construct, Queue, ResourceType, Statement};
use crate::expression::Expression;
use crate::stack::Handle;

/// The policy of one queue. Who may use the queue is said by roles; the policy only forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePolicy {
    queue: Expression,
    statements: Vec<Statement>,
}

impl QueuePolicy {
    /// Refuses every request that does not use TLS.
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
            .set("PolicyDocument", document(self.statements.iter().map(Value::from)))
            .set("Queues", vec![Value::from(self.queue)])
            .into_map()
    }
}
