//! Rules for a category of event streams: how events change the state, and which events a command
//! causes.

use super::event::Kind;

/// Defines how events change the state of an event stream, and which events a command causes. The
/// functions are pure, so every process computes the same state.
pub trait Decider {
    /// State after a stream's events.
    type State;
    /// Event of the stream.
    type Event;
    /// A request to change the state.
    type Command;
    /// Reason why a command is rejected.
    type Rejection;

    /// Returns the state before the first event.
    fn initial(&self) -> Self::State;

    /// Returns the state after an event.
    fn evolve(&self, state: Self::State, event: &Self::Event) -> Self::State;

    /// Handles a command. Returns the events that it causes, or no events if the change was already
    /// made.
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

    /// Returns whether the state after this event is independent of earlier events, so that readers
    /// need not read them.
    fn is_origin(&self, event: &Self::Event) -> bool;

    /// Encodes a state to be cached in the event stream, so that readers need not read earlier
    /// events. Returns `None` if the state should not be cached.
    fn unfold(&self, state: &Self::State) -> Option<Encoded>;

    /// Decodes a cached state. Returns `None` if the state has a different encoding. It must then
    /// be computed from the events.
    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Self::State>;
}

/// An encoded event or cached state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// Name of the event kind or of the state's encoding.
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
    /// Creates an encoded event or cached state without metadata, correlation id or causation id.
    #[must_use]
    pub fn new(kind: Kind, data: Vec<u8>) -> Self {
        Self { kind, data, meta: Vec::new(), correlation: None, causation: None }
    }
}

/// Reason why an event cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableEvent {
    UnknownKind,
    Malformed,
}
