//! Clients and their append processes.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::append::{
    Append, AppendAction, AppendEvent, Appended, CachedTail, Inputs, InvalidRequest, NewMutation,
    Request, Rules,
};
use cellar_log::entry::Entry;
use cellar_log::invariants::MutationId;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

use super::tables::{incarnation, log};
use crate::fingerprint::Hashed;

/// A running append and its pending request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Index of the client whose mutations are appended.
    pub client: usize,
    /// Unix time in seconds at which the append issued its pending request.
    pub decided_s: u64,
    machine: Hashed<(Append, AppendAction)>,
}

impl Process {
    fn new(client: usize, mut machine: (Append, AppendAction), now_s: u64) -> Self {
        // Backoff has no effect in the model: any step may be delayed anyway.
        while matches!(machine.1, AppendAction::Wait { .. }) {
            machine = machine.0.step(AppendEvent::Waited, inputs(now_s));
        }
        Self { client, decided_s: now_s, machine: Hashed::new(Arc::new(machine)) }
    }

    /// Returns the pending request.
    #[must_use]
    pub fn action(&self) -> &AppendAction {
        &self.machine.1
    }

    /// Takes the next step.
    #[must_use]
    pub fn step(&self, event: AppendEvent, now_s: u64) -> Self {
        let next = self.machine.0.clone().step(event, inputs(now_s));
        Self::new(self.client, next, now_s)
    }
}

fn inputs(now_s: u64) -> Inputs {
    Inputs { now_s, random: 0 }
}

/// A client with a few mutations to append, and its process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    number: usize,
    key: ClientKey,
    /// Number of mutations of this client.
    pub mutations: u64,
    /// Base of each sent mutation. Immutable once sent.
    bases: Vec<Position>,
    /// The newest position that the client has seen.
    seen: Position,
    /// Id of the last mutation that the client knows to be in the log.
    pub acknowledged: u64,
    /// Ids of the mutations that were reported as applied.
    applied: BTreeSet<u64>,
    cached_tail: Option<Hashed<CachedTail>>,
    /// Process that runs the client's pending request.
    pub process: Option<Process>,
}

impl Client {
    /// Creates a client that has loaded the log up to `seen`.
    #[must_use]
    pub fn new(number: usize, mutations: u64, seen: Position) -> Self {
        let byte = u8::try_from(number).unwrap_or(u8::MAX);
        Self {
            number,
            key: ClientKey([byte; 8]),
            mutations,
            bases: Vec::new(),
            seen,
            acknowledged: 0,
            applied: BTreeSet::new(),
            cached_tail: None,
            process: None,
        }
    }

    /// Sends the mutations `first` through `through` in one request.
    ///
    /// # Errors
    /// Returns [`InvalidRequest`] if the ids are not consecutive.
    pub fn send(
        &mut self,
        rules: Rules,
        first: u64,
        through: u64,
        now_s: u64,
    ) -> Result<(), InvalidRequest> {
        let sent_count = usize::try_from(through).unwrap_or(usize::MAX);
        while self.bases.len() < sent_count {
            self.bases.push(self.seen);
        }
        let mutations = (1..).zip(&self.bases).map(|(id, base)| NewMutation {
            id,
            base: *base,
            operation: operation(id),
        });
        let mutations = mutations.filter(|new| (first..=through).contains(&new.id)).collect();
        let request =
            Request::new(log(), self.key, None, incarnation(), self.acknowledged, mutations)?;
        let cached_entries = match &self.cached_tail {
            Some(cached_tail) => cached_tail.entries_from(request.lowest_base()),
            None => Vec::new(),
        };
        let machine = Append::begin_with_rules(rules, request, &cached_entries, inputs(now_s));
        self.process = Some(Process::new(self.number, machine, now_s));
        Ok(())
    }

    /// Processes a reply. Returns the rejected mutations.
    pub fn handle_reply(&mut self, appended: &Appended) -> Vec<MutationId> {
        self.seen = self.seen.max(appended.tail);
        let mut rejected = Vec::new();
        for result in &appended.results {
            self.acknowledged = self.acknowledged.max(result.id);
            if result.rejection.is_some() {
                rejected.push(self.mutation(result.id));
            } else {
                self.applied.insert(result.id);
            }
        }
        rejected
    }

    /// Returns the mutations that were reported as applied.
    pub fn applied(&self) -> impl Iterator<Item = MutationId> + '_ {
        self.applied.iter().map(|id| MutationId { client: self.key, id: *id })
    }

    /// Returns the global id of this client's mutation `id`.
    #[must_use]
    pub fn mutation(&self, id: u64) -> MutationId {
        MutationId { client: self.key, id }
    }

    /// Adds entries to the cached tail, up to the first gap, like the engine's driver.
    pub fn add_to_cached_tail(&mut self, entries: &[Arc<Entry>]) {
        let mut cached_tail = self.cached_tail.as_deref().cloned().unwrap_or_default();
        let mut expected_position = None;
        for entry in entries {
            if expected_position.is_some() && expected_position != Some(entry.position) {
                break;
            }
            cached_tail.add(entry);
            expected_position = entry.next_position();
        }
        self.cached_tail = Some(Hashed::new(Arc::new(cached_tail)));
    }

    /// Drops the cached tail, because it has expired or because the client uses another process.
    pub fn drop_cached_tail(&mut self) {
        self.cached_tail = None;
    }
}

/// Returns an operation that moves no rows or columns. Its content is irrelevant to the model.
pub(crate) fn operation(id: u64) -> Operation {
    let value = Some(Value::Bool(true));
    let row = u32::try_from(id).unwrap_or_default();
    let cell = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![cell] })
}
