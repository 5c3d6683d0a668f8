//! The interface through which a snapshot worker builds the contents of a snapshot.

use async_trait::async_trait;
use cellar_base::position::Position;
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::ports::PortError;

/// Result of one unit of work on a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildStep {
    /// The snapshot needs more work. The new progress is at most `MAX_PROGRESS_BYTES` long and
    /// differs from the previous progress.
    Progress(Vec<u8>),
    /// An earlier Snapshot entry has no snapshot yet. Its snapshot must be built first.
    EarlierSnapshot(Position),
    /// The root is stored and the snapshot is complete.
    Finished {
        /// Key of the root.
        root: String,
    },
}

/// Builds the contents of a snapshot in bounded units of work.
#[async_trait]
pub trait SnapshotBuilder: Send + Sync {
    /// Performs one unit of work, which takes much less time than `LEASE_S`, and returns the new
    /// progress. `progress` is empty for the first unit.
    ///
    /// The result is deterministic. Any worker may repeat a unit, even concurrently with other
    /// workers, and gets the same result.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the unit of work failed. It is retried later with the same
    /// progress.
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, PortError>;
}
