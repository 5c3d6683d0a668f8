//! Has every snapshot of a log made anew, from its first entry on.
//!
//! Each Snapshot entry in the table gets a record that says so, the oldest first: from then on its
//! worker, and every worker on a later snapshot, waits for its turn by that record alone. The first is
//! made of the log's entries, each later one on the one before it. Those records are all there is to
//! it, so that a crash leaves a part of the log's snapshots as they were, and the rest to be made.
//!
//! Two messages are enough: who finishes wakes the next, and the last one's message comes back again
//! and again until it is its turn, and wakes whom others have lost.

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_READ_ATTEMPTS;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_log::segment::Segment;
use cellar_snapshot::pending_snapshot::{PendingSnapshot, Rebuild};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::survey::Pending;
use super::walk::{PageRead, Walk};
use super::{Found, Reprocess, Seen};
use crate::ports::{PortError, WriteOutcome};
use crate::snapshots::LevelsBuilder;

/// A snapshot that is to be made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToRebuild {
    /// Where its entry stands.
    pub at: Position,
    /// The key of its root so far; none if it was never made.
    pub root: Option<String>,
    /// If an earlier rebuild is on it: seconds since that one's last sign of life.
    pub under_way_s: Option<u64>,
}

/// What a rebuild of a log takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuildPlan {
    /// The log.
    pub log: LogId,
    /// What was read.
    pub seen: Seen,
    /// The snapshots, the oldest first.
    pub snapshots: Vec<ToRebuild>,
    /// Snapshot entries with a root that are in an offloaded segment, where it cannot be replaced: reads at
    /// positions before the first of the others may lack objects.
    pub offloaded: Vec<Position>,
}

/// Why a log is not rebuilt; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildRefusal {
    /// There is no such log.
    #[error("there is no spreadsheet {log}")]
    NoLog {
        /// The log.
        log: LogId,
    },
    /// The log itself is not whole.
    #[error("the log of {log} cannot be read from {at} on: {why}")]
    Unreadable {
        /// The log.
        log: LogId,
        /// From where on.
        at: Position,
        /// Why.
        why: String,
    },
    /// The body of a large entry is gone.
    #[error("the body {key} of the entry {at} of {log} is gone: restore it from its older version")]
    BodyLost {
        /// The log.
        log: LogId,
        /// The entry.
        at: Position,
        /// The object's key.
        key: String,
    },
    /// A service does not answer or refuses.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
}

/// What became of one snapshot of a rebuild.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// Its record says that it is to be made anew.
    Begun,
    /// An earlier rebuild is on it, and goes on.
    UnderWay,
}

impl Reprocess {
    /// Looks at all of a log: it must be whole, or nothing can be made of it.
    ///
    /// # Errors
    /// [`RebuildRefusal`].
    pub async fn plan_rebuild(&self, log: LogId) -> Result<RebuildPlan, RebuildRefusal> {
        let segments = self.segments_of(log).await?;
        if segments.is_empty() {
            return Err(RebuildRefusal::NoLog { log });
        }
        let seen = Seen { logs: 1, ..Seen::default() };
        let (snapshots, offloaded) = (Vec::new(), Vec::new());
        let mut plan = RebuildPlan { log, seen, snapshots, offloaded };
        self.read_into(&mut plan, &segments, Position::FIRST).await?;
        Ok(plan)
    }

    /// Adds what stands from a position on.
    async fn read_into(
        &self,
        plan: &mut RebuildPlan,
        segments: &[Segment],
        from: Position,
    ) -> Result<(), RebuildRefusal> {
        let (log, pending) = (plan.log, self.pending_of(plan.log).await?);
        plan.seen.pending = u64::try_from(pending.len()).unwrap_or(u64::MAX);
        for (index, segment) in segments.iter().enumerate() {
            let Ok(start) = Position::new(segment.num, 0).map(|start| start.max(from)) else {
                continue;
            };
            if start.segment() != segment.num {
                continue;
            }
            plan.seen.segments += 1;
            let newest = segments.len() == index.saturating_add(1);
            let mut walk = Walk::new(self, segment, newest, start);
            loop {
                let page = match walk.page().await? {
                    PageRead::Page(page) => page,
                    PageRead::Unreadable { at, why } => {
                        return Err(RebuildRefusal::Unreadable { log, at, why });
                    }
                    PageRead::End => break,
                };
                for entry in &page.entries {
                    self.check_body(entry, &mut plan.seen).await?;
                    plan.add(entry, page.offloaded, pending.get(&entry.position));
                }
            }
        }
        Ok(())
    }

    async fn check_body(&self, entry: &Entry, seen: &mut Seen) -> Result<(), RebuildRefusal> {
        let Content::External(external) = &entry.content else { return Ok(()) };
        seen.bodies += 1;
        match self.body(&external.object).await? {
            Some(Found::BodyLost { key }) => {
                Err(RebuildRefusal::BodyLost { log: entry.log, at: entry.position, key })
            }
            _ => Ok(()),
        }
    }

