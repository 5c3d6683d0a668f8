//! Property tests of several indexers: change records arrive twice, late, out of order or never,
//! and the indexers run concurrently, lose replies, pause and crash.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::feed::{
    Checkpoint, Content, Feed, Indexed, Indexing, IndexingAction, IndexingAnswer, Item, Known,
    Mark, PartitionPolicy, Rules, Span,
};
use crate::stream::{Kind, StreamName};
use cellar_log::append::Inputs;

/// A low limit, so that partitions end soon.
const SMALL: PartitionPolicy = PartitionPolicy { bytes: u64::MAX, items: 3 };
const STREAMS: usize = 3;

pub(super) fn name(stream: usize) -> StreamName {
    StreamName::new("S", &stream.to_string()).unwrap()
}

pub(super) fn span(stream: usize, first: u64, events: u64) -> Span {
    let kind = |index: u64| Kind::new(&format!("K{index}")).unwrap();
    Span { stream: name(stream), first, kinds: (first..first + events).map(kind).collect() }
}

/// The Feed table and the lengths of the streams.
#[derive(Default)]
pub(super) struct Table {
    pub(super) partitions: BTreeMap<u64, Feed>,
    pub(super) items: BTreeMap<Checkpoint, Item>,
    pub(super) marks: BTreeMap<StreamName, Mark>,
    pub(super) streams: BTreeMap<StreamName, u64>,
    reacted: BTreeSet<(StreamName, u64)>,
}

impl Table {
    /// Performs an action of an indexer.
    pub(super) fn perform(&mut self, action: &IndexingAction) -> IndexingAnswer {
        match action {
            IndexingAction::ReadPartition => IndexingAnswer::Partition(
                self.partitions.last_key_value().map(|(partition, feed)| (*partition, *feed)),
            ),
            IndexingAction::BeginPartition { partition, feed } => {
                put(&mut self.partitions, *partition, *feed)
            }
            IndexingAction::ReadTail { partition } => {
                let mut of = self.items.iter().filter(|(at, _)| at.partition() == *partition);
                IndexingAnswer::LastItem(
                    of.next_back().map(|(at, item)| (at.offset(), item.clone())),
                )
            }
            IndexingAction::ReadMarks { streams } => {
                let mark = |stream: &StreamName| Some((stream.clone(), *self.marks.get(stream)?));
                IndexingAnswer::Marks(streams.iter().filter_map(mark).collect())
            }
            IndexingAction::RaiseMarks { marks } => {
                for (stream, mark) in marks {
                    let there = self.marks.entry(stream.clone()).or_insert(*mark);
                    *there = (*there).max(*mark);
                }
                IndexingAnswer::Done
            }
            IndexingAction::ReadMissing { stream, from, to } => {
                let number = stream.id().parse().unwrap();
                let there = self.streams.get(stream).copied().unwrap_or_default();
                // Long ranges are returned in parts.
                let events = if to - from > 2 { 2 } else { to - from };
                IndexingAnswer::Events((*to <= there).then(|| span(number, *from, events)))
            }
            IndexingAction::React { spans } => {
                for span in spans {
                    let indexes = span.first..span.next();
                    self.reacted.extend(indexes.map(|index| (span.stream.clone(), index)));
                }
                IndexingAnswer::Done
            }
            IndexingAction::Put { at, item } => put(&mut self.items, *at, item.clone()),
            IndexingAction::Wait { .. } => IndexingAnswer::Waited,
            IndexingAction::Finish(_) => panic!("`Finish` is not a request"),
        }
    }

    /// Returns the spans of the current generation of the feed, in order.
    pub(super) fn walk(&self) -> Vec<Span> {
        let Some((_, feed)) = self.partitions.last_key_value() else { return Vec::new() };
        let mut at = Checkpoint::at(feed.first_partition, 0).unwrap();
        let mut spans = Vec::new();
        while let Some(item) = self.items.get(&at) {
            at = match &item.content {
                Content::Spans(these) => {
                    spans.extend(these.iter().cloned());
                    at.next().unwrap()
                }
                Content::End(_) => Checkpoint::at(at.partition() + 1, 0).unwrap(),
            };
        }
        spans
    }

