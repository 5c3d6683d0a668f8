//! Tests of webhook deliveries to a receiver that is unreachable, rejects deliveries or loses
//! responses.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use cellar_base::limits::WEBHOOK_TIMEOUT_MS;
use cellar_catalog::feed::{PartitionPolicy, Span};
use proptest::prelude::*;

use super::*;
use crate::feed::tests::World;
use crate::memory::ManualClock;
use crate::ports::{DeliveryRejected, FeedTable as _, ReadConsistency};

const NOW_MS: u64 = 1_795_246_133_000;
/// A deadline that is never reached.
const LATE_MS: u64 = u64::MAX;

/// Behavior of the webhook receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receives {
    Accepts,
    Refuses,
    /// The receiver accepts the delivery, but its response is lost.
    AcceptsUnheard,
}

struct Receiver {
    does: Mutex<Receives>,
    had: Mutex<Vec<WebhookDelivery>>,
    clock: Arc<ManualClock>,
    /// Duration of a delivery in milliseconds.
    takes_ms: u64,
}

#[async_trait]
impl WebhookSender for Receiver {
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), DeliveryRejected> {
        self.clock.advance_ms(self.takes_ms);
        let does = *self.does.lock().unwrap();
        if does != Receives::Refuses {
            self.had.lock().unwrap().push(delivery.clone());
        }
        match does {
            Receives::Accepts => Ok(()),
            _ => Err(DeliveryRejected { reason: "status 503".to_owned() }),
        }
    }
}

struct Test {
    world: World,
    receiver: Arc<Receiver>,
    webhook: Webhook,
}

impl Test {
    fn new(takes_ms: u64) -> Self {
        let world = World::new();
        let clock = Arc::new(ManualClock::at(NOW_MS));
        let receiver = Arc::new(Receiver {
            does: Mutex::new(Receives::Accepts),
            had: Mutex::default(),
            clock: Arc::clone(&clock),
            takes_ms,
        });
        let ports = WebhookPorts {
            feed: world.reader(),
            progresses: world.index.clone(),
            sender: receiver.clone(),
            clock,
        };
        Self { webhook: Webhook::new(ports, "cellar"), world, receiver }
    }

    fn receiver(&self, does: Receives) {
        *self.receiver.does.lock().unwrap() = does;
    }

    /// Appends and indexes events. Returns the checkpoint of the last feed item.
    async fn index(&mut self, stream: u8, events: usize) -> Checkpoint {
        let span = self.world.append(stream, events).await;
        self.world.indexer().index(vec![span]).await.unwrap();
        self.last().await
    }

    /// Returns the checkpoint of the last feed item.
    async fn last(&self) -> Checkpoint {
        let (mut from, mut last) = (None, None);
        loop {
            let page = self.world.reader().page(from, None, 100).await.unwrap();
            last = page.items.last().map(|item| item.at).or(last);
            if page.is_end {
                return last.unwrap();
            }
            from = Some(page.next);
        }
    }

    async fn deliver(&self, at: Checkpoint) -> Result<usize, WebhookError> {
        self.webhook.deliver((at, at), LATE_MS).await
    }

    fn ids(&self) -> Vec<String> {
        self.receiver.had.lock().unwrap().iter().map(WebhookDelivery::id).collect()
    }

    /// Returns the received spans in the order in which they arrived.
    fn had(&self) -> Vec<(String, u64, u64)> {
        let had = self.receiver.had.lock().unwrap();
        let items = had.iter().flat_map(|delivery| &delivery.data.items);
        let spans = items.flat_map(|item| &item.spans);
        let events = |span: &cellar_api::wire::EventRange| u64::try_from(span.kinds.len()).unwrap();
        spans.map(|span| (span.stream.clone(), span.first, span.first + events(span))).collect()
    }

    /// Asserts that the events of each stream arrived in order and that none is missing.
    /// Redelivered events are ignored.
    fn assert_in_order(&self) -> BTreeMap<String, u64> {
        let mut streams: BTreeMap<String, u64> = BTreeMap::new();
        for (stream, first, next) in self.had() {
            let before = streams.entry(stream).or_insert(first);
            assert!(first <= *before, "{first} after {before}");
            *before = next.max(*before);
        }
        streams
    }
}

