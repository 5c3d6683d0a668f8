//! Tests of the indexer handler with batches in Lambda's wire format.

use cellar_base::consistency::ReadConsistency;
use cellar_catalog::feed::{Checkpoint, Content};
use cellar_engine::memory::{ManualClock, MemoryFeed, MemoryQueue, MemoryStreams};
use cellar_engine::ports::QueueRules;
use cellar_engine::system::SystemRandom;
use serde_json::{Value, json};

use super::*;
use crate::table_stream::tests::NoQueue;

/// Builds the change stream record for a tip (item with the newest events of a stream). The stream
/// has `next` events, the last of which was just appended.
fn record(sequence_number: &str, stream: &str, next: u64, kinds: &[&str]) -> Value {
    let kinds: Vec<_> = kinds.iter().map(|kind| json!({"S": kind})).collect();
    json!({
        "eventID": "1", "eventName": "MODIFY", "eventVersion": "1.1",
        "eventSource": "aws:dynamodb", "awsRegion": "eu-central-1",
        "eventSourceARN": "arn:aws:dynamodb:eu-central-1:0:table/T/stream/L",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_795_246_133.0,
            "Keys": {"p": {"S": stream}, "i": {"N": "2147483647"}},
            "NewImage": {
                "p": {"S": stream}, "i": {"N": "2147483647"}, "n": {"N": next.to_string()},
                "a": {"N": "1"}, "c": {"L": kinds}, "etag": {"B": "AAAAAAAAAAAAAAAAAAAAAA=="},
                "e": {"L": [{"M": {"t": {"N": "1"}}}]}, "u": {"L": []}, "b": {"N": "0"},
            },
            "SequenceNumber": sequence_number, "SizeBytes": 80, "StreamViewType": "NEW_IMAGE",
        },
    })
}

struct Fixture {
    index: Arc<MemoryFeed>,
    dead_letters: Arc<MemoryQueue>,
    handler: IndexerHandler,
}

impl Fixture {
    fn new() -> Self {
        let index = Arc::new(MemoryFeed::default());
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let ports = IndexerPorts {
            index: index.clone(),
            lists: index.clone(),
            streams: Arc::new(MemoryStreams::default()),
            clock: clock.clone(),
            random: Arc::new(SystemRandom),
        };
        let dead_letters = Arc::new(MemoryQueue::new(clock, QueueRules::LONGEST));
        let handler = IndexerHandler::new(ports.build(0), dead_letters.clone());
        Self { index, dead_letters, handler }
    }

    async fn handle(&self, records: Vec<Value>) -> Result<(), String> {
        let event = serde_json::from_value(json!({ "Records": records })).unwrap();
        self.handler.handle(event).await.map_err(|error| error.to_string())
    }

    /// Returns the sequence numbers of the dead letters.
    async fn dead_numbers(&self) -> Vec<String> {
        let received = self.dead_letters.receive(10, 0).await.unwrap();
        let letters = received.iter().map(|message| serde_json::from_str(&message.body).unwrap());
        letters.map(|letter: Value| letter["sequenceNumber"].as_str().unwrap().to_owned()).collect()
    }

    async fn indexed(&self) -> Vec<(String, u64, usize)> {
        let items =
            self.index.items(Checkpoint::START, 100, ReadConsistency::Strong).await.unwrap();
        let spans = items.into_iter().flat_map(|(_, item)| match item.content {
            Content::Spans(spans) => spans,
            Content::End(_) => Vec::new(),
        });
        spans.map(|span| (span.stream.to_string(), span.first, span.kinds.len())).collect()
    }
}

#[tokio::test]
async fn indexes_appended_events_once() {
    let fixture = Fixture::new();
    let batch = || vec![record("1", "S-a", 1, &["A"]), record("2", "S-a", 2, &["A", "B"])];
    for _ in 0..2 {
        assert_eq!(fixture.handle(batch()).await, Ok(()));
        assert_eq!(fixture.indexed().await, [("S-a".to_owned(), 0, 2)]);
    }
    assert_eq!(fixture.handle(vec![]).await, Ok(()));
}

