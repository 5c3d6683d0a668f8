//! Purges deleted spreadsheets after the period in which they can be undeleted.
//!
//! A purge first marks the spreadsheet as purged in the catalog, which makes it unrecoverable, and
//! then deletes all its data. Spreadsheets are found by their segment records, so the last segment
//! record is deleted after all other data. An interrupted purge can therefore be resumed.
//!
//! A purge may run at any time, while other processes continue their work. It may be repeated.

mod objects;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::PURGE_READS_AT_ONCE;
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_catalog::{purge::DeletedPlan, purge::ExistingLog, purge::needed, purge::plan_deleted};
use cellar_catalog::{
    spreadsheet::By, spreadsheet::CatalogAction, spreadsheet::Listing, spreadsheet::Person,
    spreadsheet::Rejection, spreadsheet::Right,
};
use cellar_log::lineage::Lineage;
use cellar_log::records::fork::ListedFork;
use cellar_log::segment::Segment;
use cellar_snapshot::snapshot_job::SnapshotJob;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::catalog::{CatalogError, CatalogStore};
use crate::garbage::{CollectedGarbage, GarbageCollector, GarbageError, GarbagePorts};
use crate::logs::Logs;
use crate::ports::{
    BlobVersions, Blobs, Clock, Entries, PendingSnapshots, PortError, Presences, Random,
    ReadConsistency, Retention, Segments,
};
use crate::retry::retry_temporary_errors;
use crate::streams::StreamError;

/// Number of forks per page when forks are listed.
const FORKS_PAGE: u32 = 100;

pub struct PurgePorts {
    pub entries: Arc<dyn Entries>,
    pub segments: Arc<dyn Segments>,
    /// Deletes from the Entry and Segment tables. Only operators have permission to do this.
    pub retention: Arc<dyn Retention>,
    /// Presence in the Segment table.
    pub presences: Arc<dyn Presences>,
    /// The PendingSnapshots table, or `None` if the deployment has no such table.
    pub pending: Option<Arc<dyn PendingSnapshots>>,
    pub blobs: Arc<dyn Blobs>,
    /// Object versions in the bucket.
    pub versions: Arc<dyn BlobVersions>,
    pub clock: Arc<dyn Clock>,
    /// Random numbers for retry jitter.
    pub random: Arc<dyn Random>,
}

/// Purges deleted spreadsheets.
pub struct Purger {
    ports: PurgePorts,
    catalog: CatalogStore,
    collector: GarbageCollector,
    operator: Person,
}

/// A deleted spreadsheet, and whether it will be purged.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedPurge {
    pub log: LogId,
    pub name: String,
    /// Time at which the spreadsheet was deleted or purged, in seconds since the Unix epoch.
    pub since_s: u64,
    /// Whether the spreadsheet will be purged or kept.
    pub plan: DeletedPlan,
}

/// Amount of data that a purge deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PurgedData {
    /// Number of deleted log entries.
    pub entries: u64,
    /// Number of deleted objects in the bucket.
    pub objects: u64,
    /// Total length of the deleted objects, in bytes.
    pub object_bytes: u64,
}

/// Error that ends a purge. A retry is safe and resumes the purge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PurgeError {
    /// A table or bucket request failed.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
    /// A catalog request failed.
    #[error("the catalog cannot be read or written: {0}")]
    Catalog(#[from] StreamError),
    /// The spreadsheet is not deleted, or was undeleted meanwhile.
    #[error("{log} was not purged: {rejection}")]
    Refused { log: LogId, rejection: Rejection },
    /// The spreadsheet still has a fork.
    #[error("{log} was not purged, because its fork {fork} still exists")]
    Forked {
        log: LogId,
        /// Id of the fork.
        fork: LogId,
    },
    /// Some snapshot objects were not deleted.
    #[error("the snapshots of {log} were not deleted: {why}")]
    Garbage {
        /// Id of the fork.
        log: LogId,
        why: GarbageError,
    },
}

