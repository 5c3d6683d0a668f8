//! The relay as a Lambda: batches of the Entry table's stream in, the first failure out.

mod change;

use std::sync::Arc;

use aws_lambda_events::event::dynamodb::Event;
use aws_lambda_events::event::streams::DynamoDbEventResponse;
use cellar_engine::ports::{Jobs, PendingTags};
use cellar_engine::relay::Relay;

use crate::table_stream;
pub use crate::table_stream::FirstFailed;

/// Handles batches of the Entry table's stream.
#[derive(Clone)]
pub struct RelayHandler {
    relay: Relay,
}

impl RelayHandler {
    /// A handler over this queue and these objects.
    #[must_use]
    pub fn new(jobs: Arc<dyn Jobs>, pending_tags: Arc<dyn PendingTags>) -> Self {
        Self { relay: Relay::new(jobs, pending_tags) }
    }

    /// Handles one batch. The answer names the first record that failed, if one did: Lambda
    /// repeats the stream from there.
    ///
    /// # Errors
    /// [`FirstFailed`], so that the batch is split.
    pub async fn handle(&self, event: Event) -> Result<DynamoDbEventResponse, FirstFailed> {
        let changes: Vec<_> = event.records.into_iter().map(change::read).collect();
        let failed = self.relay.relay_batch(&changes).await;
        let first = changes.first().map(|change| &change.sequence_number);
        table_stream::response(changes.len(), first, failed)
    }
}

#[cfg(test)]
mod tests {
    use cellar_engine::memory::{ManualClock, MemoryPendingTags, MemoryQueue, QueueRules};
    use serde_json::{Value, json};

    use super::*;

    /// A record as Lambda sends it: segment 0 of the log 00…07, entry 3.
    fn record(sequence_number: &str, image: &Value) -> Value {
        json!({
            "eventID": "1", "eventName": "INSERT", "eventVersion": "1.1",
            "eventSource": "aws:dynamodb", "awsRegion": "eu-central-1",
            "eventSourceARN": "arn:aws:dynamodb:eu-central-1:0:table/T/stream/L",
            "dynamodb": {
                "ApproximateCreationDateTime": 1_795_246_133.0,
                "Keys": {"S": {"B": "AAAAAAAAAAAAAAAAAAAABwAAAAA="}, "N": {"N": "3"}},
                "NewImage": image,
                "SequenceNumber": sequence_number, "SizeBytes": 80,
                "StreamViewType": "NEW_IMAGE",
            },
        })
    }

    fn snapshot() -> Value {
        json!({
            "S": {"B": "AAAAAAAAAAAAAAAAAAAABwAAAAA="}, "N": {"N": "3"}, "T": {"S": "S"},
            "C": {"N": "1795246133"}, "H": {"B": "AA=="}, "Later": {"M": {"x": {"NULL": true}}},
        })
    }

    async fn handle(records: Vec<Value>) -> (Result<Value, FirstFailed>, Vec<String>) {
        let clock = Arc::new(ManualClock::at(1));
        let queue = Arc::new(MemoryQueue::new(clock, QueueRules::LONGEST));
        let handler = RelayHandler::new(queue.clone(), Arc::new(MemoryPendingTags::default()));
        let event = serde_json::from_value(json!({ "Records": records })).unwrap();
        let response =
            handler.handle(event).await.map(|response| serde_json::to_value(response).unwrap());
        let sent = queue.receive(10, 0).await.unwrap();
        (response, sent.into_iter().map(|message| message.body).collect())
    }

    #[tokio::test]
    async fn a_record_of_lambda_becomes_a_job() {
        let (response, sent) = handle(vec![record("100", &snapshot())]).await;
        assert_eq!(response, Ok(json!({ "batchItemFailures": [] })));
        let job =
            r#"{"version":1,"log":"00000000-0000-0000-0000-000000000007","segment":0,"num":3}"#;
        assert_eq!(sent, [job]);
    }

    #[tokio::test]
    async fn the_first_failure_is_reported_as_lambda_expects() {
        let mut poisoned = snapshot();
        poisoned["N"] = json!({"N": "1.5"});
        let records =
            vec![record("100", &snapshot()), record("101", &poisoned), record("102", &poisoned)];
        let (response, sent) = handle(records).await;
        assert_eq!(response, Ok(json!({ "batchItemFailures": [{ "itemIdentifier": "101" }] })));
        assert_eq!(sent.len(), 1);
    }

    #[tokio::test]
    async fn a_batch_that_begins_with_a_failure_is_to_be_split_and_one_of_one_is_reported() {
        let mut poisoned = snapshot();
        poisoned["N"] = json!({"N": "1.5"});
        let bad = || record("100", &poisoned);
        let (response, sent) = handle(vec![bad(), record("101", &snapshot())]).await;
        assert_eq!(response, Err(FirstFailed { records: 2 }));
        assert_eq!(sent.len(), 1, "what stands behind it is relayed all the same");
        let (response, _) = handle(vec![bad()]).await;
        let failed = json!({ "batchItemFailures": [{ "itemIdentifier": "100" }] });
        assert_eq!(response, Ok(failed));
    }

    #[tokio::test]
    async fn a_batch_of_nothing_is_a_success() {
        assert_eq!(handle(vec![]).await, (Ok(json!({ "batchItemFailures": [] })), vec![]));
    }
}
