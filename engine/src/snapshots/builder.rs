//! The interface between workers and the builder of a snapshot's contents.

use async_trait::async_trait;
use cellar_base::position::Position;
use cellar_snapshot::snapshot_job::SnapshotJob;

/// The result of one piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildStep {
    /// More work is left. The new progress has at most `MAX_PROGRESS_BYTES` and differs from the
    /// previous progress.
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
    /// Whether a retry may help.
    pub temporary: bool,
    /// Description of the failure, for operators.
    pub message: String,
}

/// Builds the contents of snapshots in pieces.
#[async_trait]
pub trait SnapshotBuilder: Send + Sync {
    /// Performs one bounded piece of the work on a snapshot, much shorter than `LEASE_S`, and
    /// returns the new progress. `progress` is empty at first. Any worker may repeat any piece,
    /// also concurrently with another worker; the result is the same.
    ///
    /// # Errors
    /// [`BuildError`] if the piece failed. It is retried later with the same progress.
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, BuildError>;
}
