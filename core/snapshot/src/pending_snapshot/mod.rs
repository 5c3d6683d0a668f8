//! Pending snapshots: assignment to workers, progress, and handling of job messages.
//!
//! [`Worker`] is a pure state machine that makes all decisions. It returns the next
//! [`SnapshotAction`] and receives the result as a [`SnapshotEvent`]. Any number of workers may run
//! concurrently, and each worker may stop forever, or freeze and resume. Messages may be
//! duplicated, delayed, reordered or lost.
//!
//! A worker claims a snapshot by a conditional write to the snapshot's record. Each safety rule
//! ([`SafetyRule`]) has a test that fails if the rule is disabled:
//!
//! - *Own increment*: a record is replaced only by a worker that has read the record's current
//!   version. A worker that lost its claim therefore cannot overwrite newer progress with older
//!   progress.
//! - *Completion is checked*: after claiming a record, a worker checks with a strongly
//!   consistent read whether the snapshot is already finished. A late message therefore does
//!   not rebuild a finished snapshot.
//! - *Losers keep their message*: a worker that loses a claim waits, and later checks that the
//!   winner has finished. The same message may have been delivered to both workers: if the
//!   loser deleted the message and the winner died, no worker would continue the work.
//! - *Root before last*: `L`, the last finished snapshot of the segment, is raised only after
//!   the entry has its root, so that a reader of `L` always finds a root.
//! - *Last before delete*: the record is deleted only after `L` shows that the snapshot exists. If
//!   the record were deleted first and the worker then stopped, the progress would be lost.
//! - *Abandoned is woken*: a worker that waits for a record without recent writes resends the
//!   message of that record, because the message may have been lost.
//!
//! A finished snapshot can be rebuilt. The record of a rebuild job contains a [`Rebuild`], which
//! specifies the root to replace. Only an operator creates such a record, which exists until the
//! rebuild is finished. The message of a rebuild job is the same as for any other job; the record
//! determines the work.
//!
//! Two table guarantees protect a rebuild from workers that freeze and resume late. Each guarantee
//! has a test that fails without it:
//!
//! - *Old root*: a root is replaced only if the entry still has the root that the record
//!   specifies. If the entry has another root, the worker first writes that root into the
//!   record. This write fails if the worker has lost the record.
//! - *Own record*: a worker of a rebuild deletes only a record of the same rebuild. Any other
//!   worker deletes only a record that does not belong to a rebuild.

mod phase;
mod rules;
#[cfg(test)]
mod tests;
mod worker;

pub use rules::{Rules, SafetyRule};
pub use worker::Worker;

use crate::snapshot_job::SnapshotJob;
use cellar_base::consistency::ReadConsistency;
use cellar_base::position::Position;
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_base::variant_names;
use cellar_log::segment::Segment;

/// A record of the PendingSnapshots table. It represents a snapshot whose work has started but not
/// finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PendingSnapshot {
    /// The snapshot job, which specifies the log and the position of the Snapshot entry.
    pub job: SnapshotJob,
    /// Start time of the work, in seconds since the Unix epoch.
    pub created_s: u64,
    /// Time of the last write to this record, in seconds since the Unix epoch. A recent write shows
    /// that the worker is alive.
    pub modified_s: u64,
    /// Whether a worker has claimed the record.
    pub active: bool,
    /// Version number of the record, which each write increments.
    pub increment: u64,
    /// Progress of the snapshot builder. It is initially empty and has at most
    /// `MAX_PROGRESS_BYTES`. Only the builder interprets its contents.
    pub progress: Vec<u8>,
    /// Set if this job rebuilds an existing snapshot.
    pub rebuild: Option<Rebuild>,
}

/// Request to rebuild a snapshot, even if the snapshot is already finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rebuild {
    /// Rebuild id, which is the time of the operator's request in milliseconds since the Unix
    /// epoch. It is also the first version number of the rebuild's records, so that they differ
    /// from the version numbers of all earlier records.
    pub run: u64,
    /// S3 key of the root that the entry had when the rebuild was requested, if any. The rebuild
    /// may replace only this root.
    pub replaces: Option<String>,
}

