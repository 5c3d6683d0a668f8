//! Tests of the webhook handler with batches in Lambda's wire format.

use std::sync::Mutex;

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_catalog::feed::{Feed, FeedId, Item, Span};
use cellar_catalog::stream::{Kind, StreamName};
use cellar_engine::memory::{ManualClock, MemoryFeed};
use cellar_engine::ports::{DeliveryRejected, FeedTable as _, FeedWriteOutcome, WebhookSender};
use serde_json::{Value, json};

use super::*;

/// Builds a change stream record for a feed item.
fn record(partition: &str, sort: &str) -> Value {
    json!({
        "eventID": "1", "eventName": "INSERT", "eventVersion": "1.1",
        "eventSource": "aws:dynamodb", "awsRegion": "eu-central-1",
        "eventSourceARN": "arn:aws:dynamodb:eu-central-1:0:table/T/stream/L",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_795_246_133.0,
            "Keys": {"p": {"S": partition}, "i": {"S": sort}},
            "NewImage": {"p": {"S": partition}, "i": {"S": sort}, "b": {"N": "7"}, "t": {"N": "1"}},
            "SequenceNumber": "1", "SizeBytes": 80, "StreamViewType": "NEW_IMAGE",
        },
    })
}

#[derive(Default)]
struct Receiver(Mutex<Vec<WebhookDelivery>>);

#[async_trait]
impl WebhookSender for Receiver {
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), DeliveryRejected> {
        self.0.lock().unwrap().push(delivery.clone());
        Ok(())
    }
}

/// Creates a feed with `items` items.
async fn index(items: u64) -> Arc<MemoryFeed> {
    let index = Arc::new(MemoryFeed::default());
    let feed = Feed { id: FeedId([1; 8]), first_partition: 0 };
    assert_eq!(index.begin_partition(0, feed).await, FeedWriteOutcome::Done);
    let (stream, kind) = (StreamName::new("Test", "a").unwrap(), Kind::new("Said").unwrap());
    for first in 0..items {
        let span = Span { stream: stream.clone(), first, kinds: vec![kind.clone()] };
        let content = cellar_catalog::feed::Content::Spans(vec![span]);
        let item = Item { time_ms: 1, partition_bytes: 7, content };
        let at = Checkpoint::at(0, first).unwrap();
        assert_eq!(index.put_item(at, &item).await, FeedWriteOutcome::Done);
    }
    index
}

/// Returns the handler's result and the offsets of the delivered items.
async fn handle(records: Vec<Value>, items: u64) -> (Result<(), WebhookError>, Vec<u64>) {
    let index = index(items).await;
    let receiver = Arc::new(Receiver::default());
    let ports = WebhookPorts {
        feed: FeedReader::new(index.clone(), 0),
        progresses: index,
        sender: receiver.clone(),
        clock: Arc::new(ManualClock::at(1_795_246_133_000)),
    };
    let handler = WebhookHandler::new(Webhook::new(ports, "books"));
    let event = serde_json::from_value(json!({ "Records": records })).unwrap();
    let handled = handler.handle(event, u64::MAX).await;
    let deliveries = receiver.0.lock().unwrap();
    assert!(deliveries.iter().all(|it| it.stack == "books" && it.kind == "cellar.feed"));
    let items = deliveries.iter().flat_map(|delivery| &delivery.data.items);
    (handled, items.map(|item| item.checkpoint - 1).collect())
}

#[tokio::test]
async fn delivers_the_range_of_a_batch() {
    let partition = "$AppendsEpoch-0_0";
    let batch =
        vec![record(partition, "000003"), record(partition, "000002"), record(partition, "000004")];
    assert_eq!(handle(batch, 5).await, (Ok(()), vec![2, 3, 4]));
    assert_eq!(handle(vec![], 5).await, (Ok(()), vec![]));
}

#[tokio::test]
async fn skips_records_that_cannot_be_read() {
    let partition = "$AppendsEpoch-0_0";
    for wrong in [
        record("$AppendsEpoch-0_", "000001"),
        record("$AppendsEpoch-0_x", "000001"),
        record("$AppendsEpoch-0_99999999999999999999", "000001"),
        record(partition, "1000000"),
        record(partition, ""),
        record("$Sheets-00", "000001"),
        {
            let mut record = record(partition, "000001");
            record["dynamodb"]["NewImage"] = json!({});
            record
        },
    ] {
        let handled = handle(vec![wrong.clone()], 5).await;
        assert_eq!(handled, (Ok(()), vec![]), "{wrong}");
        let handled = handle(vec![wrong.clone(), record(partition, "000004")], 5).await;
        assert_eq!(handled, (Ok(()), vec![4]), "{wrong}");
    }
}

#[tokio::test]
async fn retries_items_that_are_not_visible_yet() {
    let (handled, delivered) = handle(vec![record("$AppendsEpoch-0_0", "000005")], 5).await;
    assert_eq!((handled, delivered), (Err(WebhookError::NotVisibleYet), vec![]));
}
