//! `AWS::Lambda::EventSourceMapping`: invokes a function for a table's change stream.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::function::Function;
use super::handle::Handle;
use super::properties::Properties;
use super::queue::Queue;
use super::resource_type::ResourceType;
use super::table::Table;
use crate::expression::Expression;

/// Default maximum number of records per batch.
const DEFAULT_BATCH_SIZE: u32 = 100;
/// Default maximum number of retries per batch. Retries continue for about an hour, which outlasts
/// most outages of DynamoDB, SQS and S3. A record that can never be processed delays the later
/// records of its shard for as long.
const DEFAULT_MAX_RETRIES: i32 = 100;
/// Lambda's value for an unlimited number of retries. Only record age then limits retries.
const UNLIMITED_RETRIES: i32 = -1;
/// Record age in seconds above which a record is not retried: half of the change stream's retention
/// period.
const MAX_RECORD_AGE_S: u32 = 12 * 60 * 60;

/// A filter for change stream records. Only selected records cause invocations, which are billed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFilter {
    pattern: Value,
}

impl StreamFilter {
    /// Creates a filter from a Lambda event filter pattern.
    pub fn new(pattern: Value) -> Self {
        Self { pattern }
    }
}

/// Invokes a function for a table's changes, starting with the oldest record in the change stream.
///
/// A failing record does not block other records. The function reports failures per record, and
/// failed batches are split. Records that fail too often or are too old are sent to a dead-letter
/// queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSource {
    stream: Expression,
    function: Expression,
    dead_letters: Expression,
    filters: Vec<StreamFilter>,
    batch_size: u32,
    batching_window_s: u32,
    /// Maximum number of retries, or [`UNLIMITED_RETRIES`].
    max_retries: i32,
    max_record_age_s: u32,
    splits_failed_batches: bool,
}

impl StreamSource {
    /// Creates a mapping with batches of 100 records. A failed batch is retried up to 100 times,
    /// while its records are less than 12 hours old (half of a change stream's retention period).
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
            batch_size: DEFAULT_BATCH_SIZE,
            batching_window_s: 0,
            max_retries: DEFAULT_MAX_RETRIES,
            splits_failed_batches: true,
            max_record_age_s: MAX_RECORD_AGE_S,
        }
    }

    /// Retries failed batches until their records are too old. Failed batches are not split. Use
    /// this for functions that fail on all records at once, for example because a receiver is down.
    #[must_use]
    pub fn retried_until_too_old(self) -> Self {
        Self { max_retries: UNLIMITED_RETRIES, splits_failed_batches: false, ..self }
    }

    /// Sets the maximum number of records per batch, at most 10,000. Lambda also limits batches to
    /// 6 MB.
    #[must_use]
    pub fn batch_size(self, batch_size: u32) -> Self {
        Self { batch_size, ..self }
    }

    /// Sets the batching window, which is the maximum time to wait for a full batch, in seconds. It
    /// is at most 300 and defaults to 0.
    #[must_use]
    pub fn batching_window_s(self, batching_window_s: u32) -> Self {
        Self { batching_window_s, ..self }
    }

    /// Adds a filter. A record is selected if it matches any filter.
    #[must_use]
    pub fn filter(mut self, filter: StreamFilter) -> Self {
        self.filters.push(filter);
        self
    }

    fn filter_criteria(&self) -> Value {
        // Lambda expects the pattern as a JSON string.
        let filters: Vec<Value> = self
            .filters
            .iter()
            .map(|filter| json!({ "Pattern": filter.pattern.to_string() }))
            .collect();
        json!({ "Filters": filters })
    }
}

impl Construct for StreamSource {
    const TYPE: ResourceType = ResourceType::EventSourceMapping;

    fn properties(self) -> Map<String, Value> {
        let filter_criteria =
            if self.filters.is_empty() { None } else { Some(self.filter_criteria()) };
        let failure_queue = Value::from(self.dead_letters);
        let batching_window_s =
            if self.batching_window_s > 0 { Some(self.batching_window_s) } else { None };
        Properties::new()
            .set("BatchSize", self.batch_size)
            .set("BisectBatchOnFunctionError", self.splits_failed_batches)
            .set("DestinationConfig", json!({ "OnFailure": { "Destination": failure_queue } }))
            .set("EventSourceArn", self.stream)
            .set_option("FilterCriteria", filter_criteria)
            .set("FunctionName", self.function)
            .set("FunctionResponseTypes", vec!["ReportBatchItemFailures"])
            .set_option("MaximumBatchingWindowInSeconds", batching_window_s)
            .set("MaximumRecordAgeInSeconds", self.max_record_age_s)
            .set("MaximumRetryAttempts", self.max_retries)
            .set("ParallelizationFactor", 1)
            .set("StartingPosition", "TRIM_HORIZON")
            .into_map()
    }
}
