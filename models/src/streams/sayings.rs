//! What is said in the stream: each event tells which append said it, and on what it was decided.

use std::convert::Infallible;

use cellar_catalog::stream::{Decider, Encoded, InvalidEvent, Kind, UnreadableEvent};

/// Bytes of an event.
const SAID_BYTES: usize = 6;

/// One decision of a call to append: no two are the same, whatever is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppendId {
    /// Whose it is.
    pub client: u8,
    /// Which of its commands.
    pub command: u8,
    /// In which of its calls.
    pub call: u8,
    /// How often that call had decided before.
    pub decision: u8,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Said {
    /// Which append said it.
    pub append: AppendId,
    /// Which of its events it is.
    pub part: u8,
    /// How many events there were when it was decided.
    pub on: u8,
}

impl Said {
    fn bytes(self) -> [u8; SAID_BYTES] {
        let AppendId { client, command, call, decision } = self.append;
        [client, command, call, decision, self.part, self.on]
    }

    fn read(bytes: [u8; SAID_BYTES]) -> Self {
        let [client, command, call, decision, part, on] = bytes;
        Self { append: AppendId { client, command, call, decision }, part, on }
    }
}

/// What a client wants to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Which append it is to be.
    pub append: AppendId,
    /// How many events it comes to.
    pub events: u8,
    /// Whether it comes to nothing if it is done already.
    pub looks: bool,
}

/// The rules: the state is the list of all that was said.
#[derive(Debug, Clone)]
pub struct Sayings {
    said: Kind,
    all: Kind,
    unfolds: bool,
}

impl Sayings {
    /// The rules, with unfolds or without.
    ///
    /// # Errors
    /// [`InvalidEvent`] if core takes none of the kinds.
    pub fn new(unfolds: bool) -> Result<Self, InvalidEvent> {
        Ok(Self { said: Kind::new("Said")?, all: Kind::new("All")?, unfolds })
    }
}

impl Decider for Sayings {
    type State = Vec<Said>;
    type Event = Said;
    type Command = Command;
    type Rejection = Infallible;

    fn initial(&self) -> Vec<Said> {
        Vec::new()
    }

    fn evolve(&self, mut state: Vec<Said>, event: &Said) -> Vec<Said> {
        state.push(*event);
        state
    }

    fn decide(&self, command: &Command, state: &Vec<Said>) -> Result<Vec<Said>, Infallible> {
        let Command { append, events, looks } = *command;
        let its = (append.client, append.command);
        if looks && state.iter().any(|said| (said.append.client, said.append.command) == its) {
            return Ok(Vec::new());
        }
        let on = u8::try_from(state.len()).unwrap_or(u8::MAX);
        Ok((0..events).map(|part| Said { append, part, on }).collect())
    }

    fn encode(&self, event: &Said) -> Encoded {
        Encoded::new(self.said.clone(), event.bytes().to_vec())
    }

    fn decode(&self, kind: &Kind, data: &[u8]) -> Result<Said, UnreadableEvent> {
        if *kind != self.said {
            return Err(UnreadableEvent::UnknownKind);
        }
        data.try_into().map(Said::read).map_err(|_| UnreadableEvent::Malformed)
    }

    fn is_origin(&self, _: &Said) -> bool {
        false
    }

    fn unfold(&self, state: &Vec<Said>) -> Option<Encoded> {
        let data = || state.iter().flat_map(|said| said.bytes()).collect();
        self.unfolds.then(|| Encoded::new(self.all.clone(), data()))
    }

    fn refold(&self, kind: &Kind, data: &[u8]) -> Option<Vec<Said>> {
        let (said, rest) = data.as_chunks::<SAID_BYTES>();
        let is_whole = *kind == self.all && rest.is_empty();
        is_whole.then(|| said.iter().copied().map(Said::read).collect())
    }
}
