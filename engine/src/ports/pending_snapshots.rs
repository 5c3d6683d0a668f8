//! The PendingSnapshots table.

use async_trait::async_trait;
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::PortError;

/// What came of a conditional write of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// It is there, durably.
    Written,
    /// Something else was there: nothing was written.
    Refused,
    /// It may or may not be there.
    Unknown(PortError),
    /// It is not there and trying again does not help.
    Failed(PortError),
}

/// The PendingSnapshots table.
#[async_trait]
pub trait PendingSnapshots: Send + Sync {
    /// The first pending snapshot of the job's log, up to the job's own, read consistently.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer or holds a record that cannot be read.
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError>;

    /// The first pending snapshot of the job's log behind the job's own, read consistently.
    ///
    /// # Errors
    /// As [`PendingSnapshots::first_up_to`].
    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError>;

    /// Writes a record if there is none. Never retried by the port.
    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome;

    /// Writes a record over the one that has this increment. Never retried by the port.
    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome;

    /// Deletes a job's record, if it is there and of this rebuild (none: of none); any other stays.
    /// Repeating it changes nothing.
    ///
    /// # Errors
    /// As [`PendingSnapshots::first_up_to`].
    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError>;
}
