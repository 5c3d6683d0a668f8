//! `AWS::Lambda::EventSourceMapping`: invokes a function for a queue's messages.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::function::Function;
use super::handle::Handle;
use super::properties::Properties;
use super::queue::Queue;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// Invokes a function for a queue's messages. Each invocation receives a single message, so that
/// slow or failing messages do not affect other messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSource {
    queue: Expression,
    function: Expression,
    max_concurrency: u32,
}

impl QueueSource {
    /// Creates a mapping. `max_concurrency` limits the number of concurrent invocations and must be
    /// at least 2 (Lambda).
    pub fn new(queue: &Handle<Queue>, function: &Handle<Function>, max_concurrency: u32) -> Self {
        Self { queue: queue.arn(), function: function.arn(), max_concurrency }
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
            .set("ScalingConfig", json!({ "MaximumConcurrency": self.max_concurrency }))
            .into_map()
    }
}
