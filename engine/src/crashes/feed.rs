//! Fault injection scenarios for the feed and the webhook. Each batch of a change stream is retried
//! until it succeeds, as in Lambda.

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_api::wire::EventRange;
use cellar_catalog::access::Role;
use cellar_catalog::feed::{Checkpoint, PartitionPolicy, Span};
use cellar_catalog::stream::Kind;
use cellar_catalog::{
    spreadsheet::CatalogAction, spreadsheet::CatalogEvent, spreadsheet::Name, spreadsheet::Person,
    spreadsheet::stream_of,
};

use super::run::Crashes;
use super::scenario::{Promise, Retry, Scenario};
use super::stored::Stored;
use super::{FaultyPorts, empty_ports};
use crate::catalog::tests::{log, somebody};
use crate::catalog::{CatalogLists, CatalogStore};
use crate::feed::{FeedReader, Indexer, Webhook, WebhookPorts};
use crate::system::SystemRandom;

/// The limit is low, so that a scenario fills several partitions.
const SMALL_PARTITIONS: PartitionPolicy = PartitionPolicy { bytes: u64::MAX, items: 3 };

/// Batches from the EventStream table's change stream.
struct Indexing {
    batches: Vec<Vec<Span>>,
}

/// Batches from the Feed table's change stream.
struct Delivering {
    batches: Vec<(Checkpoint, Checkpoint)>,
}

fn indexer(ports: &Arc<FaultyPorts>) -> Indexer {
    let clock_and_random = || (Arc::clone(&ports.clock) as _, Arc::new(SystemRandom) as _);
    let (clock, random) = clock_and_random();
    let lists = CatalogLists::new(Arc::clone(ports) as _, Arc::clone(ports) as _, clock, random);
    let (index, streams) = (Arc::clone(ports) as _, Arc::clone(ports) as _);
    Indexer::new(index, streams, Arc::new(lists), clock_and_random(), 0)
        .with_partition_policy(SMALL_PARTITIONS)
}

fn actions() -> Vec<CatalogAction> {
    let person = |name| Person::new("cellar", name).unwrap();
    let name = |text| Name::new(text).unwrap();
    vec![
        CatalogAction::Create { name: name("Budget"), source: None },
        CatalogAction::Share { with: person("bob"), role: Role::Editor },
        CatalogAction::Rename(name("Plan")),
        CatalogAction::Unshare(person("bob")),
        CatalogAction::Rename(name("Plan B")),
        CatalogAction::Archive,
    ]
}

async fn ports_with_changes() -> (Arc<FaultyPorts>, Vec<Span>) {
    let ports = empty_ports();
    let random = Arc::new(SystemRandom);
    let catalog = CatalogStore::new(Arc::clone(&ports) as _, ports.clock.clone(), random);
    let mut events: Vec<CatalogEvent> = Vec::new();
    for action in actions() {
        let by = somebody("alice").by(log()).unwrap();
        events.extend(catalog.change(log(), by, action, None).await.unwrap().events);
    }
    let mut spans = Vec::new();
    for (first, event) in (0..).zip(&events) {
        let kinds = vec![Kind::new(event.kind()).unwrap()];
        spans.push(Span { stream: stream_of(log()).unwrap(), first, kinds });
    }
    ports.faults.take_request_count();
    (ports, spans)
}

impl Scenario for Indexing {
    type Process = Indexer;
    type Caller = ();
    type Answer = ();

    // The indexing time and the feed id differ between runs.
    const PROMISE: Promise = Promise::ConsistentData;

    fn step_count(&self) -> usize {
        self.batches.len()
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Indexer {
        indexer(ports)
    }

    async fn step(&self, indexer: &Indexer, (): &(), step: usize) -> Result<(), Retry> {
        let indexed = indexer.index(self.batches[step].clone()).await;
        indexed.map(drop).map_err(|error| Retry(error.to_string()))
    }

    fn assert_after_failure(&self, stored: &Stored, context: &str) {
        events(&stored.feed, context);
    }

    fn assert_final(&self, stored: &Stored, _answers: &[()], context: &str) {
        let expected: Vec<_> = actions().iter().map(kind).collect();
        assert_eq!(events(&stored.feed, context), expected, "{context}");
        let lines = stored.lists.iter().filter_map(|entry| entry.line.as_ref());
        let named: Vec<_> = lines.map(|line| (line.name.as_str(), line.role)).collect();
        assert_eq!(
            named,
            [("Plan B", Role::Owner)],
            "{context}: only alice's list contains the spreadsheet"
        );
    }
}

fn kind(action: &CatalogAction) -> String {
    let kind = match action {
        CatalogAction::Create { .. } => "Created",
        CatalogAction::Share { .. } => "Shared",
        CatalogAction::Rename(_) => "Renamed",
        CatalogAction::Unshare(_) => "Unshared",
        _ => "Archived",
    };
    kind.to_owned()
}

/// Asserts that the events are in order and without gaps.
fn events(feed: &[Vec<Span>], context: &str) -> Vec<String> {
    let mut kinds = Vec::new();
    for span in feed.iter().flatten() {
        let next_index = u64::try_from(kinds.len()).unwrap();
        assert_eq!(
            span.first, next_index,
            "{context}: an event is duplicated or out of order: {feed:?}"
        );
        kinds.extend(span.kinds.iter().map(|kind| kind.as_str().to_owned()));
    }
    kinds
}

impl Scenario for Delivering {
    type Process = Webhook;
    type Caller = ();
    type Answer = ();