impl Purger {
    /// Creates a purger. Changes of the catalog are made in the name of `operator`.
    #[must_use]
    pub fn new(ports: PurgePorts, catalog: CatalogStore, operator: Person) -> Self {
        let logs = Logs::new(
            Arc::clone(&ports.entries),
            Arc::clone(&ports.segments),
            Arc::clone(&ports.blobs),
            Arc::clone(&ports.clock),
            Arc::clone(&ports.random),
        );
        let collector = GarbageCollector::new(GarbagePorts {
            logs: Arc::new(logs),
            pending: ports.pending.clone(),
            blobs: Arc::clone(&ports.blobs),
            versions: Arc::clone(&ports.versions),
            clock: Arc::clone(&ports.clock),
        });
        Self { ports, catalog, collector, operator }
    }

    /// Performs an idempotent request. Temporary failures are retried for a limited time.
    async fn retry<T, F>(&self, send_request: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retry_temporary_errors(self.ports.clock.as_ref(), send_request).await
    }

    /// Returns all deleted spreadsheets and whether they will be purged. Forks precede their
    /// sources.
    ///
    /// The call scans the Segment table, and reads half a read unit per spreadsheet.
    ///
    /// # Errors
    ///
    /// Returns [`PurgeError::Store`] or [`PurgeError::Catalog`] if a request fails.
    pub async fn plan_purges(&self) -> Result<Vec<PlannedPurge>, PurgeError> {
        let origins = self.list_all_logs().await?;
        let listings = self.read_listings(origins.keys().copied()).await?;
        let plans = plan_deleted(&existing_logs(&origins, &listings), self.now_s());
        let mut planned_purges = Vec::new();
        for (log_id, plan) in plans {
            let Some(listing) = listings.get(&log_id) else { continue };
            let Some(since_s) = listing.status.since_s() else { continue };
            let name = listing.name.as_str().to_owned();
            planned_purges.push(PlannedPurge { log: log_id, name, since_s, plan });
        }
        Ok(planned_purges)
    }

    fn now_s(&self) -> u64 {
        self.ports.clock.now_ms() / 1_000
    }

    /// Reads the catalog listings of logs.
    async fn read_listings(
        &self,
        logs: impl Iterator<Item = LogId>,
    ) -> Result<BTreeMap<LogId, Arc<Listing>>, PurgeError> {
        let reads = stream::iter(logs).map(async |log_id| {
            let listing = self.catalog.read_listing(log_id, Right::Token(Role::Owner)).await?;
            Ok::<_, PurgeError>(listing.map(|listing| (log_id, listing)))
        });
        reads
            .buffer_unordered(PURGE_READS_AT_ONCE)
            .try_filter_map(async |listing| Ok(listing))
            .try_collect()
            .await
    }

    /// Returns all logs in the tables.
    async fn list_all_logs(&self) -> Result<BTreeMap<LogId, LogOrigin>, PurgeError> {
        let mut origins: BTreeMap<LogId, LogOrigin> = BTreeMap::new();
        let mut next_page = None;
        loop {
            let page = self.retry(|| self.ports.retention.all_segments(next_page.clone())).await?;
            for Segment { log: log_id, lineage, .. } in page.segments {
                let origin = origins.entry(log_id).or_default();
                if let Some(Lineage { source, depth, .. }) = lineage {
                    *origin = LogOrigin { source: Some(source), depth };
                }
            }
            next_page = page.next;
            if next_page.is_none() {
                return Ok(origins);
            }
        }
    }

