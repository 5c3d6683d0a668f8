//! Purges deleted spreadsheets that can no longer be undeleted. Safe to run at any time and
//! repeatedly, while all other work continues.
//!
//! The spreadsheet is first marked as purged in the catalog, which makes it unrecoverable; then all
//! its data is deleted. A purge finds spreadsheets by their segment records. The last segment
//! record of a spreadsheet is therefore deleted after all its other data, so that an interrupted
//! purge can be resumed.

mod objects;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::limits::PURGE_READS_AT_ONCE;
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_catalog::{purge::DeletedPlan, purge::Resident, purge::needed, purge::plan_deleted};
use cellar_catalog::{
    spreadsheet::By, spreadsheet::CatalogAction, spreadsheet::Listing, spreadsheet::Person,
    spreadsheet::Rejection, spreadsheet::Right,
};
use cellar_log::lineage::Lineage;
use cellar_log::segment::Segment;
use cellar_snapshot::snapshot_job::SnapshotJob;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::catalog::{CatalogError, CatalogStore};
use crate::garbage::{CollectedGarbage, GarbageCollector, GarbageError, GarbagePorts};
use crate::logs::Logs;
use crate::ports::{
    BlobVersions, Blobs, Clock, Entries, PendingSnapshots, PortError, Random, Retention, Segments,
};
use crate::retry::retried;
use crate::streams::StreamError;

/// Page size when listing forks.
const FORKS_PAGE: u32 = 100;

pub struct PurgePorts {
    pub entries: Arc<dyn Entries>,
    pub segments: Arc<dyn Segments>,
    /// Deletions in the Entry and Segment tables, which only operators are permitted to make.
    pub retention: Arc<dyn Retention>,
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

/// A deleted spreadsheet and its purge plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedPurge {
    pub log: LogId,
    pub name: String,
    /// Time at which the spreadsheet was deleted or purged, in seconds since the Unix epoch.
    pub since_s: u64,
    /// Whether the spreadsheet is to be purged or kept.
    pub plan: DeletedPlan,
}

/// Amount of data deleted by a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PurgedData {
    /// Number of deleted log entries.
    pub entries: u64,
    /// Number of deleted objects in the bucket.
    pub objects: u64,
    /// Total length of the deleted objects, in bytes.
    pub object_bytes: u64,
}