#[tokio::test]
async fn delivers_once_without_faults() {
    let mut test = Test::new(0);
    test.index(1, 1).await;
    let mut places = Vec::new();
    for stream in [1, 2, 1, 1, 2, 3, 1, 2, 3] {
        places.push(test.index(stream, 2).await);
    }
    for place in &places {
        test.deliver(*place).await.unwrap();
    }
    let had = test.had();
    // Items that were indexed before the webhook was created are not delivered. The first delivery
    // contains all later items.
    assert_eq!((had.len(), had[0].1), (places.len(), 1), "{had:?}");
    test.assert_in_order();
    assert!(test.deliver(places[0]).await.is_ok_and(|items| items == 0), "again");
    assert_eq!(test.had(), had);
}

#[tokio::test]
async fn retries_rejected_deliveries_with_the_same_id() {
    let mut test = Test::new(0);
    let first = test.index(1, 1).await;
    test.receiver(Receives::Refuses);
    let refused = WebhookError::NotAccepted("status 503".to_owned());
    assert_eq!(test.deliver(first).await, Err(refused.clone()));
    test.receiver(Receives::AcceptsUnheard);
    assert_eq!(test.deliver(first).await, Err(refused));
    test.receiver(Receives::Accepts);
    assert_eq!(test.deliver(first).await, Ok(1));
    let ids = test.ids();
    assert_eq!((ids.len(), &ids[0]), (2, &ids[1]));
    // The next call also delivers items that were indexed since the first call.
    test.index(2, 1).await;
    let last = test.index(1, 1).await;
    assert_eq!(test.deliver(last).await, Ok(2));
    assert_eq!(test.assert_in_order().len(), 2);
}

/// The receiver is unreachable until the first call is abandoned.
#[tokio::test]
async fn a_later_call_delivers_the_items_of_the_first() {
    for receives in [Receives::Refuses, Receives::AcceptsUnheard] {
        let mut test = Test::new(0);
        let first = test.index(1, 1).await;
        test.receiver(receives);
        assert!(test.deliver(first).await.is_err());
        let later = test.index(2, 1).await;
        test.receiver(Receives::Accepts);
        assert_eq!(test.deliver(later).await, Ok(2));
    }
}

#[tokio::test]
async fn concurrent_calls_deliver_everything() {
    let mut test = Test::new(0);
    let first = test.index(1, 1).await;
    test.deliver(first).await.unwrap();
    let there = test.world.index.progress().await.unwrap();
    let last = test.index(1, 1).await;
    test.deliver(last).await.unwrap();
    let further = test.world.index.progress().await.unwrap().unwrap();
    // A process freezes before it stores its progress.
    assert!(!test.world.index.advance(there, further).await.unwrap());
    assert_eq!(test.world.index.progress().await.unwrap(), Some(further));
}

#[tokio::test]
async fn delivers_a_rebuilt_feed_from_its_start() {
    let mut test = Test::new(0);
    test.index(1, 1).await;
    let last = test.index(1, 1).await;
    test.deliver(last).await.unwrap();
    assert_eq!(test.had().len(), 1);
    test.world.indexer().start_new_feed().await.unwrap();
    let place = test.index(1, 1).await;
    let delivered = test.deliver(place).await.unwrap();
    assert!(delivered >= 1);
    let had = test.had();
    assert_eq!(had[1].1, 0, "from the first event on: {had:?}");
    let feeds: Vec<_> =
        test.receiver.had.lock().unwrap().iter().map(|it| it.data.generation.clone()).collect();
    assert_ne!(feeds.first(), feeds.last());
}

#[tokio::test]
async fn retries_items_that_are_not_visible_yet() {
    let mut test = Test::new(0);
    let last = test.index(1, 1).await;
    test.deliver(last).await.unwrap();
    let next = last.next().unwrap();
    assert_eq!(test.deliver(next).await, Err(WebhookError::NotVisibleYet));
    test.world.index.lose(last);
    let beyond = test.deliver(next.next().unwrap()).await;
    assert!(beyond.is_err(), "{beyond:?}");
}

