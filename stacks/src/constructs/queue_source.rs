//! `AWS::Lambda::EventSourceMapping` for a queue.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Construct, Function, Queue, ResourceType};
use crate::expression::Expression;
use crate::stack::Handle;

/// Calls a function with the messages of a queue, one at a time: what a call takes long for must not
/// hold up others, and each message that fails is reported alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSource {
    queue: Expression,
    function: Expression,
    concurrency_max: u32,
}

impl QueueSource {
    /// At most `concurrency_max` calls at a time, 2 or more (Lambda).
    pub fn new(queue: &Handle<Queue>, function: &Handle<Function>, concurrency_max: u32) -> Self {
        Self { queue: queue.arn(), function: function.arn(), concurrency_max }
    }
}

impl Construct for QueueSource {
    const TYPE: ResourceType = ResourceType::EventSourceMapping;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set("BatchSize", 1)
            .set("EventSourceArn", self.queue)
            .set("FunctionName", self.function)
            .set("FunctionResponseTypes", vec!["ReportBatchItemFailures"])
            .set("ScalingConfig", json!({ "MaximumConcurrency": self.concurrency_max }))
            .into_map()
    }
}
