//! State that the indexer caches between batches.

use std::collections::BTreeMap;

use crate::feed::checkpoint::Feed;
use crate::feed::span::Span;
use crate::stream::StreamName;
use cellar_base::limits::MAX_CACHED_MARKS;

/// High-water mark of an event stream: the index up to which its events are in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// First partition of the feed generation for which the mark was written. Marks of other
    /// generations are ignored.
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
    /// Total size of the partition's items, in bytes.
    pub bytes: u64,
    /// Events of the last item. Empty once the high-water marks of their streams have been raised
    /// to include them.
    pub last_item_spans: Vec<Span>,
}

impl Tail {
    pub(super) fn of_empty_partition(partition: u64, feed: Feed) -> Self {
        Self { partition, feed, offset: 0, bytes: 0, last_item_spans: Vec::new() }
    }
}

/// State cached from earlier batches to save reads. If the cached state is outdated, the next
/// conditional write is refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Known {
    pub(super) tail: Option<Tail>,
    /// Cached high-water mark of each stream. The marks do not include the last item's events until
    /// the marks in the table include them.
    pub(super) marks: BTreeMap<StreamName, u64>,
}

impl Known {
    /// Returns the cached end of the feed.
    #[must_use]
    pub fn tail(&self) -> Option<&Tail> {
        self.tail.as_ref()
    }

    /// Returns a stream's cached high-water mark: the index up to which its events are in the feed.
    #[must_use]
    pub fn mark(&self, stream: &StreamName) -> Option<u64> {
        self.marks.get(stream).copied()
    }

    /// Raises the cached high-water mark of a stream to at least `next`. Events before `next` then
    /// count as indexed.
    pub(in crate::feed) fn raise_mark(&mut self, stream: StreamName, next: u64) {
        let mark = self.marks.entry(stream).or_default();
        *mark = next.max(*mark);
    }

    /// Drops all cached state.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Evicts all cached marks if there are more than `MAX_CACHED_MARKS`.
    pub(in crate::feed) fn limit_marks(mut self) -> Self {
        if self.marks.len() > MAX_CACHED_MARKS {
            self.marks.clear();
        }
        self
    }
}
