//! Rebuilds every snapshot of a log, starting at the log's first entry.
//!
//! A rebuild writes a pending record for each Snapshot entry in the table, oldest first. Each
//! record requests the rebuild of one snapshot. Workers read these records first, so the worker of
//! a snapshot waits until all earlier snapshots are rebuilt. The first snapshot is built from the
//! log's entries, and each later snapshot from the previous snapshot. The pending records are the
//! only state of a rebuild. After a crash, some snapshots are unchanged, and the snapshots with
//! pending records will still be rebuilt.
//!
//! Two messages are sufficient, since a worker that finishes a snapshot sends the job of the next
//! snapshot. The message of the last snapshot is redelivered until all earlier snapshots are
//! finished. If the message of an earlier snapshot is lost, the worker that handles this last
//! message sends it again.

use std::collections::BTreeMap;

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
    /// Key of the current snapshot root, or `None` if the snapshot was never built.
    pub root: Option<String>,
    /// If an earlier rebuild of this snapshot is still in progress, the number of seconds since it
    /// last wrote the pending record.
    pub active_silent_s: Option<u64>,
}

/// Plan for rebuilding a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuildPlan {
    pub log: LogId,
    /// Numbers of the entries and other records that were read.
    pub counts: SurveyCounts,
    /// Snapshots to rebuild, oldest first.
    pub snapshots: Vec<SnapshotToRebuild>,
    /// Positions of Snapshot entries in offloaded segments that already have a root. Such a root
    /// cannot be replaced, so the objects that it references may stay missing. This affects reads
    /// of states before the first rebuilt snapshot.
    pub offloaded: Vec<Position>,
}

/// Reason why a rebuild cannot be planned or started. Planning changes no data. Starting may have
/// written some of the pending records, and can be retried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildRefusal {
    /// The log does not exist.
    #[error("spreadsheet {log} does not exist")]
    NoLog { log: LogId },
    /// The log is incomplete or unreadable.
    #[error("cannot read the log of spreadsheet {log} from position {at} on: {why}")]
    Unreadable {
        log: LogId,
        /// Position of the first unreadable entry.
        at: Position,
        why: String,
    },
    /// The object with the operations of a large entry was deleted.
    #[error(
        "object {key} with the operations of entry {at} of {log} was deleted; restore its last version"
    )]
    BodyLost {
        log: LogId,
        at: Position,
        /// S3 key of the object.
        key: String,
    },
    /// A port request failed.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
}

/// Result of starting to rebuild a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RebuildStart {
    /// The pending record was written.
    Started,
    /// An earlier rebuild of the snapshot is still in progress and continues.
    InProgress,
}

struct StartedRebuild {
    log: LogId,
    run: u64,
    /// Position of the snapshot on which the next snapshot is based. `None` for the first snapshot.
    base: Option<Position>,
    /// Positions of the snapshots whose pending records were written, in ascending order.
    started: Vec<Position>,
}

impl StartedRebuild {
    fn new_record(
        &self,
        snapshot: &SnapshotToRebuild,
        increment: u64,
        now_s: u64,
    ) -> PendingSnapshot {
        PendingSnapshot {
            job: SnapshotJob { log: self.log, position: snapshot.at },
            created_s: now_s,
            modified_s: now_s,
            active: false,
            increment,
            progress: LevelsBuilder::rebuild_progress(self.base),
            rebuild: Some(Rebuild { run: self.run, replaces: snapshot.root.clone() }),
        }
    }
}

impl Reprocess {
    /// Reads a whole log and determines which snapshots a rebuild must build.
    ///
    /// # Errors
    ///
    /// Returns [`RebuildRefusal`] if the log is incomplete or cannot be read.
    pub async fn plan_rebuild(&self, log: LogId) -> Result<RebuildPlan, RebuildRefusal> {
        let segments = self.segments_of(log).await?;
        if segments.is_empty() {
            return Err(RebuildRefusal::NoLog { log });
        }
        let mut plan = RebuildPlan::empty(log);
        plan.counts.logs = 1;
        self.extend_plan(&mut plan, &segments, Position::FIRST).await?;
        Ok(plan)
    }

