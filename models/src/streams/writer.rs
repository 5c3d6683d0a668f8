//! Clients and their append processes.

use std::convert::Infallible;
use std::sync::Arc;

use cellar_catalog::stream::append::{StreamAppendAction, StreamAppendAnswer};
use cellar_catalog::stream::{
    Append, Decider, Payload, Proposal, StreamEvent, StreamName, Tip, Unfold, WriterId,
};
use cellar_log::append::Inputs;

use super::events::{AppendId, Command, EventListDecider, ModelEvent};
use super::table::Table;
use super::{State, StreamModel};
use crate::fingerprint::Hashed;

const INPUTS: Inputs = Inputs { now_s: 0, random: 0 };

/// A client with a list of commands and its current call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Client {
    /// Number of completed commands.
    pub commands_done: u8,
    /// Number of calls made.
    pub calls: u8,
    /// Process that runs the client's call.
    pub process: Option<Process>,
}

/// A running append and its pending request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Identity of the append.
    pub append: AppendId,
    machine: Hashed<(Append, StreamAppendAction)>,
}

/// Result of a decision.
pub(super) enum Decided {
    /// The command has already been applied.
    AlreadyDone,
    /// The append to run.
    Append(Process),
}

impl Process {
    fn new(append: AppendId, mut machine: (Append, StreamAppendAction)) -> Self {
        // Backoff has no effect in the model: any step may be delayed anyway.
        while matches!(machine.1, StreamAppendAction::Wait { .. }) {
            machine = machine.0.step(StreamAppendAnswer::Waited, INPUTS);
        }
        Self { append, machine: Hashed::new(Arc::new(machine)) }
    }

    /// Returns the pending request.
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
    /// Returns the number of events that a command produces, or `None` if the client has no such
    /// command.
    pub(super) fn event_count(&self, client: usize, command: u8) -> Option<u8> {
        self.commands.get(client)?.get(usize::from(command)).copied()
    }

    /// Returns whether all commands of a client are complete.
    pub(super) fn is_done(&self, client: usize, caller: &Client) -> bool {
        self.event_count(client, caller.commands_done).is_none()
    }

    /// Decides an append on the tip `on`. Returns `None` if the stream's state cannot be derived.
    pub(super) fn decide(
        &self,
        table: &Table,
        append: AppendId,
        on: Option<Arc<Tip>>,
    ) -> Option<Decided> {
        let decider = EventListDecider::new(self.unfolds).ok()?;
        let state = table.state_at(&decider, on.as_deref())?;
        let event_count = self.event_count(usize::from(append.client), append.command)?;
        let command = Command { append, events: event_count, skip_if_done: self.repeats };
        let events =
            decider.decide(&command, &state).unwrap_or_else(|never: Infallible| match never {});
        if events.is_empty() {
            return Some(Decided::AlreadyDone);
        }
        let proposal = self.propose(&decider, append, on, state, &events)?;
        let machine = Append::begin_with_rules(&proposal, self.policy, self.rules).ok()?;
        Some(Decided::Append(Process::new(append, machine)))
    }

    fn propose(
        &self,
        decider: &EventListDecider,
        append: AppendId,
        on: Option<Arc<Tip>>,
        state: Vec<ModelEvent>,
        new_events: &[ModelEvent],
    ) -> Option<Proposal> {
        let writer = self.writer_id(append);
        let events =
            new_events.iter().map(|event| to_stream_event(decider, writer, event)).collect();
        let next = on.as_ref().map_or(0, |tip| tip.next) + u64::try_from(new_events.len()).ok()?;
        let state = new_events.iter().fold(state, |state, event| decider.evolve(state, event));
        let unfold = decider.unfold(&state).map(|encoded| Unfold {
            index: next,
            time_ms: 0,
            kind: encoded.kind,
            data: uncompressed(encoded.data),
            meta: Payload::default(),
        });
        let name = StreamName::new("Sayings", "1").ok()?;
        Some(Proposal { name, base_tip: on, writer, events, unfolds: unfold.into_iter().collect() })
    }

    /// Returns the writer id of a call, which all decisions of the call share.
    fn writer_id(&self, append: AppendId) -> WriterId {
        let mut id = [0; 16];
        if self.own_writer_ids {
            id[0] = append.client + 1;
            id[1] = append.call;
        }
        WriterId(id)
    }
}

impl State {
    /// Starts a call for a client's next command, based on the tip when `tip_count` tips had been
    /// written. Returns `None` if no decision is possible on that tip.
    pub(super) fn begin_call(
        &mut self,
        model: &StreamModel,
        client: usize,
        tip_count: usize,
    ) -> Option<()> {
        let is_current = tip_count == self.table.tip_count();
        let caller = self.clients.get_mut(client)?;
        let (command, call) = (caller.commands_done, caller.calls);
        let append = AppendId { client: u8::try_from(client).ok()?, command, call, decision: 0 };
        match model.decide(&self.table, append, self.table.nth_tip(tip_count))? {
            Decided::Append(process) => {
                caller.process = Some(process);
                caller.calls += 1;
            }
            // Only the current tip proves that the command has been applied.
            Decided::AlreadyDone => {
                if !is_current {
                    return None;
                }
                caller.commands_done += 1;
            }
        }
        self.budget.stale -= u8::from(!is_current);
        Some(())
    }
}

fn uncompressed(stored: Vec<u8>) -> Payload {
    Payload { encoding: 0, stored }
}

fn to_stream_event(
    decider: &EventListDecider,
    writer: WriterId,
    event: &ModelEvent,
) -> StreamEvent {
    let encoded = decider.encode(event);
    StreamEvent {
        time_ms: 0,
        kind: encoded.kind,
        data: uncompressed(encoded.data),
        meta: Payload::default(),
        correlation: None,
        causation: None,
        writer,
    }
}
