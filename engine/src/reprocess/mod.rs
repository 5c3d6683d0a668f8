//! Finds what was lost on the way from an entry to its snapshot, and has it done: run by an operator, at any time, any number of times, also while others
//! append and workers work.
//!
//! A survey reads the log's tables and says what it finds ([`Finding`]); carrying out sends the job of
//! a snapshot again, or removes the tag of a body. Neither makes anything itself: what a message means
//! is decided by the worker that gets it, so that one too many is dropped.
//!
//! - A Snapshot entry without a root is made if it is behind the last finished snapshot of its segment.
//!   One before that is passed over: the worker would drop its job, and nobody needs it, as every read
//!   begins from a finished snapshot and goes on with the entries behind. A rebuild makes it, too.
//! - The first entry of a log needs no snapshot: there is nothing in it.
//! - A pending record that nobody has touched for `ABANDONED_S` gets another message, whatever its
//!   entry says: it holds up all that follow.
//!
//! A rebuild ([`Reprocess::plan_rebuild`]) makes every snapshot of one log anew from its entries: all
//! of the bucket's `sheets/` may be lost.

mod mend;
mod rebuild;
mod survey;
#[cfg(test)]
mod tests;
mod walk;

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

pub use mend::Mended;
pub use rebuild::{Begun, RebuildPlan, RebuildRefusal, ToRebuild};

use crate::ports::{Blobs, Clock, Entries, Jobs, PendingSnapshots, PortError, Retention, Segments};
use crate::retry::retried;

/// What it needs of the world.
#[derive(Clone)]
pub struct ReprocessPorts {
    /// The Entry table.
    pub entries: Arc<dyn Entries>,
    /// The Segment table.
    pub segments: Arc<dyn Segments>,
    /// The list of all logs' segments.
    pub retention: Arc<dyn Retention>,
    /// The PendingSnapshots table.
    pub pending: Arc<dyn PendingSnapshots>,
    /// The bucket.
    pub blobs: Arc<dyn Blobs>,
    /// The queue of snapshot jobs.
    pub jobs: Arc<dyn Jobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    /// One log; all if none.
    pub log: Option<LogId>,
    /// Entries made since then, Unix seconds, by the clocks of their writers. Pending records are
    /// looked at whatever their age.
    pub since_s: u64,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Logs.
    pub logs: u64,
    /// Segments whose entries were read.
    pub segments: u64,
    /// Entries.
    pub entries: u64,
    /// Snapshot entries among them.
    pub snapshots: u64,
    /// Large entries among them, each with a body of its own in the bucket.
    pub bodies: u64,
    /// Records of pending snapshots.
    pub pending: u64,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// In which log.
    pub log: LogId,
    /// At which entry.
    pub at: Position,
    /// What it is.
    pub found: Found,
}

/// What can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A Snapshot entry without a root, which is to be made.
    NotMade,
    /// A Snapshot entry without a root before a finished snapshot: nobody needs it.
    PassedOver,
    /// A Snapshot entry without a root that its segment names as finished: nobody can load the log until
    /// it is rebuilt. No worker leaves this behind, but tables that were restored to different times do.
    RootMissing,
    /// A Snapshot entry without a root that was trimmed: its root could not be set.
    Offloaded,
    /// A snapshot that a worker was on this many seconds ago.
    UnderWay {
        /// Seconds since its last sign of life.
        silent_s: u64,
    },
    /// A snapshot that was begun, and that nobody has been on for long.
    Abandoned {
        /// Seconds since its last sign of life.
        silent_s: u64,
    },
    /// The body of a large entry that would disappear by itself.
    BodyPending {
        /// The object's key.
        key: String,
    },
    /// The body of a large entry that is gone: only the bucket's older versions may have it.
    BodyLost {
        /// The object's key.
        key: String,
    },
    /// Nothing can be read from here on to the end of the segment.
    Unreadable {
        /// Why.
        why: String,
    },
}

impl Found {
    /// Whether something is done about it.
    #[must_use]
    pub fn is_due(&self) -> bool {
        matches!(self, Self::NotMade | Self::Abandoned { .. } | Self::BodyPending { .. })
    }

    /// Whether something is wrong that sending messages does not mend.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::RootMissing | Self::BodyLost { .. } | Self::Unreadable { .. })
    }
}

/// Reprocessing over the ports.
#[derive(Clone)]
pub struct Reprocess {
    ports: ReprocessPorts,
}

impl Reprocess {
    /// Over these ports.
    #[must_use]
    pub fn new(ports: ReprocessPorts) -> Self {
        Self { ports }
    }

    fn now_s(&self) -> u64 {
        self.ports.clock.now_ms() / 1_000
    }

    /// Repeats what failed for a while: all of it is idempotent.
    async fn retried<T, F>(&self, call: impl Fn() -> F) -> Result<T, PortError>
    where
        F: Future<Output = Result<T, PortError>>,
    {
        retried(self.ports.clock.as_ref(), call).await
    }

    /// All segments of one log that have entries of its own, in ascending order: what a fork inherits
    /// is looked at where it stands.
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
            let gone = || PortError::permanent(format!("segment {num} of {log} has no record"));
            segments.push(segment.ok_or_else(gone)?);
        }
        segments.push(newest);
        Ok(segments)
    }
}
