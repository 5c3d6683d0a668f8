//! Appends mutations to a log: exactly once, without gaps, with one write and usually no read.
//!
//! [`Append`] is a pure state machine. It returns the next [`AppendAction`] and receives the result of that action
//! as an [`AppendEvent`]. The engine's driver performs the actions; the model checker and the simulator run the same
//! machine.
//!
//! Safety rules, each with a test that fails without it:
//! - *Known-exists*: entry n+1 is put only if entry n was read, written or returned by a refused put, and is
//!   not an End Segment.
//! - *Same-key retry*: after an unknown outcome, only the same entry is put under the same key.
//! - *No skipped entry*: every entry between the base and the put is scanned for mutations of this client, so
//!   that a retry finds mutations that are already committed.
//! - *End Segment check*: no entry is put after an End Segment.
//! - *Consistent refusal*: no request is refused because of a read that may be stale.
//! - *Fresh undo*: an undo or revert is put only directly after the state on which it was resolved.
//! - *Effect*: a mutation without an effect on the state at the tail is not put as if it had one (`effect.rs`).
//! - *Bounded age*: an append older than `MAX_APPEND_AGE_S` puts no entry. Its process was frozen, and the
//!   entries that it has read may have been trimmed.

mod batch;
mod cached_tail;
pub mod commit;
pub mod effect;
mod machine;
pub mod request;
mod rules;
mod scan;
#[cfg(test)]
pub(crate) mod tests;

pub use cached_tail::CachedTail;
pub use machine::Append;
pub use request::{
    AskedImport, AskedResolution, InvalidRequest, NewMutation, Request, Resolved, Target, Upload,
};
pub use rules::{Rules, SafetyRule};

use std::sync::Arc;

use crate::entry::{Entry, Header};
use cellar_base::position::Position;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, Rejection};

/// The next action of the driver.
#[derive(Debug, Clone, PartialEq)]
pub enum AppendAction {
    /// Read one page forward, `from` inclusive, within its segment.
    Read {
        /// First position to read.
        from: Position,
        /// Whether the read must be strongly consistent.
        consistent: bool,
    },
    /// Put this entry if its key is free; otherwise return the existing entry.
    Put {
        /// The entry.
        entry: Arc<Entry>,
    },
    /// Find the number of the newest segment with a consistent read.
    FindNewestSegment,
    /// Read the workbook metadata at a position, which the known headers do not contain.
    ReadState {
        /// The position.
        at: Position,
    },
    /// Wait, then report [`AppendEvent::Waited`].
    Wait {
        /// Delay in milliseconds.
        delay_ms: u64,
    },
    /// Return this result.
    Finish(Result<Appended, Refusal>),
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum AppendEvent {
    /// The page that was read.
    Page {
        /// Entries in ascending order.
        entries: Vec<Arc<Entry>>,
        /// Whether the segment may have later entries.
        more: bool,
    },
    /// The number of the newest segment; `None` if the log has none.
    NewestSegment(Option<u32>),
    /// The requested metadata; `None` if it cannot be read.
    State(Option<Arc<WorkbookMetadata>>),
    /// A read failed.
    ReadFailed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    /// The put was accepted.
    PutAccepted,
    /// The key was taken; the put returned the existing entry.
    PutRefused {
        /// The existing entry.
        winner: Arc<Entry>,
    },
    /// The outcome of the put is unknown: timeout, 5xx, throttling, conflict or lost connection.
    PutUnknown,
    /// The put failed permanently: access denied or invalid request.
    PutFailed,
    /// The wait is over.
    Waited,
}

/// Current time and a random number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Current time in Unix seconds, stored as the creation time of the entry.
    pub now_s: u64,
    /// A new random number, for the jitter of a wait.
    pub random: u64,
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// One result per mutation of the request, in order.
    pub results: Vec<MutationResult>,
    /// The newest known position, at or after the last put.
    pub tail: Position,
    /// Header of that entry, on which the roll and snapshot policy is based.
    pub header: Header,
    /// The entries after the lowest base that other requests wrote, oldest first. The client does not
    /// have them yet.
    pub missing: Vec<Arc<Entry>>,
    /// If `missing` was truncated: the position after which the client continues reading.
    pub missing_from: Option<Position>,
}

/// The result of one mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationResult {
    /// Its id.
    pub id: u64,
    /// Its position; unknown if the client has acknowledged the mutation and its entry was not read.
    pub position: Option<Position>,
    /// Whether an earlier request committed it.
    pub duplicate: bool,
    /// The rejection, if it can never succeed.
    pub rejection: Option<Rejection>,
    /// The committed operations, if this request committed it and they differ from the authored one.
    pub committed: Option<Vec<Operation>>,
    /// Whether it has no effect, because others deleted its target after its base.
    pub no_effect: bool,
}

/// The reason why an append was refused. Committed mutations stay committed, and a retry finds them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The base is not in the log.
    #[error("base {base} is not in the log; reload the spreadsheet")]
    UnknownBase {
        /// The base.
        base: Position,
    },
    /// The entries after the base were trimmed, including those of this client.
    #[error("the entries after base {base} were trimmed; reload the spreadsheet")]
    BaseGone {
        /// The base.
        base: Position,
    },
    /// The tables were restored since the client loaded the spreadsheet.
    #[error("the tables were restored since the spreadsheet was loaded; reload it")]
    IncarnationChanged,
    /// The first mutation of the request does not follow the last committed one.
    #[error("expected mutation {expected}, got {got}; send the missing mutations first")]
    Gap {
        /// Expected id.
        expected: u64,
        /// Received id.
        got: u64,
    },
    /// A part of an uploaded batch is already committed.
    #[error("mutations up to {last_id} are already committed; upload only those after it")]
    Overlap {
        /// Last committed id.
        last_id: u64,
    },
    /// Others have edited the state on which an undo or revert was resolved: resolve it again.
    #[error("the log has grown to {newest} meanwhile; retry the unchanged request")]
    StaleResolution {
        /// Newest known edit.
        newest: Position,
    },
    /// Too many concurrent writers.
    #[error("too many concurrent writers; retry the unchanged request")]
    Contention,
    /// The outcome of the last put is unknown: retry the unchanged request.
    #[error("the outcome is unknown; retry the unchanged request")]
    OutcomeUnknown,
    /// The store failed.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// The log is damaged.
    #[error("the log is corrupt at {at}: an entry is missing where a later one exists")]
    Corrupt {
        /// Position of the missing entry.
        at: Position,
    },
    /// No position is left after the last entry.
    #[error("the log is full")]
    Full,
}
