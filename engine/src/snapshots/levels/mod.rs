//! Builds snapshots by folding the entries of a log into LSM levels.
//!
//! Each compaction step starts from a root and produces the next root. The stored progress consists
//! of the key of that root and the progress of the step's merge. All other data is read again from
//! the log and the objects, so any worker can resume the work.

#[cfg(test)]
mod crashes;
mod entries_read;
mod progress;
mod snapshot_work;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cellar_base::position::Position;
use cellar_snapshot::snapshot_job::SnapshotJob;

use self::progress::{BuildProgress, StoredProgress};
use self::snapshot_work::{SnapshotWork, WorkResult};
use super::builder::{BuildStep, SnapshotBuilder};
use super::{ObjectFault, ObjectStore};
use crate::logs::{CalculationPieces, LogError, Logs};
use crate::ports::{Blobs, PortError};

/// Builds snapshots. A snapshot consists of LSM levels, whose cells are stored in chunks.
pub struct LevelsBuilder {
    logs: Arc<Logs>,
    store: ObjectStore,
    /// The snapshot on which this process worked last. It is cached, so that the next unit of work
    /// need not load its data again.
    cached_work: Mutex<Option<CachedWork>>,
    pieces: CalculationPieces,
}

/// A snapshot in memory, and the progress that it has reached.
struct CachedWork {
    job: SnapshotJob,
    progress: Vec<u8>,
    work: SnapshotWork,
}

/// An unfinished snapshot that was loaded, or a snapshot that is finished.
enum LoadedWork {
    InProgress(Box<SnapshotWork>),
    /// The snapshot already exists.
    Finished {
        root_key: String,
    },
}

impl LevelsBuilder {
    /// Creates a builder that reads entries from `logs` and stores objects in `blobs`.
    #[must_use]
    pub fn new(logs: Arc<Logs>, blobs: Arc<dyn Blobs>) -> Self {
        let pieces = CalculationPieces::default();
        Self { logs, store: ObjectStore::new(blobs), cached_work: Mutex::new(None), pieces }
    }

    #[cfg(test)]
    fn with_pieces(self, pieces: CalculationPieces) -> Self {
        Self { pieces, ..self }
    }

    /// Returns the progress of a rebuild that has not started yet. The rebuild starts from the
    /// snapshot at `base`, whose root is read later. If `base` is `None`, the rebuild starts from
    /// the first entry of the log.
    #[must_use]
    pub fn rebuild_progress(base: Option<Position>) -> Vec<u8> {
        StoredProgress::encode_rebuild_start(base)
    }

    /// Removes the cached work and returns it if it belongs to this job and has this progress.
    fn take_cached(&self, job: &SnapshotJob, progress: &[u8]) -> Option<SnapshotWork> {
        let mut cached_work = self.cached_work.lock().unwrap_or_else(PoisonError::into_inner);
        let taken_work = cached_work.take()?;
        let is_same_work = taken_work.job == *job && taken_work.progress == progress;
        if is_same_work { Some(taken_work.work) } else { None }
    }

    fn cache(&self, job: &SnapshotJob, progress: &[u8], work: SnapshotWork) {
        let mut cached_work = self.cached_work.lock().unwrap_or_else(PoisonError::into_inner);
        *cached_work = Some(CachedWork { job: *job, progress: progress.to_vec(), work });
    }

    /// Loads the unfinished snapshot of a job according to the stored progress.
    async fn load_work(
        &self,
        job: &SnapshotJob,
        encoded_progress: &[u8],
    ) -> Result<LoadedWork, PortError> {
        if encoded_progress.is_empty() {
            return self.start_from_newest_snapshot(job).await;
        }
        let stored_progress = StoredProgress::decode(encoded_progress).map_err(|error| {
            let position = job.position;
            let message = format!("the progress of the snapshot {position} is invalid: {error}");
            PortError::permanent(message)
        })?;
        match stored_progress {
            StoredProgress::InProgress(progress) => self.resume(job, progress).await,
            StoredProgress::RebuildStart { base } => self.start_rebuild(job, base).await,
        }
    }

    async fn start_from_newest_snapshot(&self, job: &SnapshotJob) -> Result<LoadedWork, PortError> {
        let newest_snapshot = self.logs.latest_snapshot_up_to(job.log, job.position).await?;
        let base_root_key = match newest_snapshot {
            Some(snapshot) if snapshot.position == job.position => {
                return Ok(LoadedWork::Finished { root_key: snapshot.root_key });
            }
            Some(snapshot) => Some(snapshot.root_key),
            None => None,
        };
        self.resume(job, BuildProgress { root: base_root_key, ..BuildProgress::default() }).await
    }

    async fn resume(
        &self,
        job: &SnapshotJob,
        progress: BuildProgress,
    ) -> Result<LoadedWork, PortError> {
        let family = self.logs.family(job.log).await?;
        let work = SnapshotWork::load(&self.store, *job, family, progress).await?;
        Ok(LoadedWork::InProgress(Box::new(work)))
    }

    /// Starts a rebuild. If the root at the base is missing or damaged, the rebuild starts from the
    /// first entry of the log instead.
    async fn start_rebuild(
        &self,
        job: &SnapshotJob,
        base: Option<Position>,
    ) -> Result<LoadedWork, PortError> {
        let from_first_entry =
            BuildProgress { root: None, is_rebuild: true, ..BuildProgress::default() };
        let base_root_key = match base {
            None => None,
            Some(base) => self.logs.root_at(job.log, base).await?,
        };
        let Some(base_root_key) = base_root_key else {
            return self.resume(job, from_first_entry).await;
        };
        let from_base = BuildProgress { root: Some(base_root_key), ..from_first_entry.clone() };
        let family = self.logs.family(job.log).await?;
        match SnapshotWork::load(&self.store, *job, family, from_base).await {
            Ok(work) => Ok(LoadedWork::InProgress(Box::new(work))),
            Err(ObjectFault::Missing { .. } | ObjectFault::Damaged { .. }) => {
                let (log, at) = (job.log, job.position);
                tracing::warn!(%log, %at, "rebuilding the snapshot from the log's first entry");
                self.resume(job, from_first_entry).await
            }
            Err(fault) => Err(fault.into()),
        }
    }
}

#[async_trait]
impl SnapshotBuilder for LevelsBuilder {
    async fn step(&self, job: &SnapshotJob, progress: &[u8]) -> Result<BuildStep, PortError> {
        let mut work = match self.take_cached(job, progress) {
            Some(work) => work,
            None => match self.load_work(job, progress).await? {
                LoadedWork::InProgress(work) => work.with_pieces(self.pieces),
                LoadedWork::Finished { root_key } => {
                    return Ok(BuildStep::Finished { root: root_key });
                }
            },
        };
        match work.perform_unit(&self.logs, &self.store).await? {
            WorkResult::Finished { root_key } => Ok(BuildStep::Finished { root: root_key }),
            WorkResult::EarlierSnapshot(position) => Ok(BuildStep::EarlierSnapshot(position)),
            WorkResult::Progress(next_progress) => {
                let encoded_progress = next_progress.encode();
                self.cache(job, &encoded_progress, work);
                Ok(BuildStep::Progress(encoded_progress))
            }
        }
    }
}

impl From<LogError> for PortError {
    fn from(error: LogError) -> Self {
        let message = error.to_string();
        match error {
            LogError::Store(error) => Self { message, ..error },
            _ => Self::permanent(message),
        }
    }
}
