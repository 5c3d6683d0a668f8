//! `AWS::Lambda::EventSourceMapping` for the change stream of a table.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::function::Function;
use super::handle::Handle;
use super::properties::Properties;
use super::queue::Queue;
use super::resource_type::ResourceType;
use super::table::Table;
use crate::expression::Expression;

/// A filter that selects records of a change stream. Only selected records cause invocations, which
/// are billed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFilter {
    pattern: Value,
}

impl StreamFilter {
    /// Creates a filter from a pattern of Lambda's event filtering.
    pub fn new(pattern: Value) -> Self {
        Self { pattern }
    }
}

/// Invokes a function with the changes of a table, starting with the oldest record in the change
/// stream.
///
/// Three settings keep a failing record from blocking the others: the function reports failures per
/// record, a failed batch is split, and records that fail too often or are too old are sent to a
/// dead-letter queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSource {
    stream: Expression,
    function: Expression,
    dead_letters: Expression,
    filters: Vec<StreamFilter>,
    batch_size: u32,
    batching_window_s: u32,
    /// Maximum number of retries. −1 means that only the age of the records limits the retries.
    max_retries: i32,
    max_record_age_s: u32,
    splits_failed_batches: bool,
}

impl StreamSource {
    /// Creates a mapping with batches of 100 records. Each batch is retried up to 10 times within
    /// 12 hours, which is half of a change stream's retention.
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
            max_retries: 10,
            splits_failed_batches: true,
            max_record_age_s: 12 * 60 * 60,
        }
    }

    /// Retries batches until their records are too old, without splitting the batches. This is for
    /// functions that fail for all records at the same time, for example because a receiver is
    /// down.
    #[must_use]
    pub fn retried_until_too_old(self) -> Self {
        Self { max_retries: -1, splits_failed_batches: false, ..self }
    }

    /// Sets the maximum number of records in a batch, at most 10,000. Lambda also limits the size
    /// of a batch to 6 MB.
    #[must_use]
    pub fn batch_size(self, batch_size: u32) -> Self {
        Self { batch_size, ..self }
    }

    /// Sets the maximum delay in seconds for collecting a full batch, at most 300; the default is
    /// 0.
    #[must_use]
    pub fn batching_window_s(self, batching_window_s: u32) -> Self {
        Self { batching_window_s, ..self }
    }

    /// Adds a filter. A record is selected if it matches at least one filter.
    #[must_use]
    pub fn filter(mut self, filter: StreamFilter) -> Self {
        self.filters.push(filter);
        self
    }

    fn filter_criteria(&self) -> Value {
        // Lambda expects the pattern as a string that contains JSON.
        let patterns = self.filters.iter().map(|filter| filter.pattern.to_string());
        let filters: Vec<Value> = patterns.map(|pattern| json!({ "Pattern": pattern })).collect();
        json!({ "Filters": filters })
    }
}

impl Construct for StreamSource {
    const TYPE: ResourceType = ResourceType::EventSourceMapping;

    fn properties(self) -> Map<String, Value> {
        let filters = if self.filters.is_empty() { None } else { Some(self.filter_criteria()) };
        let dead_letters = Value::from(self.dead_letters);
        let window_s = if self.batching_window_s > 0 { Some(self.batching_window_s) } else { None };
        Properties::new()
            .set("BatchSize", self.batch_size)
            .set("BisectBatchOnFunctionError", self.splits_failed_batches)
            .set("DestinationConfig", json!({ "OnFailure": { "Destination": dead_letters } }))
            .set("EventSourceArn", self.stream)
            .set_option("FilterCriteria", filters)
            .set("FunctionName", self.function)
            .set("FunctionResponseTypes", vec!["ReportBatchItemFailures"])
            .set_option("MaximumBatchingWindowInSeconds", window_s)
            .set("MaximumRecordAgeInSeconds", self.max_record_age_s)
            .set("MaximumRetryAttempts", self.max_retries)
            .set("ParallelizationFactor", 1)
            .set("StartingPosition", "TRIM_HORIZON")
            .into_map()
    }
}