    const PROMISE: Promise = Promise::ConsistentData;

    fn step_count(&self) -> usize {
        self.batches.len()
    }

    fn start_process(&self, ports: &Arc<FaultyPorts>) -> Webhook {
        let ports = WebhookPorts {
            feed: FeedReader::new(Arc::clone(ports) as _, 0),
            progresses: Arc::clone(ports) as _,
            sender: Arc::clone(ports) as _,
            clock: Arc::clone(&ports.clock) as _,
        };
        Webhook::new(ports, "cellar")
    }

    async fn step(&self, webhook: &Webhook, (): &(), step: usize) -> Result<(), Retry> {
        let delivered = webhook.deliver(self.batches[step], u64::MAX).await;
        delivered.map(drop).map_err(|error| Retry(error.to_string()))
    }

    fn assert_after_failure(&self, stored: &Stored, context: &str) {
        received(stored, context);
    }

    fn assert_final(&self, stored: &Stored, _answers: &[()], context: &str) {
        let had: BTreeMap<_, _> = [(stream_of(log()).unwrap().to_string(), 6)].into();
        assert_eq!(received(stored, context), had, "{context}");
    }
}

/// Returns how many events of each stream the receiver got. Asserts that the events of a stream
/// arrived without gaps.
fn received(stored: &Stored, context: &str) -> BTreeMap<String, u64> {
    let mut next_indexes = BTreeMap::new();
    for EventRange { stream, first, kinds, .. } in stored.received.iter().flatten() {
        let next_index: &mut u64 = next_indexes.entry(stream.clone()).or_default();
        assert!(first <= next_index, "{context}: event {first} arrived before {next_index}");
        *next_index = (first + u64::try_from(kinds.len()).unwrap()).max(*next_index);
    }
    next_indexes
}

/// Batches as two shards of a change stream deliver them. One batch is lost, one is delivered
/// twice, and some overlap.
async fn prepare_indexing() -> Crashes<Indexing> {
    let (ports, spans) = ports_with_changes().await;
    let batch_of =
        |span_numbers: &[usize]| span_numbers.iter().map(|number| spans[*number].clone()).collect();
    let batches = [&[0][..], &[0, 1], &[3], &[2], &[4, 5, 3]].map(batch_of).to_vec();
    Crashes::new(Indexing { batches }, ports).await
}

async fn prepare_deliveries() -> Crashes<Delivering> {
    let (ports, spans) = ports_with_changes().await;
    for span in spans {
        indexer(&ports).index(vec![span]).await.unwrap();
    }
    let reader = FeedReader::new(Arc::clone(&ports) as _, 0);
    let mut checkpoints = Vec::new();
    let mut next_checkpoint = None;
    loop {
        let page = reader.page(next_checkpoint, None, 100).await.unwrap();
        checkpoints.extend(page.items.iter().map(|item| item.at));
        next_checkpoint = Some(page.next);
        if page.is_end {
            break;
        }
    }
    let first_and_last = |batch: &[Checkpoint]| (batch[0], batch[batch.len() - 1]);
    let batches = checkpoints.chunks(2).map(first_and_last).collect();
    ports.faults.take_request_count();
    Crashes::new(Delivering { batches }, ports).await
}

#[tokio::test]
async fn indexing_survives() {
    let crashes = prepare_indexing().await;
    assert!(crashes.stored().feed.iter().any(Vec::is_empty), "a partition has ended");
    crashes.inject_each_fault().await;
}

#[tokio::test]
async fn deliveries_survive() {
    let crashes = prepare_deliveries().await;
    assert!(crashes.stored().received.len() > 1, "more than one delivery");
    crashes.inject_each_fault().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_indexing_survives_whatever_two_requests_fail() {
    prepare_indexing().await.inject_each_pair_of_faults().await;
}

#[tokio::test]
#[ignore = "minutes: the long run"]
async fn long_deliveries_survive_whatever_two_requests_fail() {
    prepare_deliveries().await.inject_each_pair_of_faults().await;
}
