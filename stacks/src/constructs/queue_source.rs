//! `AWS::Lambda::EventSourceMapping`: invokes a function for the messages of a queue.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::function::Function;
use super::handle::Handle;
use super::properties::Properties;
use super::queue::Queue;
use super::resource_type::ResourceType;
use crate::expression::Expression;

/// Invokes a function for the messages of a queue. Each invocation receives a single message, so a
/// slow or failing message does not affect others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSource {
    queue: Expression,
    function: Expression,
    max_concurrency: u32,
}

impl QueueSource {
    /// Creates an event source. `max_concurrency` limits the number of concurrent invocations.
    /// Lambda requires that it is at least 2.
    pub fn new(queue: &Handle<Queue>, function: &Handle<Function>, max_concurrency: u32) -> Self {
        Self { queue: queue.arn(), function: function.arn(), max_concurrency }
    }
}

impl Construct for QueueSource {
    const TYPE: ResourceType = ResourceType::EventSourceMapping;

    fn properties(self) -> Map<String, Value> {
        Properties::new()
            .set("BatchSize", 1)
            // Without this property, a source that was disabled by hand would not count as drift.
            .set("Enabled", true)
            .set("EventSourceArn", self.queue)
            .set("FunctionName", self.function)
            .set("FunctionResponseTypes", vec!["ReportBatchItemFailures"])
            .set("ScalingConfig", json!({ "MaximumConcurrency": self.max_concurrency }))
            .into_map()
    }
}
