//! Cached states of event streams.

use super::event::Kind;
use super::payload::Payload;

/// A cached state that was derived from a stream's events. An unreadable unfold is ignored, because
/// the state can be rebuilt from the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfold {
    /// Index after the last event included in the state.
    pub index: u64,
    /// Creation time in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// Kind, which determines how to decode the data.
    pub kind: Kind,
    /// Encoded state.
    pub data: Payload,
    /// Metadata; may be empty.
    pub meta: Payload,
}