#[tokio::test]
async fn bounds_the_items_of_a_delivery() {
    let most = usize::try_from(WEBHOOK_ITEMS).unwrap();
    for (items, deliveries) in [(most, vec![most]), (most + 1, vec![most, 1])] {
        let mut test = Test::new(0);
        // The partition has room for all events of this test.
        let indexer = test.world.indexer().with_partition_policy(PartitionPolicy::default());
        for _ in 0..items {
            let span = test.world.append(1, 1).await;
            indexer.index(vec![span]).await.unwrap();
        }
        let last = test.last().await;
        let first = Checkpoint::at(last.partition(), 0).unwrap();
        assert_eq!(test.webhook.deliver((first, last), LATE_MS).await, Ok(items));
        let had = test.receiver.had.lock().unwrap();
        let had: Vec<usize> = had.iter().map(|delivery| delivery.data.items.len()).collect();
        assert_eq!(had, deliveries);
    }
}

#[tokio::test]
async fn a_call_ends_before_its_deadline() {
    // In these tests, each delivery contains items of a single partition.
    let mut test = Test::new(WEBHOOK_TIMEOUT_MS);
    let first = test.index(1, 1).await;
    let mut last = first;
    for _ in 0..10 {
        last = test.index(1, 1).await;
    }
    let call = async |left_ms: u64| {
        let now_ms = test.receiver.clock.now_ms();
        test.webhook.deliver((first, last), now_ms + WEBHOOK_TIMEOUT_MS + left_ms).await
    };
    let more = call(WEBHOOK_RESERVE_MS - 1).await;
    assert!(matches!(more, Err(WebhookError::OutOfTime { .. })), "{more:?}");
    assert_eq!(test.receiver.had.lock().unwrap().len(), 1);
    let more = call(WEBHOOK_RESERVE_MS).await;
    assert!(matches!(more, Err(WebhookError::OutOfTime { .. })), "{more:?}");
    assert_eq!(test.receiver.had.lock().unwrap().len(), 3);
    while call(0).await.is_err() {}
    test.assert_in_order();
}

/// One step of a random run.
#[derive(Debug, Clone)]
enum Step {
    Append { stream: u8, events: usize },
    Call { at: prop::sample::Index, receiver: Receives },
    BuildAnew,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let receiver = prop_oneof![
        3 => Just(Receives::Accepts),
        1 => Just(Receives::Refuses),
        1 => Just(Receives::AcceptsUnheard),
    ];
    let step = prop_oneof![
        4 => (0_u8..3, 1_usize..4).prop_map(|(stream, events)| Step::Append { stream, events }),
        4 => (any::<prop::sample::Index>(), receiver)
            .prop_map(|(at, receiver)| Step::Call { at, receiver }),
        1 => Just(Step::BuildAnew),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    /// Calls may be late, repeated or lost, and the receiver may reject deliveries. If the last
    /// call succeeds, all events since the first call must have been delivered in order.
    #[test]
    fn whatever_happens_everything_is_delivered_in_the_end(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut test = Test::new(0);
            let (mut places, mut appended) = (Vec::new(), BTreeMap::<String, u64>::new());
            let mut anew = false;
            for step in steps {
                match step {
                    Step::Append { stream, events } => {
                        let span: Span = test.world.append(stream, events).await;
                        appended.insert(span.stream.to_string(), span.next());
                        test.world.indexer().index(vec![span]).await.unwrap();
                        places.push(test.last().await);
                    }
                    Step::Call { at, receiver } if !places.is_empty() => {
                        test.receiver(receiver);
                        let _ = test.deliver(*at.get(&places)).await;
                    }
                    Step::Call { .. } => {}
                    Step::BuildAnew => {
                        anew |= test.world.index.newest_partition(ReadConsistency::Strong).await.unwrap().is_some();
                        test.world.indexer().start_new_feed().await.unwrap();
                    }
                }
            }
            let begun = test.world.index.progress().await.unwrap().is_some();
            test.receiver(Receives::Accepts);
            let span = test.world.append(0, 1).await;
            appended.insert(span.stream.to_string(), span.next());
            test.world.indexer().index(vec![span]).await.unwrap();
            let last = test.last().await;
            test.deliver(last).await.unwrap();
            if begun && !anew {
                let delivered = test.assert_in_order();
                for (stream, next) in delivered {
                    assert_eq!(appended.get(&stream), Some(&next), "{stream}");
                }
            }
            let progress = test.world.index.progress().await.unwrap().unwrap();
            assert!(progress.next > last);
            assert!(test.deliver(last).await.is_ok_and(|items| items == 0));
        });
    }
}
