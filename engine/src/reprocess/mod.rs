//! Finds and repairs snapshots and external bodies that the relay or workers have lost.
//! Reprocessing may run at any time and repeatedly, while appends and workers continue.
//!
//! A survey reads a log's tables and reports each [`Finding`]. A repair resends a snapshot job or
//! removes the pending tag of an external body. The repair itself builds nothing. The worker that
//! receives the job decides whether work is needed, and drops superfluous jobs.
//!
//! - A Snapshot entry without a root is built if it is after the last finished snapshot of its
//!   segment. An earlier Snapshot entry without a root is skipped. A worker would drop its job, and
//!   reads do not need its snapshot, since every read starts from a finished snapshot and folds the
//!   entries after it. Only a rebuild builds the snapshots of all Snapshot entries.
//! - The first entry of a log needs no snapshot, since the state at that entry is empty.
//! - If a pending record was not written for `ABANDONED_S` seconds, its job is resent even if its
//!   entry has a root. If the record stayed without a job, it would block all later snapshots.
//!
//! A rebuild ([`Reprocess::plan_rebuild`]) builds every snapshot of a log from the log's entries.
//! It succeeds even if all objects under the bucket's `sheets/` prefix are lost.

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

use crate::ports::{
    Blobs, Clock, Entries, Jobs, PendingSnapshots, PortError, ReadConsistency, Retention, Segments,
};
use crate::retry::retry_temporary_errors;

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
    /// The only log to survey, or `None` for all logs.
    pub log: Option<LogId>,
    /// Entries that were created before this time are skipped. The time is in seconds since the
    /// Unix epoch, according to the clocks of the writers. Pending records are always included.
    pub since_s: u64,
}

/// Numbers of the entries and other records that a survey read.
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

/// A fault or other notable state of an entry or a pending record.
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
    /// A Snapshot entry has no root, so its snapshot must be built.
    NotBuilt,
    /// A Snapshot entry before the last finished snapshot has no root. Reads do not need the
    /// missing snapshot.
    Skipped,
    /// A Snapshot entry has no root, although the segment record states that its snapshot is
    /// finished. The log cannot be loaded until its snapshots are rebuilt. This may happen if the
    /// tables are restored to different points in time.
    RootMissing,
    /// A Snapshot entry of a trimmed segment has no root. The root can no longer be set.
    Offloaded,
    /// A snapshot that a worker is building.
    InProgress {
        /// Seconds since the pending record of the snapshot was last written.
        silent_s: u64,
    },
    /// A worker started to build a snapshot and then abandoned it.
    Abandoned {
        /// Seconds since the pending record of the snapshot was last written.
        silent_s: u64,
    },
    /// The object with the operations of a large entry still has its pending tag. It expires unless
    /// the tag is removed.
    BodyPending {
        /// S3 key of the object.
        key: String,
    },
    /// The object with the operations of a large entry was deleted. It can be recovered only from
    /// an earlier version of the object in the bucket.
    BodyLost {
        /// S3 key of the object.
        key: String,
    },
    /// The entries from this position to the end of the segment are unreadable.
    Unreadable { why: String },
}

impl FindingKind {
    /// Whether [`Reprocess::repair`] can repair this finding.
    #[must_use]
    pub fn is_repairable(&self) -> bool {
        matches!(self, Self::NotBuilt | Self::Abandoned { .. } | Self::BodyPending { .. })
    }

    /// Whether data was lost that [`Reprocess::repair`] cannot restore.
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
    /// Creates a service that surveys, repairs and rebuilds logs.
    #[must_use]
    pub fn new(ports: ReprocessPorts) -> Self {
        Self { ports }
    }

    fn now_s(&self) -> u64 {
        self.ports.clock.now_ms() / 1_000
    }

    /// Performs an idempotent request. Temporary failures are retried for a limited time.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retry_temporary_errors(self.ports.clock.as_ref(), call).await
    }

    /// Returns all segments of a log in ascending order. Segments that a fork inherits are not
    /// included. They are surveyed with its source.
    async fn segments_of(&self, log: LogId) -> Result<Vec<Segment>, PortError> {
        let newest_segments =
            self.retried(|| self.ports.segments.newest(log, 1, ReadConsistency::Strong)).await?;
        let Some(newest_segment) = newest_segments.into_iter().next() else {
            return Ok(Vec::new());
        };
        let mut segments = Vec::new();
        for segment_number in self.first_own_segment(log).await?..newest_segment.num {
            let segment = self.read_segment(log, segment_number).await?;
            segments.push(segment.ok_or_else(|| {
                PortError::permanent(format!(
                    "the record of segment {segment_number} of log {log} is missing"
                ))
            })?);
        }
        segments.push(newest_segment);
        Ok(segments)
    }

    /// Returns the number of the first segment that the log does not inherit.
    async fn first_own_segment(&self, log: LogId) -> Result<u32, PortError> {
        if !log.may_be_fork() {
            return Ok(0);
        }
        let first_segment = self.read_segment(log, 0).await?;
        let lineage = first_segment.and_then(|segment| segment.lineage);
        Ok(lineage.map_or(0, |lineage| lineage.position.segment() + 1))
    }

    async fn read_segment(
        &self,
        log: LogId,
        segment_number: u32,
    ) -> Result<Option<Segment>, PortError> {
        self.retried(|| self.ports.segments.segment(log, segment_number, ReadConsistency::Strong))
            .await
    }
}
