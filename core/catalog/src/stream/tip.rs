//! Items of event streams: tips with the latest events, and event batches with older events.

use super::etag::Etag;
use super::event::{StreamEvent, WriterId};
use super::name::StreamName;
use super::unfold::Unfold;
use cellar_base::limits::{TIP_BYTES, TIP_EVENTS};

/// The item with a stream's latest events and unfolds (cached states).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// Name of the stream.
    pub name: StreamName,
    /// Etag that the last write gave to this tip.
    pub etag: Etag,
    /// Index of the next event. Equals the number of events in the stream.
    pub next: u64,
    /// Total size of the stream's event batches, in bytes.
    pub batch_bytes: u64,
    /// Number of events that the last write appended. They are at the end of `events`.
    pub appended: u64,
    /// Latest events of the stream, oldest first. Not empty.
    pub events: Vec<StreamEvent>,
    /// Unfolds (cached states) that the last write stored.
    pub unfolds: Vec<Unfold>,
}

/// An immutable item with older events, which were moved out of a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventBatch {
    /// Name of the stream.
    pub name: StreamName,
    /// Index of the first event.
    pub index: u64,
    /// Events of the batch, oldest first. Not empty.
    pub events: Vec<StreamEvent>,
}

impl Tip {
    /// Returns the index of the tip's first event. Earlier events are in event batches.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.next.saturating_sub(event_count(&self.events))
    }

    /// Whether the tip contains an event with this append id.
    #[must_use]
    pub fn has_event_of(&self, writer: WriterId) -> bool {
        self.events.iter().any(|event| event.writer == writer)
    }
}

impl EventBatch {
    /// Returns the index after the last event.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.index.saturating_add(event_count(&self.events))
    }

    /// Whether the batch contains an event with this append id.
    #[must_use]
    pub fn has_event_of(&self, writer: WriterId) -> bool {
        self.events.iter().any(|event| event.writer == writer)
    }
}

/// Returns the number of events.
pub(crate) fn event_count(events: &[StreamEvent]) -> u64 {
    u64::try_from(events.len()).unwrap_or(u64::MAX)
}

/// Thresholds above which an append moves earlier events from the tip to an event batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitPolicy {
    /// Maximum size of the tip's events and unfolds, in bytes.
    pub bytes: usize,
    /// Maximum number of events in the tip.
    pub events: usize,
}

impl Default for SplitPolicy {
    fn default() -> Self {
        Self { bytes: TIP_BYTES, events: TIP_EVENTS }
    }
}
