//! The items of a stream: its tip, and the event batches that were split off it.

use super::etag::Etag;
use super::event::{StreamEvent, WriterId};
use super::name::StreamName;
use super::unfold::Unfold;
use cellar_base::limits::{TIP_BYTES, TIP_EVENTS};

/// The newest events of a stream, and its unfolds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// The stream.
    pub name: StreamName,
    /// Which write made it what it is.
    pub etag: Etag,
    /// Index of the next event: how many there are.
    pub next: u64,
    /// Bytes of the event batches that were split off it.
    pub batch_bytes: u64,
    /// How many events the last write appended: the last ones of them.
    pub appended: u64,
    /// The newest events, oldest first; never none.
    pub events: Vec<StreamEvent>,
    /// The unfolds of the last write.
    pub unfolds: Vec<Unfold>,
}

/// A batch of events that was moved out of a tip. It never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventBatch {
    /// The stream.
    pub name: StreamName,
    /// Index of its first event.
    pub index: u64,
    /// The events, oldest first; never none.
    pub events: Vec<StreamEvent>,
}

impl Tip {
    /// Index of its first event: those below are in event batches.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.next.saturating_sub(count(&self.events))
    }

    /// Whether an event of this append is in it.
    #[must_use]
    pub fn has(&self, writer: WriterId) -> bool {
        self.events.iter().any(|event| event.writer == writer)
    }
}

impl EventBatch {
    /// Index of the first event behind it.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.index.saturating_add(count(&self.events))
    }

    /// Whether an event of this append is in it.
    #[must_use]
    pub fn has(&self, writer: WriterId) -> bool {
        self.events.iter().any(|event| event.writer == writer)
    }
}

/// How many events there are.
pub(crate) fn count(events: &[StreamEvent]) -> u64 {
    u64::try_from(events.len()).unwrap_or(u64::MAX)
}

/// When the events of a tip move to an event batch: when with the next ones they would be more than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitPolicy {
    /// Bytes of events and unfolds.
    pub bytes: usize,
    /// Events.
    pub events: usize,
}

impl Default for SplitPolicy {
    fn default() -> Self {
        Self { bytes: TIP_BYTES, events: TIP_EVENTS }
    }
}
