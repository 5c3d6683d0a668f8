//! What a snapshot is made of is the builder's business, not the worker's.

use async_trait::async_trait;
use cellar_base::position::Position;
use cellar_snapshot::snapshot_job::SnapshotJob;

/// What one piece of work came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildStep {
    /// There is more to do: where to go on, at most `MAX_PROGRESS_BYTES`, and not where it was.
    Progress(Vec<u8>),
    /// A Snapshot entry before this one has no snapshot yet: that is made first.
    EarlierSnapshot(Position),
    /// The root object is stored: the snapshot is made.
    Finished {
        /// Its key.
        root: String,
    },
}

/// Why a piece of work was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    /// Whether trying again may help.
    pub temporary: bool,
    /// What went wrong, for operators.
    pub message: String,
}

/// Makes the content of snapshots, piece by piece.
#[async_trait]
pub trait SnapshotBuilder: Send + Sync {
    /// Does one bounded piece of the work on a snapshot, well within `LEASE_S`, and says where to go
    /// on. The progress is empty at first. Any worker may repeat any piece, also while another
    /// does it: the result is the same.
    ///
    /// # Errors
    /// [`BuildError`]; the piece is done again later, from the same progress.
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, BuildError>;
}
