//! Clients, and the processes that append for them.

use std::convert::Infallible;
use std::sync::Arc;

use cellar_catalog::stream::append::{StreamAppendAction, StreamAppendAnswer};
use cellar_catalog::stream::{
    Append, Decider, Payload, Proposal, StreamEvent, StreamName, Tip, Unfold, WriterId,
};
use cellar_log::append::Inputs;

use super::sayings::{AppendId, Command, Said, Sayings};
use super::table::Table;
use super::{State, StreamModel};
use crate::fingerprint::Hashed;

const INPUTS: Inputs = Inputs { now_s: 0, random: 0 };

/// A client with commands, and the call that it waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Client {
    /// How many of its commands it has behind it.
    pub ended: u8,
    /// How many calls it has made.
    pub calls: u8,
    /// The call that it waits for.
    pub process: Option<Process>,
}

/// An append on its way, and what it wants next.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Which append it is.
    pub append: AppendId,
    machine: Hashed<(Append, StreamAppendAction)>,
}

/// What a call comes to when it decides.
pub(super) enum Decided {
    /// There is nothing left to do.
    Nothing,
    /// This append.
    Append(Process),
}

impl Process {
    fn new(append: AppendId, mut machine: (Append, StreamAppendAction)) -> Self {
        // Nothing can be told from how long a machine waits: it goes on at once, or when it is
        // stepped next.
        while matches!(machine.1, StreamAppendAction::Wait { .. }) {
            machine = machine.0.step(StreamAppendAnswer::Waited, INPUTS);
        }
        Self { append, machine: Hashed::new(Arc::new(machine)) }
    }

    /// What it wants next.
    #[must_use]
    pub fn action(&self) -> &StreamAppendAction {
        &self.machine.1
    }

    /// Takes the next step.
    #[must_use]
    pub fn step(&self, answer: StreamAppendAnswer) -> Self {
        Self::new(self.append, self.machine.0.clone().step(answer, INPUTS))
    }
}

impl StreamModel {
    /// How many events a command comes to; `None` if the client has no more.
    pub(super) fn events_of(&self, client: usize, command: u8) -> Option<u8> {
        self.commands.get(client)?.get(usize::from(command)).copied()
    }

    /// Whether a client has all its commands behind it.
    pub(super) fn is_done(&self, client: usize, its: &Client) -> bool {
        self.events_of(client, its.ended).is_none()
    }

    /// Decides an append on a tip; `None` if no state can be made of the stream.
    pub(super) fn decide(
        &self,
        table: &Table,
        append: AppendId,
        on: Option<Arc<Tip>>,
    ) -> Option<Decided> {
        let sayings = Sayings::new(self.unfolds).ok()?;
        let state = table.state_at(&sayings, on.as_deref())?;
        let events = self.events_of(usize::from(append.client), append.command)?;
        let command = Command { append, events, looks: self.repeats };
        let events =
            sayings.decide(&command, &state).unwrap_or_else(|never: Infallible| match never {});
        if events.is_empty() {
            return Some(Decided::Nothing);
        }
        let proposal = self.proposal(&sayings, append, on, state, &events)?;
        let machine = Append::begin_by(&proposal, self.policy, self.rules).ok()?;
        Some(Decided::Append(Process::new(append, machine)))
    }

    fn proposal(
        &self,
        sayings: &Sayings,
        append: AppendId,
        on: Option<Arc<Tip>>,
        state: Vec<Said>,
        said: &[Said],
    ) -> Option<Proposal> {
        let writer = self.writer(append);
        let events = said.iter().map(|said| stored(sayings, writer, said)).collect();
        let next = on.as_ref().map_or(0, |tip| tip.next) + u64::try_from(said.len()).ok()?;
        let state = said.iter().fold(state, |state, said| sayings.evolve(state, said));
        let unfold = sayings.unfold(&state).map(|kept| Unfold {
            index: next,
            time_ms: 0,
            kind: kept.kind,
            data: plain(kept.data),
            meta: Payload::default(),
        });
        let name = StreamName::new("Sayings", "1").ok()?;
        Some(Proposal { name, on, writer, events, unfolds: unfold.into_iter().collect() })
    }

    /// The same for all decisions of a call, and for no other call.
    fn writer(&self, append: AppendId) -> WriterId {
        let mut id = [0; 16];
        if self.own_writer_ids {
            id[0] = append.client + 1;
            id[1] = append.call;
        }
        WriterId(id)
    }
}

impl State {
    /// Begins a call for a client's next command, on the tip when there had been so many; `None` if that is
    /// not to be decided on.
    pub(super) fn begin(&mut self, model: &StreamModel, client: usize, tips: usize) -> Option<()> {
        let is_current = tips == self.table.tips();
        let its = self.clients.get_mut(client)?;
        let (command, call) = (its.ended, its.calls);
        let append = AppendId { client: u8::try_from(client).ok()?, command, call, decision: 0 };
        match model.decide(&self.table, append, self.table.tip_of(tips))? {
            Decided::Append(process) => {
                its.process = Some(process);
                its.calls += 1;
            }
            // Only believed on the tip that is there.
            Decided::Nothing => {
                is_current.then_some(())?;
                its.ended += 1;
            }
        }
        self.budget.stale -= u8::from(!is_current);
        Some(())
    }
}

fn plain(stored: Vec<u8>) -> Payload {
    Payload { encoding: 0, stored }
}

fn stored(sayings: &Sayings, writer: WriterId, said: &Said) -> StreamEvent {
    let encoded = sayings.encode(said);
    StreamEvent {
        time_ms: 0,
        kind: encoded.kind,
        data: plain(encoded.data),
        meta: Payload::default(),
        correlation: None,
        causation: None,
        writer,
    }
}
