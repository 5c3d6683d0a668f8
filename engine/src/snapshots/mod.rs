//! Handles snapshot jobs by performing the actions of the snapshot worker's state machine.

mod builder;
mod levels;
mod object_cache;
mod store;
#[cfg(test)]
mod tests;

pub use builder::{BuildStep, SnapshotBuilder};
pub use levels::LevelsBuilder;
pub use store::ObjectFault;
pub(crate) use store::{CONTENT_ENCODING, CONTENT_TYPE, ObjectStore, new_object, snapshot_fault};

use std::future::Future;
use std::sync::Arc;

use cellar_base::limits::WORK_VISIBILITY_S;
use cellar_base::position::Position;
use cellar_snapshot::pending_snapshot::{
    ClockReading, PendingSnapshot, SnapshotAction, SnapshotEvent, SnapshotOutcome, Worker,
};
use cellar_snapshot::snapshot_job::SnapshotJob;
use tracing::Instrument as _;

use crate::ports::{
    Clock, Entries, Jobs, PendingSnapshots, PortError, Random, Receipt, Segments, WriteOutcome,
};
use crate::retry::retry_with_jitter;
use crate::unexpected_event::log_unexpected;

#[derive(Clone)]
pub struct SnapshotPorts {
    pub entries: Arc<dyn Entries>,
    pub segments: Arc<dyn Segments>,
    pub pending: Arc<dyn PendingSnapshots>,
    pub jobs: Arc<dyn Jobs>,
    pub clock: Arc<dyn Clock>,
    /// Random numbers for retry jitter.
    pub random: Arc<dyn Random>,
}

/// Handles snapshot jobs, one message at a time.
#[derive(Clone)]
pub struct Snapshots {
    ports: SnapshotPorts,
    builder: Arc<dyn SnapshotBuilder>,
}

impl Snapshots {
    /// Creates a handler that uses these ports and this builder.
    #[must_use]
    pub fn new(ports: SnapshotPorts, builder: Arc<dyn SnapshotBuilder>) -> Self {
        Self { ports, builder }
    }

    /// Returns whether the Entry table responds.
    pub async fn reachable(&self) -> bool {
        self.ports.entries.reachable().await
    }

    /// Handles a received message and sets its visibility timeout according to the outcome.
    /// `deadline_ms` is the time at which the function invocation ends, in milliseconds since the
    /// Unix epoch.
    ///
    /// If the outcome is [`SnapshotOutcome::Done`] or [`SnapshotOutcome::Drop`], the caller must
    /// delete the message.
    pub async fn handle(
        &self,
        job: SnapshotJob,
        receipt: &Receipt,
        deadline_ms: u64,
    ) -> SnapshotOutcome {
        // Shorten the visibility timeout, which the queue sets to the duration of several
        // invocations. Otherwise, a retry would be delayed for too long if this invocation died.
        self.hide(receipt, WORK_VISIBILITY_S).await;
        let (mut worker, mut action) = Worker::begin(job, deadline_ms);
        let mut unit_count = 0_u64;
        loop {
            if let SnapshotAction::Finish(outcome) = action {
                let (log, at) = (job.log, job.position);
                tracing::info!(%log, %at, unit_count, ?outcome, "handled a snapshot job");
                self.hide_for_outcome(receipt, outcome).await;
                return outcome;
            }
            if matches!(action, SnapshotAction::Build { .. }) {
                if unit_count > 0 {
                    self.hide(receipt, WORK_VISIBILITY_S).await;
                }
                unit_count += 1;
            }
            let event = self.perform(job, action).await;
            let clock = ClockReading { now_ms: self.ports.clock.now_ms() };
            (worker, action) = worker.step(event, clock);
        }
    }

    async fn perform(&self, job: SnapshotJob, action: SnapshotAction) -> SnapshotEvent {
        let ports = &self.ports;
        let (log, position) = (job.log, job.position);
        match action {
            SnapshotAction::FindFirst => {
                let find_first = || ports.pending.first_up_to(job);
                self.request_with_retries(job, find_first, SnapshotEvent::Found).await
            }
            SnapshotAction::FindNext => {
                let find_next = || ports.pending.first_after(job);
                self.request_with_retries(job, find_next, SnapshotEvent::Found).await
            }
            SnapshotAction::ReadSegment { consistency } => {
                let read = || ports.segments.segment(log, position.segment(), consistency);
                self.request_with_retries(job, read, SnapshotEvent::Segment).await
            }
            SnapshotAction::Create(record) => {
                to_write_event(job, ports.pending.create(&record).await)
            }
            SnapshotAction::Replace { record, increment } => {
                self.replace_record(&record, increment).await
            }
            SnapshotAction::Build { progress } => self.build_unit(job, &progress).await,
            SnapshotAction::SetRoot { root } => self.set_root(job, &root).await,
            SnapshotAction::ReplaceRoot { replaces, root } => {
                self.replace_root(job, replaces.as_deref(), &root).await
            }
            SnapshotAction::RaiseLast => {
                let raise = || ports.segments.raise_last_snapshot(log, position);
                self.request_with_retries(job, raise, |()| SnapshotEvent::Done).await
            }
            SnapshotAction::Delete { run } => {
                let delete = || ports.pending.delete(job, run);
                self.request_with_retries(job, delete, |()| SnapshotEvent::Done).await
            }
            SnapshotAction::Enqueue(position) => self.enqueue(job, position).await,
            SnapshotAction::Finish(_) => SnapshotEvent::Failed { temporary: false },
        }
    }