/// Action that a worker requests from its driver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SnapshotAction {
    /// Read the first pending record of the log at or before the job's position. The read must be
    /// strongly consistent.
    FindFirst,
    /// Read the job's segment from the Segment table.
    ReadSegment {
        /// Whether the read must be strongly consistent.
        consistency: ReadConsistency,
    },
    /// Create this record if it does not exist.
    Create(PendingSnapshot),
    /// Replace the existing record if its increment (version number) matches.
    Replace {
        /// New record.
        record: PendingSnapshot,
        /// Expected increment (version number) of the existing record. `None` accepts any
        /// increment, and is used only by the model checker.
        increment: Option<u64>,
    },
    /// Perform one bounded unit of work on the snapshot.
    Build {
        /// Progress to resume from.
        progress: Vec<u8>,
    },
    /// Set the root of the Snapshot entry if the entry has no root.
    SetRoot {
        /// S3 key of the root.
        root: String,
    },
    /// Replace the root of the Snapshot entry if the entry has the expected root.
    ReplaceRoot {
        /// S3 key of the expected root, or `None` if the entry must have no root.
        replaces: Option<String>,
        /// S3 key of the new root.
        root: String,
    },
    /// Raise `L`, the last finished snapshot of the job's segment, to the job's entry. Do nothing
    /// if `L` is already at or after that entry.
    RaiseLast,
    /// Delete the job's record if the record exists and belongs to this rebuild.
    Delete {
        /// Rebuild id. If `None`, only a record that belongs to no rebuild is deleted.
        run: Option<u64>,
    },
    /// Read the first pending record of the log after the job's position.
    FindNext,
    /// Send a message for the snapshot job at this log position.
    Enqueue(Position),
    /// Stop and handle the job's message according to the outcome.
    Finish(SnapshotOutcome),
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotEvent {
    /// The requested record, or `None` if it does not exist.
    Found(Option<PendingSnapshot>),
    /// The record of the job's segment, or `None` if it does not exist.
    Segment(Option<Segment>),
    /// The record was written.
    Written,
    /// The record was not written, because another worker wrote it first.
    Refused,
    /// It is unknown whether the record was written. The worker does not retry, because the next
    /// worker will read the record.
    Unknown,
    /// A unit of work is complete, and this is the new progress.
    Progress(Vec<u8>),
    /// The snapshot cannot be built yet, because the Snapshot entry at this earlier position has no
    /// root.
    EarlierSnapshot(Position),
    /// The snapshot is built.
    Built {
        /// S3 key of the root.
        root: String,
    },
    /// The action succeeded.
    Done,
    /// The root was not replaced, because the entry does not have the expected root.
    OtherRoot {
        /// S3 key of the entry's current root.
        current_root: String,
    },
    /// The root was not replaced, because the entry was trimmed (deleted from the table).
    EntryGone,
    /// A store or the builder returned an error.
    Failed {
        /// Whether the error is transient. If so, a retry may succeed.
        temporary: bool,
    },
}

variant_names!(SnapshotEvent {
    Found,
    Segment,
    Written,
    Refused,
    Unknown,
    Progress,
    EarlierSnapshot,
    Built,
    Done,
    OtherRoot,
    EntryGone,
    Failed,
});

/// Action for the job's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SnapshotOutcome {
    /// The snapshot is finished. Delete the message.
    Done,
    /// No work is needed. Delete the message.
    Drop,
    /// Redeliver the message after a delay.
    Wait {
        /// Delay in seconds.
        wait_s: u32,
    },
    /// Redeliver the message immediately, so that another invocation continues the work.
    HandOver,
    /// The work failed. Redeliver the message after a delay.
    Failed {
        /// Delay in seconds.
        wait_s: u32,
    },
    /// The event does not match the last action. Redeliver the message after a delay.
    Unexpected {
        /// The event and the phase.
        fault: UnexpectedEvent,
        /// Delay in seconds.
        wait_s: u32,
    },
}

/// Time at which the driver calls the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReading {
    /// Current time, in milliseconds since the Unix epoch.
    pub now_ms: u64,
}

/// Returns whether a segment of a log has a finished snapshot at or after `position`.
#[must_use]
pub fn is_finished(segment: &Segment, position: Position) -> bool {
    let reaches_position =
        segment.last_snapshot.is_some_and(|last_snapshot| last_snapshot >= position.entry_number());
    segment.num == position.segment() && reaches_position
}
