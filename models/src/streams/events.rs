//! The events of the model. Each event records the append that wrote it, and the number of events
//! in the stream when the append was decided.

use std::convert::Infallible;

use cellar_catalog::stream::{Decider, Encoded, InvalidEvent, Kind, UnreadableEvent};

const EVENT_BYTES: usize = 6;

/// Identifies an append. A call that decides several times has a separate append for each decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppendId {
    /// Index of the client.
    pub client: u8,
    /// Index of the client's command.
    pub command: u8,
    /// Index of the client's call.
    pub call: u8,
    /// The number of decisions that the call has made before this append.
    pub decision: u8,
}

/// An event of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelEvent {
    /// Append that produced the event.
    pub append: AppendId,
    /// Index of the event within its append.
    pub part: u8,
    /// The number of events in the stream when the append was decided.
    pub decided_at: u8,
}

impl ModelEvent {
    fn to_bytes(self) -> [u8; EVENT_BYTES] {
        let AppendId { client, command, call, decision } = self.append;
        [client, command, call, decision, self.part, self.decided_at]
    }

    fn from_bytes(bytes: [u8; EVENT_BYTES]) -> Self {
        let [client, command, call, decision, part, decided_at] = bytes;
        Self { append: AppendId { client, command, call, decision }, part, decided_at }
    }
}

/// A command of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Identifies the append that the command produces.
    pub append: AppendId,
    /// The number of events that the command produces.
    pub event_count: u8,
    /// Whether the decider produces no events if the command has already been applied.
    pub skip_if_done: bool,
}

/// The decider of the model. Its state is the list of all events.
#[derive(Debug, Clone)]
pub struct EventListDecider {
    event_kind: Kind,
    /// The kind of the unfold, which caches the state of the stream. In the model, it contains all
    /// events.
    unfold_kind: Kind,
    unfolds: bool,
}

impl EventListDecider {
    /// Creates a decider. With `unfolds`, the newest item of the stream caches the state of the
    /// stream.
    ///
    /// # Errors
    /// Returns [`InvalidEvent`] if core rejects the event kinds.
    pub fn new(unfolds: bool) -> Result<Self, InvalidEvent> {
        Ok(Self { event_kind: Kind::new("Said")?, unfold_kind: Kind::new("All")?, unfolds })
    }
}

impl Decider for EventListDecider {
    type State = Vec<ModelEvent>;
    type Event = ModelEvent;
    type Command = Command;
    type Rejection = Infallible;

    fn initial(&self) -> Vec<ModelEvent> {
        Vec::new()
    }

    fn evolve(&self, mut state: Vec<ModelEvent>, event: &ModelEvent) -> Vec<ModelEvent> {
        state.push(*event);
        state
    }

    fn decide(
        &self,
        command: &Command,
        stream_events: &Vec<ModelEvent>,
    ) -> Result<Vec<ModelEvent>, Infallible> {
        let append = command.append;
        let is_same_command = |event: &ModelEvent| {
            event.append.client == append.client && event.append.command == append.command
        };
        if command.skip_if_done && stream_events.iter().any(is_same_command) {
            return Ok(Vec::new());
        }
        let decided_at = u8::try_from(stream_events.len()).unwrap_or(u8::MAX);
        let mut new_events = Vec::new();
        for part in 0..command.event_count {
            new_events.push(ModelEvent { append, part, decided_at });
        }
        Ok(new_events)
    }

    fn encode(&self, event: &ModelEvent) -> Encoded {
        Encoded::new(self.event_kind.clone(), event.to_bytes().to_vec())
    }

    fn decode(&self, kind: &Kind, data: &[u8]) -> Result<ModelEvent, UnreadableEvent> {
        if *kind != self.event_kind {
            return Err(UnreadableEvent::UnknownKind);
        }
        data.try_into().map(ModelEvent::from_bytes).map_err(|_| UnreadableEvent::Malformed)
    }

    fn is_origin(&self, _: &ModelEvent) -> bool {
        false
    }

    fn unfold(&self, state: &Vec<ModelEvent>) -> Option<Encoded> {
        if !self.unfolds {
            return None;
        }
        let data = state.iter().flat_map(|event| event.to_bytes()).collect();
        Some(Encoded::new(self.unfold_kind.clone(), data))
    }

    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Vec<ModelEvent>> {
        let (events, rest) = data.as_chunks::<EVENT_BYTES>();
        if *kind != self.unfold_kind || !rest.is_empty() {
            return None;
        }
        Some(events.iter().copied().map(ModelEvent::from_bytes).collect())
    }
}
