//! Appends mutations to a log: exactly once, without gaps, with one write and usually no read.
//!
//! [`Append`] is a pure state machine. It returns the next [`AppendAction`] and receives the result
//! of that action as an [`AppendEvent`]. The engine's driver performs the actions. The model
//! checker and the simulator run the same machine.
//!
//! Each of the following safety rules has a test that fails without the rule:
//! - *Known-exists*: entry n+1 is put only if entry n was read, written or returned by a refused put,
//!   and is not an End Segment.
//! - *Same-key retry*: after an unknown outcome, only the same entry is put under the same key.
//! - *No skipped entry*: every entry between the base and the put is scanned for mutations of this
//!   client, so that a retry finds mutations that are already committed.
//! - *End Segment check*: no entry is put after an End Segment.
//! - *Consistent refusal*: no request is refused because of a read that may be stale.
//! - *Fresh undo*: an undo or revert is put only directly after the state on which it was resolved.
//! - *Effect*: a mutation that has no effect on the newest state is not put as if it had one
//!   ([`effect`]).
//! - *Bounded age*: an append older than `MAX_APPEND_AGE_S` puts no entry. Its process was suspended,
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

/// Next action that the driver must perform.
#[derive(Debug, Clone, PartialEq)]
pub enum AppendAction {
    /// Read one page forward from `from` (inclusive), within one segment.
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
    /// Find the number of the newest segment with a strongly consistent read.
    FindNewestSegment,
    /// Read the workbook metadata at a position.
    ReadState {
        /// Position of the state.
        at: Position,
    },
    /// Wait, then report [`AppendEvent::Waited`].
    Wait {
        /// Duration of the wait, in milliseconds.
        delay_ms: u64,
    },
    /// Return this result to the caller of the append.
    Finish(Result<Appended, Refusal>),
}

/// Result of an [`AppendAction`].
#[derive(Debug, Clone, PartialEq)]
pub enum AppendEvent {
    /// The page that was read.
    Page {
        /// Entries in ascending order.
        entries: Vec<Arc<Entry>>,
        /// Whether the segment may contain later entries.
        more: bool,
    },
    /// The number of the newest segment, or `None` if the log has no segment.
    NewestSegment(Option<u32>),
    /// The requested workbook metadata, or `None` if it cannot be read.
    State(Option<Arc<WorkbookMetadata>>),
    /// A read failed.
    ReadFailed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    /// The entry was written.
    PutAccepted,
    /// Another entry has taken the key. The put returned this entry.
    PutRefused {
        /// Existing entry with this key.
        winner: Arc<Entry>,
    },
    /// The outcome of the put is unknown because of a timeout, server error (5xx), throttling,
    /// conflict or lost connection.
    PutUnknown,
    /// The put failed permanently, because access was denied or the request was invalid.
    PutFailed,
    /// The requested wait is over.
    Waited,
}

/// Current time and a random number, as inputs for one step of a state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Current time in Unix seconds. Stored as the creation time of an entry.
    pub now_s: u64,
    /// A new random number for the jitter of a wait.
    pub random: u64,
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// Results of the request's mutations, in order.
    pub results: Vec<MutationResult>,
    /// Newest known position, which is at or after the last put.
    pub tail: Position,
    /// Header of the entry at `tail`, which determines whether a roll or a snapshot is due.
    pub header: Header,
    /// Entries of other requests after the lowest base, oldest first. The client does not have
    /// these entries yet.
    pub missing: Vec<Arc<Entry>>,
    /// Position after which the client must continue to read. Set if `missing` was truncated.
    pub missing_from: Option<Position>,
}

/// Result of one mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationResult {
    /// Mutation id.
    pub id: u64,
    /// Position of the entry that contains the mutation. `None` if the client already knows that
    /// the mutation is committed and its entry was not read.
    pub position: Option<Position>,
    /// Whether an earlier request had already committed the mutation.
    pub duplicate: bool,
    /// Set if the mutation was rejected.
    pub rejection: Option<Rejection>,
    /// Committed operations. Set if this request committed the mutation and they differ from the
    /// authored operation.
    pub committed: Option<Vec<Operation>>,
    /// Whether the mutation has no effect because others deleted its target after its base.
    pub no_effect: bool,
}

/// Reason why an append was refused. Committed mutations stay committed, and a retry finds them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The base is not in the log.
    #[error("base {base} is not in the log; reload the spreadsheet")]
    UnknownBase {
        /// Base that is not in the log.
        base: Position,
    },
    /// The entries after the base were trimmed, possibly including entries of this client.
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
        /// Id that the first mutation must have.
        expected: u64,
        /// Id that the first mutation has.
        got: u64,
    },
    /// Some mutations of an uploaded batch are already committed.
    #[error("mutations up to {last_id} are already committed; upload only those after it")]
    Overlap {
        /// Id of the last committed mutation.
        last_id: u64,
    },
    /// Others have edited the state on which the undo or revert was resolved. The caller must
    /// resolve the mutation again.
    #[error("the log has newer edits up to {newest}; retry the unchanged request")]
    StaleResolution {
        /// Newest known edit.
        newest: Position,
    },
    /// Too many writers append concurrently.
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
    /// No position is left after the last entry of the log.
    #[error("the log is full")]
    Full,
}
