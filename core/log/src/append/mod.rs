//! Appends mutations to a log: exactly once, without gaps, with one write and usually no read.
//!
//! [`Append`] is a pure state machine. It returns the next [`AppendAction`] and receives the result
//! of that action as an [`AppendEvent`]. The engine's driver performs the actions; the model
//! checker and the simulator run the same machine.
//!
//! Safety rules, each with a test that fails without it:
//! - *Known-exists*: entry n+1 is put only if entry n was read, written or returned by a refused
//!   put, and is not an End Segment.
//! - *Same-key retry*: after an unknown outcome, only the same entry is put under the same key.
//! - *No skipped entry*: every entry between the base and the put is scanned for mutations of this
//!   client, so that a retry finds mutations that are already committed.
//! - *End Segment check*: no entry is put after an End Segment.
//! - *Consistent refusal*: no request is refused because of a read that may be stale.
//! - *Fresh undo*: an undo or revert is put only directly after the state on which it was resolved.
//! - *Effect*: a mutation without an effect on the state at the tail is not put as if it had one
//!   ([`effect`]).
//! - *Bounded age*: an append older than `MAX_APPEND_AGE_S` puts no entry. Its process was frozen,
//!   and the entries that it has read may have been trimmed.

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
    ImportRequest, InvalidRequest, NewMutation, Request, ResolutionRequest, Resolved, Target,
    Upload,
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
        /// Entry to put.
        entry: Arc<Entry>,
    },
    /// Find the number of the newest segment with a consistent read.
    FindNewestSegment,
    /// Read the workbook metadata at a position.
    ReadState {
        /// Position of the state.
        at: Position,
    },
    /// Wait, then report [`AppendEvent::Waited`].
    Wait {
        /// Duration of the wait in milliseconds.
        delay_ms: u64,
    },
    /// Return this result to the caller of the append.
    Finish(Result<Appended, Refusal>),
}

/// The result of an [`AppendAction`].
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
    /// The requested workbook metadata; `None` if it cannot be read.
    State(Option<Arc<WorkbookMetadata>>),
    /// A read failed.
    ReadFailed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    /// The entry was written.
    PutAccepted,
    /// The key was taken by another entry, which the put returned.
    PutRefused {
        /// Existing entry at the key.
        winner: Arc<Entry>,
    },
    /// The outcome of the put is unknown: timeout, 5xx, throttling, conflict or lost connection.
    PutUnknown,
    /// The put failed permanently: access denied or invalid request.
    PutFailed,
    /// The requested wait is over.
    Waited,
}

/// Current time and a random number for one step of a state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Current time in Unix seconds, stored as the creation time of the entry.
    pub now_s: u64,
    /// New random number, for the jitter of a wait.
    pub random: u64,
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// One result per mutation of the request, in order.
    pub results: Vec<MutationResult>,
    /// Newest known position, at or after the last put.
    pub tail: Position,
    /// Header of the entry at `tail`, on which the roll and snapshot policy is based.
    pub header: Header,
    /// Entries after the lowest base that other requests wrote, oldest first. The client does not
    /// have them yet.
    pub missing: Vec<Arc<Entry>>,
    /// Position after which the client continues to read; set if `missing` was truncated.
    pub missing_from: Option<Position>,
}

/// The result of one mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationResult {
    /// Mutation id.
    pub id: u64,
    /// Position of its entry; `None` if the client has acknowledged the mutation and the entry was
    /// not read.
    pub position: Option<Position>,
    /// Whether an earlier request committed the mutation.
    pub duplicate: bool,
    /// Set if the mutation was rejected.
    pub rejection: Option<Rejection>,
    /// Committed operations, if this request committed the mutation and they differ from the
    /// authored operation.
    pub committed: Option<Vec<Operation>>,
    /// Whether the mutation has no effect, because others deleted its target after its base.
    pub no_effect: bool,
}

/// The reason why an append was refused. Committed mutations stay committed, and a retry finds
/// them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The base is not in the log.
    #[error("base {base} is not in the log; reload the spreadsheet")]
    UnknownBase {
        /// Base that is not in the log.
        base: Position,
    },
    /// The entries after the base were trimmed, including those of this client.
    #[error("the entries after base {base} were trimmed; reload the spreadsheet")]
    BaseGone {
        /// Lowest base of the request.
        base: Position,
    },
    /// The tables were restored since the client loaded the spreadsheet.
    #[error("the tables were restored since the spreadsheet was loaded; reload it")]
    IncarnationChanged,
    /// The first mutation of the request does not follow the last committed one.
    #[error("expected mutation {expected}, got {got}; send the missing mutations first")]
    Gap {
        /// Expected id of the first mutation.
        expected: u64,
        /// Received id of the first mutation.
        got: u64,
    },
    /// A part of an uploaded batch is already committed.
    #[error("mutations up to {last_id} are already committed; upload only those after it")]
    Overlap {
        /// Last committed mutation id.
        last_id: u64,
    },
    /// Others have edited the state on which the undo or revert was resolved; the caller resolves
    /// the mutation again.
    #[error("the log has grown to {newest} meanwhile; retry the unchanged request")]
    StaleResolution {
        /// Newest known edit.
        newest: Position,
    },
    /// Too many concurrent writers.
    #[error("too many concurrent writers; retry the unchanged request")]
    Contention,
    /// The outcome of the last put is unknown. A retry of the unchanged request is safe.
    #[error("the outcome is unknown; retry the unchanged request")]
    OutcomeUnknown,
    /// The store is unreachable, rejected a request, or returned an unexpected result.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// An entry is missing although a later entry exists.
    #[error("the log is corrupt at {at}: an entry is missing where a later one exists")]
    Corrupt {
        /// Position of the missing entry.
        at: Position,
    },
    /// No position is left after the last entry.
    #[error("the log is full")]
    Full,
}