/// Reason why a purge failed. Retrying is safe and resumes the purge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PurgeError {
    /// A table or bucket request failed.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
    /// A catalog request failed.
    #[error("the catalog cannot be read or written: {0}")]
    Catalog(#[from] StreamError),
    /// The spreadsheet was not deleted, or it was undeleted.
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
    /// Creates a purger that uses these ports and acts as `operator`.
    #[must_use]
    pub fn new(ports: PurgePorts, catalog: CatalogStore, operator: Person) -> Self {
        let (entries, segments) = (Arc::clone(&ports.entries), Arc::clone(&ports.segments));
        let (blobs, clock) = (Arc::clone(&ports.blobs), Arc::clone(&ports.clock));
        let logs = Logs::new(entries, segments, blobs, clock, Arc::clone(&ports.random));
        let collector = GarbageCollector::new(GarbagePorts {
            logs: Arc::new(logs),
            pending: ports.pending.clone(),
            blobs: Arc::clone(&ports.blobs),
            versions: Arc::clone(&ports.versions),
            clock: Arc::clone(&ports.clock),
        });
        Self { ports, catalog, collector, operator }
    }

    /// Runs an idempotent request, retrying temporary failures for a while.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.ports.clock.as_ref(), call).await
    }

    /// Returns every deleted spreadsheet with its purge plan. Forks precede their sources. Costs
    /// one scan of the Segment table and half a read unit per spreadsheet.
    ///
    /// # Errors
    ///
    /// Returns [`PurgeError::Store`] or [`PurgeError::Catalog`] if a request fails.
    pub async fn survey(&self) -> Result<Vec<PlannedPurge>, PurgeError> {
        let logs = self.list_logs().await?;
        let listings = self.read_listings(logs.keys().copied()).await?;
        let plans = plan_deleted(&residents(&logs, &listings), self.now_s());
        let planned = plans.into_iter().filter_map(|(log, plan)| {
            let listing = listings.get(&log)?;
            let (name, since_s) = (listing.name.as_str().to_owned(), listing.status.since_s()?);
            Some(PlannedPurge { log, name, since_s, plan })
        });
        Ok(planned.collect())
    }

    fn now_s(&self) -> u64 {
        self.ports.clock.now_ms() / 1_000
    }

    /// Reads the catalog listings of logs.
    async fn read_listings(
        &self,
        logs: impl Iterator<Item = LogId>,
    ) -> Result<BTreeMap<LogId, Arc<Listing>>, PurgeError> {
        let listings = stream::iter(logs).map(async |log| {
            let listing = self.catalog.read_listing(log, Right::Token(Role::Owner)).await?;
            Ok::<_, PurgeError>(listing.map(|listing| (log, listing)))
        });
        let listings = listings.buffer_unordered(PURGE_READS_AT_ONCE);
        listings.try_filter_map(async |listing| Ok(listing)).try_collect().await
    }

    /// Returns all logs in the tables, with the lineage (source and last shared position) of each
    /// fork.
    async fn list_logs(&self) -> Result<BTreeMap<LogId, Option<Lineage>>, PurgeError> {
        let (mut logs, mut after) = (BTreeMap::new(), None);
        loop {
            let page = self.retried(|| self.ports.retention.all_segments(after.clone())).await?;
            for Segment { log, lineage, .. } in page.segments {
                let known: &mut Option<Lineage> = logs.entry(log).or_default();
                *known = lineage.or(*known);
            }
            after = page.next;
            if after.is_none() {
                return Ok(logs);
            }
        }
    }

    /// Purges a spreadsheet that is due according to its plan.
    ///
    /// # Errors
    ///
    /// Returns [`PurgeError`]. A retry deletes the remaining data.
    pub async fn purge(&self, log: LogId) -> Result<PurgedData, PurgeError> {
        self.check_not_forked(log).await?;
        self.mark_purged(log).await?;
        self.delete_pending(log).await?;
        let mut purged = self.delete_objects(log).await?;
        // Read the latest segment first and delete segments in descending order: a resumed purge
        // then finds the latest remaining segment.
        while let Some(newest) = self.newest_segment(log).await? {
            purged.entries += self.delete_entries(log, newest.num).await?;
            if newest.num == 0 {
                self.delete_fork_list_items(&newest).await?;
                if let Some(lineage) = newest.lineage {
                    let collected = self.delete_snapshots(log, lineage.family).await?;
                    purged.objects += collected.objects;
                    purged.object_bytes += collected.bytes;
                }
            }
            self.retried(|| self.ports.retention.delete_segment(log, newest.num)).await?;
        }
        Ok(purged)
    }

    /// Marks the spreadsheet as purged in the catalog, which makes it unrecoverable.
    async fn mark_purged(&self, log: LogId) -> Result<(), PurgeError> {
        let right = Right::Token(Role::Owner);
        let by = By { person: self.operator.clone(), right, cap: Role::Owner };
        match self.catalog.change(log, by, CatalogAction::Purge, None).await {
            Ok(_) => Ok(()),
            Err(CatalogError::Rejected(rejection)) => Err(PurgeError::Refused { log, rejection }),
            Err(CatalogError::Stream(error)) => Err(error.into()),
        }
    }
    /// Deletes the snapshot objects that only this fork needed.
    async fn delete_snapshots(
        &self,
        log: LogId,
        family: LogId,
    ) -> Result<CollectedGarbage, PurgeError> {
        let mut logs = self.list_logs().await?;
        logs.retain(|log, lineage| lineage.map_or(*log, |lineage| lineage.family) == family);
        let listings = self.read_listings(logs.keys().copied()).await?;
        let needed = needed(&residents(&logs, &listings), self.now_s());
        if needed.is_empty() {
            // The origin is purged last in its fork family, and its purge deletes all of the
            // family's snapshots.
            return Ok(CollectedGarbage::default());
        }
        let collected = self.collector.collect(family, &needed).await;
        collected.map_err(|why| PurgeError::Garbage { log, why })
    }

    async fn newest_segment(&self, log: LogId) -> Result<Option<Segment>, PortError> {
        let newest = self.retried(|| self.ports.segments.newest(log, 1, true)).await?;
        Ok(newest.into_iter().next())
    }

    /// Returns an error if the log has a fork.
    async fn check_not_forked(&self, log: LogId) -> Result<(), PurgeError> {
        for (_, fork) in self.list_forks(log).await? {
            if self.newest_segment(fork).await?.is_some() {
                return Err(PurgeError::Forked { log, fork });
            }
        }
        Ok(())
    }

    /// Returns a log's fork records, each with its number in the fork list.
    async fn list_forks(&self, log: LogId) -> Result<BTreeSet<(u64, LogId)>, PortError> {
        let (mut forks, mut after) = (BTreeSet::new(), None);
        loop {
            let page = self.retried(|| self.ports.segments.forks(log, after, FORKS_PAGE)).await?;
            forks.extend(page.forks.into_iter().map(|listed| (listed.number, listed.fork)));
            after = page.next;
            if after.is_none() {
                return Ok(forks);
            }
        }
    }

    async fn delete_pending(&self, log: LogId) -> Result<(), PortError> {
        let Some(pending) = &self.ports.pending else { return Ok(()) };
        let up_to_end = SnapshotJob { log, position: Position::LAST };
        while let Some(record) = self.retried(|| pending.first_up_to(up_to_end)).await? {
            let run = record.rebuild.as_ref().map(|rebuild| rebuild.run);
            self.retried(|| pending.delete(record.job, run)).await?;
        }
        Ok(())
    }

    async fn delete_entries(&self, log: LogId, segment: u32) -> Result<u64, PortError> {
        let start = Position::new(segment, 0);
        let start = start.map_err(|error| PortError::permanent(error.to_string()))?;
        let mut deleted = 0;
        loop {
            let page = self.retried(|| self.ports.entries.page(log, start, true)).await?;
            let positions: Vec<Position> =
                page.entries.iter().map(|entry| entry.position).collect();
            if positions.is_empty() {
                return Ok(deleted);
            }
            self.retried(|| self.ports.retention.delete(log, &positions)).await?;
            deleted += u64::try_from(positions.len()).unwrap_or(u64::MAX);
        }
    }

    /// Deletes the log's fork list, whose forks are all purged already, and the log's own record in
    /// its source's fork list.
    async fn delete_fork_list_items(&self, first: &Segment) -> Result<(), PortError> {
        let log = first.log;
        for (number, _) in self.list_forks(log).await? {
            self.retried(|| self.ports.retention.delete_listed(log, number)).await?;
        }
        let Some(lineage) = first.lineage else { return Ok(()) };
        let listed = self.list_forks(lineage.source).await?;
        for (number, _) in listed.into_iter().filter(|(_, fork)| *fork == log) {
            self.retried(|| self.ports.retention.delete_listed(lineage.source, number)).await?;
        }
        Ok(())
    }
}

/// Combines each log with its catalog status.
fn residents(
    logs: &BTreeMap<LogId, Option<Lineage>>,
    listings: &BTreeMap<LogId, Arc<Listing>>,
) -> Vec<Resident> {
    let resident = |(log, lineage): (&LogId, &Option<Lineage>)| Resident {
        log: *log,
        source: lineage.map(|lineage| lineage.source),
        depth: lineage.map_or(0, |lineage| lineage.depth),
        status: listings.get(log).map(|listing| listing.status),
    };
    logs.iter().map(resident).collect()
}