#[tokio::test]
async fn ignores_event_batches() {
    let fixture = Fixture::new();
    let mut batch = record("1", "S-a", 1, &["A"]);
    batch["dynamodb"]["NewImage"].as_object_mut().unwrap().remove("a");
    assert_eq!(fixture.handle(vec![batch]).await, Ok(()));
    assert_eq!(fixture.indexed().await, []);
}

/// Builds a change stream record for an entry. `name` is `INSERT` for a new entry and `MODIFY` for
/// a changed entry.
fn entry(sequence_number: &str, name: &str, num: u32) -> Value {
    json!({
        "eventID": "1", "eventName": name, "eventVersion": "1.1",
        "eventSource": "aws:dynamodb", "awsRegion": "eu-central-1",
        "eventSourceARN": "arn:aws:dynamodb:eu-central-1:0:table/E/stream/L",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_795_246_133.0,
            "Keys": {"S": {"B": "AAAAAAAAAAAAAAAAAAAABwAAAAA="}, "N": {"N": num.to_string()}},
            "NewImage": {
                "S": {"B": "AAAAAAAAAAAAAAAAAAAABwAAAAA="}, "N": {"N": num.to_string()},
                "T": {"S": "E"}, "C": {"N": "1"}, "H": {"B": "AAAAAA=="}, "B": {"B": "AA=="},
            },
            "SequenceNumber": sequence_number, "SizeBytes": 80, "StreamViewType": "NEW_IMAGE",
        },
    })
}

#[tokio::test]
async fn indexes_new_entries_and_ignores_changed_ones() {
    let fixture = Fixture::new();
    let batch = vec![entry("1", "INSERT", 0), entry("2", "MODIFY", 0), entry("3", "INSERT", 1)];
    assert_eq!(fixture.handle(batch).await, Ok(()));
    let stream = "Log-00000000-0000-0000-0000-000000000007.0000000".to_owned();
    assert_eq!(fixture.indexed().await, [(stream, 0, 2)]);
    let mut bad = entry("4", "INSERT", 2);
    bad["dynamodb"]["NewImage"]["T"] = json!({"S": "Z"});
    assert_eq!(fixture.handle(vec![bad]).await, Ok(()));
    assert_eq!(fixture.dead_numbers().await, ["4"]);
}

#[tokio::test]
async fn sends_unreadable_records_to_the_dead_letter_queue_and_indexes_the_others() {
    let fixture = Fixture::new();
    let bad = |sequence_number| {
        let mut bad = record(sequence_number, "S-b", 1, &["A"]);
        bad["dynamodb"]["NewImage"]["n"] = json!({"N": "1.5"});
        bad
    };
    let good = |sequence_number, stream| record(sequence_number, stream, 1, &["A"]);
    let batch = vec![bad("1"), good("2", "S-a"), bad("3"), good("4", "S-c")];
    assert_eq!(fixture.handle(batch).await, Ok(()));
    let indexed = [("S-a".to_owned(), 0, 1), ("S-c".to_owned(), 0, 1)];
    assert_eq!(fixture.indexed().await, indexed);
    assert_eq!(fixture.dead_numbers().await, ["1", "3"]);
    let no_queue = IndexerHandler { dead_letters: Arc::new(NoQueue), ..fixture.handler.clone() };
    let fixture = Fixture { handler: no_queue, ..fixture };
    assert_eq!(fixture.handle(vec![bad("5")]).await, Err("the queue is down".to_owned()));
}

#[tokio::test]
async fn a_missing_event_fails_the_batch() {
    let fixture = Fixture::new();
    let answer = fixture.handle(vec![record("1", "S-a", 3, &["A"])]).await;
    let why = "the stream `S-a` has no event 0, although a later event exists";
    assert_eq!(answer, Err(why.to_owned()));
    assert_eq!(fixture.indexed().await, []);
}
