//! Rebuilds every snapshot of a log, starting at the log's first entry.
//!
//! A rebuild writes a pending record for each Snapshot entry in the table, oldest first. Each
//! record requests the rebuild of its snapshot. Workers read these records first, so the worker of
//! a snapshot waits until all earlier snapshots are rebuilt. The first snapshot is built from the
//! log's entries, and each later snapshot from the previous one. Pending records are the only state
//! of a rebuild. After a crash, some snapshots are unchanged and the others will still be rebuilt.
//!
//! Two messages are sufficient: a worker that finishes a snapshot sends the job of the next one.
//! The message of the last snapshot is redelivered until all earlier snapshots are finished. If the
//! message of an earlier snapshot was lost, handling this last message resends it.

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;
use cellar_snapshot::pending_snapshot::{PendingSnapshot, Rebuild};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::survey::PendingState;
use super::walk::{PageRead, SegmentReader};
use super::{FindingKind, Reprocess, SurveyCounts};
use crate::ports::{PortError, WriteOutcome};
use crate::snapshots::LevelsBuilder;

/// A snapshot to rebuild.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotToRebuild {
    /// Position of the Snapshot entry.
    pub at: Position,
    /// Key of the current root, or `None` if the snapshot was never built.
    pub root: Option<String>,
    /// Seconds since the last write of the pending record, if an earlier rebuild of this snapshot
    /// is still active.
    pub active_silent_s: Option<u64>,
}

/// Plan for rebuilding a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuildPlan {
    pub log: LogId,
    /// Number of entries and other records that were read.
    pub counts: SurveyCounts,
    /// Snapshots to rebuild, oldest first.
    pub snapshots: Vec<SnapshotToRebuild>,
    /// Number of Snapshot entries with a root in offloaded segments. Their roots cannot be
    /// replaced, so reads at positions before the first rebuilt snapshot may find objects missing.
    pub offloaded: Vec<Position>,
}

/// Reason why a log cannot be rebuilt. No data was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildRefusal {
    /// The log does not exist.
    #[error("spreadsheet {log} does not exist")]
    NoLog { log: LogId },
    /// The log is incomplete or unreadable.
    #[error("the log of {log} cannot be read from position {at} on: {why}")]
    Unreadable {
        log: LogId,
        /// Position of the first unreadable entry.
        at: Position,
        why: String,
    },
    /// The external body's object was deleted.
    #[error(
        "the external body {key} of entry {at} of {log} is deleted: restore its previous version"
    )]
    BodyLost {
        log: LogId,
        at: Position,
        /// S3 key of the body.
        key: String,
    },
    /// A port request failed.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
}

/// Result of starting the rebuild of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RebuildStart {
    /// The pending record was written.
    Started,
    /// An earlier rebuild of the snapshot is active and continues.
    InProgress,
}

impl Reprocess {
    /// Reads a whole log and plans its rebuild.
    ///
    /// # Errors
    ///
    /// Returns [`RebuildRefusal`] if the log is incomplete or cannot be read.
    pub async fn plan_rebuild(&self, log: LogId) -> Result<RebuildPlan, RebuildRefusal> {
        let segments = self.segments_of(log).await?;
        if segments.is_empty() {
            return Err(RebuildRefusal::NoLog { log });
        }
        let counts = SurveyCounts { logs: 1, ..SurveyCounts::default() };
        let (snapshots, offloaded) = (Vec::new(), Vec::new());
        let mut plan = RebuildPlan { log, counts, snapshots, offloaded };
        self.extend_plan(&mut plan, &segments, Position::FIRST).await?;
        Ok(plan)
    }

    /// Adds the Snapshot entries from this position on to the plan.
    async fn extend_plan(
        &self,
        plan: &mut RebuildPlan,
        segments: &[Segment],
        from: Position,
    ) -> Result<(), RebuildRefusal> {
        let (log, pending) = (plan.log, self.pending_states(plan.log).await?);
        plan.counts.pending = u64::try_from(pending.len()).unwrap_or(u64::MAX);
        for (index, segment) in segments.iter().enumerate() {
            let Ok(start) = Position::new(segment.num, 0).map(|start| start.max(from)) else {
                continue;
            };
            if start.segment() != segment.num {
                continue;
            }
            plan.counts.segments += 1;
            let is_newest = segments.len() == index.saturating_add(1);
            let mut reader = SegmentReader::new(self, segment, is_newest, start);
            loop {
                let page = match reader.read_page().await? {
                    PageRead::Page(page) => page,
                    PageRead::Unreadable { at, why } => {
                        return Err(RebuildRefusal::Unreadable { log, at, why });
                    }
                    PageRead::End => break,
                };
                for entry in &page.entries {
                    self.check_body(entry, &mut plan.counts).await?;
                    plan.add_entry(entry, page.is_offloaded, pending.get(&entry.position));
                }
            }
        }
        Ok(())
    }

    async fn check_body(
        &self,
        entry: &Entry,
        counts: &mut SurveyCounts,
    ) -> Result<(), RebuildRefusal> {
        let Content::External(external) = &entry.content else { return Ok(()) };
        counts.bodies += 1;
        match self.check_body_object(&external.object).await? {
            Some(FindingKind::BodyLost { key }) => {
                Err(RebuildRefusal::BodyLost { log: entry.log, at: entry.position, key })
            }
            _ => Ok(()),
        }
    }

