//! The driver of the workers on snapshots: runs core's decision table over the ports for one message.

mod builder;
mod known_objects;
mod levels;
mod store;
#[cfg(test)]
mod tests;

pub use builder::{BuildError, BuildStep, SnapshotBuilder};
pub use levels::LevelsBuilder;
pub use store::ObjectFault;
pub(crate) use store::{CONTENT_ENCODING, CONTENT_TYPE, ObjectStore, new_object, shape};

use std::future::Future;
use std::sync::Arc;

use cellar_base::backoff::full_jitter_ms;
use cellar_base::limits::{MAX_READ_ATTEMPTS, WORK_VISIBILITY_S};
use cellar_base::position::Position;
use cellar_snapshot::pending_snapshot::{
    Inputs, PendingSnapshot, SnapshotAction, SnapshotEvent, SnapshotOutcome, Worker,
};
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::ports::{
    Clock, Entries, Jobs, PendingSnapshots, PortError, Random, Receipt, Segments, WriteOutcome,
};

/// What the workers on snapshots need of the world.
#[derive(Clone)]
pub struct SnapshotPorts {
    /// The Entry table.
    pub entries: Arc<dyn Entries>,
    /// The Segment table.
    pub segments: Arc<dyn Segments>,
    /// The PendingSnapshots table.
    pub pending: Arc<dyn PendingSnapshots>,
    /// The queue that the jobs come from.
    pub jobs: Arc<dyn Jobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness, for jitter.
    pub random: Arc<dyn Random>,
}

/// Works on snapshots, one job at a time.
#[derive(Clone)]
pub struct Snapshots {
    ports: SnapshotPorts,
    builder: Arc<dyn SnapshotBuilder>,
}

impl Snapshots {
    /// Workers over these ports, with this builder.
    #[must_use]
    pub fn new(ports: SnapshotPorts, builder: Arc<dyn SnapshotBuilder>) -> Self {
        Self { ports, builder }
    }

    /// Whether the tables answer.
    pub async fn reachable(&self) -> bool {
        self.ports.entries.reachable().await
    }

    /// Works on the snapshot of a message that was received, in a function that ends at
    /// `deadline_ms` (Unix milliseconds). The message is hidden for as long as the outcome says;
    /// after [`SnapshotOutcome::Done`] and [`SnapshotOutcome::Drop`] it is for the caller to delete.
    pub async fn handle(
        &self,
        job: SnapshotJob,
        receipt: &Receipt,
        deadline_ms: u64,
    ) -> SnapshotOutcome {
        // The queue itself would hide it for as long as six functions may take: too long to wait
        // if this one dies.
        self.hide(receipt, WORK_VISIBILITY_S).await;
        let (mut worker, mut action) = Worker::begin(job, deadline_ms);
        let mut builds = 0_u64;
        loop {
            if matches!(action, SnapshotAction::Build { .. }) {
                if builds > 0 {
                    self.hide(receipt, WORK_VISIBILITY_S).await;
                }
                builds = builds.saturating_add(1);
            }
            let event = match action {
                SnapshotAction::Finish(outcome) => {
                    tracing::info!(log = %job.log, at = %job.position, builds, ?outcome, "snapshot");
                    self.leave(receipt, outcome).await;
                    return outcome;
                }
                action => self.perform(job, action).await,
            };
            (worker, action) = worker.step(event, Inputs { now_ms: self.ports.clock.now_ms() });
        }
    }

    async fn perform(&self, job: SnapshotJob, action: SnapshotAction) -> SnapshotEvent {
        let ports = &self.ports;
        let (log, at) = (job.log, job.position);
        match action {
            SnapshotAction::FindFirst => {
                self.read(job, || ports.pending.first_up_to(job), SnapshotEvent::Found).await
            }
            SnapshotAction::FindNext => {
                self.read(job, || ports.pending.first_after(job), SnapshotEvent::Found).await
            }
            SnapshotAction::ReadSegment { consistent } => {
                let read = || ports.segments.segment(log, at.segment(), consistent);
                self.read(job, read, SnapshotEvent::Segment).await
            }
            SnapshotAction::Create(record) => written(job, ports.pending.create(&record).await),
            SnapshotAction::Replace { record, increment } => self.replace(&record, increment).await,
            SnapshotAction::Build { progress } => self.build(job, &progress).await,
            SnapshotAction::SetRoot { root } => {
                let set = || ports.entries.set_root(log, at, &root);
                let done = |stands: String| {
                    if stands != root {
                        tracing::error!(%log, %at, root, stands, "two workers made different roots");
                    }
                    SnapshotEvent::Done
                };
                self.read(job, set, done).await
            }
            SnapshotAction::ReplaceRoot { replaces, root } => {
                let replaces = replaces.as_deref();
                let replace = || ports.entries.replace_root(log, at, replaces, &root);
                self.read(job, replace, |stands| replaced(job, stands, &root)).await
            }
            SnapshotAction::RaiseLast => {
                let raise = || ports.segments.raise_last_snapshot(log, at);
                self.read(job, raise, |()| SnapshotEvent::Done).await
            }
            SnapshotAction::Delete { run } => {
                self.read(job, || ports.pending.delete(job, run), |()| SnapshotEvent::Done).await
            }
            SnapshotAction::Enqueue(position) => self.enqueue(job, position).await,
            SnapshotAction::Finish(_) => SnapshotEvent::Failed { temporary: false },
        }
    }

