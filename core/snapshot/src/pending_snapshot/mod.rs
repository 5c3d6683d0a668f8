//! Pending snapshots: who works on which, how far it is, and what a worker does with a job.
//!
//! [`Worker`] is the whole decision, a pure state machine like that of an append: it says what to do
//! next ([`SnapshotAction`]) and is told what came of it ([`SnapshotEvent`]). Workers may be many, die, freeze and
//! wake up again; messages may come twice, late, out of order or not at all.
//!
//! Safety rules, each of which has a test that fails without it ([`SafetyRule`]):
//! - *Own increment*: a record is only replaced by who has seen its last state, so that a worker
//!   which lost its claim cannot put old progress over a new one.
//! - *Done is looked up*: whoever has just got a record reads consistently whether its snapshot is
//!   finished, so that a late message does not make it again.
//! - *Losers keep their message*: who loses a claim waits, and comes back to see that the winner has
//!   finished. The same message may have been given twice: if the loser deleted it, nobody would
//!   take over from a winner that dies.
//! - *Root before last*: `L` is raised when the root stands in its entry, so that who finds `L` finds
//!   a root.
//! - *Last before delete*: the record goes when `L` says that the snapshot is there; before that, its
//!   progress would be lost.
//! - *Abandoned is woken*: who waits for a record that nobody has touched for long sends its message
//!   again, which may be lost.
//!
//! A snapshot that is finished can be made anew ([`Rebuild`]): its record says so, and which root is to
//! be replaced. Only an operator writes such a record, and it stands until the work is done: so a
//! message stays what it was, and whoever gets one does what the record says. Two promises of the
//! tables keep this safe from workers that freeze and wake up late, and have tests that fail without
//! them:
//! - *Old root*: a root is replaced only where the one stands that the record names. Where another does,
//!   its worker writes that one into the record first: who has lost the record learns it there.
//! - *Own record*: a record is deleted only by who worked on the same rebuild, or on none.

mod rules;
#[cfg(test)]
mod tests;
mod worker;

pub use rules::{Rules, SafetyRule};
pub use worker::Worker;

use crate::snapshot_job::SnapshotJob;
use cellar_base::position::Position;
use cellar_log::segment::Segment;

/// One record of the PendingSnapshots table: a snapshot that was begun and is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PendingSnapshot {
    /// Which snapshot of which log.
    pub job: SnapshotJob,
    /// When its work began, Unix seconds.
    pub created_s: u64,
    /// When this record was last written, Unix seconds: the last sign of life of its worker.
    pub modified_s: u64,
    /// Whether a worker is on it.
    pub active: bool,
    /// Rises with each write of the record.
    pub increment: u64,
    /// Where to go on, at most `MAX_PROGRESS_BYTES`; empty at first. Only the builder reads it.
    pub progress: Vec<u8>,
    /// Whether it makes anew what there may be already.
    pub rebuild: Option<Rebuild>,
}

/// That a snapshot is to be made anew, whether or not it is finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rebuild {
    /// Which rebuild this is: Unix milliseconds at which an operator asked for it. Its records begin
    /// with it as their increment, so that no worker on an earlier record has ever seen theirs.
    pub run: u64,
    /// Key of the root that stood then, if there was one: only this one is replaced.
    pub replaces: Option<String>,
}

/// What the driver is to do next.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SnapshotAction {
    /// Read the first pending record of the log up to the job's position, consistently.
    FindFirst,
    /// Read the record of the job's segment.
    ReadSegment {
        /// Whether the read must see every acknowledged write.
        consistent: bool,
    },
    /// Write this record if there is none.
    Create(PendingSnapshot),
    /// Write this record over the one with that increment.
    Replace {
        /// The record.
        record: PendingSnapshot,
        /// What stands there, if nobody else was faster; any, for the model checker only.
        increment: Option<u64>,
    },
    /// Do one bounded piece of the snapshot's work.
    Build {
        /// Where to go on.
        progress: Vec<u8>,
    },
    /// Set the root of the job's entry, unless it has one.
    SetRoot {
        /// Key of the root object.
        root: String,
    },
    /// Set the root of the job's entry if this one stands there.
    ReplaceRoot {
        /// Key of the root object that stood there; none if there was none.
        replaces: Option<String>,
        /// Key of the root object.
        root: String,
    },
    /// Raise `L` of the job's segment to the job's entry, unless it is higher.
    RaiseLast,
    /// Delete the job's record, if it is there and of this rebuild.
    Delete {
        /// The rebuild; none: only if the record is of none.
        run: Option<u64>,
    },
    /// Read the first pending record of the log behind the job's position.
    FindNext,
    /// Send a message for the snapshot at this position of the log.
    Enqueue(Position),
    /// The end.
    Finish(SnapshotOutcome),
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotEvent {
    /// The record that was looked for, if there is one.
    Found(Option<PendingSnapshot>),
    /// The job's segment, if there is one.
    Segment(Option<Segment>),
    /// A record was written.
    Written,
    /// A record was not written: another was faster.
    Refused,
    /// A record was written or not. Nothing is tried again: what came of it is seen next time.
    Unknown,
    /// A piece of the work is done, here is where to go on.
    Progress(Vec<u8>),
    /// An earlier Snapshot entry of the log has no snapshot yet.
    EarlierSnapshot(Position),
    /// The work is done and this is the root object.
    Built {
        /// Its key.
        root: String,
    },
    /// What was to be done is done.
    Done,
    /// The root that was to be replaced is not the one that stands there.
    OtherRoot {
        /// Key of the root object that does.
        stands: String,
    },
    /// The entry whose root was to be replaced is not in the table any more: it was trimmed.
    EntryGone,
    /// The store or the builder failed, for now or until somebody mends it.
    Failed {
        /// Whether trying again may help.
        temporary: bool,
    },
}

/// What becomes of the job's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SnapshotOutcome {
    /// The snapshot is made: delete the message.
    Done,
    /// There is nothing to do: delete the message.
    Drop,
    /// Show the message again after a while.
    Wait {
        /// After so many seconds.
        wait_s: u32,
    },
    /// Show the message at once: another function goes on.
    HandOver,
    /// It failed; show the message again after a while.
    Failed {
        /// After so many seconds.
        wait_s: u32,
    },
}

/// The time, passed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Now, Unix milliseconds.
    pub now_ms: u64,
}

/// Whether a log's segment has a finished snapshot at `position` or behind it.
#[must_use]
pub fn is_finished(segment: &Segment, position: Position) -> bool {
    segment.num == position.segment() && segment.last_snapshot >= Some(position.num())
}
