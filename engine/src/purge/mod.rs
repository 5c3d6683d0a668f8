//! Purges spreadsheets that were deleted so long ago that nobody can restore them: run by an operator, at any time, any number of times, also while others work.
//!
//! The catalog says first that a spreadsheet is purged: from then on nobody brings it back. Then everything
//! that it had goes, and last of all the record by which it is found, so that a purge that was interrupted is
//! found again.

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
use crate::garbage::{Collected, Collector, GarbageError, GarbagePorts};
use crate::logs::Logs;
use crate::ports::{
    BlobVersions, Blobs, Clock, Entries, PendingSnapshots, PortError, Random, Retention, Segments,
};
use crate::retry::retried;
use crate::streams::StreamError;

/// Forks of one page of a list.
const FORKS_PAGE: u32 = 100;

/// What a purger works on.
pub struct PurgePorts {
    /// The Entry table.
    pub entries: Arc<dyn Entries>,
    /// The Segment table.
    pub segments: Arc<dyn Segments>,
    /// What only an operator may do to both.
    pub retention: Arc<dyn Retention>,
    /// The PendingSnapshots table, if there is one.
    pub pending: Option<Arc<dyn PendingSnapshots>>,
    /// The bucket.
    pub blobs: Arc<dyn Blobs>,
    /// Its versions.
    pub versions: Arc<dyn BlobVersions>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Jitter.
    pub random: Arc<dyn Random>,
}

/// Purges deleted spreadsheets.
pub struct Purger {
    ports: PurgePorts,
    catalog: CatalogStore,
    collector: Collector,
    operator: Person,
}

/// A deleted spreadsheet, and what is to be done with it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedPurge {
    /// The spreadsheet.
    pub log: LogId,
    /// What it was called.
    pub name: String,
    /// Since when it is deleted or purged, Unix seconds.
    pub since_s: u64,
    /// What is to be done.
    pub plan: DeletedPlan,
}

/// What a purge has removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// Entries of the log.
    pub entries: u64,
    /// Objects in the bucket.
    pub objects: u64,
    /// Their bytes.
    pub object_bytes: u64,
}

/// Why a spreadsheet was not purged, or not wholly: repeat it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PurgeError {
    /// A table or the bucket does not answer or refuses.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
    /// The catalog cannot be read or written.
    #[error("the catalog cannot be read: {0}")]
    Catalog(#[from] StreamError),
    /// Somebody has restored it, or it was never deleted.
    #[error("{log} was not purged: {rejection}")]
    Refused {
        /// The spreadsheet.
        log: LogId,
        /// Why.
        rejection: Rejection,
    },
    /// It was forked meanwhile.
    #[error("{log} was not purged: {fork}, a fork of it, is still there")]
    Forked {
        /// The spreadsheet.
        log: LogId,
        /// The fork.
        fork: LogId,
    },
    /// Objects of its snapshots are left.
    #[error("the snapshots of {log} were not removed: {why}")]
    Garbage {
        /// The fork.
        log: LogId,
        /// Why not.
        why: GarbageError,
    },
}

impl Purger {
    /// Over these ports, in the name of somebody.
    #[must_use]
    pub fn new(ports: PurgePorts, catalog: CatalogStore, operator: Person) -> Self {
        let (entries, segments) = (Arc::clone(&ports.entries), Arc::clone(&ports.segments));
        let (blobs, clock) = (Arc::clone(&ports.blobs), Arc::clone(&ports.clock));
        let logs = Logs::new(entries, segments, blobs, clock, Arc::clone(&ports.random));
        let collector = Collector::new(GarbagePorts {
            logs: Arc::new(logs),
            pending: ports.pending.clone(),
            blobs: Arc::clone(&ports.blobs),
            versions: Arc::clone(&ports.versions),
            clock: Arc::clone(&ports.clock),
        });
        Self { ports, catalog, collector, operator }
    }

