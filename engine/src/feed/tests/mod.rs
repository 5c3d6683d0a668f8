//! The feed over in-memory tables: indexing, lost batches, reading and audits.

mod entries;

use std::collections::BTreeMap;
use std::sync::Arc;

use cellar_catalog::feed::{Checkpoint, FeedId, PartitionPolicy, Span};
use cellar_catalog::stream::{
    Kind, Payload, Proposal, SplitPolicy, StreamEvent, StreamName, WriterId,
};
use proptest::prelude::*;

use super::{Auditor, FeedError, FeedReader, Finding, Indexer, NoReactions};
use crate::memory::{ManualClock, MemoryFeed, MemoryStreams};
use crate::ports::{ReadConsistency, Streams as _};
use crate::streams::StreamStore;
use crate::system::SystemRandom;

/// Few items, so that partitions end and tips split.
const PARTITIONS: PartitionPolicy = PartitionPolicy { bytes: u64::MAX, items: 4 };
const TIPS: SplitPolicy = SplitPolicy { bytes: usize::MAX, events: 2 };

pub(crate) struct World {
    streams: Arc<MemoryStreams>,
    pub(crate) index: Arc<MemoryFeed>,
    store: StreamStore,
    writers: u8,
}

impl World {
    pub(crate) fn new() -> Self {
        let (streams, index) = (Arc::new(MemoryStreams::default()), Arc::default());
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let store = StreamStore::new(streams.clone(), clock, Arc::new(SystemRandom));
        Self { streams, index, store: store.with_split_policy(TIPS), writers: 0 }
    }

    /// Returns an indexer without caches.
    pub(crate) fn indexer(&self) -> Indexer {
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let time = (clock as _, Arc::new(SystemRandom) as _);
        let streams = self.streams.clone();
        Indexer::new(self.index.clone(), streams, Arc::new(NoReactions), time, 0)
            .with_partition_policy(PARTITIONS)
    }

    pub(crate) fn reader(&self) -> FeedReader {
        FeedReader::new(self.index.clone(), 0)
    }

    fn auditor(&self) -> Auditor {
        let clock = Arc::new(ManualClock::at(1_795_246_133_000));
        let random = Arc::new(SystemRandom);
        Auditor::new(&self.streams, self.reader(), self.indexer(), clock, random)
    }

    /// Appends events to a stream; returns the span of its change record.
    pub(crate) async fn append(&mut self, stream: u8, events: usize) -> Span {
        self.writers += 1;
        let (name, writer) = (name(stream), WriterId([self.writers; 16]));
        let on = self.streams.tip(&name, ReadConsistency::Strong).await.unwrap();
        let first = on.as_ref().map_or(0, |tip| tip.next);
        let event = |number: u64| StreamEvent {
            time_ms: 1,
            kind: kind(number),
            data: Payload::default(),
            meta: Payload::default(),
            correlation: None,
            causation: None,
            writer,
        };
        let numbers = first..first + u64::try_from(events).unwrap();
        let events = numbers.clone().map(event).collect();
        let proposal =
            Proposal { name: name.clone(), base_tip: on, writer, events, unfolds: vec![] };
        self.store.append(&proposal).await.unwrap();
        Span { stream: name, first, kinds: numbers.map(kind).collect() }
    }

    /// Reads the whole feed in pages of `limit` items, and asserts that each stream's events are in
    /// order.
    async fn walk(&self, limit: u32) -> Result<BTreeMap<StreamName, u64>, FeedError> {
        let (mut streams, mut from, mut feed) = (BTreeMap::new(), None, None);
        loop {
            let page = self.reader().page(from, feed, limit).await?;
            assert!(page.items.len() <= usize::try_from(limit).unwrap());
            for span in page.items.into_iter().flat_map(|item| item.spans) {
                let next: &mut u64 = streams.entry(span.stream.clone()).or_default();
                assert_eq!(span.first, *next, "{}", span.stream);
                let kinds = (span.first..span.next()).map(kind);
                assert!(span.kinds.iter().cloned().eq(kinds));
                *next = span.next();
            }
            (from, feed) = (Some(page.next), page.feed);
            if page.is_end {
                return Ok(streams);
            }
        }
    }

    async fn there(&self) -> BTreeMap<StreamName, u64> {
        let mut there = BTreeMap::new();
        for stream in 0..3 {
            let tip = self.streams.tip(&name(stream), ReadConsistency::Strong).await.unwrap();
            there.extend(tip.map(|tip| (name(stream), tip.next)));
        }
        there
    }
}

fn name(stream: u8) -> StreamName {
    StreamName::new("S", &stream.to_string()).unwrap()
}

fn kind(number: u64) -> Kind {
    Kind::new(&format!("K{}", number % 5)).unwrap()
}

