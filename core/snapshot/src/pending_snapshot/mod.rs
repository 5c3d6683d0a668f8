//! Pending snapshots: who builds which snapshot, how far the work is, and how a worker handles a
//! job.
//!
//! [`Worker`] makes all decisions, as a pure state machine: it returns the next [`SnapshotAction`]
//! and receives its result as a [`SnapshotEvent`]. There may be many workers. Workers may die,
//! freeze and wake up again; messages may be duplicated, late, out of order or lost.
//!
//! Each safety rule ([`SafetyRule`]) has a test that fails without the rule:
//! - *Own increment*: a record is only replaced by a worker that has read its last state. A worker that lost
//!   its claim cannot overwrite new progress with old progress.
//! - *Completion is checked*: a worker that claims a record reads consistently whether the snapshot is
//!   finished, so that a late message does not build the snapshot again.
//! - *Losers keep their message*: a worker that loses a claim waits and later checks that the winner has
//! finished. The same message may have been delivered to both. If the loser deleted the message, no
//! worker would take over from a winner that dies.
//! - *Root before last*: `L`, the segment's last snapshot, is raised only after the root is set in the entry,
//!   so that a reader of `L` always finds a root.
//! - *Last before delete*: the record is deleted only after `L` shows that the snapshot exists. Otherwise its
//!   progress would be lost.
//! - *Abandoned is woken*: a worker that waits for a record without recent writes resends that record's
//!   message, which may have been lost.
//!
//! A finished snapshot can be rebuilt ([`Rebuild`]): its record says so and names the root to
//! replace. Only an operator writes such a record, and it exists until the work is done. The
//! message format does not change: a worker does what the record says. Two guarantees of the tables
//! protect rebuilds from workers that freeze and wake up late; each has a test that fails without
//! the guarantee:
//! - *Old root*: a root is replaced only if the entry still has the root that the record names. If the entry
//! has another root, the worker first writes that root into the record. A worker that has lost the
//! record notices the loss at this point.
//! - *Own record*: a record is deleted only by a worker of the same rebuild, or of no rebuild if the record is
//!   not part of one.

mod rules;
#[cfg(test)]
mod tests;
mod worker;

pub use rules::{Rules, SafetyRule};
pub use worker::Worker;

use crate::snapshot_job::SnapshotJob;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

/// A record of the PendingSnapshots table: a snapshot that was started and is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PendingSnapshot {
    /// Identifies the log and the Snapshot entry.
    pub job: SnapshotJob,
    /// Time at which the work started, in Unix seconds.
    pub created_s: u64,
    /// Time of the last write of this record, in Unix seconds. Shows whether its worker is alive.
    pub modified_s: u64,
    /// Whether a worker holds the record.
    pub active: bool,
    /// Incremented with each write of the record.
    pub increment: u64,
    /// Progress of the builder, at most `MAX_PROGRESS_BYTES`; empty at first. Only the builder
    /// interprets it.
    pub progress: Vec<u8>,
    /// Set if this job rebuilds an existing snapshot.
    pub rebuild: Option<Rebuild>,
}

/// A request to rebuild a snapshot, whether or not the snapshot is finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rebuild {
    /// Identifies the rebuild: Unix milliseconds at which an operator requested it. Also the first
    /// increment of its records, so that no worker of an earlier record has read the same
    /// increment.
    pub run: u64,
    /// S3 key of the root that the entry had at that time, if any. Only this root may be replaced.
    pub replaces: Option<String>,
}

/// The next action of a worker's driver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SnapshotAction {
    /// Read the first pending record of the log at or before the job's position. The read is
    /// strongly consistent.
    FindFirst,
    /// Read the Segment record of the job's segment.
    ReadSegment {
        /// Whether the read must be strongly consistent.
        consistent: bool,
    },
    /// Write this record if none exists.
    Create(PendingSnapshot),
    /// Replace the record that has this increment.
    Replace {
        /// New record.
        record: PendingSnapshot,
        /// Increment that the existing record must have. `None` accepts any increment; only the
        /// model checker uses that.
        increment: Option<u64>,
    },
    /// Perform one bounded piece of the snapshot's work.
    Build {
        /// Progress to resume from.
        progress: Vec<u8>,
    },
    /// Set the root of the Snapshot entry, unless the entry has one.
    SetRoot {
        /// S3 key of the root.
        root: String,
    },
    /// Set the root of the Snapshot entry if the entry has the expected root.
    ReplaceRoot {
        /// S3 key of the expected root; `None` if the entry must have no root.
        replaces: Option<String>,
        /// S3 key of the new root.
        root: String,
    },
    /// Raise `L`, the last snapshot of the job's segment, to the job's entry, unless `L` is higher
    /// already.
    RaiseLast,
    /// Delete the job's record if it exists and belongs to this rebuild.
    Delete {
        /// Id of the rebuild; `None` deletes only a record that belongs to no rebuild.
        run: Option<u64>,
    },
    /// Read the first pending record of the log after the job's position.
    FindNext,
    /// Send a message for the snapshot at this position of the log.
    Enqueue(Position),
    /// Stop, and handle the job's message accordingly.
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
    /// The record was not written, because another worker wrote it first.
    Refused,
    /// The record may or may not have been written. The worker does not retry; the next worker
    /// reads the record.
    Unknown,
    /// A piece of the work is finished; this is the new progress.
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
    /// The root was not replaced, because the entry has another root than expected.
    OtherRoot {
        /// S3 key of the entry's root.
        current_root: String,
    },
    /// The entry was trimmed from the table, so its root cannot be replaced.
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
    /// Deliver the message again immediately: another invocation continues.
    HandOver,
    /// The work failed: deliver the message again after a delay.
    Failed {
        /// Delay in seconds.
        wait_s: u32,
    },
}

/// The current time, passed in.
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
