//! Who has all snapshots made anew.

use cellar_base::limits::ABANDONED_S;
use cellar_snapshot::pending_snapshot::{PendingSnapshot, Rebuild};

use super::store::{Root, job};
use super::{SnapshotsModel, State, Write};

/// An operator on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operator {
    run: u64,
    /// The snapshot whose record is written next.
    next: u32,
    /// The roots as they were read.
    roots: Vec<Option<Root>>,
}

/// Far above what a record's increment becomes by its workers.
const RUN_STEP: u64 = 1_000;

impl SnapshotsModel {
    /// All objects are lost, and an operator reads the log.
    pub(super) fn begin_rebuild(&self, next: &mut State) {
        next.budget.rebuilds -= 1;
        next.store.lost = true;
        let (run, roots) = (next.store.next_run, next.store.roots.values().copied().collect());
        next.store.next_run += RUN_STEP;
        next.operator = Some(Operator { run, next: 0, roots });
    }

    /// The operator writes the next record, unless an earlier rebuild is on it; then sends the first
    /// message and the last.
    pub(super) fn operate(&self, next: &mut State) -> Option<()> {
        let mut operator = next.operator.take()?;
        if operator.next == self.snapshots {
            next.store.send(0);
            next.store.send(self.snapshots.checked_sub(1)?);
            return Some(());
        }
        let num = operator.next;
        let there = next.store.pending.get(&num);
        let alive = there.is_some_and(|there| {
            there.rebuild.is_some() && next.now_s - there.modified_s < ABANDONED_S
        });
        if !alive {
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
            let write = match there {
                None => Write::Create(record),
                Some(there) => Write::Replace(record, Some(there.increment)),
            };
            next.store.write(&write);
        }
        operator.next += 1;
        next.operator = Some(operator);
        Some(())
    }
}