    async fn set_root(&self, job: SnapshotJob, root_key: &str) -> SnapshotEvent {
        let (log, at) = (job.log, job.position);
        let set_root = || self.ports.entries.set_root(log, at, root_key);
        let to_event = |current_root: String| {
            if current_root != root_key {
                let root = root_key;
                tracing::error!(%log, %at, root, current_root, "two workers built different roots");
            }
            SnapshotEvent::Done
        };
        self.request_with_retries(job, set_root, to_event).await
    }

    async fn replace_root(
        &self,
        job: SnapshotJob,
        replaced_key: Option<&str>,
        new_key: &str,
    ) -> SnapshotEvent {
        let entries = &self.ports.entries;
        let replace_root = || entries.replace_root(job.log, job.position, replaced_key, new_key);
        let to_event = |current_key| to_root_replacement_event(job, current_key, new_key);
        self.request_with_retries(job, replace_root, to_event).await
    }

    /// Replaces the stored record if its version counter equals `increment`, which is `None` only
    /// in the model checker.
    async fn replace_record(
        &self,
        record: &PendingSnapshot,
        increment: Option<u64>,
    ) -> SnapshotEvent {
        let Some(increment) = increment else { return SnapshotEvent::Failed { temporary: false } };
        let outcome = self.ports.pending.replace(record, increment).await;
        to_write_event(record.job, outcome)
    }

    async fn build_unit(&self, job: SnapshotJob, progress: &[u8]) -> SnapshotEvent {
        match self.builder.step(&job, progress).await {
            Ok(BuildStep::Progress(progress)) => SnapshotEvent::Progress(progress),
            Ok(BuildStep::EarlierSnapshot(position)) => SnapshotEvent::EarlierSnapshot(position),
            Ok(BuildStep::Finished { root }) => SnapshotEvent::Built { root },
            Err(error) => {
                let temporary = error.temporary;
                tracing::error!(log = %job.log, at = %job.position, temporary, %error, "building failed");
                SnapshotEvent::Failed { temporary }
            }
        }
    }

    async fn enqueue(&self, job: SnapshotJob, position: Position) -> SnapshotEvent {
        let body = SnapshotJob { position, ..job }.encode();
        self.request_with_retries(job, || self.ports.jobs.send(&body), |()| SnapshotEvent::Done)
            .await
    }

    /// Performs an idempotent request for a job. Temporary failures are retried, up to
    /// `MAX_READ_ATTEMPTS` attempts in total (I6).
    async fn request_with_retries<T, F>(
        &self,
        job: SnapshotJob,
        call: impl Fn() -> F,
        to_event: impl FnOnce(T) -> SnapshotEvent,
    ) -> SnapshotEvent
    where
        F: Future<Output = Result<T, PortError>>,
    {
        let (clock, random) = (self.ports.clock.as_ref(), self.ports.random.as_ref());
        // The log messages of retries contain the job.
        let job_span = tracing::warn_span!("snapshot_job", log = %job.log, at = %job.position);
        match retry_with_jitter(clock, random, call).instrument(job_span).await {
            Ok(result) => to_event(result),
            Err(error) => {
                tracing::warn!(log = %job.log, at = %job.position, %error, "a request for a snapshot failed");
                SnapshotEvent::Failed { temporary: error.temporary }
            }
        }
    }

    async fn hide_for_outcome(&self, receipt: &Receipt, outcome: SnapshotOutcome) {
        match outcome {
            SnapshotOutcome::Done | SnapshotOutcome::Drop => {}
            SnapshotOutcome::Wait { wait_s } | SnapshotOutcome::Failed { wait_s } => {
                self.hide(receipt, wait_s).await;
            }
            SnapshotOutcome::Unexpected { fault, wait_s } => {
                log_unexpected(&fault);
                self.hide(receipt, wait_s).await;
            }
            SnapshotOutcome::HandOver => self.hide(receipt, 0).await,
        }
    }

    /// Hides a message for `hidden_s` seconds. A failure is only logged, since the message is then
    /// merely redelivered earlier or later than intended.
    pub async fn hide(&self, receipt: &Receipt, hidden_s: u32) {
        match self.ports.jobs.change_visibility(receipt, hidden_s).await {
            Ok(true) => {}
            Ok(false) => tracing::info!(hidden_s, "the message is visible already"),
            Err(error) => tracing::warn!(hidden_s, %error, "hiding the message failed"),
        }
    }
}

/// Converts the result of replacing a snapshot root to an event of the worker's state machine.
fn to_root_replacement_event(
    job: SnapshotJob,
    current_root: Option<String>,
    root: &str,
) -> SnapshotEvent {
    let (log, at) = (job.log, job.position);
    match current_root {
        Some(current_root) if current_root == root => SnapshotEvent::Done,
        Some(current_root) => {
            tracing::warn!(%log, %at, root, current_root, "the root of the entry differs from the expected root");
            SnapshotEvent::OtherRoot { current_root }
        }
        None => {
            tracing::warn!(%log, %at, "the entry was trimmed while its snapshot was rebuilt");
            SnapshotEvent::EntryGone
        }
    }
}

fn to_write_event(job: SnapshotJob, outcome: WriteOutcome) -> SnapshotEvent {
    match outcome {
        WriteOutcome::Written => SnapshotEvent::Written,
        WriteOutcome::Refused => SnapshotEvent::Refused,
        WriteOutcome::Unknown(error) => {
            tracing::warn!(log = %job.log, at = %job.position, %error, "the outcome of a write is unknown");
            SnapshotEvent::Unknown
        }
        WriteOutcome::Failed(error) => {
            tracing::error!(log = %job.log, at = %job.position, %error, "writing a pending record failed");
            SnapshotEvent::Failed { temporary: error.temporary }
        }
    }
}
