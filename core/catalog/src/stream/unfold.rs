//! States that were made of events.

use super::event::Kind;
use super::payload::Payload;

/// A state that was made of a stream's events. It is derived: one that is wrong, or that nobody can
/// read any more, is passed over, and the events say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfold {
    /// Index of the first event that is not in it.
    pub index: u64,
    /// When it was made, Unix milliseconds.
    pub time_ms: u64,
    /// What kind it is: how its data is to be read.
    pub kind: Kind,
    /// The state.
    pub data: Payload,
    /// What else there is to say of it; empty if nothing.
    pub meta: Payload,
}
