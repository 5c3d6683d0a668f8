//! Finds snapshots and external bodies that the relay or workers have lost, and repairs them. An
//! operator may run it at any time and repeatedly, while appends and workers continue.
//!
//! A survey reads the tables of a log and reports each [`Finding`]. A repair sends the job of a
//! snapshot again, or removes the pending tag of an external body. The repair itself builds
//! nothing: the worker that receives the job decides whether work is needed, and drops a
//! superfluous job.
//!
//! - A Snapshot entry without a root is built if it is after the last finished snapshot of its
//!   segment. An earlier Snapshot entry without a root is skipped: a worker would drop its job, and
//!   reads do not need it, because every read starts from a finished snapshot and folds the entries
//!   after it. A rebuild builds the snapshots of all Snapshot entries.
//! - The first entry of a log needs no snapshot, because the state at that entry is empty.
//! - If a pending record was not written for `ABANDONED_S` seconds, its job is sent again, even if
//!   its entry has a root. Otherwise the record would block all later snapshots.
//!
//! A rebuild ([`Reprocess::plan_rebuild`]) builds every snapshot of one log from its entries. It
//! succeeds even if all objects under the bucket's `sheets/` prefix are lost.

mod rebuild;
mod repair;
mod survey;
#[cfg(test)]
mod tests;
mod walk;

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

pub use rebuild::{RebuildPlan, RebuildRefusal, RebuildStart, SnapshotToRebuild};
pub use repair::RepairOutcome;

use crate::ports::{Blobs, Clock, Entries, Jobs, PendingSnapshots, PortError, Retention, Segments};
use crate::retry::retried;

#[derive(Clone)]
pub struct ReprocessPorts {
    pub entries: Arc<dyn Entries>,
    pub segments: Arc<dyn Segments>,
    /// Lists the segments of all logs.
    pub retention: Arc<dyn Retention>,
    pub pending: Arc<dyn PendingSnapshots>,
    pub blobs: Arc<dyn Blobs>,
    pub jobs: Arc<dyn Jobs>,
    pub clock: Arc<dyn Clock>,
}

/// The logs and entries that a survey covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    /// A single log; `None` for all logs.
    pub log: Option<LogId>,
    /// Earliest creation time of the entries to survey, in Unix seconds according to their writers'
    /// clocks. Pending records are surveyed regardless of their age.
    pub since_s: u64,
}

/// Numbers of entries and other records that a survey read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SurveyCounts {
    pub logs: u64,
    /// Number of segments whose entries were read.
    pub segments: u64,
    pub entries: u64,
    /// Number of Snapshot entries.
    pub snapshots: u64,
    /// Number of entries with an external body.
    pub bodies: u64,
    /// Number of pending records.
    pub pending: u64,
}

/// A fault or a notable state that a survey found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub log: LogId,
    pub at: Position,
    /// Kind of fault or state.
    pub kind: FindingKind,
}

/// The kinds of findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingKind {
    /// A Snapshot entry without a root whose snapshot must be built.
    NotBuilt,
    /// A Snapshot entry without a root before a finished snapshot. Reads do not need its snapshot.
    Skipped,
    /// A Snapshot entry without a root, although the segment's record states that its snapshot is
    /// finished. The log cannot be loaded until its snapshots are rebuilt. Workers never cause this
    /// state, but it can occur if tables are restored to different points in time.
    RootMissing,
    /// A Snapshot entry in a trimmed segment that has no root. Its root can no longer be set.
    Offloaded,
    /// A snapshot that a worker is building.
    InProgress {
        /// Seconds since the last write of its pending record.
        silent_s: u64,
    },
    /// A snapshot that a worker started and then abandoned.
    Abandoned {
        /// Seconds since the last write of its pending record.
        silent_s: u64,
    },
    /// An external body that still has its pending tag. Without a repair, the bucket would delete
    /// it.
    BodyPending {
        /// S3 key of the body.
        key: String,
    },
    /// An external body whose object was deleted. It can be recovered only from a noncurrent
    /// version in the bucket.
    BodyLost {
        /// S3 key of the body.
        key: String,
    },
    /// The entries from this position to the end of the segment cannot be read.
    Unreadable { why: String },
}

impl FindingKind {
    /// Returns whether [`Reprocess::repair`] can repair the finding.
    #[must_use]
    pub fn is_repairable(&self) -> bool {
        matches!(self, Self::NotBuilt | Self::Abandoned { .. } | Self::BodyPending { .. })
    }

    /// Returns whether the finding is a loss of data that [`Reprocess::repair`] cannot recover.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::RootMissing | Self::BodyLost { .. } | Self::Unreadable { .. })
    }
}

/// Surveys and repairs logs.
#[derive(Clone)]
pub struct Reprocess {
    ports: ReprocessPorts,
}

impl Reprocess {
    /// Creates a reprocessor that uses these ports.
    #[must_use]
    pub fn new(ports: ReprocessPorts) -> Self {
        Self { ports }
    }

    fn now_s(&self) -> u64 {
        self.ports.clock.now_ms() / 1_000
    }

    /// Runs an idempotent request. Repeats it for a while after temporary failures.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.ports.clock.as_ref(), call).await
    }

    /// Returns all segments that contain entries of the log itself, in ascending order. Inherited
    /// entries of a fork are surveyed with its source.
    async fn segments_of(&self, log: LogId) -> Result<Vec<Segment>, PortError> {
        let ports = &self.ports;
        let newest = self.retried(|| ports.segments.newest(log, 1, true)).await?;
        let Some(newest) = newest.into_iter().next() else { return Ok(Vec::new()) };
        let (mut segments, mut first) = (Vec::new(), 0);
        if log.may_be_fork() {
            let origin = self.retried(|| ports.segments.segment(log, 0, true)).await?;
            let lineage = origin.and_then(|origin| origin.lineage);
            first = lineage.map_or(0, |lineage| lineage.position.segment().saturating_add(1));
        }
        for num in first..newest.num {
            let segment = self.retried(|| ports.segments.segment(log, num, true)).await?;
            let missing = || PortError::permanent(format!("segment {num} of {log} has no record"));
            segments.push(segment.ok_or_else(missing)?);
        }
        segments.push(newest);
        Ok(segments)
    }
}
