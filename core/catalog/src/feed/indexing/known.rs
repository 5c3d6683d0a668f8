//! State that the indexer caches between batches.

use std::collections::BTreeMap;

use crate::feed::checkpoint::Feed;
use crate::feed::span::Span;
use crate::stream::StreamName;
use cellar_base::limits::MAX_CACHED_MARKS;

/// High-water mark of an event stream: all events with lower indices are in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// First partition of the feed generation to which the mark applies. Marks of other generations
    /// are ignored.
    pub first_partition: u64,
    /// Index after the last indexed event.
    pub next: u64,
}

/// The end of the feed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tail {
    /// Newest partition.
    pub partition: u64,
    /// Generation of the feed.
    pub feed: Feed,
    /// Offset after the partition's last item.
    pub offset: u64,
    /// Total size of the items in the partition, in bytes.
    pub bytes: u64,
    /// Events of the last item, or an empty list if the stored high-water marks already include
    /// them.
    pub last_item_spans: Vec<Span>,
}

impl Tail {
    pub(super) fn of_empty_partition(partition: u64, feed: Feed) -> Self {
        Self { partition, feed, offset: 0, bytes: 0, last_item_spans: Vec::new() }
    }
}

/// State that the indexer caches to save reads. If the state is outdated, the next conditional
/// write fails.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Known {
    pub(super) tail: Option<Tail>,
    /// For each event stream, the index after the last event that is in the feed. Events of the
    /// last feed item are included only after the stored high-water marks include them.
    pub(super) marks: BTreeMap<StreamName, u64>,
}

impl Known {
    /// Returns the cached end of the feed.
    #[must_use]
    pub fn tail(&self) -> Option<&Tail> {
        self.tail.as_ref()
    }

    /// Returns the index after the last event of the stream that is in the feed, if it is cached.
    #[must_use]
    pub fn mark(&self, stream: &StreamName) -> Option<u64> {
        self.marks.get(stream).copied()
    }

    /// Records that all events of a stream before the index `next` are in the feed.
    pub(in crate::feed) fn raise_mark(&mut self, stream: StreamName, next: u64) {
        let mark = self.marks.entry(stream).or_default();
        *mark = next.max(*mark);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(in crate::feed) fn limit_marks(mut self) -> Self {
        if self.marks.len() > MAX_CACHED_MARKS {
            self.marks.clear();
        }
        self
    }
}