    /// Every event once, in the order of its stream, without a gap; and nothing that was not
    /// reacted to.
    pub(super) fn indexed(&self) -> BTreeMap<StreamName, u64> {
        let mut indexed: BTreeMap<StreamName, u64> = BTreeMap::new();
        for part in self.walk() {
            let next = indexed.entry(part.stream.clone()).or_default();
            assert_eq!(part.first, *next, "{} has a gap or a duplicate", part.stream);
            let number = part.stream.id().parse().unwrap();
            let events = u64::try_from(part.kinds.len()).unwrap();
            assert_eq!(part, span(number, part.first, events), "the kinds are those of the events");
            for index in part.first..part.next() {
                assert!(self.reacted.contains(&(part.stream.clone(), index)), "reacted first");
            }
            *next = part.next();
        }
        indexed
    }
}

fn put<K: Ord, V>(there: &mut BTreeMap<K, V>, key: K, value: V) -> IndexingAnswer {
    match there.contains_key(&key) {
        true => IndexingAnswer::Exists,
        false => {
            there.insert(key, value);
            IndexingAnswer::Done
        }
    }
}

/// A step of the test.
#[derive(Debug, Clone)]
enum WorldEvent {
    /// Events are appended to a stream; their change record is delivered or lost.
    Append { stream: usize, events: u64, lost: bool },
    /// An indexer receives some of the delivered records, possibly again.
    Take { indexer: usize, records: Vec<usize> },
    /// An indexer performs one step.
    Step { indexer: usize, fault: Fault },
    /// A late write takes effect.
    Land { which: usize },
    /// An indexer crashes and is replaced.
    Die { indexer: usize },
    /// An indexer rebuilds the feed.
    Rebuild { indexer: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The request succeeds, but the reply is lost.
    ReplyLost,
    /// The request does not take effect now, but a write may take effect later.
    RequestLate,
    Failed,
}

fn event() -> impl Strategy<Value = WorldEvent> {
    let fault = prop_oneof![
        6 => Just(Fault::None),
        1 => Just(Fault::ReplyLost),
        1 => Just(Fault::RequestLate),
        1 => Just(Fault::Failed),
    ];
    prop_oneof![
        4 => (0..STREAMS, 1..4_u64, prop::bool::weighted(0.2))
            .prop_map(|(stream, events, lost)| WorldEvent::Append { stream, events, lost }),
        3 => (0..2_usize, prop::collection::vec(0..20_usize, 1..4))
            .prop_map(|(indexer, records)| WorldEvent::Take { indexer, records }),
        30 => (0..2_usize, fault).prop_map(|(indexer, fault)| WorldEvent::Step { indexer, fault }),
        1 => (0..4_usize).prop_map(|which| WorldEvent::Land { which }),
        1 => (0..2_usize).prop_map(|indexer| WorldEvent::Die { indexer }),
        1 => prop::bool::weighted(0.2).prop_flat_map(|rebuilds| match rebuilds {
            true => (0..2_usize).prop_map(|indexer| WorldEvent::Rebuild { indexer }).boxed(),
            false => Just(WorldEvent::Land { which: 0 }).boxed(),
        }),
    ]
}

#[derive(Default)]
struct Worker {
    known: Known,
    running: Option<(Indexing, IndexingAction)>,
}

#[derive(Default)]
struct World {
    table: Table,
    records: Vec<Span>,
    workers: [Worker; 2],
    late: Vec<IndexingAction>,
    random: u64,
}

impl World {
    fn inputs(&mut self) -> Inputs {
        self.random += 1;
        Inputs { now_s: self.random, random: self.random }
    }

