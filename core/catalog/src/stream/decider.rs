//! Deciders: the rules of a category of event streams.

use super::event::Kind;

/// The rules of one category of event streams: pure, so that every process computes the same state.
pub trait Decider {
    /// State that the events of a stream produce.
    type State;
    /// Event of the stream.
    type Event;
    /// Request to change the state.
    type Command;
    /// Reason to reject a command.
    type Rejection;

    /// Returns the state before the first event.
    fn initial(&self) -> Self::State;

    /// Returns the state after one more event.
    fn evolve(&self, state: Self::State, event: &Self::Event) -> Self::State;

    /// Decides a command and returns its events; no events if the state already shows the change.
    ///
    /// # Errors
    /// The reason to reject the command.
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
    /// [`UnreadableEvent`] for an unknown kind or invalid data.
    fn decode(&self, kind: &Kind, data: &[u8]) -> Result<Self::Event, UnreadableEvent>;

    /// Returns whether the state after this event is independent of earlier events, which then need
    /// not be read.
    fn is_origin(&self, event: &Self::Event) -> bool;

    /// Encodes a state as an unfold, so that readers need no earlier events; `None` to store no
    /// unfold.
    fn unfold(&self, state: &Self::State) -> Option<Encoded>;

    /// Decodes the state from an unfold; `None` if another version wrote the unfold, so that the
    /// events must be read.
    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Self::State>;
}

/// An encoded event or unfold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// Kind, which determines how the data is decoded.
    pub kind: Kind,
    /// Encoded content.
    pub data: Vec<u8>,
    /// Metadata; may be empty.
    pub meta: Vec<u8>,
    /// Correlation id of an event.
    pub correlation: Option<String>,
    /// Causation id of an event.
    pub causation: Option<String>,
}

impl Encoded {
    /// Creates an encoded event or unfold without metadata and ids.
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
