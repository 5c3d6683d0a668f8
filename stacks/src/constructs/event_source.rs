//! `AWS::Lambda::EventSourceMapping` for the stream of a table.

use serde_json::{Map, Value, json};

use super::properties::Properties;
use super::{Construct, Function, Queue, ResourceType, Table};
use crate::expression::Expression;
use crate::stack::Handle;

/// Which records of a stream reach the function; others cost nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFilter {
    pattern: Value,
}

impl StreamFilter {
    /// Records that match a pattern of Lambda's event filtering.
    pub fn new(pattern: Value) -> Self {
        Self { pattern }
    }
}

/// Calls a function with the changes of a table, from the oldest that the stream still has.
///
/// A record that fails must not hold up the others for ever: failures are reported one by one, a
/// failed batch is split, and what failed too often or is too old goes to a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSource {
    stream: Expression,
    function: Expression,
    dead_letters: Expression,
    filters: Vec<StreamFilter>,
    batch_size: u32,
    batching_window_s: u32,
    /// How often a batch is tried again; −1 until its records are too old.
    retries: i32,
    record_age_s: u32,
    bisect: bool,
}

impl StreamSource {
    /// Batches of 100 records, each tried 11 times within 12 hours: half of what a stream keeps.
    pub fn new(
        table: &Handle<Table>,
        function: &Handle<Function>,
        dead_letters: &Handle<Queue>,
    ) -> Self {
        Self {
            stream: table.stream_arn(),
            function: function.arn(),
            dead_letters: dead_letters.arn(),
            filters: Vec::new(),
            batch_size: 100,
            batching_window_s: 0,
            retries: 10,
            bisect: true,
            record_age_s: 12 * 60 * 60,
        }
    }

    /// Batches are tried again until their records are too old, and not split: for a function whose batches
    /// fail together.
    #[must_use]
    pub fn retried_until_too_old(self) -> Self {
        Self { retries: -1, bisect: false, ..self }
    }

    /// Calls the function with so many records, 10,000 at most, or with fewer if they have more than 6 MB.
    #[must_use]
    pub fn batch_size(self, batch_size: u32) -> Self {
        Self { batch_size, ..self }
    }

    /// Waits so many seconds, 300 at most, for a batch to fill; by default for none.
    #[must_use]
    pub fn batching_window_s(self, batching_window_s: u32) -> Self {
        Self { batching_window_s, ..self }
    }

    /// Adds a filter; a record that matches any of them reaches the function.
    #[must_use]
    pub fn filter(mut self, filter: StreamFilter) -> Self {
        self.filters.push(filter);
        self
    }

    fn filter_criteria(&self) -> Value {
        // A pattern is a text with JSON in it.
        let filters = self.filters.iter();
        let filters: Vec<Value> =
            filters.map(|filter| json!({ "Pattern": filter.pattern.to_string() })).collect();
        json!({ "Filters": filters })
    }
}

impl Construct for StreamSource {
    const TYPE: ResourceType = ResourceType::EventSourceMapping;

    fn properties(self) -> Map<String, Value> {
        let filters = (!self.filters.is_empty()).then(|| self.filter_criteria());
        let dead_letters = Value::from(self.dead_letters);
        let window_s = (self.batching_window_s > 0).then_some(self.batching_window_s);
        Properties::new()
            .set("BatchSize", self.batch_size)
            .set("BisectBatchOnFunctionError", self.bisect)
            .set("DestinationConfig", json!({ "OnFailure": { "Destination": dead_letters } }))
            .set("EventSourceArn", self.stream)
            .set_option("FilterCriteria", filters)
            .set("FunctionName", self.function)
            .set("FunctionResponseTypes", vec!["ReportBatchItemFailures"])
            .set_option("MaximumBatchingWindowInSeconds", window_s)
            .set("MaximumRecordAgeInSeconds", self.record_age_s)
            .set("MaximumRetryAttempts", self.retries)
            .set("ParallelizationFactor", 1)
            .set("StartingPosition", "TRIM_HORIZON")
            .into_map()
    }
}