    fn apply(&mut self, event: WorldEvent) {
        match event {
            WorldEvent::Append { stream, events, lost } => {
                let next = self.table.streams.entry(name(stream)).or_default();
                let first = *next;
                *next += events;
                if !lost {
                    self.records.push(span(stream, first, events));
                }
            }
            WorldEvent::Take { indexer, records } => {
                let spans = records.iter().filter_map(|record| self.records.get(*record)).cloned();
                let spans = spans.collect();
                self.begin(indexer, spans);
            }
            WorldEvent::Step { indexer, fault } => self.step(indexer, fault),
            WorldEvent::Land { which } if which < self.late.len() => {
                let action = self.late.swap_remove(which);
                self.table.perform(&action);
            }
            WorldEvent::Land { .. } => {}
            WorldEvent::Die { indexer } => self.workers[indexer] = Worker::default(),
            WorldEvent::Rebuild { indexer } => {
                let inputs = self.inputs();
                let worker = &mut self.workers[indexer];
                if worker.running.is_none() {
                    worker.known = Known::default();
                    worker.running = Some(Indexing::begin_rebuild(0, inputs));
                }
            }
        }
    }

    fn begin(&mut self, indexer: usize, spans: Vec<Span>) {
        let inputs = self.inputs();
        let worker = &mut self.workers[indexer];
        if worker.running.is_none() {
            let known = std::mem::take(&mut worker.known);
            let rules = Rules::default();
            let begun =
                Indexing::begin_with_policy_and_rules(known, spans, 0, SMALL, rules, inputs);
            worker.running = Some(begun);
        }
    }

    fn step(&mut self, indexer: usize, fault: Fault) {
        let inputs = self.inputs();
        let Some((indexing, action)) = self.workers[indexer].running.take() else { return };
        if let IndexingAction::Finish(_) = action {
            self.workers[indexer].known = indexing.known();
            return;
        }
        let is_write = matches!(
            action,
            IndexingAction::BeginPartition { .. }
                | IndexingAction::Put { .. }
                | IndexingAction::RaiseMarks { .. }
        );
        let answer = match fault {
            Fault::None => self.table.perform(&action),
            Fault::Failed => IndexingAnswer::Failed { temporary: true },
            Fault::ReplyLost => {
                self.table.perform(&action);
                if is_write {
                    IndexingAnswer::Unknown
                } else {
                    IndexingAnswer::Failed { temporary: true }
                }
            }
            Fault::RequestLate if is_write => {
                self.late.push(action);
                IndexingAnswer::Unknown
            }
            Fault::RequestLate => IndexingAnswer::Failed { temporary: true },
        };
        self.workers[indexer].running = Some(indexing.step(answer, inputs));
    }

    /// Runs a new indexer without faults, like a retry of a batch.
    fn index(&mut self, spans: Vec<Span>) -> Indexed {
        self.workers[0] = Worker::default();
        self.begin(0, spans);
        for _ in 0..10_000 {
            if let Some((_, IndexingAction::Finish(ended))) = &self.workers[0].running {
                return ended.clone().unwrap();
            }
            self.step(0, Fault::None);
        }
        panic!("the indexer does not finish");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// At each moment the feed is whole as far as it goes, and in the end it is the streams.
    #[test]
    fn the_feed_contains_the_streams_after_any_faults(events in prop::collection::vec(event(), 1..150)) {
        let mut world = World::default();
        for event in events {
            world.apply(event);
            world.table.indexed();
        }
        let all = world.table.streams.clone();
        let whole = |(stream, next): (&StreamName, &u64)| {
            span(stream.id().parse().unwrap(), next - 1, 1)
        };
        // The last event of each, which is what `synth feed repair` finds missing.
        world.index(all.iter().map(whole).collect());
        prop_assert_eq!(&world.table.indexed(), &all);
        // Late writes change nothing.
        for late in std::mem::take(&mut world.late) {
            world.table.perform(&late);
        }
        prop_assert_eq!(world.table.indexed(), all);
        let again = world.index(world.records.clone());
        prop_assert_eq!(again.events, 0);
    }
}
