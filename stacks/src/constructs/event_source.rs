//! `AWS::Lambda::EventSourceMapping`: invokes a function for the records of a table's change
//! stream.

use serde_json::{Map, Value, json};

use super::construct::Construct;
use super::function::Function;
use super::handle::Handle;
use super::properties::Properties;
use super::queue::Queue;
use super::resource_type::ResourceType;
use super::table::Table;
use crate::expression::Expression;

const DEFAULT_BATCH_SIZE: u32 = 100;
/// Retries continue for about an hour, which outlasts most outages of DynamoDB, SQS and S3. The
/// functions send records that can never be processed to the dead-letter queue themselves, because
/// the later records of the shard would otherwise wait for as long.
const DEFAULT_MAX_RETRIES: i32 = 100;
/// The value that means an unlimited number of retries in Lambda's API. A batch is then retried
/// until its records are too old.
const UNLIMITED_RETRIES: i32 = -1;
/// The age in seconds above which Lambda does not retry a record. It is half of the period for
/// which a change stream retains records.
const MAX_RECORD_AGE_S: u32 = 12 * 60 * 60;

/// A filter for change stream records. Records that match no filter do not invoke the function,
/// which saves the cost of the invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFilter {
    pattern: Value,
}

impl StreamFilter {
    /// Creates a filter from a pattern in the syntax of Lambda event filters.
    pub fn new(pattern: Value) -> Self {
        Self { pattern }
    }
}

/// Invokes a function for the changes of a table. The function first receives the oldest record in
/// the change stream.
///
/// A failing record does not block other records: the function reports which records failed, and
/// Lambda splits failed batches. Records that fail too often or are too old are sent to a
/// dead-letter queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSource {
    stream: Expression,
    function: Expression,
    dead_letters: Expression,
    filters: Vec<StreamFilter>,
    batch_size: u32,
    batching_window_s: u32,
    max_retries: i32,
    max_record_age_s: u32,
    splits_failed_batches: bool,
}

impl StreamSource {
    /// Creates an event source with batches of at most 100 records. Lambda retries a failed batch
    /// up to 100 times, until its records are 12 hours old.
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

    /// Retries a failed batch without splitting it until its records are too old. This is for
    /// functions that fail on all records at once, for example because a receiver is unavailable.
    #[must_use]
    pub fn retried_until_too_old(self) -> Self {
        Self { max_retries: UNLIMITED_RETRIES, splits_failed_batches: false, ..self }
    }

    /// Sets the maximum number of records per batch, which is at most 10,000. Lambda also limits a
    /// batch to 6 MB.
    #[must_use]
    pub fn batch_size(self, batch_size: u32) -> Self {
        Self { batch_size, ..self }
    }

    /// Sets the maximum time in seconds that Lambda waits for a full batch. It is at most 300 and
    /// defaults to 0.
    #[must_use]
    pub fn batching_window_s(self, batching_window_s: u32) -> Self {
        Self { batching_window_s, ..self }
    }

    /// Adds a filter. With several filters, a record must match at least one of them.
    #[must_use]
    pub fn filter(mut self, filter: StreamFilter) -> Self {
        self.filters.push(filter);
        self
    }

    fn filter_criteria(&self) -> Value {
        // Lambda expects each pattern as a string that contains JSON.
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
            // Without this property, a source that was disabled by hand would not count as drift.
            .set("Enabled", true)
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
