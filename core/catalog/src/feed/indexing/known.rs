//! What an indexer knows of the index.

use std::collections::BTreeMap;

use crate::feed::checkpoint::Feed;
use crate::feed::span::Span;
use crate::stream::StreamName;
use cellar_base::limits::MAX_KNOWN_MARKS;

/// How far a stream is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// First partition of the feed that it is indexed in: in another feed the mark says nothing.
    pub first_partition: u64,
    /// Index of the first event that is not indexed.
    pub next: u64,
}

/// The end of the index.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tail {
    /// The newest partition.
    pub partition: u64,
    /// The feed that it belongs to.
    pub feed: Feed,
    /// The place behind its last item.
    pub offset: u64,
    /// Bytes of its items.
    pub bytes: u64,
    /// What the last item says, as long as the marks may not say it.
    pub unsettled: Vec<Span>,
}

/// What an indexer knows from before: it need not read what it knows, and is refused if it is no longer
/// true.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Known {
    pub(super) tail: Option<Tail>,
    /// Index of the first event that is not indexed, by stream: that of all items up to the tail, but
    /// for what is unsettled.
    pub(super) marks: BTreeMap<StreamName, u64>,
}

impl Known {
    /// The end of the index, as far as it is known.
    #[must_use]
    pub fn tail(&self) -> Option<&Tail> {
        self.tail.as_ref()
    }

    /// How far a stream is indexed, as far as it is known.
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

    /// Keeps no more marks than there may be: none at all if there are more.
    pub(in crate::feed) fn bounded(mut self) -> Self {
        if self.marks.len() > MAX_KNOWN_MARKS {
            self.marks.clear();
        }
        self
    }
}
