//! Deletes snapshot objects that no log of a fork family needs.
//!
//! The collector starts from the snapshot roots and imports of the family's logs and follows all
//! references. It then deletes all unreachable objects, except objects that [`GarbageSweep`]
//! considers too young. It reads each log and each object once. If a log or a referenced object
//! cannot be read, nothing is deleted.
//!
//! A collection may run at any time, while other processes read and write the same logs. It may be
//! repeated.

mod referenced;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::PURGE_DELETES_AT_ONCE;
use cellar_base::position::Position;
use cellar_base::table_attributes::SHEETS_PREFIX;
use cellar_catalog::purge::Needed;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::garbage::{GarbageSweep, is_overdue};
use cellar_snapshot::snapshot_job::SnapshotJob;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::logs::{LogError, Logs};
use crate::ports::{
    BlobKey, BlobVersions, Blobs, Clock, ListedVersion, PendingSnapshots, PortError, VersionMarker,
};
use crate::retry::retry_temporary_errors;
use crate::snapshots::{ObjectFault, ObjectStore};

#[derive(Clone)]
pub struct GarbagePorts {
    pub logs: Arc<Logs>,
    /// The PendingSnapshots table, or `None` if the deployment has no such table.
    pub pending: Option<Arc<dyn PendingSnapshots>>,
    pub blobs: Arc<dyn Blobs>,
    /// Object versions in the bucket.
    pub versions: Arc<dyn BlobVersions>,
    pub clock: Arc<dyn Clock>,
}

/// Deletes snapshot objects that no log needs.
pub struct GarbageCollector {
    ports: GarbagePorts,
    store: ObjectStore,
}

/// Number and size of the deleted objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CollectedGarbage {
    /// Number of objects. All versions of an object count as one object.
    pub objects: u64,
    /// Total length of all deleted versions, in bytes.
    pub bytes: u64,
}

/// Error that ends a collection. A retry is safe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GarbageError {
    /// A table or bucket request failed.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
    /// A log cannot be read.
    #[error("nothing was deleted, because the log of {log} cannot be read: {why}")]
    Log { log: LogId, why: LogError },
    /// A referenced object cannot be read.
    #[error("nothing was deleted, because a referenced object cannot be read: {0}")]
    Object(#[from] ObjectFault),
    /// A referenced object is damaged.
    #[error("nothing was deleted, because an object of {log} is damaged: {why}")]
    Damaged { log: LogId, why: SnapshotError },
    /// A snapshot was started long ago and is still unfinished. Its objects are not referenced yet,
    /// so they could be mistaken for garbage.
    #[error(
        "nothing was deleted, because the snapshot {at} of {log} was started more than a day ago and \
         is not finished: find the cause with `synth reprocess --spreadsheet {log}`"
    )]
    UnderWay {
        log: LogId,
        /// Position of the snapshot.
        at: Position,
    },
}

impl GarbageCollector {
    /// Creates a collector over these ports.
    #[must_use]
    pub fn new(ports: GarbagePorts) -> Self {
        let store = ObjectStore::new(Arc::clone(&ports.blobs));
        Self { ports, store }
    }

    /// Deletes the objects of a fork family that no log in `needed` references. `needed` must
    /// contain every log of the family whose snapshots are still used. Forks that are created
    /// during the collection may be omitted.
    ///
    /// # Errors
    ///
    /// Returns [`GarbageError`] if a read or deletion fails. Nothing is deleted before all
    /// references have been read.
    pub async fn collect(
        &self,
        family: LogId,
        needed: &[Needed],
    ) -> Result<CollectedGarbage, GarbageError> {
        // Read the clock before the references, since objects that are written later must not be
        // deleted.
        let now_s = self.ports.clock.now_ms() / 1_000;
        for needed_log in needed {
            if !needed_log.is_due {
                self.check_no_overdue_snapshot(needed_log.log, now_s).await?;
            }
        }
        let log_ids = needed.iter().map(|needed_log| needed_log.log);
        let referenced = self.find_referenced(family, log_ids).await?;
        self.delete_garbage(family, GarbageSweep::new(family, referenced, now_s)).await
    }

    /// Returns an error if a snapshot of the log was started long ago and is still unfinished.
    async fn check_no_overdue_snapshot(&self, log: LogId, now_s: u64) -> Result<(), GarbageError> {
        let Some(pending) = &self.ports.pending else { return Ok(()) };
        let job_at_end = SnapshotJob { log, position: Position::LAST };
        let mut next_record = self.retried(|| pending.first_up_to(job_at_end)).await?;
        while let Some(record) = next_record {
            if is_overdue(&record, now_s) {
                return Err(GarbageError::UnderWay { log, at: record.job.position });
            }
            next_record = self.retried(|| pending.first_after(record.job)).await?;
        }
        Ok(())
    }

    /// Deletes all versions of the objects that `sweep` identifies as garbage.
    async fn delete_garbage(
        &self,
        family: LogId,
        mut sweep: GarbageSweep,
    ) -> Result<CollectedGarbage, GarbageError> {
        let prefix = format!("{SHEETS_PREFIX}{family}/");
        let mut collected = CollectedGarbage::default();
        let mut previous_key: Option<String> = None;
        let mut page_start: Option<VersionMarker> = None;
        loop {
            let list_page = || self.ports.versions.list_versions(&prefix, page_start.as_ref());
            let page = self.retried(list_page).await?;
            let mut garbage_versions = page.versions;
            garbage_versions.retain(|version| sweep.is_garbage(&version.key, version.modified_s));
            for version in &garbage_versions {
                collected.bytes += version.length;
                let is_next_object = previous_key.as_ref() != Some(&version.key);
                if is_next_object {
                    collected.objects += 1;
                    previous_key = Some(version.key.clone());
                }
            }
            self.delete_versions(garbage_versions).await?;
            page_start = page.next;
            if page_start.is_none() {
                return Ok(collected);
            }
        }
    }

    async fn delete_versions(&self, versions: Vec<ListedVersion>) -> Result<(), PortError> {
        let deletions = versions.into_iter().map(|version| self.delete_version(version));
        stream::iter(deletions)
            .buffer_unordered(PURGE_DELETES_AT_ONCE)
            .try_for_each(async |()| Ok(()))
            .await
    }

    async fn delete_version(
        &self,
        ListedVersion { key, version, .. }: ListedVersion,
    ) -> Result<(), PortError> {
        let key = BlobKey::new(key).map_err(|error| PortError::permanent(error.to_string()))?;
        self.retried(|| self.ports.versions.delete_version(&key, &version)).await
    }

    /// Performs an idempotent request. Temporary failures are retried for a limited time.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retry_temporary_errors(self.ports.clock.as_ref(), call).await
    }
}
