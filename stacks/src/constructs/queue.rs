//! `AWS::SQS::Queue`: standard, encrypted, with a retention that is written down.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Construct, RemovalPolicy, ResourceType};
use crate::expression::Expression;
use crate::stack::Handle;

/// A standard queue, encrypted with a key of SQS, which is free, or a customer's. Not a FIFO queue: nothing here
/// needs an order, and its deduplication ends after five minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    retention_s: u32,
    visibility_s: u32,
    dead_letters: Option<(Expression, u32)>,
    key: Option<String>,
}

impl Queue {
    /// Seconds that SQS keeps a message at most: 14 days.
    pub const RETENTION_S_MAX: u32 = 14 * 24 * 60 * 60;

    /// A queue that keeps its messages for as long as SQS can, and hides a received one for 30 s.
    pub fn new() -> Self {
        let retention_s = Self::RETENTION_S_MAX;
        Self { retention_s, visibility_s: 30, dead_letters: None, key: None }
    }

    /// Sets the seconds that a received message is hidden from others. A queue that feeds a
    /// function needs 6 times the function's timeout, which
    /// [`Stack::synthesize`](crate::stack::Stack::synthesize) checks.
    #[must_use]
    pub fn visibility_s(mut self, visibility_s: u32) -> Self {
        self.visibility_s = visibility_s;
        self
    }

    /// Moves a message to another queue once it was received so many times.
    #[must_use]
    pub fn dead_letters(mut self, queue: &Handle<Self>, max_receive_count: u32) -> Self {
        self.dead_letters = Some((queue.arn(), max_receive_count));
        self
    }

    /// Encrypts it with a customer's key, by its ARN; without one, with a key of SQS.
    #[must_use]
    pub fn encrypted_with(mut self, key: Option<&str>) -> Self {
        self.key = key.map(str::to_owned);
        self
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

impl Construct for Queue {
    const TYPE: ResourceType = ResourceType::Queue;

    fn properties(self) -> Map<String, Value> {
        let redrive = self.dead_letters.map(|(queue, max_receive_count)| {
            let queue = Value::from(queue);
            json!({ "deadLetterTargetArn": queue, "maxReceiveCount": max_receive_count })
        });
        // SQS takes one of the two.
        let managed = self.key.is_none().then_some(true);
        Properties::new()
            .set_option("KmsMasterKeyId", self.key)
            .set("MessageRetentionPeriod", self.retention_s)
            .set_option("RedrivePolicy", redrive)
            .set_option("SqsManagedSseEnabled", managed)
            .set("VisibilityTimeout", self.visibility_s)
            .into_map()
    }

    /// Its messages are jobs of this stack; the log still has what they are about.
    fn removal(&self) -> Option<RemovalPolicy> {
        Some(RemovalPolicy::Delete)
    }
}
