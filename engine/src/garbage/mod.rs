//! Removes the objects of snapshots that no log of a family needs:
//! run by an operator, at any time, any number of times, also while others work.
//!
//! It follows every name from the roots and imports of the family's logs, and removes what it has not come by, if
//! that is old: core's [`GarbageSweep`] decides. It reads all of these logs, and each of their objects once. Where
//! anything cannot be read, nothing is removed.

mod in_use;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::PURGE_DELETES_AT_ONCE;
use cellar_base::position::Position;
use cellar_base::schema::SHEETS_PREFIX;
use cellar_catalog::purge::Needed;
use cellar_snapshot::named::Unfollowable;
use cellar_snapshot::snapshot_job::SnapshotJob;
use cellar_snapshot::{garbage::GarbageSweep, garbage::is_overdue};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::logs::{LogError, Logs};
use crate::ports::{
    BlobKey, BlobVersions, Blobs, Clock, ListedVersion, PendingSnapshots, PortError, VersionMarker,
};
use crate::retry::retried;
use crate::snapshots::{ObjectFault, ObjectStore};

/// What a collector works on.
#[derive(Clone)]
pub struct GarbagePorts {
    /// The logs.
    pub logs: Arc<Logs>,
    /// The PendingSnapshots table, if there is one.
    pub pending: Option<Arc<dyn PendingSnapshots>>,
    /// The bucket.
    pub blobs: Arc<dyn Blobs>,
    /// Its versions.
    pub versions: Arc<dyn BlobVersions>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// Collects garbage.
pub struct Collector {
    ports: GarbagePorts,
    store: ObjectStore,
}

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Collected {
    /// Objects: all versions of one are one.
    pub objects: u64,
    /// Bytes of all their versions.
    pub bytes: u64,
}

/// Why nothing was removed, or not all: repeat it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GarbageError {
    /// A table or the bucket does not answer or refuses.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
    /// A log cannot be read.
    #[error("{log} cannot be read, and nothing of its family was removed: {why}")]
    Log {
        /// The log.
        log: LogId,
        /// Why not.
        why: LogError,
    },
    /// An object that is in use cannot be read.
    #[error("nothing of the family was removed: {0}")]
    Object(#[from] ObjectFault),
    /// An object that is in use is not what it should be.
    #[error("nothing of the family was removed: an object of {log} cannot be read: {why}")]
    Damaged {
        /// The log.
        log: LogId,
        /// What is wrong.
        why: Unfollowable,
    },
    /// A snapshot that began long ago is not finished: what it has written seems to be garbage.
    #[error(
        "nothing of the family was removed: the snapshot {at} of {log} began more than a day ago and is not \
         made: look for its cause with `synth reprocess --spreadsheet {log}`"
    )]
    UnderWay {
        /// The log.
        log: LogId,
        /// The snapshot.
        at: Position,
    },
}

impl Collector {
    /// Over these ports.
    #[must_use]
    pub fn new(ports: GarbagePorts) -> Self {
        let store = ObjectStore::new(Arc::clone(&ports.blobs));
        Self { ports, store }
    }

    /// Removes what none of these logs needs of their family's objects: they are all the logs of the family of which
    /// the snapshots are needed, but for forks that are made meanwhile.
    ///
    /// # Errors
    /// [`GarbageError`].
    pub async fn collect(
        &self,
        family: LogId,
        needed: &[Needed],
    ) -> Result<Collected, GarbageError> {
        // What is written from now on is not old.
        let now_s = self.ports.clock.now_ms() / 1_000;
        for Needed { log, .. } in needed.iter().filter(|needed| !needed.is_due) {
            self.check_pending(*log, now_s).await?;
        }
        let logs = needed.iter().map(|needed| needed.log);
        let in_use = self.in_use(family, logs).await?;
        self.sweep(family, GarbageSweep::new(family, in_use, now_s)).await
    }

    async fn check_pending(&self, log: LogId, now_s: u64) -> Result<(), GarbageError> {
        let Some(pending) = &self.ports.pending else { return Ok(()) };
        let end = SnapshotJob { log, position: Position::LAST };
        let mut next = self.retried(|| pending.first_up_to(end)).await?;
        while let Some(record) = next {
            if is_overdue(&record, now_s) {
                return Err(GarbageError::UnderWay { log, at: record.job.position });
            }
            next = self.retried(|| pending.first_after(record.job)).await?;
        }
        Ok(())
    }

    async fn sweep(
        &self,
        family: LogId,
        mut sweep: GarbageSweep,
    ) -> Result<Collected, GarbageError> {
        let prefix = format!("{SHEETS_PREFIX}{family}/");
        let (mut collected, mut after) = (Collected::default(), None::<VersionMarker>);
        let mut last_key = None::<String>;
        loop {
            let list = || self.ports.versions.list_versions(&prefix, after.as_ref());
            let page = self.retried(list).await?;
            let goes = |version: &ListedVersion| sweep.goes(&version.key, version.modified_s);
            let going: Vec<ListedVersion> = page.versions.into_iter().filter(goes).collect();
            for version in &going {
                if last_key.as_ref() != Some(&version.key) {
                    collected.objects += 1;
                    last_key = Some(version.key.clone());
                }
                collected.bytes += version.length;
            }
            stream::iter(going.into_iter().map(|version| self.remove(version)))
                .buffer_unordered(PURGE_DELETES_AT_ONCE)
                .try_for_each(async |()| Ok(()))
                .await?;
            after = page.next;
            if after.is_none() {
                return Ok(collected);
            }
        }
    }

    async fn remove(
        &self,
        ListedVersion { key, version, .. }: ListedVersion,
    ) -> Result<(), PortError> {
        let key = BlobKey::new(key).map_err(|error| PortError::permanent(error.to_string()))?;
        self.retried(|| self.ports.versions.delete_version(&key, &version)).await
    }

    /// Repeats what failed for a while: all of it is idempotent.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.ports.clock.as_ref(), call).await
    }
}