fn at(number: u64) -> Checkpoint {
    Checkpoint::new(number).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Change records may be repeated, reordered or lost. The feed contains what `verify` reports,
    /// and all events after a repair.
    #[test]
    fn what_is_walked_is_what_there_is(
        appends in prop::collection::vec((0..3_u8, 1..4_usize, any::<bool>()), 1..25),
        batches in prop::collection::vec(prop::collection::vec(0..25_usize, 1..5), 0..20),
        limit in 1..9_u32,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut world = World::new();
            let mut records = Vec::new();
            for (stream, events, is_lost) in appends {
                let record = world.append(stream, events).await;
                records.extend((!is_lost).then_some(record));
            }
            let indexers = [world.indexer(), world.indexer()];
            for (number, batch) in batches.iter().enumerate() {
                let spans = batch.iter().filter_map(|record| records.get(*record)).cloned();
                indexers[number % 2].index(spans.collect()).await.unwrap();
                world.walk(limit).await.unwrap();
            }
            let (auditor, there) = (world.auditor(), world.there().await);
            let audit = auditor.verify().await.unwrap();
            let walked = world.walk(limit).await.unwrap();
            let lacking = |(stream, to): (&StreamName, &u64)| {
                let from = walked.get(stream).copied().unwrap_or_default();
                let (stream, to) = (stream.clone(), *to);
                (from < to).then_some(Finding::Missing { stream, from, to })
            };
            assert_eq!(audit.findings, there.iter().filter_map(lacking).collect::<Vec<_>>());
            let missing: u64 = there.values().sum::<u64>() - walked.values().sum::<u64>();
            assert_eq!(auditor.repair(&audit).await.unwrap().events, missing);
            assert_eq!(world.walk(limit).await.unwrap(), there);
            let rebuilt = auditor.rebuild(|_| {}).await.unwrap();
            assert_eq!(rebuilt.events, there.values().sum::<u64>());
            assert_eq!(world.walk(limit).await.unwrap(), there, "the same, made anew");
        });
    }
}

/// Builds a feed of this many items; every fourth item ends a partition.
async fn fed(events: u64) -> World {
    let mut world = World::new();
    let indexer = world.indexer();
    for _ in 0..events {
        let record = world.append(0, 1).await;
        indexer.index(vec![record]).await.unwrap();
    }
    world
}

#[tokio::test]
async fn rejects_checkpoints_outside_of_the_feed() {
    let world = fed(4).await;
    // Three items and an end, then one item.
    let end = at(1_000_001);
    let page = world.reader().page(Some(end), None, 10).await.unwrap();
    assert!(page.is_end && page.next == end);
    let beyond = |number| {
        let reader = world.reader();
        async move { reader.page(Some(at(number)), None, 10).await.map(|page| page.is_end) }
    };
    assert_eq!(beyond(1_000_002).await, Err(FeedError::Beyond));
    assert_eq!(beyond(2_000_000).await, Ok(true), "the end of the partition may be the next thing");
    assert_eq!(beyond(2_000_001).await, Err(FeedError::Beyond));
    assert_eq!(beyond(3_000_000).await, Err(FeedError::Beyond));
    let other = world.reader().page(None, Some(FeedId([0; 8])), 10).await;
    assert_eq!(other, Err(FeedError::AnotherFeed));
    world.indexer().start_new_feed().await.unwrap();
    assert_eq!(beyond(1_000_001).await, Err(FeedError::AnotherFeed));
    assert_eq!(beyond(2_000_000).await, Ok(true));
    let nothing = World::new();
    assert!(nothing.reader().page(None, None, 10).await.unwrap().is_end);
    assert_eq!(nothing.reader().page(Some(at(1)), None, 10).await, Err(FeedError::Beyond));
    let feed = nothing.reader().page(None, Some(FeedId([0; 8])), 10).await;
    assert_eq!(feed, Err(FeedError::AnotherFeed));
}

#[tokio::test]
async fn detects_a_lost_item_anywhere() {
    // The first item, one in the middle, and the end of a partition. Losing the last item only
    // shortens the feed.
    for (lost, events) in [(0, 4), (1, 4), (3, 4), (2, 2)] {
        let world = fed(events).await;
        world.index.lose(at(lost));
        let audit = world.auditor().verify().await.unwrap();
        match (lost, events) {
            (2, 2) => assert_eq!(audit.findings, []),
            _ => assert!(audit.findings.contains(&Finding::Lost { at: at(lost) }), "{audit:?}"),
        }
    }
}

#[tokio::test]
async fn reports_events_that_the_stream_does_not_have() {
    let world = fed(2).await;
    let other = World { streams: Arc::default(), ..World::new() };
    let clock = Arc::new(ManualClock::at(1));
    let random = Arc::new(SystemRandom);
    let auditor = Auditor::new(&other.streams, world.reader(), other.indexer(), clock, random);
    let beyond = Finding::Beyond { stream: name(0), stored: 0, indexed: 2 };
    assert_eq!(auditor.verify().await.unwrap().findings, std::slice::from_ref(&beyond));
    assert!(!beyond.can_be_repaired());
}
