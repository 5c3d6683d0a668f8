//! Deciders: the state and the command rules for a category of event streams.

use super::event::Kind;

/// State and command rules for a category of event streams. The functions are pure, so that every
/// process computes the same state.
pub trait Decider {
    /// State after a stream's events.
    type State;
    /// Event of the stream.
    type Event;
    /// Command that requests a change of the state.
    type Command;
    /// Reason why a command is rejected.
    type Rejection;

    /// Returns the initial state, before the first event.
    fn initial(&self) -> Self::State;

    /// Returns the state after applying an event.
    fn evolve(&self, state: Self::State, event: &Self::Event) -> Self::State;

    /// Handles a command and returns the resulting events, or no events if the state already
    /// includes the change.
    ///
    /// # Errors
    /// Returns the reason if the command is rejected.
    fn decide(
        &self,
        command: &Self::Command,
        state: &Self::State,
    ) -> Result<Vec<Self::Event>, Self::Rejection>;

    /// Encodes an event.
    fn encode(&self, event: &Self::Event) -> Encoded;

    /// Decodes an event.
    ///
    /// # Errors
    /// Returns [`UnreadableEvent`] for an unknown kind or malformed data.
    fn decode(&self, kind: &Kind, data: &[u8]) -> Result<Self::Event, UnreadableEvent>;

    /// Whether the state after this event does not depend on earlier events. If so, readers skip
    /// the earlier events.
    fn is_origin(&self, event: &Self::Event) -> bool;

    /// Encodes a state as an unfold (cached state), which spares readers the events up to this
    /// state. Returns `None` if no unfold should be stored.
    fn unfold(&self, state: &Self::State) -> Option<Encoded>;

    /// Decodes the state in an unfold (cached state). Returns `None` if a different version of the
    /// decider wrote the unfold. The state must then be rebuilt from the events.
    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Self::State>;
}

/// An encoded event or unfold (cached state).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// Kind, which determines how to decode the data.
    pub kind: Kind,
    /// Encoded content.
    pub data: Vec<u8>,
    /// Metadata; may be empty.
    pub meta: Vec<u8>,
    /// Correlation id. Set only for events.
    pub correlation: Option<String>,
    /// Causation id. Set only for events.
    pub causation: Option<String>,
}

impl Encoded {
    /// Creates an encoded event or unfold without metadata, correlation id or causation id.
    #[must_use]
    pub fn new(kind: Kind, data: Vec<u8>) -> Self {
        Self { kind, data, meta: Vec::new(), correlation: None, causation: None }
    }
}

/// Reason why an event cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableEvent {
    /// The kind is unknown.
    UnknownKind,
    /// The data is invalid.
    Malformed,
}
