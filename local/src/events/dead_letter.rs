//! Builds the messages that Lambda sends to the dead letter queue when it discards records. A
//! message contains the sequence numbers of the first and last discarded record, but not the
//! records themselves.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::batch::{Batch, DiscardReason, Record};
use super::mapping::Mapping;
use super::stream::Shard;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DiscardCause {
    pub(super) reason: DiscardReason,
    /// Whether the last invocation failed without reporting which record failed.
    pub(super) has_function_error: bool,
}

pub(super) fn build_dead_letter(
    mapping: &Mapping,
    shard: &Shard,
    batch: &Batch,
    cause: DiscardCause,
    now_ms: u64,
) -> Value {
    let first_record = batch.records.first();
    let last_record = batch.records.last();
    let now = humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(now_ms));
    let mut message = json!({
        "requestContext": {
            "requestId": uuid::Uuid::new_v4().to_string(),
            "functionArn": mapping.function_arn,
            "condition": cause.reason.name(),
            "approximateInvokeCount": batch.invocations,
        },
        "version": "1.0",
        "timestamp": now.to_string(),
        "DDBStreamBatchInfo": {
            "shardId": shard.id,
            "startSequenceNumber": sequence_number(first_record),
            "endSequenceNumber": sequence_number(last_record),
            "approximateArrivalOfFirstRecord": format_arrival(first_record),
            "approximateArrivalOfLastRecord": format_arrival(last_record),
            "batchSize": batch.records.len(),
            "streamArn": shard.stream_arn,
        },
    });
    if batch.invocations > 0
        && let Some(fields) = message.as_object_mut()
    {
        let function_error =
            if cause.has_function_error { json!("Unhandled") } else { Value::Null };
        let response_context = json!({
            "statusCode": 200,
            "executedVersion": "$LATEST",
            "functionError": function_error,
        });
        fields.insert("responseContext".to_owned(), response_context);
    }
    message
}

fn sequence_number(record: Option<&Record>) -> String {
    record.map(|record| record.sequence_number.clone()).unwrap_or_default()
}

fn format_arrival(record: Option<&Record>) -> String {
    let created_ms = record.map(|record| record.created_ms).unwrap_or_default();
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(created_ms)).to_string()
}

impl DiscardReason {
    const fn name(self) -> &'static str {
        match self {
            Self::RetryAttemptsExhausted => "RetryAttemptsExhausted",
            Self::RecordAgeExceeded => "RecordAgeExceeded",
        }
    }
}
