//! Builds the messages that Lambda sends to the dead letter queue when it discards records. A
//! message contains the records' positions, but not their contents.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::batch::{Batch, GiveUpReason, Record};
use super::mapping::Mapping;
use super::stream::Shard;

/// Builds the message for a batch discarded at `now_ms` (milliseconds since the Unix epoch).
pub(super) fn build_dead_letter(
    mapping: &Mapping,
    shard: &Shard,
    batch: &Batch,
    (reason, has_function_error): (GiveUpReason, bool),
    now_ms: u64,
) -> Value {
    let (first, last) = (batch.records.first(), batch.records.last());
    let now = humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(now_ms));
    let mut message = json!({
        "requestContext": {
            "requestId": uuid::Uuid::new_v4().to_string(),
            "functionArn": mapping.function_arn,
            "condition": reason.name(),
            "approximateInvokeCount": batch.invocations,
        },
        "version": "1.0",
        "timestamp": now.to_string(),
        "DDBStreamBatchInfo": {
            "shardId": shard.id,
            "startSequenceNumber": sequence_number(first),
            "endSequenceNumber": sequence_number(last),
            "approximateArrivalOfFirstRecord": format_arrival(first),
            "approximateArrivalOfLastRecord": format_arrival(last),
            "batchSize": batch.records.len(),
            "streamArn": shard.stream_arn,
        },
    });
    if batch.invocations > 0
        && let Some(fields) = message.as_object_mut()
    {
        let function_error = if has_function_error { json!("Unhandled") } else { Value::Null };
        let response = json!({
            "statusCode": 200,
            "executedVersion": "$LATEST",
            "functionError": function_error,
        });
        fields.insert("responseContext".to_owned(), response);
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

impl GiveUpReason {
    const fn name(self) -> &'static str {
        match self {
            Self::RetryAttemptsExhausted => "RetryAttemptsExhausted",
            Self::RecordAgeExceeded => "RecordAgeExceeded",
        }
    }
}
