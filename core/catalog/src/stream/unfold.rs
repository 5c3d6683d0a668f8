//! Cached states of event streams.

use super::event::Kind;
use super::payload::Payload;

/// A cached state, derived from a stream's events. An unreadable unfold is ignored, because the
/// state can be rebuilt from the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfold {
    /// Index after the last event that the state includes.
    pub index: u64,
    /// Creation time in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// Kind, which determines how the data is decoded.
    pub kind: Kind,
    /// Encoded state.
    pub data: Payload,
    /// Metadata; may be empty.
    pub meta: Payload,
}
