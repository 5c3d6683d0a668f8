//! The builder of snapshots: folds the log into levels, step by step.
//!
//! The progress says from which root the compaction step begins, and how far its merge is. Everything else is
//! found again by reading the log and the objects once more, so any worker goes on anywhere.

#[cfg(test)]
mod crashes;
mod progress;
#[cfg(test)]
mod tests;
mod work;

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cellar_base::position::Position;
use cellar_snapshot::snapshot_job::SnapshotJob;

use self::progress::{Begin, BuildProgress};
use self::work::{Piece, Work};
use super::builder::{BuildError, BuildStep, SnapshotBuilder};
use super::{ObjectFault, ObjectStore};
use crate::logs::{LogError, Logs};
use crate::ports::Blobs;

/// Builds snapshots as levels in chunks.
pub struct LevelsBuilder {
    logs: Arc<Logs>,
    store: ObjectStore,
    /// The work that was done last, so that the next piece of it need not read everything again.
    last: Mutex<Option<Kept>>,
}

/// Work, and the progress behind its last piece.
struct Kept {
    job: SnapshotJob,
    progress: Vec<u8>,
    work: Work,
}

/// What a piece begins with.
enum Begun {
    Work(Box<Work>),
    /// The snapshot is made already.
    Finished {
        root: String,
    },
}

impl LevelsBuilder {
    /// A builder that reads logs and stores objects.
    #[must_use]
    pub fn new(logs: Arc<Logs>, blobs: Arc<dyn Blobs>) -> Self {
        Self { logs, store: ObjectStore::new(blobs), last: Mutex::new(None) }
    }

    /// The first progress of a snapshot that is made anew: on the one that stands at `behind` when
    /// the work begins, or from the log's first entry on.
    #[must_use]
    pub fn anew(behind: Option<Position>) -> Vec<u8> {
        Begin::anew(behind)
    }

    fn kept(&self, job: &SnapshotJob, progress: &[u8]) -> Option<Work> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = last.take()?;
        (kept.job == *job && kept.progress == progress).then_some(kept.work)
    }

    fn keep(&self, job: &SnapshotJob, progress: &[u8], work: Work) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(Kept { job: *job, progress: progress.to_vec(), work });
    }

    async fn begin(&self, job: &SnapshotJob, progress: &[u8]) -> Result<Begun, BuildError> {
        if progress.is_empty() {
            return match self.logs.snapshot_before(job.log, job.position).await? {
                Some((position, root)) if position == job.position => Ok(Begun::Finished { root }),
                newest => {
                    let root = newest.map(|(_, root)| root);
                    self.open(job, BuildProgress { root, ..BuildProgress::default() }).await
                }
            };
        }
        let begin = Begin::decode(progress).map_err(|why| BuildError {
            temporary: false,
            message: format!("the progress of {} cannot be read: {why}", job.position),
        })?;
        match begin {
            Begin::At(progress) => self.open(job, progress).await,
            Begin::Anew { behind } => self.begin_anew(job, behind).await,
        }
    }

    async fn open(&self, job: &SnapshotJob, progress: BuildProgress) -> Result<Begun, BuildError> {
        let family = self.logs.family(job.log).await?;
        Ok(Begun::Work(Box::new(Work::open(&self.store, *job, family, progress).await?)))
    }

    async fn begin_anew(
        &self,
        job: &SnapshotJob,
        behind: Option<Position>,
    ) -> Result<Begun, BuildError> {
        let root = match behind {
            None => None,
            Some(behind) => self.logs.root_at(job.log, behind).await?,
        };
        let progress = BuildProgress { root, anew: true, ..BuildProgress::default() };
        let family = self.logs.family(job.log).await?;
        match Work::open(&self.store, *job, family, progress.clone()).await {
            Ok(work) => Ok(Begun::Work(Box::new(work))),
            // It was trimmed before it was its turn: the log itself is always there.
            Err(ObjectFault::Missing { .. } | ObjectFault::Damaged { .. })
                if progress.root.is_some() =>
            {
                tracing::warn!(log = %job.log, at = %job.position, "made anew from the beginning");
                self.open(job, BuildProgress { root: None, ..progress }).await
            }
            Err(fault) => Err(fault.into()),
        }
    }
}

#[async_trait]
impl SnapshotBuilder for LevelsBuilder {
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, BuildError> {
        let mut work = match self.kept(job, progress) {
            Some(work) => work,
            None => match self.begin(job, progress).await? {
                Begun::Work(work) => *work,
                Begun::Finished { root } => return Ok(BuildStep::Finished { root }),
            },
        };
        match work.piece(&self.logs, &self.store).await? {
            Piece::Finished { root } => Ok(BuildStep::Finished { root }),
            Piece::EarlierSnapshot(position) => Ok(BuildStep::EarlierSnapshot(position)),
            Piece::Progress(next) => {
                let next = next.encode();
                self.keep(job, &next, work);
                Ok(BuildStep::Progress(next))
            }
        }
    }
}

impl From<LogError> for BuildError {
    fn from(error: LogError) -> Self {
        let temporary = match &error {
            LogError::Store(error) => error.temporary,
            _ => false,
        };
        Self { temporary, message: error.to_string() }
    }
}