    /// Without an increment only the model checker replaces.
    async fn replace(&self, record: &PendingSnapshot, increment: Option<u64>) -> SnapshotEvent {
        match increment {
            Some(increment) => {
                written(record.job, self.ports.pending.replace(record, increment).await)
            }
            None => SnapshotEvent::Failed { temporary: false },
        }
    }

    async fn build(&self, job: SnapshotJob, progress: &[u8]) -> SnapshotEvent {
        match self.builder.step(&job, progress).await {
            Ok(BuildStep::Progress(progress)) => SnapshotEvent::Progress(progress),
            Ok(BuildStep::EarlierSnapshot(position)) => SnapshotEvent::EarlierSnapshot(position),
            Ok(BuildStep::Finished { root }) => SnapshotEvent::Built { root },
            Err(error) => {
                let temporary = error.temporary;
                tracing::error!(log = %job.log, at = %job.position, temporary, %error, "no snapshot");
                SnapshotEvent::Failed { temporary }
            }
        }
    }

    async fn enqueue(&self, job: SnapshotJob, position: Position) -> SnapshotEvent {
        let body = SnapshotJob { position, ..job }.encode();
        self.read(job, || self.ports.jobs.send(&body), |()| SnapshotEvent::Done).await
    }

    /// Does what may be repeated, again while its failure is temporary, at most
    /// `MAX_READ_ATTEMPTS` times (I6).
    async fn read<T, F>(
        &self,
        job: SnapshotJob,
        read: impl Fn() -> F,
        event: impl FnOnce(T) -> SnapshotEvent,
    ) -> SnapshotEvent
    where
        F: Future<Output = Result<T, PortError>>,
    {
        let mut attempt = 1;
        loop {
            let error = match read().await {
                Ok(value) => return event(value),
                Err(error) => error,
            };
            let temporary = error.temporary;
            tracing::warn!(log = %job.log, at = %job.position, attempt, %error, "a snapshot waits");
            if !temporary || attempt >= MAX_READ_ATTEMPTS {
                return SnapshotEvent::Failed { temporary };
            }
            let delay_ms = full_jitter_ms(attempt, self.ports.random.next());
            self.ports.clock.sleep_ms(delay_ms).await;
            attempt += 1;
        }
    }

    async fn leave(&self, receipt: &Receipt, outcome: SnapshotOutcome) {
        match outcome {
            SnapshotOutcome::Done | SnapshotOutcome::Drop => {}
            SnapshotOutcome::Wait { wait_s } | SnapshotOutcome::Failed { wait_s } => {
                self.hide(receipt, wait_s).await;
            }
            SnapshotOutcome::HandOver => self.hide(receipt, 0).await,
        }
    }

    /// Hides a message for so many seconds, or not: then it comes back sooner or later than it should, and no more.
    pub async fn hide(&self, receipt: &Receipt, hidden_s: u32) {
        match self.ports.jobs.change_visibility(receipt, hidden_s).await {
            Ok(true) => {}
            Ok(false) => tracing::info!(hidden_s, "the message has come back already"),
            Err(error) => tracing::warn!(hidden_s, %error, "the message was not hidden"),
        }
    }
}

/// What came of replacing a root.
fn replaced(job: SnapshotJob, stands: Option<String>, root: &str) -> SnapshotEvent {
    let (log, at) = (job.log, job.position);
    match stands {
        Some(stands) if stands == root => SnapshotEvent::Done,
        Some(stands) => {
            tracing::warn!(%log, %at, root, stands, "another root than the one to replace");
            SnapshotEvent::OtherRoot { stands }
        }
        None => {
            tracing::warn!(%log, %at, "the entry was trimmed while its snapshot was made anew");
            SnapshotEvent::EntryGone
        }
    }
}

fn written(job: SnapshotJob, outcome: WriteOutcome) -> SnapshotEvent {
    match outcome {
        WriteOutcome::Written => SnapshotEvent::Written,
        WriteOutcome::Refused => SnapshotEvent::Refused,
        WriteOutcome::Unknown(error) => {
            tracing::warn!(log = %job.log, at = %job.position, %error, "unknown outcome");
            SnapshotEvent::Unknown
        }
        WriteOutcome::Failed(error) => {
            tracing::error!(log = %job.log, at = %job.position, %error, "a claim failed");
            SnapshotEvent::Failed { temporary: error.temporary }
        }
    }
}
