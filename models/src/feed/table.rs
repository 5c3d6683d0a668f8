//! The Feed table, and the streams themselves.

use std::collections::{BTreeMap, BTreeSet};

use cellar_catalog::feed::{
    Checkpoint, Content, Feed, IndexingAction as Request, IndexingAnswer, Item, Mark, Span,
};
use cellar_catalog::stream::StreamName;

use super::span;

/// What is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Table {
    /// The partitions that were begun.
    pub partitions: BTreeMap<u64, Feed>,
    /// The items of the feed.
    pub items: BTreeMap<Checkpoint, Item>,
    /// How far each stream is indexed.
    pub marks: BTreeMap<StreamName, Mark>,
    /// How many events each stream has.
    pub streams: BTreeMap<StreamName, u64>,
    /// The events of which what follows was done.
    pub reacted: BTreeSet<(StreamName, u64)>,
}

impl Table {
    /// An empty index of these streams.
    #[must_use]
    pub fn of(streams: BTreeMap<StreamName, u64>) -> Self {
        Self { streams, ..Self::default() }
    }

    /// Does what an indexer wants.
    pub fn perform(&mut self, request: &Request) -> IndexingAnswer {
        match request {
            Request::ReadPartition => IndexingAnswer::Partition(
                self.partitions.last_key_value().map(|(partition, feed)| (*partition, *feed)),
            ),
            Request::BeginPartition { partition, feed } => {
                put(&mut self.partitions, *partition, *feed)
            }
            Request::ReadTail { partition } => {
                let mut of = self.items.iter().filter(|(at, _)| at.partition() == *partition);
                IndexingAnswer::Last(of.next_back().map(|(at, item)| (at.offset(), item.clone())))
            }
            Request::ReadMarks { streams } => {
                let mark = |stream: &StreamName| Some((stream.clone(), *self.marks.get(stream)?));
                IndexingAnswer::Marks(streams.iter().filter_map(mark).collect())
            }
            Request::RaiseMarks { marks } => {
                for (stream, mark) in marks {
                    let there = self.marks.entry(stream.clone()).or_insert(*mark);
                    *there = (*there).max(*mark);
                }
                IndexingAnswer::Done
            }
            Request::ReadMissing { stream, from, to } => {
                let there = self.streams.get(stream).copied().unwrap_or_default();
                let number = stream.id().parse().unwrap_or_default();
                let events = to.saturating_sub(*from);
                IndexingAnswer::Missing(
                    (*to <= there).then(|| span((number, *from, events))).flatten(),
                )
            }
            Request::React { spans } => {
                for span in spans {
                    let indexes = span.first..span.next();
                    self.reacted.extend(indexes.map(|index| (span.stream.clone(), index)));
                }
                IndexingAnswer::Done
            }
            Request::Put { at, item } => put(&mut self.items, *at, item.clone()),
            Request::Wait { .. } | Request::Finish(_) => IndexingAnswer::Waited,
        }
    }

    /// The feed that there is: its spans in order.
    #[must_use]
    pub fn walk(&self) -> Vec<&Span> {
        let mut spans = Vec::new();
        let first =
            self.partitions.values().map(|feed| feed.first_partition).max().unwrap_or_default();
        let mut next = Checkpoint::at(first, 0).ok();
        while let Some((at, item)) = next.and_then(|at| Some((at, self.items.get(&at)?))) {
            next = match &item.content {
                Content::Spans(these) => {
                    spans.extend(these);
                    at.next().ok()
                }
                // Another feed begins behind: it is walked from its own beginning.
                Content::End(feed) if feed.first_partition > first => None,
                Content::End(_) => Checkpoint::at(at.partition() + 1, 0).ok(),
            };
        }
        spans
    }
}

fn put<K: Ord, V>(there: &mut BTreeMap<K, V>, key: K, value: V) -> IndexingAnswer {
    if there.contains_key(&key) {
        return IndexingAnswer::Exists;
    }
    there.insert(key, value);
    IndexingAnswer::Done
}