    /// Begins it: `each` is told of each snapshot, the oldest first, and the jobs are sent. Those that
    /// came behind the last one since it was planned are made anew, too: their workers may have begun
    /// on what is lost.
    ///
    /// # Errors
    /// [`RebuildRefusal`]; repeat it later. What was begun until then is made all the same, as soon as
    /// its job is sent by a repetition, or by any reprocessing.
    pub async fn begin_rebuild(
        &self,
        plan: &RebuildPlan,
        mut each: impl FnMut(&ToRebuild, &Begun),
    ) -> Result<(), RebuildRefusal> {
        let (log, run) = (plan.log, self.ports.clock.now_ms());
        let (mut behind, mut begun) = (None, Vec::new());
        let mut begin = async |snapshots: &[ToRebuild]| {
            for snapshot in snapshots {
                let done = self.record(log, run, snapshot, behind).await?;
                if done == Begun::Begun {
                    begun.push(snapshot.at);
                }
                behind = Some(snapshot.at);
                each(snapshot, &done);
            }
            Ok::<(), PortError>(())
        };
        begin(&plan.snapshots).await?;
        let last = plan.snapshots.last().map_or(Position::FIRST, |last| last.at);
        if let Some(from) = last.next_in_segment() {
            let (snapshots, offloaded) = (Vec::new(), Vec::new());
            let mut later = RebuildPlan { log, seen: Seen::default(), snapshots, offloaded };
            self.read_into(&mut later, &self.segments_of(log).await?, from).await?;
            begin(&later.snapshots).await?;
        }
        if let Some(first) = begun.first() {
            self.send(SnapshotJob { log, position: *first }).await?;
        }
        if let [_, .., last] = begun.as_slice() {
            self.send(SnapshotJob { log, position: *last }).await?;
        }
        Ok(())
    }

    /// Writes the record of one snapshot, unless an earlier rebuild is on it.
    async fn record(
        &self,
        log: LogId,
        run: u64,
        snapshot: &ToRebuild,
        behind: Option<Position>,
    ) -> Result<Begun, PortError> {
        let (pending, job) = (&self.ports.pending, SnapshotJob { log, position: snapshot.at });
        let mut unknown = PortError::temporary("others write its record again and again");
        for _ in 0..MAX_READ_ATTEMPTS {
            let there = self.record_at(job).await?;
            let own = there.as_ref().and_then(|there| there.rebuild.as_ref());
            if own.is_some_and(|own| own.run == run) {
                return Ok(Begun::Begun);
            }
            let now_s = self.now_s();
            let seen = there.as_ref().map(|there| {
                let silent_s = now_s.abs_diff(there.modified_s);
                (there.increment, Pending { silent_s, anew: there.rebuild.is_some() })
            });
            let increment = seen.map(|(increment, _)| increment);
            if seen.is_some_and(|(_, pending)| pending.anew && pending.is_alive()) {
                return Ok(Begun::UnderWay);
            }
            let record = PendingSnapshot {
                job,
                created_s: now_s,
                modified_s: now_s,
                active: false,
                increment: run.max(increment.map_or(0, |increment| increment.saturating_add(1))),
                progress: LevelsBuilder::rebuild_progress(behind),
                rebuild: Some(Rebuild { run, replaces: snapshot.root.clone() }),
            };
            let written = match increment {
                None => pending.create(&record).await,
                Some(increment) => pending.replace(&record, increment).await,
            };
            match written {
                WriteOutcome::Written => return Ok(Begun::Begun),
                // It is seen what came of it.
                WriteOutcome::Refused => {}
                WriteOutcome::Unknown(error) => unknown = error,
                WriteOutcome::Failed(error) => return Err(error),
            }
        }
        Err(unknown)
    }

    async fn record_at(&self, job: SnapshotJob) -> Result<Option<PendingSnapshot>, PortError> {
        let pending = &self.ports.pending;
        let found = match before(job.position) {
            None => self.retried(|| pending.first_up_to(job)).await?,
            Some(position) => {
                let before = SnapshotJob { position, ..job };
                self.retried(|| pending.first_after(before)).await?
            }
        };
        Ok(found.filter(|found| found.job == job))
    }
}

impl RebuildPlan {
    fn add(&mut self, entry: &Entry, offloaded: bool, pending: Option<&Pending>) {
        self.seen.entries += 1;
        let Content::Snapshot { root, .. } = &entry.content else { return };
        self.seen.snapshots += 1;
        let (at, root) = (entry.position, root.clone());
        match offloaded {
            true if root.is_some() => self.offloaded.push(at),
            true => {}
            // There is nothing in a log's first entry: it is made if it was.
            false if at == Position::FIRST && root.is_none() => {}
            false => {
                let alive = pending.filter(|pending| pending.anew && pending.is_alive());
                let under_way_s = alive.map(|pending| pending.silent_s);
                self.snapshots.push(ToRebuild { at, root, under_way_s });
            }
        }
    }
}

/// The last position that an entry could have before this one.
fn before(position: Position) -> Option<Position> {
    let (segment, num) = match position.num().checked_sub(1) {
        Some(num) => (position.segment(), num),
        None => (position.segment().checked_sub(1)?, u32::MAX),
    };
    Position::new(segment, num).ok()
}
