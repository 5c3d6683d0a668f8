//! Clients and their append processes.

use std::collections::BTreeSet;
use std::sync::Arc;

use cellar_base::identity::ClientKey;
use cellar_base::position::Position;
use cellar_log::append::{
    Append, AppendAction, AppendEvent, Appended, CachedTail, Inputs, InvalidRequest, NewMutation,
    Request, Rules,
};
use cellar_log::entry::{Entry, FIRST_INCARNATION};
use cellar_log::invariants::MutationId;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

use super::tables::log_id;
use crate::fingerprint::Hashed;

/// A running append and its pending request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// The index of the client whose mutations are appended.
    pub client_index: usize,
    /// The Unix time in seconds at which the append sent its pending request.
    pub request_s: u64,
    machine: Hashed<(Append, AppendAction)>,
}

impl Process {
    fn new(client_index: usize, mut append: Append, mut action: AppendAction, now_s: u64) -> Self {
        // The model skips backoff, because any step may be delayed anyway.
        while matches!(action, AppendAction::Wait { .. }) {
            (append, action) = append.step(AppendEvent::Waited, inputs(now_s));
        }
        let machine = Hashed::new(Arc::new((append, action)));
        Self { client_index, request_s: now_s, machine }
    }

    /// Returns the pending request.
    #[must_use]
    pub fn action(&self) -> &AppendAction {
        let (_, action) = &*self.machine;
        action
    }

    /// Takes the next step.
    #[must_use]
    pub fn step(&self, event: AppendEvent, now_s: u64) -> Self {
        let (append, _) = &*self.machine;
        let (append, action) = append.clone().step(event, inputs(now_s));
        Self::new(self.client_index, append, action, now_s)
    }
}

fn inputs(now_s: u64) -> Inputs {
    Inputs { now_s, random: 0 }
}

/// A client that appends a few mutations, and the process that runs its request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    index: usize,
    key: ClientKey,
    /// The number of mutations that this client appends in total.
    pub mutation_count: u64,
    /// The base of each mutation, which is the position that the client had seen when it first sent
    /// the mutation.
    bases: Vec<Position>,
    seen_position: Position,
    /// The id of the last mutation that the client knows to be in the log.
    pub acknowledged_id: u64,
    applied_ids: BTreeSet<u64>,
    cached_tail: Option<Hashed<CachedTail>>,
    /// The process that runs the client's pending request.
    pub process: Option<Process>,
}

impl Client {
    /// Creates a client that has loaded the log up to `seen_position`.
    #[must_use]
    pub fn new(index: usize, mutation_count: u64, seen_position: Position) -> Self {
        let key_byte = u8::try_from(index).unwrap_or(u8::MAX);
        Self {
            index,
            key: ClientKey([key_byte; 8]),
            mutation_count,
            bases: Vec::new(),
            seen_position,
            acknowledged_id: 0,
            applied_ids: BTreeSet::new(),
            cached_tail: None,
            process: None,
        }
    }

    /// Sends the mutations with the ids `first_id` to `last_id` in one request.
    ///
    /// # Errors
    /// Returns [`InvalidRequest`] if the ids are not consecutive.
    pub fn send(
        &mut self,
        rules: Rules,
        first_id: u64,
        last_id: u64,
        now_s: u64,
    ) -> Result<(), InvalidRequest> {
        let sent_count = usize::try_from(last_id).unwrap_or(usize::MAX);
        while self.bases.len() < sent_count {
            self.bases.push(self.seen_position);
        }
        let mut mutations = Vec::new();
        for (id, base) in (1..).zip(&self.bases) {
            if (first_id..=last_id).contains(&id) {
                mutations.push(NewMutation { id, base: *base, operation: identity_operation(id) });
            }
        }
        let (key, acknowledged_id) = (self.key, self.acknowledged_id);
        let request =
            Request::new(log_id(), key, None, FIRST_INCARNATION, acknowledged_id, mutations)?;
        let cached_entries = match &self.cached_tail {
            Some(cached_tail) => cached_tail.entries_from(request.lowest_base()),
            None => Vec::new(),
        };
        let (append, action) =
            Append::begin_with_rules(rules, request, &cached_entries, inputs(now_s));
        self.process = Some(Process::new(self.index, append, action, now_s));
        Ok(())
    }

    /// Records a reply and returns the mutations that the reply rejects.
    pub fn record_reply(&mut self, appended: &Appended) -> Vec<MutationId> {
        self.seen_position = self.seen_position.max(appended.tail);
        let mut rejected_mutations = Vec::new();
        for result in &appended.results {
            self.acknowledged_id = self.acknowledged_id.max(result.id);
            if result.rejection.is_some() {
                rejected_mutations.push(self.mutation_id(result.id));
            } else {
                self.applied_ids.insert(result.id);
            }
        }
        rejected_mutations
    }

    /// Returns the mutations that were reported as applied.
    pub fn applied_mutations(&self) -> impl Iterator<Item = MutationId> + '_ {
        self.applied_ids.iter().map(|id| MutationId { client: self.key, id: *id })
    }

    /// Returns whether all mutations are acknowledged.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.acknowledged_id == self.mutation_count
    }

    /// Returns the globally unique id of the client's mutation with the number `id`.
    #[must_use]
    pub fn mutation_id(&self, id: u64) -> MutationId {
        MutationId { client: self.key, id }
    }

    /// Caches the newest entries of the log, up to the first gap, as the driver of the engine does.
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

    /// Drops the cached entries, because they belong to an abandoned process.
    pub fn drop_cached_tail(&mut self) {
        self.cached_tail = None;
    }
}

/// Returns an operation that moves no rows or columns. The model ignores its other effects.
pub(crate) fn identity_operation(id: u64) -> Operation {
    let value = Some(Value::Bool(true));
    let row = u32::try_from(id).unwrap_or_default();
    let cell = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![cell] })
}
