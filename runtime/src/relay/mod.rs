//! Lambda handler of the relay. Processes change stream records of the Entry table, and reports the
//! first record that failed.

mod change;

use std::sync::Arc;

use aws_lambda_events::event::dynamodb::Event;
use aws_lambda_events::event::streams::DynamoDbEventResponse;
use cellar_engine::ports::{Jobs, PendingTags};
use cellar_engine::relay::Relay;

use crate::table_stream;
pub use crate::table_stream::FirstRecordFailed;

/// Handles batches of change stream records from the Entry table.
#[derive(Clone)]
pub struct RelayHandler {
    relay: Relay,
}

impl RelayHandler {
    /// Creates a handler that sends snapshot jobs to `jobs`. It uses `pending_tags` to remove the
    /// tag that makes uploaded objects expire.
    #[must_use]
    pub fn new(jobs: Arc<dyn Jobs>, pending_tags: Arc<dyn PendingTags>) -> Self {
        Self { relay: Relay::new(jobs, pending_tags) }
    }

    /// Processes the records of a batch. If a record failed, the response identifies the first
    /// failed record, and Lambda delivers this record and all later records again.
    ///
    /// # Errors
    ///
    /// Returns [`FirstRecordFailed`] if the first of several records failed, so that Lambda splits
    /// the batch.
    pub async fn handle(&self, event: Event) -> Result<DynamoDbEventResponse, FirstRecordFailed> {
        let changes: Vec<_> = event.records.into_iter().map(change::read_change).collect();
        let failed_number = self.relay.relay_batch(&changes).await;
        let first_number = changes.first().map(|change| &change.sequence_number);
        table_stream::batch_response(changes.len(), first_number, failed_number)
    }
}

#[cfg(test)]
mod tests {
    use cellar_engine::memory::{ManualClock, MemoryPendingTags, MemoryQueue};
    use cellar_engine::ports::QueueRules;
    use serde_json::{Value, json};

    use super::*;

    /// Builds a change stream record for entry 3 in segment 0 of the log 00…07.
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

    async fn handle(records: Vec<Value>) -> (Result<Value, FirstRecordFailed>, Vec<String>) {
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
    async fn sends_a_job_for_a_snapshot_entry() {
        let (response, sent) = handle(vec![record("100", &snapshot())]).await;
        assert_eq!(response, Ok(json!({ "batchItemFailures": [] })));
        let job =
            r#"{"version":1,"log":"00000000-0000-0000-0000-000000000007","segment":0,"num":3}"#;
        assert_eq!(sent, [job]);
    }

    #[tokio::test]
    async fn reports_the_first_failed_record() {
        let mut poisoned = snapshot();
        poisoned["N"] = json!({"N": "1.5"});
        let records =
            vec![record("100", &snapshot()), record("101", &poisoned), record("102", &poisoned)];
        let (response, sent) = handle(records).await;
        assert_eq!(response, Ok(json!({ "batchItemFailures": [{ "itemIdentifier": "101" }] })));
        assert_eq!(sent.len(), 1);
    }

    #[tokio::test]
    async fn splits_a_batch_whose_first_record_fails() {
        let mut poisoned = snapshot();
        poisoned["N"] = json!({"N": "1.5"});
        let bad = || record("100", &poisoned);
        let (response, sent) = handle(vec![bad(), record("101", &snapshot())]).await;
        assert_eq!(response, Err(FirstRecordFailed { records: 2 }));
        assert_eq!(sent.len(), 1, "the second record is relayed nevertheless");
        let (response, _) = handle(vec![bad()]).await;
        let failed = json!({ "batchItemFailures": [{ "itemIdentifier": "100" }] });
        assert_eq!(response, Ok(failed));
    }

    #[tokio::test]
    async fn accepts_an_empty_batch() {
        assert_eq!(handle(vec![]).await, (Ok(json!({ "batchItemFailures": [] })), vec![]));
    }
}
