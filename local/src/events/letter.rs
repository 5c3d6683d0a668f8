//! What Lambda writes to the queue for records that it gives up: where they are, not what they say.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::batch::{Batch, Condition};
use super::mapping::Mapping;
use super::stream::Shard;

/// The message about a batch that is given up at a time, Unix milliseconds.
pub(super) fn letter(
    mapping: &Mapping,
    shard: &Shard,
    batch: &Batch,
    condition: Condition,
    function_error: bool,
    now_ms: u64,
) -> Value {
    let number = |record: Option<&super::batch::Record>| {
        record.map(|record| record.sequence_number.clone()).unwrap_or_default()
    };
    let arrival = |record: Option<&super::batch::Record>| {
        let created_ms = record.map(|record| record.created_ms).unwrap_or_default();
        humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(created_ms))
            .to_string()
    };
    let (first, last) = (batch.records.first(), batch.records.last());
    let now = humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(now_ms));
    let mut letter = json!({
        "requestContext": {
            "requestId": uuid::Uuid::new_v4().to_string(),
            "functionArn": mapping.function_arn,
            "condition": condition.name(),
            "approximateInvokeCount": batch.calls,
        },
        "version": "1.0",
        "timestamp": now.to_string(),
        "DDBStreamBatchInfo": {
            "shardId": shard.id,
            "startSequenceNumber": number(first),
            "endSequenceNumber": number(last),
            "approximateArrivalOfFirstRecord": arrival(first),
            "approximateArrivalOfLastRecord": arrival(last),
            "batchSize": batch.records.len(),
            "streamArn": shard.stream_arn,
        },
    });
    if let Some(fields) = letter.as_object_mut().filter(|_| batch.calls > 0) {
        let mut response = json!({ "statusCode": 200, "executedVersion": "$LATEST" });
        if let Some(response) = response.as_object_mut() {
            let error = if function_error { "Unhandled".into() } else { Value::Null };
            response.insert("functionError".to_owned(), error);
        }
        fields.insert("responseContext".to_owned(), response);
    }
    letter
}

impl Condition {
    const fn name(self) -> &'static str {
        match self {
            Self::RetryAttemptsExhausted => "RetryAttemptsExhausted",
            Self::RecordAgeExceeded => "RecordAgeExceeded",
        }
    }
}
