//! The simulated PendingSnapshots table.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::position::Position;
use cellar_engine::ports::{Entries as _, PendingSnapshots, PortError, WriteOutcome};
use cellar_log::entry::{Content, Entry};
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::process::Process;
use crate::rare::RareEvent;
use crate::world::World;

/// Returns the record for a job, if there is one.
async fn stored_record(world: &World, job: SnapshotJob) -> Option<PendingSnapshot> {
    let (segment, num) = (job.position.segment(), job.position.entry_number());
    let before = match num.checked_sub(1) {
        Some(num) => Position::new(segment, num),
        None => Position::new(segment.saturating_sub(1), u32::MAX),
    };
    let position = before.unwrap_or(Position::FIRST);
    let first = world.pending.first_after(SnapshotJob { position, ..job }).await;
    first.ok().flatten().filter(|record| record.job == job)
}

/// Checks I8 for a record that was replaced.
fn check_replaced(world: &World, old: Option<PendingSnapshot>, new: &PendingSnapshot) {
    let at = new.job.position;
    let Some(old) = old else {
        return world.report_violation(format_args!("I8: a replaced record of {at} did not exist"));
    };
    if new.increment <= old.increment {
        let (old, new) = (old.increment, new.increment);
        world.report_violation(format_args!("I8: the record of {at} went from {old} to {new}"));
    }
    if new.progress != old.progress {
        world.count(RareEvent::ProgressStored);
    } else if old.active && !old.progress.is_empty() {
        world.count(RareEvent::TakenOver);
    }
}

/// Counts a record of an already finished snapshot. The record's write was delayed until another
/// worker had deleted its own record. The log's next snapshot or an operator removes the record.
async fn count_came_back(world: &World, record: &PendingSnapshot) {
    let SnapshotJob { log, position } = record.job;
    let entry = world.tables.get(log, position).await.ok().flatten();
    let is_made =
        |entry: Arc<Entry>| matches!(entry.content, Content::Snapshot { root: Some(_), .. });
    if record.rebuild.is_none() && entry.is_some_and(is_made) {
        world.count(RareEvent::RecordCameBack);
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
            match outcome {
                WriteOutcome::Refused => world.count(RareEvent::ClaimLost),
                WriteOutcome::Written => count_came_back(&world, &new).await,
                WriteOutcome::Unknown(_) | WriteOutcome::Failed(_) => {}
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
            let old = stored_record(world, new.job).await;
            let outcome = world.pending.replace(&new, increment).await;
            match outcome {
                WriteOutcome::Written => check_replaced(world, old, &new),
                WriteOutcome::Refused => world.count(RareEvent::ClaimLost),
                WriteOutcome::Unknown(_) | WriteOutcome::Failed(_) => {}
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