    /// Repeats what failed for a while: all of it is idempotent.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.ports.clock.as_ref(), call).await
    }

    /// Every deleted spreadsheet, and what is to be done with it; forks before what they were forked of.
    /// One scan of the Segment table, and half a read unit for each spreadsheet.
    ///
    /// # Errors
    /// [`PurgeError::Store`], [`PurgeError::Catalog`].
    pub async fn survey(&self) -> Result<Vec<PlannedPurge>, PurgeError> {
        let logs = self.logs().await?;
        let listings = self.listings(logs.keys().copied()).await?;
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

    async fn listings(
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

    /// All logs of the tables, and where those that are forks come from.
    async fn logs(&self) -> Result<BTreeMap<LogId, Option<Lineage>>, PurgeError> {
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

    /// Purges a spreadsheet that is due.
    ///
    /// # Errors
    /// [`PurgeError`]; what is left of it goes when it is repeated.
    pub async fn carry_out(&self, log: LogId) -> Result<Removed, PurgeError> {
        self.check_not_forked(log).await?;
        let right = Right::Token(Role::Owner);
        let by = By { person: self.operator.clone(), right, cap: Role::Owner };
        match self.catalog.change(log, by, CatalogAction::Purge, None).await {
            Ok(_) => {}
            Err(CatalogError::Rejected(rejection)) => {
                return Err(PurgeError::Refused { log, rejection });
            }
            Err(CatalogError::Stream(error)) => return Err(error.into()),
        }
        self.remove_pending(log).await?;
        let mut removed = self.remove_objects(log).await?;
        // The newest first: of what is left, the newest is always found.
        while let Some(newest) = self.newest(log).await? {
            removed.entries += self.remove_entries(log, newest.num).await?;
            if newest.num == 0 {
                self.remove_from_lists(&newest).await?;
                if let Some(lineage) = newest.lineage {
                    let collected = self.remove_snapshots(log, lineage.family).await?;
                    removed.objects += collected.objects;
                    removed.object_bytes += collected.bytes;
                }
            }
            self.retried(|| self.ports.retention.delete_segment(log, newest.num)).await?;
        }
        Ok(removed)
    }

    /// Removes what only a fork had of the objects of its family's snapshots.
    async fn remove_snapshots(&self, log: LogId, family: LogId) -> Result<Collected, PurgeError> {
        let mut logs = self.logs().await?;
        logs.retain(|log, lineage| lineage.map_or(*log, |lineage| lineage.family) == family);
        let listings = self.listings(logs.keys().copied()).await?;
        let needed = needed(&residents(&logs, &listings), self.now_s());
        if needed.is_empty() {
            // The last of a family takes all of it along.
            return Ok(Collected::default());
        }
        let collected = self.collector.collect(family, &needed).await;
        collected.map_err(|why| PurgeError::Garbage { log, why })
    }

    async fn newest(&self, log: LogId) -> Result<Option<Segment>, PortError> {
        let newest = self.retried(|| self.ports.segments.newest(log, 1, true)).await?;
        Ok(newest.into_iter().next())
    }

    /// A fork is listed as long as it is there.
    async fn check_not_forked(&self, log: LogId) -> Result<(), PurgeError> {
        for (_, fork) in self.forks(log).await? {
            if self.newest(fork).await?.is_some() {
                return Err(PurgeError::Forked { log, fork });
            }
        }
        Ok(())
    }

    /// The list of a log's forks, with their numbers.
    async fn forks(&self, log: LogId) -> Result<BTreeSet<(u64, LogId)>, PortError> {
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

    async fn remove_pending(&self, log: LogId) -> Result<(), PortError> {
        let Some(pending) = &self.ports.pending else { return Ok(()) };
        let all = SnapshotJob { log, position: Position::LAST };
        while let Some(record) = self.retried(|| pending.first_up_to(all)).await? {
            let run = record.rebuild.as_ref().map(|rebuild| rebuild.run);
            self.retried(|| pending.delete(record.job, run)).await?;
        }
        Ok(())
    }

    async fn remove_entries(&self, log: LogId, segment: u32) -> Result<u64, PortError> {
        let start = Position::new(segment, 0);
        let start = start.map_err(|error| PortError::permanent(error.to_string()))?;
        let mut removed = 0;
        loop {
            let page = self.retried(|| self.ports.entries.page(log, start, true)).await?;
            let positions: Vec<Position> =
                page.entries.iter().map(|entry| entry.position).collect();
            if positions.is_empty() {
                return Ok(removed);
            }
            self.retried(|| self.ports.retention.delete(log, &positions)).await?;
            removed += u64::try_from(positions.len()).unwrap_or(u64::MAX);
        }
    }

    /// Removes the list of its forks, all of which are gone, and what its source's list says of it.
    async fn remove_from_lists(&self, first: &Segment) -> Result<(), PortError> {
        let log = first.log;
        for (number, _) in self.forks(log).await? {
            self.retried(|| self.ports.retention.delete_listed(log, number)).await?;
        }
        let Some(lineage) = first.lineage else { return Ok(()) };
        let listed = self.forks(lineage.source).await?;
        for (number, _) in listed.into_iter().filter(|(_, fork)| *fork == log) {
            self.retried(|| self.ports.retention.delete_listed(lineage.source, number)).await?;
        }
        Ok(())
    }
}

/// Logs with what the catalog says of them.
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
