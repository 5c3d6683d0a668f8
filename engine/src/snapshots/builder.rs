//! Interface between the snapshot workers and the builder that creates a snapshot's contents.

use async_trait::async_trait;
use cellar_base::position::Position;
use cellar_snapshot::snapshot_job::SnapshotJob;

/// Result of one piece of the work on a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildStep {
    /// More work is left. The new progress is at most `MAX_PROGRESS_BYTES` long and differs from
    /// the previous progress.
    Progress(Vec<u8>),
    /// An earlier Snapshot entry has no snapshot yet and must be built first.
    EarlierSnapshot(Position),
    /// The root is stored and the snapshot is complete.
    Finished {
        /// Key of the root.
        root: String,
    },
}

/// A failed piece of work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    /// Set if a retry may succeed.
    pub temporary: bool,
    /// Description of the failure, for operators.
    pub message: String,
}

/// Builds the contents of snapshots in bounded pieces of work.
#[async_trait]
pub trait SnapshotBuilder: Send + Sync {
    /// Performs one bounded piece of the work on a snapshot and returns the new progress. A piece
    /// takes much less time than `LEASE_S`. `progress` is empty before the first piece. Any worker
    /// may repeat any piece, even concurrently with another worker, and gets the same result.
    ///
    /// # Errors
    /// Returns [`BuildError`] if the piece failed. It is then retried later with the same progress.
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, BuildError>;
}
