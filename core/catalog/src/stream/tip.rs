//! The items of a stream: the tip, and the event batches that were split off it.

use super::etag::Etag;
use super::event::{StreamEvent, WriterId};
use super::name::StreamName;
use super::unfold::Unfold;
use cellar_base::limits::{TIP_BYTES, TIP_EVENTS};

/// The item with the newest events of a stream and its unfolds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// Name of the stream.
    pub name: StreamName,
    /// Identifies the write that produced this tip.
    pub etag: Etag,
    /// Index of the next event, which is the number of events of the stream.
    pub next: u64,
    /// Total bytes of the stream's event batches.
    pub batch_bytes: u64,
    /// Number of events that the last write appended, which are the last of `events`.
    pub appended: u64,
    /// Newest events, oldest first; not empty.
    pub events: Vec<StreamEvent>,
    /// Unfolds that the last write stored.
    pub unfolds: Vec<Unfold>,
}

/// An immutable item with older events, which were split off a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventBatch {
    /// Name of the stream.
    pub name: StreamName,
    /// Index of the first event.
    pub index: u64,
    /// Events, oldest first; not empty.
    pub events: Vec<StreamEvent>,
}

impl Tip {
    /// Returns the index of the first event. Earlier events are in event batches.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.next.saturating_sub(event_count(&self.events))
    }

    /// Returns whether the item contains an event of an append.
    #[must_use]
    pub fn has(&self, writer: WriterId) -> bool {
        self.events.iter().any(|event| event.writer == writer)
    }
}

impl EventBatch {
    /// Returns the index after the last event.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.index.saturating_add(event_count(&self.events))
    }

    /// Returns whether the item contains an event of an append.
    #[must_use]
    pub fn has(&self, writer: WriterId) -> bool {
        self.events.iter().any(|event| event.writer == writer)
    }
}

/// Returns the number of events.
pub(crate) fn event_count(events: &[StreamEvent]) -> u64 {
    u64::try_from(events.len()).unwrap_or(u64::MAX)
}

/// Thresholds above which an append splits the earlier events off a tip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitPolicy {
    /// Maximum bytes of the tip's events and unfolds.
    pub bytes: usize,
    /// Maximum number of events in the tip.
    pub events: usize,
}

impl Default for SplitPolicy {
    fn default() -> Self {
        Self { bytes: TIP_BYTES, events: TIP_EVENTS }
    }
}
