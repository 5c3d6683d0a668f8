//! Port for the PendingSnapshots table.

use async_trait::async_trait;
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::PortError;

/// Outcome of a conditional pending snapshot write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The record was written durably.
    Written,
    /// The condition was not met, so nothing was written.
    Refused,
    /// The record may or may not have been written.
    Unknown(PortError),
    /// The record was not written, and a retry cannot succeed.
    Failed(PortError),
}

/// The PendingSnapshots table. Adapters must not retry writes.
#[async_trait]
pub trait PendingSnapshots: Send + Sync {
    /// Returns the first pending snapshot of the job's log at or before the job's position. The
    /// read is strongly consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError>;

    /// Returns the first pending snapshot of the job's log after the job's position. The read is
    /// strongly consistent.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`PendingSnapshots::first_up_to`].
    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError>;

    /// Writes a record if no record with its key exists.
    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome;

    /// Replaces the stored record if its increment (version counter) equals `increment`.
    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome;

    /// Deletes a job's record if the record belongs to the rebuild run `run`. Other records are
    /// retained. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`PendingSnapshots::first_up_to`].
    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError>;
}