    /// Returns the original log of a family and its forks, and their forks, if they exist.
    ///
    /// The logs are found by the fork lists, so that the requests do not depend on the number of
    /// other spreadsheets. A log is purged only after its forks, so that each existing fork is in
    /// the list of an existing log.
    async fn list_family(&self, family: LogId) -> Result<BTreeMap<LogId, LogOrigin>, PurgeError> {
        let mut origins = BTreeMap::new();
        let mut unread_logs = vec![(family, LogOrigin::default())];
        while !unread_logs.is_empty() {
            let reads = stream::iter(unread_logs).map(async |(log_id, origin)| {
                let exists = self.newest_segment(log_id).await?.is_some();
                let forks = self.list_forks(log_id).await?;
                Ok::<_, PurgeError>((log_id, origin, exists, forks))
            });
            let read_logs: Vec<_> =
                reads.buffer_unordered(PURGE_READS_AT_ONCE).try_collect().await?;
            unread_logs = Vec::new();
            for (log_id, origin, exists, forks) in read_logs {
                if exists {
                    origins.insert(log_id, origin);
                }
                let fork_origin =
                    LogOrigin { source: Some(log_id), depth: origin.depth.saturating_add(1) };
                unread_logs.extend(forks.into_iter().map(|item| (item.fork, fork_origin)));
            }
        }
        Ok(origins)
    }

    /// Purges a spreadsheet, whose plan must state that the purge is due.
    ///
    /// # Errors
    ///
    /// Returns [`PurgeError`] if the purge is incomplete. A retry deletes the remaining data.
    pub async fn purge(&self, log_id: LogId) -> Result<PurgedData, PurgeError> {
        self.check_not_forked(log_id).await?;
        self.mark_purged(log_id).await?;
        self.delete_pending_snapshots(log_id).await?;
        self.delete_presences(log_id).await?;
        let mut purged = self.delete_objects(log_id).await?;
        // Delete the latest segment first, so that a resumed purge finds the latest segment that
        // still exists.
        while let Some(segment) = self.newest_segment(log_id).await? {
            purged.entries += self.delete_entries(log_id, segment.num).await?;
            if segment.num == 0 {
                self.delete_fork_list_items(&segment).await?;
                let collected = self.delete_fork_snapshots(&segment).await?;
                purged.objects += collected.objects;
                purged.object_bytes += collected.bytes;
            }
            self.retry(|| self.ports.retention.delete_segment(log_id, segment.num)).await?;
        }
        Ok(purged)
    }

    /// Marks the spreadsheet as purged in the catalog. It can then no longer be undeleted.
    async fn mark_purged(&self, log_id: LogId) -> Result<(), PurgeError> {
        let right = Right::Token(Role::Owner);
        let by = By { person: self.operator.clone(), right, cap: Role::Owner };
        match self.catalog.change(log_id, by, CatalogAction::Purge, None).await {
            Ok(_) => Ok(()),
            Err(CatalogError::Rejected(rejection)) => {
                Err(PurgeError::Refused { log: log_id, rejection })
            }
            Err(CatalogError::Stream(error)) => Err(error.into()),
        }
    }

    /// Deletes the snapshot objects that only this fork needed. Does nothing if the log is not a
    /// fork.
    async fn delete_fork_snapshots(
        &self,
        first_segment: &Segment,
    ) -> Result<CollectedGarbage, PurgeError> {
        let Segment { log: fork, lineage: Some(Lineage { family, .. }), .. } = *first_segment
        else {
            return Ok(CollectedGarbage::default());
        };
        let origins = self.list_family(family).await?;
        let listings = self.read_listings(origins.keys().copied()).await?;
        let needed_logs = needed(&existing_logs(&origins, &listings), self.now_s());
        if needed_logs.is_empty() {
            // No log of the family needs snapshots anymore. They are deleted when the original log
            // of the family is purged, which happens last.
            return Ok(CollectedGarbage::default());
        }
        let collected = self.collector.collect(family, &needed_logs).await;
        collected.map_err(|error| PurgeError::Garbage { log: fork, why: error })
    }

    async fn newest_segment(&self, log_id: LogId) -> Result<Option<Segment>, PortError> {
        let segments =
            self.retry(|| self.ports.segments.newest(log_id, 1, ReadConsistency::Strong)).await?;
        Ok(segments.into_iter().next())
    }

