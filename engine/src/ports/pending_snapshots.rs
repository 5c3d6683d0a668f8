//! Port for the PendingSnapshots table.

use async_trait::async_trait;
use cellar_snapshot::pending_snapshot::PendingSnapshot;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::PortError;

/// Outcome of a conditional write of a record.
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

/// The PendingSnapshots table. Adapters must not retry failed writes.
#[async_trait]
pub trait PendingSnapshots: Send + Sync {
    /// Returns the first pending snapshot of a log, if its position is at or before that of the
    /// job. The read is strongly consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn first_up_to(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError>;

    /// Returns the first pending snapshot of a log after the position of the job. The read is
    /// strongly consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn first_after(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError>;

    /// Writes a record unless a record with its key already exists.
    async fn create(&self, record: &PendingSnapshot) -> WriteOutcome;

    /// Replaces a record if the version counter of the stored record equals `increment`.
    async fn replace(&self, record: &PendingSnapshot, increment: u64) -> WriteOutcome;

    /// Deletes the record of a job if it belongs to the rebuild `run`. Otherwise, the record is
    /// retained. Idempotent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn delete(&self, job: SnapshotJob, run: Option<u64>) -> Result<(), PortError>;
}
