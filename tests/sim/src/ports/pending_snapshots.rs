//! The PendingSnapshots table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_core::pending_snapshot::PendingSnapshot;
use cellar_core::snapshot_job::SnapshotJob;
use cellar_engine::ports::{PendingSnapshots, PortError, WriteOutcome};

use crate::process::Process;
use crate::rare::Rare;
use crate::world::World;

/// Looks at a record before it is written over by this one (I8).
async fn check_replaced(world: &World, new: &PendingSnapshot) {
    let job = new.job;
    let Ok(Some(old)) = world.pending.first_up_to(job).await else { return };
    if old.job != job {
        return;
    }
    let (old_increment, increment) = (old.increment, new.increment);
    if increment <= old_increment {
        let at = job.position;
        world.violated(format_args!("I8: the record of {at} went {old_increment} to {increment}"));
    }
    if new.checkpoint != old.checkpoint {
        world.count(Rare::CheckpointWritten);
    } else if old.active && !old.checkpoint.is_empty() {
        world.count(Rare::TakenOver);
    }
}

#[async_trait]
impl PendingSnapshots for Process {
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        let world = Arc::clone(self.world());
        let effect = async move { world.pending.first_up_to(job).await };
        let what = format!("first pending up to {}", job.position);
        self.call(what, effect).await.and_then(|first| first)
    }

    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        let world = Arc::clone(self.world());
        let effect = async move { world.pending.first_after(job).await };
        let what = format!("first pending after {}", job.position);
        self.call(what, effect).await.and_then(|first| first)
    }

    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome {
        let (world, new) = (Arc::clone(self.world()), record.clone());
        let effect = async move {
            let outcome = world.pending.create(&new).await;
            if outcome == WriteOutcome::Refused {
                world.count(Rare::ClaimLost);
            }
            outcome
        };
        let what = format!("create pending {}", record.job.position);
        self.call(what, effect).await.unwrap_or_else(WriteOutcome::Unknown)
    }

    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome {
        let (process, new) = (self.clone(), record.clone());
        let effect = async move {
            let world = process.world();
            let before = world.pending.first_up_to(new.job).await;
            let holds = before.is_ok_and(|before| {
                before.is_some_and(|old| old.job == new.job && old.increment == increment)
            });
            if holds {
                check_replaced(world, &new).await;
            }
            let outcome = world.pending.replace(&new, increment).await;
            if outcome == WriteOutcome::Refused {
                world.count(Rare::ClaimLost);
            } else if !holds {
                let at = new.job.position;
                world.violated(format_args!("I8: a record of {at} was written over unseen"));
            }
            outcome
        };
        let what = format!("replace pending {} {increment}", record.job.position);
        self.call(what, effect).await.unwrap_or_else(WriteOutcome::Unknown)
    }

    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError> {
        let world = Arc::clone(self.world());
        let effect = async move { world.pending.delete(job, run).await };
        let what = format!("delete pending {}", job.position);
        self.call(what, effect).await.and_then(|deleted| deleted)
    }
}
