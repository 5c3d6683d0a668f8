//! Interface between snapshot workers and the builder of snapshot contents.

use async_trait::async_trait;
use cellar_base::position::Position;
use cellar_snapshot::snapshot_job::SnapshotJob;

use crate::ports::PortError;

/// Result of one piece of work on a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildStep {
    /// More work remains. The new progress is at most `MAX_PROGRESS_BYTES` long and differs from
    /// the previous progress.
    Progress(Vec<u8>),
    /// An earlier Snapshot entry has no snapshot yet. That snapshot must be built first.
    EarlierSnapshot(Position),
    /// The root is stored and the snapshot is complete.
    Finished {
        /// Key of the root.
        root: String,
    },
}

/// Builds snapshot contents in bounded pieces of work.
#[async_trait]
pub trait SnapshotBuilder: Send + Sync {
    /// Performs one bounded piece of work on a snapshot and returns the new progress. A piece takes
    /// much less time than `LEASE_S`. `progress` is empty for the first piece. The result is
    /// deterministic: any worker may repeat any piece, even concurrently with other workers, and
    /// gets the same result.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the piece failed. The piece is retried later with the same progress.
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, PortError>;
}