    async fn extend_plan(
        &self,
        plan: &mut RebuildPlan,
        segments: &[Segment],
        start: Position,
    ) -> Result<(), RebuildRefusal> {
        let pending_states = self.pending_states(plan.log).await?;
        plan.counts.pending = u64::try_from(pending_states.len()).unwrap_or(u64::MAX);
        let newest_number = segments.last().map(|segment| segment.num);
        for segment in segments {
            let Ok(segment_start) = Position::new(segment.num, 0) else { continue };
            let is_before_start = segment.num < start.segment();
            if is_before_start {
                continue;
            }
            plan.counts.segments += 1;
            let is_newest = newest_number == Some(segment.num);
            let reader = SegmentReader::new(self, segment, is_newest, segment_start.max(start));
            self.add_segment_to_plan(plan, reader, &pending_states).await?;
        }
        Ok(())
    }

    async fn add_segment_to_plan(
        &self,
        plan: &mut RebuildPlan,
        mut reader: SegmentReader<'_>,
        pending_states: &BTreeMap<Position, PendingState>,
    ) -> Result<(), RebuildRefusal> {
        loop {
            let page = match reader.read_page().await? {
                PageRead::Page(page) => page,
                PageRead::Unreadable { at, why } => {
                    return Err(RebuildRefusal::Unreadable { log: plan.log, at, why });
                }
                PageRead::End => return Ok(()),
            };
            for entry in &page.entries {
                self.count_and_check_body(entry, &mut plan.counts).await?;
                let pending_state = pending_states.get(&entry.position);
                plan.add_entry(entry, page.is_offloaded, pending_state);
            }
        }
    }

    /// Does nothing unless the operations of the entry are stored as a separate object.
    async fn count_and_check_body(
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

    /// Starts a rebuild: writes the pending record of each snapshot in ascending order, and then
    /// sends snapshot jobs. Calls `report` for each snapshot.
    ///
    /// Snapshots that were appended after the plan was made are also rebuilt, since their workers
    /// may have used lost objects.
    ///
    /// # Errors
    ///
    /// Returns [`RebuildRefusal`] if a record cannot be written or a job cannot be sent. The caller
    /// should retry. Snapshots whose records were written are rebuilt as soon as a later call, or a
    /// repair, sends their jobs.
    pub async fn start_rebuild(
        &self,
        plan: &RebuildPlan,
        mut report: impl FnMut(&SnapshotToRebuild, &RebuildStart),
    ) -> Result<(), RebuildRefusal> {
        let run = self.ports.clock.now_ms();
        let mut rebuild = StartedRebuild { log: plan.log, run, base: None, started: Vec::new() };
        self.claim_snapshots(&mut rebuild, &plan.snapshots, &mut report).await?;
        let later_snapshots = self.find_later_snapshots(plan).await?;
        self.claim_snapshots(&mut rebuild, &later_snapshots, &mut report).await?;
        self.send_first_and_last_job(&rebuild).await?;
        Ok(())
    }

    async fn find_later_snapshots(
        &self,
        plan: &RebuildPlan,
    ) -> Result<Vec<SnapshotToRebuild>, RebuildRefusal> {
        let last_position = plan.snapshots.last().map_or(Position::FIRST, |last| last.at);
        let Some(start) = last_position.next_in_segment() else { return Ok(Vec::new()) };
        let mut later_plan = RebuildPlan::empty(plan.log);
        let segments = self.segments_of(plan.log).await?;
        self.extend_plan(&mut later_plan, &segments, start).await?;
        Ok(later_plan.snapshots)
    }

    async fn claim_snapshots(
        &self,
        rebuild: &mut StartedRebuild,
        snapshots: &[SnapshotToRebuild],
        report: &mut impl FnMut(&SnapshotToRebuild, &RebuildStart),
    ) -> Result<(), PortError> {
        for snapshot in snapshots {
            let start = self.claim_snapshot(rebuild, snapshot).await?;
            if start == RebuildStart::Started {
                rebuild.started.push(snapshot.at);
            }
            rebuild.base = Some(snapshot.at);
            report(snapshot, &start);
        }
        Ok(())
    }

    async fn send_first_and_last_job(&self, rebuild: &StartedRebuild) -> Result<(), PortError> {
        let log = rebuild.log;
        if let Some(first) = rebuild.started.first() {
            self.send_job(SnapshotJob { log, position: *first }).await?;
        }
        if let [_, .., last] = rebuild.started.as_slice() {
            self.send_job(SnapshotJob { log, position: *last }).await?;
        }
        Ok(())
    }

    /// Writes a snapshot's pending record, unless an earlier rebuild of the snapshot is active.
    async fn claim_snapshot(
        &self,
        rebuild: &StartedRebuild,
        snapshot: &SnapshotToRebuild,
    ) -> Result<RebuildStart, PortError> {
        let job = SnapshotJob { log: rebuild.log, position: snapshot.at };
        let mut last_error = PortError::temporary("other writers keep changing the pending record");
        for _ in 0..MAX_READ_ATTEMPTS {
            let existing_record = self.read_pending_record(job).await?;
            let now_s = self.now_s();
            let existing_claim =
                existing_record.as_ref().and_then(|record| claim_of(record, rebuild.run, now_s));
            if let Some(existing_claim) = existing_claim {
                return Ok(existing_claim);
            }
            let replaced_increment = existing_record.map(|record| record.increment);
            match self.put_rebuild_record(rebuild, snapshot, replaced_increment, now_s).await {
                WriteOutcome::Written => return Ok(RebuildStart::Started),
                // Retry with the record that is read next.
                WriteOutcome::Refused => {}
                WriteOutcome::Unknown(error) => last_error = error,
                WriteOutcome::Failed(error) => return Err(error),
            }
        }
        Err(last_error)
    }

    async fn put_rebuild_record(
        &self,
        rebuild: &StartedRebuild,
        snapshot: &SnapshotToRebuild,
        replaced_increment: Option<u64>,
        now_s: u64,
    ) -> WriteOutcome {
        let pending = &self.ports.pending;
        match replaced_increment {
            None => pending.create(&rebuild.new_record(snapshot, rebuild.run, now_s)).await,
            Some(replaced_increment) => {
                let increment = rebuild.run.max(replaced_increment.saturating_add(1));
                let record = rebuild.new_record(snapshot, increment, now_s);
                pending.replace(&record, replaced_increment).await
            }
        }
    }

    async fn read_pending_record(
        &self,
        job: SnapshotJob,
    ) -> Result<Option<PendingSnapshot>, PortError> {
        let pending = &self.ports.pending;
        let first_record = match last_position_before(job.position) {
            None => self.retried(|| pending.first_up_to(job)).await?,
            Some(previous_position) => {
                let previous_job = SnapshotJob { position: previous_position, ..job };
                self.retried(|| pending.first_after(previous_job)).await?
            }
        };
        Ok(first_record.filter(|record| record.job == job))
    }
}

impl RebuildPlan {
    fn empty(log: LogId) -> Self {
        let counts = SurveyCounts::default();
        Self { log, counts, snapshots: Vec::new(), offloaded: Vec::new() }
    }

