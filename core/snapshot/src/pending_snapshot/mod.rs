//! Pending snapshots: which worker builds which snapshot, the progress of the work, and the
//! handling of jobs.
//!
//! [`Worker`] is a pure state machine that makes all decisions. It returns the next
//! [`SnapshotAction`] and receives the result as a [`SnapshotEvent`]. There may be many workers.
//! Workers may die, or freeze and wake up again. Messages may be duplicated, late, out of order or
//! lost.
//!
//! Each safety rule ([`SafetyRule`]) has a test that fails without the rule:
//! - *Own increment*: a record is replaced only by a worker that has read its current version. A
//!   worker that lost its claim therefore cannot overwrite new progress with old progress.
//! - *Completion is checked*: a worker that claims a record checks whether the snapshot is
//!   finished, with a strongly consistent read. A late message therefore does not build the
//!   snapshot again.
//! - *Losers keep their message*: a worker that loses a claim waits, and later checks that the
//!   winner has finished. The same message may have been delivered to both workers. If the loser
//!   deleted the message and the winner died, no worker would continue the work.
//! - *Root before last*: `L`, the last finished snapshot of the segment, is raised only after the
//!   entry has its root, so that a reader of `L` always finds a root.
//! - *Last before delete*: the record is deleted only after `L` shows that the snapshot exists.
//!   Otherwise, the progress would be lost.
//! - *Abandoned is woken*: if a worker waits for a record without recent writes, it resends that
//!   record's message, which may have been lost.
//!
//! A finished snapshot can be rebuilt. The record of such a job contains a [`Rebuild`] with the
//! root to replace. Only an operator creates such a record, and the record exists until the rebuild
//! is finished. The message is the same as for any other job; the record determines the work.
//!
//! Two guarantees of the tables protect a rebuild from workers that freeze and wake up late. Each
//! has a test that fails without the guarantee:
//! - *Old root*: a root is replaced only if the entry still has the root that the record specifies.
//!   If the entry has another root, the worker first writes that root into the record. If the
//!   worker has lost the record, this write fails.
//! - *Own record*: a worker of a rebuild deletes only a record of the same rebuild. Any other
//!   worker deletes only a record that does not belong to a rebuild.

mod rules;
#[cfg(test)]
mod tests;
mod worker;

pub use rules::{Rules, SafetyRule};
pub use worker::Worker;

use crate::snapshot_job::SnapshotJob;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

/// A record of the PendingSnapshots table: a snapshot whose work has started but is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PendingSnapshot {
    /// Identifies the log and the Snapshot entry.
    pub job: SnapshotJob,
    /// Time at which the work started, in Unix seconds.
    pub created_s: u64,
    /// Time of the last write of this record, in Unix seconds. If it is recent, the worker is
    /// alive.
    pub modified_s: u64,
    /// Whether a worker has claimed the record.
    pub active: bool,
    /// Version number of the record, incremented with each write.
    pub increment: u64,
    /// Progress of the builder, at most `MAX_PROGRESS_BYTES`; initially empty. Only the builder
    /// interprets it.
    pub progress: Vec<u8>,
    /// Set if this job rebuilds an existing snapshot.
    pub rebuild: Option<Rebuild>,
}

/// A request to rebuild a snapshot, whether or not the snapshot is finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rebuild {
    /// Id of the rebuild: the time at which an operator requested it, in Unix milliseconds. It is
    /// also the first increment of the rebuild's records. The increments therefore differ from
    /// those of all earlier records.
    pub run: u64,
    /// S3 key of the root that the entry had when the rebuild was requested, if any. Only this root
    /// may be replaced.
    pub replaces: Option<String>,
}

/// The next action that a worker requests from its driver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SnapshotAction {
    /// Read the log's first pending record at or before the job's position. The read must be
    /// strongly consistent.
    FindFirst,
    /// Read the Segment record of the job's segment.
    ReadSegment {
        /// Whether the read must be strongly consistent.
        consistent: bool,
    },
    /// Write this record if no record exists.
    Create(PendingSnapshot),
    /// Replace the existing record if it has the expected increment.
    Replace {
        /// New record.
        record: PendingSnapshot,
        /// Expected increment of the existing record. `None` accepts any increment; only the model
        /// checker uses `None`.
        increment: Option<u64>,
    },
    /// Perform one bounded piece of the snapshot work.
    Build {
        /// Progress to resume from.
        progress: Vec<u8>,
    },
    /// Set the root of the Snapshot entry, unless the entry already has a root.
    SetRoot {
        /// S3 key of the root.
        root: String,
    },
    /// Replace the root of the Snapshot entry if the entry has the expected root.
    ReplaceRoot {
        /// S3 key of the expected root; `None` if the entry must have no root.
        replaces: Option<String>,
        /// S3 key of the new root.
        root: String,
    },
    /// Raise `L`, the last finished snapshot of the job's segment, to the job's entry, unless `L`
    /// is already at or after that entry.
    RaiseLast,
    /// Delete the job's record if it exists and belongs to this rebuild.
    Delete {
        /// Id of the rebuild; `None` deletes only a record that belongs to no rebuild.
        run: Option<u64>,
    },
    /// Read the log's first pending record after the job's position.
    FindNext,
    /// Send a message that requests the snapshot at this position of the log.
    Enqueue(Position),
    /// Stop, and handle the job's message according to the outcome.
    Finish(SnapshotOutcome),
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotEvent {
    /// The requested record, if it exists.
    Found(Option<PendingSnapshot>),
    /// The job's Segment record, if it exists.
    Segment(Option<Segment>),
    /// The record was written.
    Written,
    /// The record was not written because another worker wrote it first.
    Refused,
    /// It is unknown whether the record was written. The worker does not retry; the next worker
    /// reads the record.
    Unknown,
    /// A piece of work is finished. Contains the new progress.
    Progress(Vec<u8>),
    /// An earlier Snapshot entry of the log has no root yet.
    EarlierSnapshot(Position),
    /// The snapshot is built.
    Built {
        /// S3 key of the root.
        root: String,
    },
    /// The action succeeded.
    Done,
    /// The root was not replaced because the entry does not have the expected root.
    OtherRoot {
        /// S3 key of the entry's root.
        current_root: String,
    },
    /// The root was not replaced because the entry was trimmed from the table.
    EntryGone,
    /// A store or the builder failed.
    Failed {
        /// Whether a retry may help.
        temporary: bool,
    },
}

/// How to handle the job's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SnapshotOutcome {
    /// The snapshot is built: delete the message.
    Done,
    /// No work is needed: delete the message.
    Drop,
    /// Deliver the message again after a delay.
    Wait {
        /// Delay in seconds.
        wait_s: u32,
    },
    /// Deliver the message again immediately, so that another invocation continues the work.
    HandOver,
    /// The work failed: deliver the message again after a delay.
    Failed {
        /// Delay in seconds.
        wait_s: u32,
    },
}

/// A clock value that the driver passes to the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Current time, in Unix milliseconds.
    pub now_ms: u64,
}

/// Returns whether a log's segment has a finished snapshot at or after `position`.
#[must_use]
pub fn is_finished(segment: &Segment, position: Position) -> bool {
    segment.num == position.segment() && segment.last_snapshot >= Some(position.num())
}
