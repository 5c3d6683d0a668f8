//! `AWS::SQS::Queue`: a standard, encrypted queue.

use serde_json::{Map, Value, json};

use super::construct::{Construct, RemovalPolicy};
use super::handle::Handle;
use super::properties::Properties;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// A standard queue. FIFO queues are not supported, because Cellar does not depend on the order of
/// messages, and because FIFO queues deduplicate messages only for five minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    retention_s: u32,
    visibility_s: u32,
    /// The ARN of the dead-letter queue, and the number of failed receives after which SQS moves a
    /// message there.
    dead_letters: Option<(Expression, u32)>,
    kms_key: Option<String>,
}

impl Queue {
    /// The longest period, in seconds, for which SQS can retain messages: 14 days.
    pub const RETENTION_S_MAX: u32 = 14 * 24 * 60 * 60;

    const DEFAULT_VISIBILITY_S: u32 = 30;

    /// Creates a queue that retains messages for 14 days and has a visibility timeout of 30 s.
    pub fn new() -> Self {
        let retention_s = Self::RETENTION_S_MAX;
        Self {
            retention_s,
            visibility_s: Self::DEFAULT_VISIBILITY_S,
            dead_letters: None,
            kms_key: None,
        }
    }

    /// Sets the visibility timeout in seconds.
    ///
    /// If the queue invokes a function, the visibility timeout must be at least six times the
    /// timeout of the function. [`Stack::synthesize`](crate::stack::Stack::synthesize) enforces
    /// this minimum.
    #[must_use]
    pub fn visibility_s(mut self, visibility_s: u32) -> Self {
        self.visibility_s = visibility_s;
        self
    }

    /// Sets the dead-letter queue. SQS moves a message to this queue after `max_receive_count`
    /// failed receives.
    #[must_use]
    pub fn dead_letters(mut self, queue: &Handle<Self>, max_receive_count: u32) -> Self {
        self.dead_letters = Some((queue.arn(), max_receive_count));
        self
    }

    /// Encrypts the queue with the KMS key that has this ARN. If `None`, the queue is encrypted
    /// with a key that SQS manages, which is free.
    #[must_use]
    pub fn encrypted_with(mut self, kms_key: Option<&str>) -> Self {
        self.kms_key = kms_key.map(str::to_owned);
        self
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

impl Handle<Queue> {
    /// Returns the queue URL, which identifies the queue in SQS requests.
    pub fn url(&self) -> Expression {
        self.reference()
    }

    pub fn arn(&self) -> Expression {
        self.attribute("Arn")
    }

    /// Returns the physical name of the queue. The metrics of the queue have this name as a
    /// dimension.
    pub fn name(&self) -> Expression {
        self.attribute("QueueName")
    }
}

impl Construct for Queue {
    const TYPE: ResourceType = ResourceType::Queue;

    fn properties(self) -> Map<String, Value> {
        let redrive_policy = self.dead_letters.map(|(queue_arn, max_receive_count)| {
            let queue_arn = Value::from(queue_arn);
            json!({ "deadLetterTargetArn": queue_arn, "maxReceiveCount": max_receive_count })
        });
        // SQS rejects a queue that sets both a KMS key and the encryption that SQS manages.
        let uses_sqs_managed_key = if self.kms_key.is_none() { Some(true) } else { None };
        Properties::new()
            .set_option("KmsMasterKeyId", self.kms_key)
            .set("MessageRetentionPeriod", self.retention_s)
            .set_option("RedrivePolicy", redrive_policy)
            .set_option("SqsManagedSseEnabled", uses_sqs_managed_key)
            .set("VisibilityTimeout", self.visibility_s)
            .into_map()
    }

    /// The messages are jobs of this stack. The jobs can be recreated from the logs.
    fn removal_policy(&self) -> Option<RemovalPolicy> {
        Some(RemovalPolicy::Delete)
    }
}
