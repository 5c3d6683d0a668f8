//! What a program says of its streams.

use super::event::Kind;

/// The rules of one category of streams: pure, so that state is the same wherever it is made.
pub trait Decider {
    /// What the events come to.
    type State;
    /// What happened.
    type Event;
    /// What is wanted.
    type Command;
    /// Why a command is refused.
    type Rejection;

    /// The state before the first event.
    fn initial(&self) -> Self::State;

    /// The state behind one more event.
    fn evolve(&self, state: Self::State, event: &Self::Event) -> Self::State;

    /// The events that a command comes to; none if there is nothing left to do.
    ///
    /// # Errors
    /// Why the command is refused.
    fn decide(
        &self,
        command: &Self::Command,
        state: &Self::State,
    ) -> Result<Vec<Self::Event>, Self::Rejection>;

    /// An event as it is stored.
    fn encode(&self, event: &Self::Event) -> Encoded;

    /// An event that was stored.
    ///
    /// # Errors
    /// [`UnreadableEvent`] for a kind of a later program, or data that is none of it.
    fn decode(&self, kind: &Kind, data: &[u8]) -> Result<Self::Event, UnreadableEvent>;

    /// Whether the state behind this event is the same whatever was before: nobody reads further back.
    fn is_origin(&self, event: &Self::Event) -> bool;

    /// What to keep of a state, so that readers need no earlier events; `None` to keep nothing.
    fn unfold(&self, state: &Self::State) -> Option<Encoded>;

    /// A state that was kept; `None` if it is of another program: then the events are read.
    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Self::State>;
}

/// An event or a state as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// What kind it is.
    pub kind: Kind,
    /// What it says.
    pub data: Vec<u8>,
    /// What else there is to say of it; empty if nothing.
    pub meta: Vec<u8>,
    /// Of an event: id of the conversation that it belongs to.
    pub correlation: Option<String>,
    /// Of an event: id of what it came of.
    pub causation: Option<String>,
}

impl Encoded {
    /// Data of a kind, and nothing else.
    #[must_use]
    pub fn new(kind: Kind, data: Vec<u8>) -> Self {
        Self { kind, data, meta: Vec::new(), correlation: None, causation: None }
    }
}

/// Why an event cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableEvent {
    /// Its kind is unknown.
    UnknownKind,
    /// Its data is none of its kind.
    Malformed,
}
