//! Cached state of an indexer.

use std::collections::BTreeMap;

use crate::feed::checkpoint::Feed;
use crate::feed::span::Span;
use crate::stream::StreamName;
use cellar_base::limits::MAX_CACHED_MARKS;

/// The place up to which a stream is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// First partition of the feed; a mark of another feed does not apply.
    pub first_partition: u64,
    /// Index of the first event that is not indexed.
    pub next: u64,
}

/// End of the feed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tail {
    /// Newest partition.
    pub partition: u64,
    /// Generation of the feed.
    pub feed: Feed,
    /// Place after the last item.
    pub offset: u64,
    /// Bytes of the partition's items.
    pub bytes: u64,
    /// Events of the last item, until the marks include them.
    pub unsettled: Vec<Span>,
}

/// State cached from an earlier batch. It saves reads; if it is outdated, a conditional write is
/// refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Known {
    pub(super) tail: Option<Tail>,
    /// Index of the first event that is not indexed, by stream; without the unsettled events.
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

    pub(in crate::feed) fn learn(&mut self, stream: StreamName, next: u64) {
        let mark = self.marks.entry(stream).or_default();
        *mark = next.max(*mark);
    }

    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Limits the number of cached marks; with more, drops all of them.
    pub(in crate::feed) fn bounded(mut self) -> Self {
        if self.marks.len() > MAX_CACHED_MARKS {
            self.marks.clear();
        }
        self
    }
}
