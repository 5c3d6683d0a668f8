//! State that an indexer caches between batches.

use std::collections::BTreeMap;

use crate::feed::checkpoint::Feed;
use crate::feed::span::Span;
use crate::stream::StreamName;
use cellar_base::limits::MAX_CACHED_MARKS;

/// Index up to which the events of a stream are in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// First partition of the feed's generation. A mark of another generation is ignored.
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
    /// Offset after the last item.
    pub offset: u64,
    /// Total bytes of the partition's items.
    pub bytes: u64,
    /// Events of the last item; empty once the marks include them.
    pub unsettled: Vec<Span>,
}

/// State cached from an earlier batch, which saves reads. If the state is stale, a conditional
/// write is refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Known {
    pub(super) tail: Option<Tail>,
    /// Mark of each cached stream, without the unsettled events.
    pub(super) marks: BTreeMap<StreamName, u64>,
}

impl Known {
    /// Returns the cached end of the feed.
    #[must_use]
    pub fn tail(&self) -> Option<&Tail> {
        self.tail.as_ref()
    }

    /// Returns the cached mark of a stream.
    #[must_use]
    pub fn mark(&self, stream: &StreamName) -> Option<u64> {
        self.marks.get(stream).copied()
    }

    /// Raises the cached mark of a stream to at least `next`.
    pub(in crate::feed) fn raise_mark(&mut self, stream: StreamName, next: u64) {
        let mark = self.marks.entry(stream).or_default();
        *mark = next.max(*mark);
    }

    /// Drops all cached state.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Drops all cached marks if there are more than `MAX_CACHED_MARKS`.
    pub(in crate::feed) fn limit_marks(mut self) -> Self {
        if self.marks.len() > MAX_CACHED_MARKS {
            self.marks.clear();
        }
        self
    }
}