    fn add_entry(
        &mut self,
        entry: &Entry,
        is_offloaded: bool,
        pending_state: Option<&PendingState>,
    ) {
        self.counts.entries += 1;
        let Content::Snapshot { root, .. } = &entry.content else { return };
        self.counts.snapshots += 1;
        let position = entry.position;
        if is_offloaded {
            if root.is_some() {
                self.offloaded.push(position);
            }
            return;
        }
        let is_empty_first_snapshot = position == Position::FIRST && root.is_none();
        if is_empty_first_snapshot {
            return;
        }
        let active_rebuild = pending_state.filter(|state| state.is_active_rebuild());
        self.snapshots.push(SnapshotToRebuild {
            at: position,
            root: root.clone(),
            active_silent_s: active_rebuild.map(|state| state.silent_s),
        });
    }
}

/// Returns [`RebuildStart::Started`] if the rebuild `run` already owns the pending record, and
/// [`RebuildStart::InProgress`] if another active rebuild owns it. Returns `None` if the record may
/// be replaced.
fn claim_of(record: &PendingSnapshot, run: u64, now_s: u64) -> Option<RebuildStart> {
    let is_of_this_run = record.rebuild.as_ref().is_some_and(|rebuild| rebuild.run == run);
    if is_of_this_run {
        return Some(RebuildStart::Started);
    }
    let silent_s = now_s.abs_diff(record.modified_s);
    let state = PendingState { silent_s, is_rebuild: record.rebuild.is_some() };
    if state.is_active_rebuild() { Some(RebuildStart::InProgress) } else { None }
}

/// Returns the greatest possible position before `position`, even if there is no entry.
fn last_position_before(position: Position) -> Option<Position> {
    if let Some(previous_number) = position.entry_number().checked_sub(1) {
        return Position::new(position.segment(), previous_number).ok();
    }
    let previous_segment = position.segment().checked_sub(1)?;
    Position::new(previous_segment, u32::MAX).ok()
}
