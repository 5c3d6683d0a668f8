//! The operator, who rebuilds all snapshots.

use cellar_base::limits::ABANDONED_S;
use cellar_snapshot::pending_snapshot::{PendingSnapshot, Rebuild};

use super::store::{Root, job};
use super::{SnapshotsModel, State, Write};

/// Rebuild of all snapshots by an operator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operator {
    run: u64,
    next_entry_number: u32,
    /// Roots of the log when the rebuild began.
    roots: Vec<Option<Root>>,
}

/// The difference between the numbers of consecutive rebuilds. It is larger than the number of
/// times that workers increment the version number of a record.
const RUN_STEP: u64 = 1_000;

impl State {
    /// Loses all objects and starts a rebuild that is based on the current roots of the log.
    pub(super) fn begin_rebuild(mut self) -> Self {
        self.budget.rebuilds -= 1;
        self.store.are_objects_lost = true;
        let run = self.store.next_run;
        self.store.next_run += RUN_STEP;
        let roots = self.store.roots.values().copied().collect();
        self.operator = Some(Operator { run, next_entry_number: 0, roots });
        self
    }

    /// Writes a record that requests the rebuild of the next snapshot, unless another rebuild of
    /// this snapshot is active.
    fn write_rebuild_record(mut self, mut operator: Operator) -> Option<Self> {
        let entry_number = operator.next_entry_number;
        let stored_record = self.store.pending.get(&entry_number);
        let has_active_rebuild = stored_record.is_some_and(|record| {
            record.rebuild.is_some() && self.now_s - record.modified_s < ABANDONED_S
        });
        if !has_active_rebuild {
            let new_record = operator.record(entry_number, self.now_s)?;
            let write = match stored_record {
                None => Write::Create(new_record),
                Some(stored_record) => Write::Replace(new_record, Some(stored_record.increment)),
            };
            self.store.write(&write);
        }
        operator.next_entry_number += 1;
        self.operator = Some(operator);
        Some(self)
    }
}

impl SnapshotsModel {
    /// Takes the next step of the rebuild: writes the next record or, after the last record, sends
    /// the messages of the first and the last snapshot. Returns `None` if no rebuild is running.
    pub(super) fn step_operator(&self, mut state: State) -> Option<State> {
        let operator = state.operator.take()?;
        if operator.next_entry_number < self.snapshots {
            return state.write_rebuild_record(operator);
        }
        state.store.send_message(0);
        state.store.send_message(self.snapshots.checked_sub(1)?);
        Some(state)
    }
}

impl Operator {
    fn record(&self, entry_number: u32, now_s: u64) -> Option<PendingSnapshot> {
        let old_root = self.roots.get(usize::try_from(entry_number).ok()?)?;
        Some(PendingSnapshot {
            job: job(entry_number),
            created_s: now_s,
            modified_s: now_s,
            active: false,
            increment: self.run,
            progress: Vec::new(),
            rebuild: Some(Rebuild { run: self.run, replaces: old_root.map(Root::name) }),
        })
    }
}