    /// Starts a rebuild: writes the pending records, oldest first, and sends the jobs. Calls
    /// `report` for each snapshot. Snapshots appended after the planning are also rebuilt, because
    /// their workers may have started from lost objects.
    ///
    /// # Errors
    ///
    /// Returns [`RebuildRefusal`] if not all records were written or not all jobs were sent. The
    /// call should then be retried. Snapshots whose records were written are rebuilt once a later
    /// call, or any reprocessing, sends their jobs.
    pub async fn start_rebuild(
        &self,
        plan: &RebuildPlan,
        mut report: impl FnMut(&SnapshotToRebuild, &RebuildStart),
    ) -> Result<(), RebuildRefusal> {
        let (log, run) = (plan.log, self.ports.clock.now_ms());
        let (mut base, mut started) = (None, Vec::new());
        let mut start_all = async |snapshots: &[SnapshotToRebuild]| {
            for snapshot in snapshots {
                let start = self.write_record(log, run, snapshot, base).await?;
                if start == RebuildStart::Started {
                    started.push(snapshot.at);
                }
                base = Some(snapshot.at);
                report(snapshot, &start);
            }
            Ok::<(), PortError>(())
        };
        start_all(&plan.snapshots).await?;
        let last = plan.snapshots.last().map_or(Position::FIRST, |last| last.at);
        if let Some(from) = last.next_in_segment() {
            let (snapshots, offloaded) = (Vec::new(), Vec::new());
            let counts = SurveyCounts::default();
            let mut later = RebuildPlan { log, counts, snapshots, offloaded };
            self.extend_plan(&mut later, &self.segments_of(log).await?, from).await?;
            start_all(&later.snapshots).await?;
        }
        if let Some(first) = started.first() {
            self.send_job(SnapshotJob { log, position: *first }).await?;
        }
        if let [_, .., last] = started.as_slice() {
            self.send_job(SnapshotJob { log, position: *last }).await?;
        }
        Ok(())
    }

    /// Writes a snapshot's pending record, unless an earlier rebuild of the snapshot is active.
    /// `base` is the previous snapshot, on which the rebuild is based.
    async fn write_record(
        &self,
        log: LogId,
        run: u64,
        snapshot: &SnapshotToRebuild,
        base: Option<Position>,
    ) -> Result<RebuildStart, PortError> {
        let (pending, job) = (&self.ports.pending, SnapshotJob { log, position: snapshot.at });
        let mut last_error = PortError::temporary("other writers keep changing the pending record");
        for _ in 0..MAX_READ_ATTEMPTS {
            let existing = self.read_record(job).await?;
            let existing_run = existing.as_ref().and_then(|record| record.rebuild.as_ref());
            if existing_run.is_some_and(|rebuild| rebuild.run == run) {
                return Ok(RebuildStart::Started);
            }
            let now_s = self.now_s();
            let is_active = |record: &PendingSnapshot| {
                let silent_s = now_s.abs_diff(record.modified_s);
                PendingState { silent_s, is_rebuild: record.rebuild.is_some() }.is_active_rebuild()
            };
            if existing.as_ref().is_some_and(is_active) {
                return Ok(RebuildStart::InProgress);
            }
            let increment = existing.as_ref().map(|record| record.increment);
            let record = PendingSnapshot {
                job,
                created_s: now_s,
                modified_s: now_s,
                active: false,
                increment: run.max(increment.map_or(0, |increment| increment.saturating_add(1))),
                progress: LevelsBuilder::rebuild_progress(base),
                rebuild: Some(Rebuild { run, replaces: snapshot.root.clone() }),
            };
            let written = match increment {
                None => pending.create(&record).await,
                Some(increment) => pending.replace(&record, increment).await,
            };
            match written {
                WriteOutcome::Written => return Ok(RebuildStart::Started),
                // The next attempt reads the record again.
                WriteOutcome::Refused => {}
                WriteOutcome::Unknown(error) => last_error = error,
                WriteOutcome::Failed(error) => return Err(error),
            }
        }
        Err(last_error)
    }

    /// Returns the pending record of a job, or `None` if there is none.
    async fn read_record(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        let pending = &self.ports.pending;
        let found = match last_position_before(job.position) {
            None => self.retried(|| pending.first_up_to(job)).await?,
            Some(position) => {
                let previous = SnapshotJob { position, ..job };
                self.retried(|| pending.first_after(previous)).await?
            }
        };
        Ok(found.filter(|found| found.job == job))
    }
}

impl RebuildPlan {
    /// Counts an entry and adds it to the plan if it is a Snapshot entry.
    fn add_entry(&mut self, entry: &Entry, is_offloaded: bool, pending: Option<&PendingState>) {
        self.counts.entries += 1;
        let Content::Snapshot { root, .. } = &entry.content else { return };
        self.counts.snapshots += 1;
        let (at, root) = (entry.position, root.clone());
        if is_offloaded {
            if root.is_some() {
                self.offloaded.push(at);
            }
            return;
        }
        let is_empty_start = at == Position::FIRST && root.is_none();
        if is_empty_start {
            return;
        }
        let active = pending.filter(|pending| pending.is_active_rebuild());
        let active_silent_s = active.map(|pending| pending.silent_s);
        self.snapshots.push(SnapshotToRebuild { at, root, active_silent_s });
    }
}

/// Returns the greatest position before `position`, whether or not an entry exists there.
fn last_position_before(position: Position) -> Option<Position> {
    let (segment, num) = match position.entry_number().checked_sub(1) {
        Some(num) => (position.segment(), num),
        None => (position.segment().checked_sub(1)?, u32::MAX),
    };
    Position::new(segment, num).ok()
}
