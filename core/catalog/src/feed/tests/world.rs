//! A world of indexers: streams that are appended to, records of them that are delivered twice,
//! late, in any order or never, and indexers that work beside each other, lose replies, stand still
//! and die.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::feed::{
    Checkpoint, Content, Feed, Indexed, Indexing, IndexingAction, IndexingAnswer, Item, Known,
    Mark, PartitionPolicy, Rules, Span,
};
use crate::stream::{Kind, StreamName};
use cellar_log::append::Inputs;

/// Few, so that partitions end.
const SMALL: PartitionPolicy = PartitionPolicy { bytes: u64::MAX, items: 3 };
const STREAMS: usize = 3;

pub(super) fn name(stream: usize) -> StreamName {
    StreamName::new("S", &stream.to_string()).unwrap()
}

pub(super) fn span(stream: usize, first: u64, events: u64) -> Span {
    let kind = |index: u64| Kind::new(&format!("K{index}")).unwrap();
    Span { stream: name(stream), first, kinds: (first..first + events).map(kind).collect() }
}

/// The Feed table, and the streams themselves.
#[derive(Default)]
pub(super) struct Table {
    pub(super) partitions: BTreeMap<u64, Feed>,
    pub(super) items: BTreeMap<Checkpoint, Item>,
    pub(super) marks: BTreeMap<StreamName, Mark>,
    pub(super) streams: BTreeMap<StreamName, u64>,
    reacted: BTreeSet<(StreamName, u64)>,
}

impl Table {
    /// Does what an indexer asks for.
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
                IndexingAnswer::Last(of.next_back().map(|(at, item)| (at.offset(), item.clone())))
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
                // A part, at times.
                let events = if to - from > 2 { 2 } else { to - from };
                IndexingAnswer::Missing((*to <= there).then(|| span(number, *from, events)))
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
            IndexingAction::Finish(_) => panic!("the end is no request"),
        }
    }

    /// The feed that there is: its spans in order.
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
            assert_eq!(part.first, *next, "{} has a gap or a double", part.stream);
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

/// What happens next.
#[derive(Debug, Clone)]
enum Event {
    /// Events are appended to a stream; their record is delivered, or lost.
    Append { stream: usize, events: u64, lost: bool },
    /// An indexer takes some of the records that were delivered, and again.
    Take { indexer: usize, records: Vec<usize> },
    /// An indexer does a step.
    Step { indexer: usize, fault: Fault },
    /// A write that was sent long ago lands.
    Land { which: usize },
    /// An indexer is another process from now on.
    Die { indexer: usize },
    /// The feed is built anew.
    Rebuild { indexer: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// It is done, and nobody says so.
    ReplyLost,
    /// It is not done, or will be later.
    RequestLate,
    Failed,
}

fn event() -> impl Strategy<Value = Event> {
    let fault = prop_oneof![
        6 => Just(Fault::None),
        1 => Just(Fault::ReplyLost),
        1 => Just(Fault::RequestLate),
        1 => Just(Fault::Failed),
    ];
    prop_oneof![
        4 => (0..STREAMS, 1..4_u64, prop::bool::weighted(0.2))
            .prop_map(|(stream, events, lost)| Event::Append { stream, events, lost }),
        3 => (0..2_usize, prop::collection::vec(0..20_usize, 1..4))
            .prop_map(|(indexer, records)| Event::Take { indexer, records }),
        30 => (0..2_usize, fault).prop_map(|(indexer, fault)| Event::Step { indexer, fault }),
        1 => (0..4_usize).prop_map(|which| Event::Land { which }),
        1 => (0..2_usize).prop_map(|indexer| Event::Die { indexer }),
        1 => prop::bool::weighted(0.2).prop_flat_map(|rebuilds| match rebuilds {
            true => (0..2_usize).prop_map(|indexer| Event::Rebuild { indexer }).boxed(),
            false => Just(Event::Land { which: 0 }).boxed(),
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

    fn happens(&mut self, event: Event) {
        match event {
            Event::Append { stream, events, lost } => {
                let next = self.table.streams.entry(name(stream)).or_default();
                let first = *next;
                *next += events;
                if !lost {
                    self.records.push(span(stream, first, events));
                }
            }
            Event::Take { indexer, records } => {
                let spans = records.iter().filter_map(|record| self.records.get(*record)).cloned();
                let spans = spans.collect();
                self.begin(indexer, spans);
            }
            Event::Step { indexer, fault } => self.step(indexer, fault),
            Event::Land { which } if which < self.late.len() => {
                let action = self.late.swap_remove(which);
                self.table.perform(&action);
            }
            Event::Land { .. } => {}
            Event::Die { indexer } => self.workers[indexer] = Worker::default(),
            Event::Rebuild { indexer } => {
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
            let begun = Indexing::begin_by(known, spans, 0, SMALL, rules, inputs);
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

    /// Runs an indexer undisturbed, as one that gets the batch again.
    fn index(&mut self, spans: Vec<Span>) -> Indexed {
        self.workers[0] = Worker::default();
        self.begin(0, spans);
        for _ in 0..10_000 {
            if let Some((_, IndexingAction::Finish(ended))) = &self.workers[0].running {
                return ended.clone().unwrap();
            }
            self.step(0, Fault::None);
        }
        panic!("no end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// At each moment the feed is whole as far as it goes, and in the end it is the streams.
    #[test]
    fn the_feed_is_the_streams_whatever_happens(events in prop::collection::vec(event(), 1..150)) {
        let mut world = World::default();
        for event in events {
            world.happens(event);
            world.table.indexed();
        }
        let all = world.table.streams.clone();
        let whole = |(stream, next): (&StreamName, &u64)| {
            span(stream.id().parse().unwrap(), next - 1, 1)
        };
        // The last event of each, which is what `synth feed repair` finds missing.
        world.index(all.iter().map(whole).collect());
        prop_assert_eq!(&world.table.indexed(), &all);
        // What lands now changes nothing.
        for late in std::mem::take(&mut world.late) {
            world.table.perform(&late);
        }
        prop_assert_eq!(world.table.indexed(), all);
        let again = world.index(world.records.clone());
        prop_assert_eq!(again.events, 0);
    }
}
