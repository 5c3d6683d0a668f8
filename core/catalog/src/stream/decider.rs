//! Deciders: the rules of a category of event streams.

use super::event::Kind;

/// The rules of one category of event streams: pure, so that every process computes the same state.
pub trait Decider {
    /// State after some events.
    type State;
    /// Event.
    type Event;
    /// Command.
    type Command;
    /// Reason of a rejection.
    type Rejection;

    /// Returns the state before the first event.
    fn initial(&self) -> Self::State;

    /// Returns the state after one more event.
    fn evolve(&self, state: Self::State, event: &Self::Event) -> Self::State;

    /// Decides a command; returns its events, none if nothing is left to do.
    ///
    /// # Errors
    /// The reason of a rejection.
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

    /// Returns whether the state after this event does not depend on earlier events, so that they
    /// need not be read.
    fn is_origin(&self, event: &Self::Event) -> bool;

    /// Returns an unfold of a state, so that readers need no earlier events; `None` for none.
    fn unfold(&self, state: &Self::State) -> Option<Encoded>;

    /// Decodes an unfold; `None` if another version wrote it: then the events are read.
    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Self::State>;
}

/// An encoded event or unfold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// Kind.
    pub kind: Kind,
    /// Data.
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
