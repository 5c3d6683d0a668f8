//! Clients and their append processes.

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

/// A client that executes a list of commands, and its current call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Client {
    /// Number of completed commands.
    pub commands_done: u8,
    /// Number of calls made.
    pub call_count: u8,
    /// Process that runs the client's call.
    pub process: Option<Process>,
}

/// A running append and its pending request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Identity of the append.
    pub append_id: AppendId,
    machine: Hashed<(Append, StreamAppendAction)>,
}

pub(super) enum Decision {
    AlreadyDone,
    Append(Process),
}

impl Process {
    fn new(append_id: AppendId, mut append: Append, mut action: StreamAppendAction) -> Self {
        // The model skips backoff, because any step may be delayed anyway.
        while matches!(action, StreamAppendAction::Wait { .. }) {
            (append, action) = append.step(StreamAppendAnswer::Waited, INPUTS);
        }
        Self { append_id, machine: Hashed::new(Arc::new((append, action))) }
    }

    /// Returns the pending request.
    #[must_use]
    pub fn action(&self) -> &StreamAppendAction {
        let (_, action) = &*self.machine;
        action
    }

    /// Takes the next step.
    #[must_use]
    pub fn step(&self, answer: StreamAppendAnswer) -> Self {
        let (append, _) = &*self.machine;
        let (append, action) = append.clone().step(answer, INPUTS);
        Self::new(self.append_id, append, action)
    }
}

impl StreamModel {
    pub(super) fn event_count(&self, client_index: usize, command_index: u8) -> Option<u8> {
        self.commands.get(client_index)?.get(usize::from(command_index)).copied()
    }

    pub(super) fn is_done(&self, client_index: usize, client: &Client) -> bool {
        self.event_count(client_index, client.commands_done).is_none()
    }

    /// Returns `None` if the state of the stream cannot be derived.
    pub(super) fn decide(
        &self,
        table: &Table,
        append_id: AppendId,
        tip: Option<Arc<Tip>>,
    ) -> Option<Decision> {
        let decider = EventListDecider::new(self.unfolds).ok()?;
        let stream_events = table.state_at(&decider, tip.as_deref())?;
        let event_count = self.event_count(usize::from(append_id.client), append_id.command)?;
        let command = Command { append: append_id, event_count, skip_if_done: self.repeats };
        let Ok(new_events) = decider.decide(&command, &stream_events);
        if new_events.is_empty() {
            return Some(Decision::AlreadyDone);
        }
        let proposal = self.propose(&decider, append_id, tip, stream_events, &new_events)?;
        let (append, action) = Append::begin_with_rules(&proposal, self.policy, self.rules).ok()?;
        Some(Decision::Append(Process::new(append_id, append, action)))
    }

    fn propose(
        &self,
        decider: &EventListDecider,
        append_id: AppendId,
        tip: Option<Arc<Tip>>,
        stream_events: Vec<ModelEvent>,
        new_events: &[ModelEvent],
    ) -> Option<Proposal> {
        let writer = self.writer_id(append_id);
        let mut events = Vec::new();
        let mut new_state = stream_events;
        for event in new_events {
            events.push(to_stream_event(decider, writer, event));
            new_state = decider.evolve(new_state, event);
        }
        let old_event_count = tip.as_ref().map_or(0, |tip| tip.next);
        let new_event_count = old_event_count + u64::try_from(new_events.len()).ok()?;
        let unfold = decider.unfold(&new_state).map(|encoded| Unfold {
            index: new_event_count,
            time_ms: 0,
            kind: encoded.kind,
            data: uncompressed(encoded.data),
            meta: Payload::default(),
        });
        let name = StreamName::new("Sayings", "1").ok()?;
        Some(Proposal {
            name,
            base_tip: tip,
            writer,
            events,
            unfolds: unfold.into_iter().collect(),
        })
    }

    /// Returns the writer id of a call, which is the same for all decisions of the call.
    fn writer_id(&self, append_id: AppendId) -> WriterId {
        let mut id = [0; 16];
        if self.own_writer_ids {
            id[0] = append_id.client + 1;
            id[1] = append_id.call;
        }
        WriterId(id)
    }
}

impl State {
    /// Starts a call for the next command of a client, which decides on the basis of the tip with
    /// the number `tip_number`. Returns `None` if no decision is possible on that tip.
    pub(super) fn begin_call(
        mut self,
        model: &StreamModel,
        client_index: usize,
        tip_number: usize,
    ) -> Option<Self> {
        let is_stale = tip_number != self.table.tip_count();
        let client = self.clients.get_mut(client_index)?;
        let append_id = AppendId {
            client: u8::try_from(client_index).ok()?,
            command: client.commands_done,
            call: client.call_count,
            decision: 0,
        };
        match model.decide(&self.table, append_id, self.table.nth_tip(tip_number))? {
            Decision::Append(process) => {
                client.process = Some(process);
                client.call_count += 1;
            }
            // Only the current tip proves that the command has already been applied. A tip from a
            // cache does not.
            Decision::AlreadyDone if is_stale => return None,
            Decision::AlreadyDone => client.commands_done += 1,
        }
        if is_stale {
            self.budget.stale -= 1;
        }
        Some(self)
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
