//! Operator that rebuilds all snapshots.

use cellar_base::limits::ABANDONED_S;
use cellar_snapshot::pending_snapshot::{PendingSnapshot, Rebuild};

use super::store::{Root, job};
use super::{SnapshotsModel, State, Write};

/// Rebuild of all snapshots by an operator.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operator {
    run: u64,
    /// Number of the Snapshot entry whose record is written next.
    next: u32,
    /// Roots as read when the rebuild began.
    roots: Vec<Option<Root>>,
}

/// Distance between two rebuild numbers: far more than workers can add to a record's version
/// number.
const RUN_STEP: u64 = 1_000;

impl SnapshotsModel {
    /// Discards all objects and starts a rebuild based on the log's current roots.
    pub(super) fn begin_rebuild(&self, next: &mut State) {
        next.budget.rebuilds -= 1;
        next.store.lost = true;
        let (run, roots) = (next.store.next_run, next.store.roots.values().copied().collect());
        next.store.next_run += RUN_STEP;
        next.operator = Some(Operator { run, next: 0, roots });
    }

    /// Writes the next record unless an active rebuild owns it. After the last record, sends the
    /// first and the last message.
    pub(super) fn step_operator(&self, next: &mut State) -> Option<()> {
        let mut operator = next.operator.take()?;
        if operator.next == self.snapshots {
            next.store.send(0);
            next.store.send(self.snapshots.checked_sub(1)?);
            return Some(());
        }
        let num = operator.next;
        let current = next.store.pending.get(&num);
        let has_active_rebuild = current.is_some_and(|current| {
            current.rebuild.is_some() && next.now_s - current.modified_s < ABANDONED_S
        });
        if !has_active_rebuild {
            let replaces = operator.roots.get(usize::try_from(num).ok()?)?;
            let rebuild = Some(Rebuild { run: operator.run, replaces: replaces.map(Root::name) });
            let record = PendingSnapshot {
                job: job(num),
                created_s: next.now_s,
                modified_s: next.now_s,
                active: false,
                increment: operator.run,
                progress: Vec::new(),
                rebuild,
            };
            let write = match current {
                None => Write::Create(record),
                Some(current) => Write::Replace(record, Some(current.increment)),
            };
            next.store.write(&write);
        }
        operator.next += 1;
        next.operator = Some(operator);
        Some(())
    }
}
