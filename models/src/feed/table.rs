//! In-memory Feed table and event streams.

use std::collections::{BTreeMap, BTreeSet};

use cellar_catalog::feed::{
    Checkpoint, Content, Feed, IndexingAction as Request, IndexingAnswer, Item, Mark, Span,
};
use cellar_catalog::stream::StreamName;

use super::part_span;

/// The contents of the Feed table, and the number of events in each event stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Table {
    /// The feed partitions, each with the generation to which it belongs.
    pub partitions: BTreeMap<u64, Feed>,
    /// The items of the feed.
    pub items: BTreeMap<Checkpoint, Item>,
    /// The high-water mark of each stream, up to which its events are in the feed.
    pub marks: BTreeMap<StreamName, Mark>,
    /// Number of events per stream.
    pub streams: BTreeMap<StreamName, u64>,
    /// Events whose reactions have run.
    pub reacted: BTreeSet<(StreamName, u64)>,
}

impl Table {
    /// Creates an empty feed for streams with these numbers of events.
    #[must_use]
    pub fn with_streams(streams: BTreeMap<StreamName, u64>) -> Self {
        Self { streams, ..Self::default() }
    }

    /// Applies an indexer's request.
    pub fn execute(&mut self, request: &Request) -> IndexingAnswer {
        match request {
            Request::ReadPartition => {
                let newest_partition = self.partitions.last_key_value();
                IndexingAnswer::Partition(
                    newest_partition.map(|(partition, feed)| (*partition, *feed)),
                )
            }
            Request::BeginPartition { partition, feed } => {
                put_if_absent(&mut self.partitions, *partition, *feed)
            }
            Request::ReadTail { partition } => IndexingAnswer::LastItem(self.last_item(*partition)),
            Request::ReadMarks { streams } => {
                let mark = |stream: &StreamName| Some((stream.clone(), *self.marks.get(stream)?));
                IndexingAnswer::Marks(streams.iter().filter_map(mark).collect())
            }
            Request::RaiseMarks { marks } => {
                for (stream, mark) in marks {
                    let stored_mark = self.marks.entry(stream.clone()).or_insert(*mark);
                    *stored_mark = (*stored_mark).max(*mark);
                }
                IndexingAnswer::Done
            }
            Request::ReadMissing { stream, from, to } => {
                IndexingAnswer::Events(self.stream_span(stream, *from, *to))
            }
            Request::React { spans } => {
                for span in spans {
                    for event_index in span.first..span.next() {
                        self.reacted.insert((span.stream.clone(), event_index));
                    }
                }
                IndexingAnswer::Done
            }
            Request::Put { at, item } => put_if_absent(&mut self.items, *at, item.clone()),
            Request::Wait { .. } | Request::Finish(_) => IndexingAnswer::Waited,
        }
    }

    /// Returns the last item of a partition and the offset of the item.
    fn last_item(&self, partition: u64) -> Option<(u64, Item)> {
        let mut items_newest_first = self.items.iter().rev();
        let (checkpoint, item) =
            items_newest_first.find(|(checkpoint, _)| checkpoint.partition() == partition)?;
        Some((checkpoint.offset(), item.clone()))
    }

    /// Returns the events of a stream from index `from` (inclusive) to index `to` (exclusive), or
    /// `None` if the stream has fewer than `to` events.
    fn stream_span(&self, stream: &StreamName, from: u64, to: u64) -> Option<Span> {
        let event_count = self.streams.get(stream).copied().unwrap_or_default();
        if to > event_count {
            return None;
        }
        let stream_number = stream.id().parse().unwrap_or_default();
        part_span((stream_number, from, to.saturating_sub(from)))
    }

    /// Returns the event spans of the newest generation of the feed, in feed order.
    #[must_use]
    pub fn newest_feed_spans(&self) -> Vec<&Span> {
        let mut spans = Vec::new();
        let first_partition =
            self.partitions.values().map(|feed| feed.first_partition).max().unwrap_or_default();
        let mut next_checkpoint = Checkpoint::at(first_partition, 0).ok();
        while let Some(checkpoint) = next_checkpoint
            && let Some(item) = self.items.get(&checkpoint)
        {
            next_checkpoint = match &item.content {
                Content::Spans(item_spans) => {
                    spans.extend(item_spans);
                    checkpoint.next().ok()
                }
                // The partition of a newer generation follows. That generation starts at its own
                // first partition.
                Content::End(feed) if feed.first_partition > first_partition => None,
                Content::End(_) => Checkpoint::at(checkpoint.partition() + 1, 0).ok(),
            };
        }
        spans
    }
}

fn put_if_absent<K: Ord, V>(items: &mut BTreeMap<K, V>, key: K, value: V) -> IndexingAnswer {
    if items.contains_key(&key) {
        return IndexingAnswer::Exists;
    }
    items.insert(key, value);
    IndexingAnswer::Done
}
