//! Items of event streams: the newest item, and batches of older events.

use super::etag::Etag;
use super::event::{StreamEvent, WriterId};
use super::name::StreamName;
use super::unfold::Unfold;
use cellar_base::limits::{TIP_BYTES, TIP_EVENTS};

/// The newest item of an event stream, with its latest events and cached states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// Name of the stream.
    pub name: StreamName,
    /// Etag that the last write gave to this item.
    pub etag: Etag,
    /// Index of the next event, which equals the number of events in the stream.
    pub next: u64,
    /// Total size of the batches of older events, in bytes.
    pub batch_bytes: u64,
    /// Number of events that the last write appended. They are the last ones in `events`.
    pub appended: u64,
    /// The latest events of the stream, oldest first. The list is never empty.
    pub events: Vec<StreamEvent>,
    /// Cached states of the stream.
    pub unfolds: Vec<Unfold>,
}

/// Older events of a stream, which were moved out of its newest item. A batch never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventBatch {
    /// Name of the stream.
    pub name: StreamName,
    /// Index of the first event.
    pub index: u64,
    /// Events of the batch, oldest first. The list is never empty.
    pub events: Vec<StreamEvent>,
}

impl Tip {
    /// Returns the index of the item's first event. Earlier events are in batches.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.next.saturating_sub(event_count(&self.events))
    }

    /// Returns whether the item contains an event with this append id.
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

    /// Returns whether the batch contains an event with this append id.
    #[must_use]
    pub fn has_event_of(&self, writer: WriterId) -> bool {
        self.events.iter().any(|event| event.writer == writer)
    }
}

pub(crate) fn event_count(events: &[StreamEvent]) -> u64 {
    u64::try_from(events.len()).unwrap_or(u64::MAX)
}

/// Limits on the newest item of a stream. If it would exceed them, its older events are moved to a
/// batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitPolicy {
    /// Maximum size of the events and cached states in the newest item, in bytes.
    pub bytes: usize,
    /// Maximum number of events in the tip.
    pub events: usize,
}

impl Default for SplitPolicy {
    fn default() -> Self {
        Self { bytes: TIP_BYTES, events: TIP_EVENTS }
    }
}
