//! Cached states of event streams.

use super::event::Kind;
use super::payload::Payload;

/// A cached state of an event stream. A state that cannot be decoded is ignored, because it can be
/// computed from the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfold {
    /// Number of events that the state includes.
    pub index: u64,
    /// Time at which the state was cached, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// Name of the state's encoding.
    pub kind: Kind,
    /// Encoded state.
    pub data: Payload,
    /// Metadata; may be empty.
    pub meta: Payload,
}
