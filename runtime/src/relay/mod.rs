//! Lambda handler of the relay. Processes change stream records of the Entry table.

mod change;

use std::sync::Arc;

use aws_lambda_events::event::dynamodb::Event;
use aws_lambda_events::event::streams::DynamoDbEventResponse;
use cellar_engine::dead_letters::send_dead_letters;
use cellar_engine::ports::{Jobs, PendingTags};
use cellar_engine::relay::Relay;

use crate::table_stream;

/// Handles batches of change stream records from the Entry table.
#[derive(Clone)]
pub struct RelayHandler {
    relay: Relay,
    dead_letters: Arc<dyn Jobs>,
}

impl RelayHandler {
    /// Creates a handler that sends snapshot jobs to `jobs`, and records that can never be relayed
    /// to `dead_letters`. It uses `pending_tags` to remove the tag that makes uploaded objects
    /// expire.
    #[must_use]
    pub fn new(
        jobs: Arc<dyn Jobs>,
        dead_letters: Arc<dyn Jobs>,
        pending_tags: Arc<dyn PendingTags>,
    ) -> Self {
        Self { relay: Relay::new(jobs, pending_tags), dead_letters }
    }

    /// Processes the records of a batch. If a request failed, the response identifies the first
    /// record that Lambda must deliver again, together with all later records.
    pub async fn handle(&self, event: Event) -> DynamoDbEventResponse {
        let stream_arn = table_stream::stream_arn(&event.records);
        let changes: Vec<_> = event.records.into_iter().map(change::read_change).collect();
        let relayed = self.relay.relay_batch(&changes).await;
        let sent = send_dead_letters(&*self.dead_letters, &stream_arn, &relayed.dead_letters).await;
        let unsent_number = sent.err().map(|(letter, _)| letter.sequence_number.clone());
        table_stream::batch_response(unsent_number.or(relayed.retry_from))
    }
}

#[cfg(test)]
mod tests {
    use cellar_engine::memory::{ManualClock, MemoryPendingTags, MemoryQueue};
    use cellar_engine::ports::QueueRules;
    use serde_json::{Value, json};

    use super::*;
    use crate::table_stream::tests::NoQueue;

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

    struct Fixture {
        jobs: Arc<MemoryQueue>,
        dead_letters: Arc<MemoryQueue>,
        handler: RelayHandler,
    }

    impl Fixture {
        fn new() -> Self {
            let clock = Arc::new(ManualClock::at(1));
            let queue = || Arc::new(MemoryQueue::new(clock.clone(), QueueRules::LONGEST));
            let (jobs, dead_letters) = (queue(), queue());
            let tags = Arc::new(MemoryPendingTags::default());
            let handler = RelayHandler::new(jobs.clone(), dead_letters.clone(), tags);
            Self { jobs, dead_letters, handler }
        }

        async fn handle(&self, records: Vec<Value>) -> Value {
            let event = serde_json::from_value(json!({ "Records": records })).unwrap();
            serde_json::to_value(self.handler.handle(event).await).unwrap()
        }
    }

    async fn sent(queue: &MemoryQueue) -> Vec<String> {
        let received = queue.receive(10, 0).await.unwrap();
        received.into_iter().map(|message| message.body).collect()
    }

    #[tokio::test]
    async fn sends_a_job_for_a_snapshot_entry() {
        let fixture = Fixture::new();
        let response = fixture.handle(vec![record("100", &snapshot())]).await;
        assert_eq!(response, json!({ "batchItemFailures": [] }));
        let job =
            r#"{"version":1,"log":"00000000-0000-0000-0000-000000000007","segment":0,"num":3}"#;
        assert_eq!(sent(&fixture.jobs).await, [job]);
        assert_eq!(sent(&fixture.dead_letters).await, [""; 0]);
    }

    fn poisoned(sequence_number: &str) -> Value {
        let mut image = snapshot();
        image["N"] = json!({"N": "1.5"});
        record(sequence_number, &image)
    }

    #[tokio::test]
    async fn sends_unreadable_records_to_the_dead_letter_queue_and_relays_the_others() {
        let fixture = Fixture::new();
        let records = vec![poisoned("100"), record("101", &snapshot()), poisoned("102")];
        let response = fixture.handle(records).await;
        assert_eq!(response, json!({ "batchItemFailures": [] }));
        assert_eq!(sent(&fixture.jobs).await.len(), 1);
        let dead_letters = sent(&fixture.dead_letters).await;
        assert_eq!(dead_letters.len(), 2);
        for (letter, number) in dead_letters.iter().zip(["100", "102"]) {
            let letter: Value = serde_json::from_str(letter).unwrap();
            assert_eq!(letter["sequenceNumber"], number);
            assert!(letter["reason"].as_str().unwrap().contains('N'), "{letter}");
        }
    }

    #[tokio::test]
    async fn a_dead_letter_that_is_not_sent_is_delivered_again() {
        let fixture = Fixture::new();
        let handler = RelayHandler { dead_letters: Arc::new(NoQueue), ..fixture.handler.clone() };
        let fixture = Fixture { handler, ..fixture };
        let records = vec![record("100", &snapshot()), poisoned("101"), poisoned("102")];
        let failed = json!({ "batchItemFailures": [{ "itemIdentifier": "101" }] });
        assert_eq!(fixture.handle(records).await, failed);
    }

    #[tokio::test]
    async fn accepts_an_empty_batch() {
        let response = Fixture::new().handle(vec![]).await;
        assert_eq!(response, json!({ "batchItemFailures": [] }));
    }
}
