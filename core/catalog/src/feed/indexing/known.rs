//! The state that an indexer caches between batches.

use std::collections::BTreeMap;

use crate::feed::checkpoint::Feed;
use crate::feed::span::Span;
use crate::stream::StreamName;
use cellar_base::limits::MAX_CACHED_MARKS;

/// Indexing progress of an event stream: the index up to which its events are in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// First partition of the generation in which the mark was written. Marks of other generations
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
    /// Offset after the last item of the partition.
    pub offset: u64,
    /// Total bytes of the partition's items.
    pub bytes: u64,
    /// Events of the last item. Empty once the marks of their streams include them.
    pub unsettled: Vec<Span>,
}

/// State cached from earlier batches to save reads. If the state is stale, the next conditional
/// write is refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Known {
    pub(super) tail: Option<Tail>,
    /// Cached mark of each stream. A mark does not include the events of the last item until they
    /// are settled.
    pub(super) marks: BTreeMap<StreamName, u64>,
}

impl Known {
    /// Returns the cached end of the feed.
    #[must_use]
    pub fn tail(&self) -> Option<&Tail> {
        self.tail.as_ref()
    }

    /// Returns the cached mark of a stream, which is the index up to which its events are in the
    /// feed.
    #[must_use]
    pub fn mark(&self, stream: &StreamName) -> Option<u64> {
        self.marks.get(stream).copied()
    }

    /// Raises a stream's cached mark to at least `next`, so that earlier events count as indexed.
    pub(in crate::feed) fn raise_mark(&mut self, stream: StreamName, next: u64) {
        let mark = self.marks.entry(stream).or_default();
        *mark = next.max(*mark);
    }

    /// Drops all cached state.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Removes all cached marks if there are more than `MAX_CACHED_MARKS`.
    pub(in crate::feed) fn limit_marks(mut self) -> Self {
        if self.marks.len() > MAX_CACHED_MARKS {
            self.marks.clear();
        }
        self
    }
}