    /// Returns an error if a fork of the log still exists.
    async fn check_not_forked(&self, log_id: LogId) -> Result<(), PurgeError> {
        for ForkListItem { fork, .. } in self.list_forks(log_id).await? {
            if self.newest_segment(fork).await?.is_some() {
                return Err(PurgeError::Forked { log: log_id, fork });
            }
        }
        Ok(())
    }

    /// Returns the items of a log's fork list.
    async fn list_forks(&self, log_id: LogId) -> Result<BTreeSet<ForkListItem>, PortError> {
        let mut items = BTreeSet::new();
        let mut next_page = None;
        loop {
            let page =
                self.retry(|| self.ports.segments.forks(log_id, next_page, FORKS_PAGE)).await?;
            for ListedFork { number, fork, .. } in page.forks {
                items.insert(ForkListItem { number, fork });
            }
            next_page = page.next;
            if next_page.is_none() {
                return Ok(items);
            }
        }
    }

    async fn delete_pending_snapshots(&self, log_id: LogId) -> Result<(), PortError> {
        let Some(pending_snapshots) = &self.ports.pending else { return Ok(()) };
        let end = SnapshotJob { log: log_id, position: Position::LAST };
        while let Some(record) = self.retry(|| pending_snapshots.first_up_to(end)).await? {
            let rebuild_run = record.rebuild.as_ref().map(|rebuild| rebuild.run);
            self.retry(|| pending_snapshots.delete(record.job, rebuild_run)).await?;
        }
        Ok(())
    }

    async fn delete_presences(&self, log_id: LogId) -> Result<(), PortError> {
        let stored =
            self.retry(|| self.ports.presences.presences(log_id, ReadConsistency::Strong)).await?;
        for stored in stored {
            self.retry(|| self.ports.presences.delete_presence(log_id, stored.slot)).await?;
        }
        Ok(())
    }

    async fn delete_entries(&self, log_id: LogId, segment: u32) -> Result<u64, PortError> {
        let segment_start = Position::new(segment, 0).map_err(PortError::from_permanent)?;
        let mut deleted_count = 0;
        loop {
            let page = self
                .retry(|| self.ports.entries.page(log_id, segment_start, ReadConsistency::Strong))
                .await?;
            let positions: Vec<Position> =
                page.entries.iter().map(|entry| entry.position).collect();
            if positions.is_empty() {
                return Ok(deleted_count);
            }
            self.retry(|| self.ports.retention.delete(log_id, &positions)).await?;
            deleted_count += u64::try_from(positions.len()).unwrap_or(u64::MAX);
        }
    }

    /// Deletes the log's list of forks, and the log's own record in the list of its source. All
    /// forks in the deleted list were purged before.
    async fn delete_fork_list_items(&self, first_segment: &Segment) -> Result<(), PortError> {
        let log_id = first_segment.log;
        for item in self.list_forks(log_id).await? {
            self.retry(|| self.ports.retention.delete_listed(log_id, item.number)).await?;
        }
        let Some(Lineage { source, .. }) = first_segment.lineage else { return Ok(()) };
        for item in self.list_forks(source).await? {
            if item.fork == log_id {
                self.retry(|| self.ports.retention.delete_listed(source, item.number)).await?;
            }
        }
        Ok(())
    }
}

/// An item of a log's fork list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ForkListItem {
    number: u64,
    fork: LogId,
}

/// Place of a log in its family. An original log has no source, and depth 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct LogOrigin {
    source: Option<LogId>,
    depth: u32,
}

/// Returns each log with its origin and its status in the catalog.
fn existing_logs(
    origins: &BTreeMap<LogId, LogOrigin>,
    listings: &BTreeMap<LogId, Arc<Listing>>,
) -> Vec<ExistingLog> {
    let mut existing_logs = Vec::with_capacity(origins.len());
    for (log_id, LogOrigin { source, depth }) in origins {
        existing_logs.push(ExistingLog {
            log: *log_id,
            source: *source,
            depth: *depth,
            status: listings.get(log_id).map(|listing| listing.status),
        });
    }
    existing_logs
}
