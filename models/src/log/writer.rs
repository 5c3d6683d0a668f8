//! Clients, and the processes that append for them.

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

/// An append on its way, and what it wants next.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Whose request it is.
    pub client: usize,
    /// When it decided what it wants, Unix seconds.
    pub decided_s: u64,
    machine: Hashed<(Append, AppendAction)>,
}

impl Process {
    fn new(client: usize, mut machine: (Append, AppendAction), now_s: u64) -> Self {
        // Nothing can be told from how long a machine waits: it goes on at once, or when it is
        // stepped next.
        while matches!(machine.1, AppendAction::Wait { .. }) {
            machine = machine.0.step(AppendEvent::Waited, inputs(now_s));
        }
        Self { client, decided_s: now_s, machine: Hashed::new(Arc::new(machine)) }
    }

    /// What it wants next.
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

/// A client with a few mutations to append, and the warm process that it talks to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    number: usize,
    key: ClientKey,
    /// How many mutations it makes.
    pub mutations: u64,
    /// The base of each mutation that was sent: it never changes.
    bases: Vec<Position>,
    /// The newest position it has been told of.
    seen: Position,
    /// The last mutation that it knows to be in the log.
    pub acknowledged: u64,
    /// The mutations that it was told are applied.
    applied: BTreeSet<u64>,
    known: Option<Hashed<CachedTail>>,
    /// The request that it waits for.
    pub process: Option<Process>,
}

impl Client {
    /// A client that has loaded the log up to `seen`.
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
            known: None,
            process: None,
        }
    }

    /// Sends mutations `first` to `through` in one request.
    ///
    /// # Errors
    /// [`InvalidRequest`] if the ids are not those of a client.
    pub fn send(
        &mut self,
        rules: Rules,
        first: u64,
        through: u64,
        now_s: u64,
    ) -> Result<(), InvalidRequest> {
        let sent = usize::try_from(through).unwrap_or(usize::MAX);
        while self.bases.len() < sent {
            self.bases.push(self.seen);
        }
        let mutations = (1..).zip(&self.bases).map(|(id, base)| NewMutation {
            id,
            base: *base,
            operation: mutation(id),
        });
        let mutations = mutations.filter(|new| (first..=through).contains(&new.id)).collect();
        let request =
            Request::new(log(), self.key, None, incarnation(), self.acknowledged, mutations)?;
        let known = self.known.as_ref().map(|known| known.entries_from(request.lowest_base()));
        let known = known.unwrap_or_default();
        let machine = Append::begin_with(rules, request, &known, inputs(now_s));
        self.process = Some(Process::new(self.number, machine, now_s));
        Ok(())
    }

    /// Learns the reply; returns the mutations that it says were rejected.
    pub fn reply(&mut self, appended: &Appended) -> Vec<MutationId> {
        self.seen = self.seen.max(appended.tail);
        let mut rejected = Vec::new();
        for result in &appended.results {
            self.acknowledged = self.acknowledged.max(result.id);
            match result.rejection {
                Some(_) => rejected.push(MutationId { client: self.key, id: result.id }),
                None => {
                    self.applied.insert(result.id);
                }
            }
        }
        rejected
    }

    /// The mutations that it was told are applied.
    pub fn applied(&self) -> impl Iterator<Item = MutationId> + '_ {
        self.applied.iter().map(|id| MutationId { client: self.key, id: *id })
    }

    /// Its mutation `id`.
    #[must_use]
    pub fn mutation(&self, id: u64) -> MutationId {
        MutationId { client: self.key, id }
    }

    /// Its process learns entries, up to the first hole, as the engine's driver does.
    pub fn learn(&mut self, entries: &[Arc<Entry>]) {
        let mut known = self.known.as_deref().cloned().unwrap_or_default();
        let mut next = None;
        for entry in entries {
            if next.is_some() && next != Some(entry.position) {
                break;
            }
            known.add(entry);
            next = entry.next_position();
        }
        self.known = Some(Hashed::new(Arc::new(known)));
    }

    /// Its process is another one, or has dropped what it knew because of its age.
    pub fn forget(&mut self) {
        self.known = None;
    }
}

/// What a mutation says is of no matter here: it moves nothing.
pub(crate) fn mutation(id: u64) -> Operation {
    let value = Some(Value::Bool(true));
    let row = u32::try_from(id).unwrap_or_default();
    let cell = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![cell] })
}
