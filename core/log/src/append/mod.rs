//! Appends mutations to a log exactly once and without gaps, with one write and usually no read.
//!
//! [`Append`] is a pure state machine: it returns the next [`AppendAction`] and receives the result
//! as an [`AppendEvent`]. The engine's driver performs the actions. The model checker and the
//! simulator run the same state machine.
//!
//! For each of the following safety rules, a test fails if the rule is disabled:
//! - *Known-exists*: entry n+1 is put only if entry n is known to exist: it was read, written or
//!   returned by a failed put. Entry n must not be an End Segment (the last entry of a closed
//!   segment).
//! - *Same-key retry*: after an unknown outcome, only the same entry is put under the same key.
//! - *No skipped entry*: every entry between the base and the put is scanned for the client's
//!   mutations, so a retry finds mutations that were already committed.
//! - *End Segment check*: no entry is put after an End Segment.
//! - *Consistent refusal*: no request is refused because of a stale read.
//! - *Fresh undo*: the operations of an undo or revert are put only directly after the state from
//!   which they were computed. The same holds for those that follow an import.
//! - *Effect*: a mutation without an effect on the latest state is never put as if it had one
//!   ([`effect`]).
//! - *Bounded age*: an append older than `MAX_APPEND_AGE_S` puts no entry, because the entries that
//!   it has read may have been trimmed while its process was suspended. An append does not use
//!   cached entries that are too old ([`tail_age`]).

mod batch;
mod cached_tail;
pub mod commit;
pub mod effect;
mod machine;
mod merge_request;
mod mutation_ids;
mod phase;
pub mod request;
mod resolution;
mod rules;
mod scan;
pub mod tail_age;
#[cfg(test)]
pub(crate) mod tests;

pub use cached_tail::CachedTail;
pub use machine::Append;
pub use merge_request::{MergedMutation, MergedOrigin};
pub use request::{ImportRequest, InvalidRequest, NewMutation, Request, Upload, fits_into_entry};
pub use resolution::{Resolution, ResolutionRequest, Target};
pub use rules::{Rules, SafetyRule};

use std::sync::Arc;

use crate::entry::{Entry, Header};
use cellar_base::consistency::ReadConsistency;
use cellar_base::position::Position;
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_base::variant_names;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, Rejection};
use cellar_sheet::workbook::ReversalReport;

/// Next action for the driver to perform.
#[derive(Debug, Clone, PartialEq)]
pub enum AppendAction {
    /// Read one page forward from `from` (inclusive), within one segment.
    Read {
        /// First position to read.
        from: Position,
        /// Whether the read must be strongly consistent.
        consistency: ReadConsistency,
    },
    /// Put this entry if its key is free. Otherwise, return the existing entry.
    Put {
        /// Entry to put.
        entry: Arc<Entry>,
    },
    /// Find the latest segment's number with a strongly consistent read.
    FindNewestSegment,
    /// Read the workbook metadata at a position.
    ReadState {
        /// Position of the state.
        at: Position,
    },
    /// Wait for this delay, then report [`AppendEvent::Waited`].
    Wait {
        /// Delay in milliseconds.
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
        /// Whether the segment may contain more entries after this page.
        has_more: bool,
    },
    /// Latest segment number, or `None` if the log has no segments.
    NewestSegment(Option<u32>),
    /// The requested workbook metadata, or `None` if unreadable.
    State(Option<Arc<WorkbookMetadata>>),
    /// A read failed.
    ReadFailed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    /// The entry was written.
    PutAccepted,
    /// The put failed because its key was taken. The response contained the existing entry.
    PutRefused {
        /// Existing entry with this key.
        winner: Arc<Entry>,
    },
    /// The outcome of the put is unknown because of a timeout, server error (5xx), throttling,
    /// conflict or connection loss.
    PutUnknown,
    /// The put failed permanently, because access was denied or the request was invalid.
    PutFailed,
    /// The requested delay has elapsed.
    Waited,
}

variant_names!(AppendEvent {
    Page,
    NewestSegment,
    State,
    ReadFailed,
    PutAccepted,
    PutRefused,
    PutUnknown,
    PutFailed,
    Waited,
});

/// Inputs of one step of a state machine: the current time and a random number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Current time in seconds since the Unix epoch. New entries get it as their creation time.
    pub now_s: u64,
    /// Random number for the backoff jitter.
    pub random: u64,
}

/// The result of an append.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// Results of the request's mutations, in order.
    pub results: Vec<MutationResult>,
    /// Latest known position of the log, at or after the last put of this request.
    pub tail: Position,
    /// Header of the entry at `tail`, which determines whether a segment roll or a snapshot is due.
    pub header: Header,
    /// Entries of other requests after the lowest base, oldest first. The client has not received
    /// these entries yet.
    pub missing: Vec<Arc<Entry>>,
    /// Position after which the client must continue to read if `missing` does not contain all
    /// entries.
    pub missing_from: Option<Position>,
}

/// Result of one mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationResult {
    /// Mutation id.
    pub id: u64,
    /// Position of the entry that contains the mutation. `None` if the entry was not read, because
    /// the client already knew that the mutation was committed.
    pub position: Option<Position>,
    /// Whether the mutation was already committed by an earlier request.
    pub duplicate: bool,
    /// The rejection, if the mutation was rejected.
    pub rejection: Option<Rejection>,
    /// Committed operations. Set only if this request committed the mutation and the committed
    /// operations differ from the authored operation.
    pub committed: Option<Vec<Operation>>,
    /// Whether the mutation has no effect, because other clients deleted its target after its base.
    pub no_effect: bool,
    /// Effect of an undo or revert in numbers. For an import that replaces a sheet, the formulas and
    /// names that refer to the new sheet now. Set only if this request committed the mutation.
    pub reversal: Option<ReversalReport>,
}

/// Reason why an append was refused. Mutations that were committed before the refusal stay
/// committed, and a retry of the request detects them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The base of a mutation is not a position in the log.
    #[error("base {base} is not in the log; reload the spreadsheet")]
    UnknownBase {
        /// The unknown base.
        base: Position,
    },
    /// Entries after the base were trimmed. They may include entries from this client.
    #[error("the entries after base {base} were trimmed; reload the spreadsheet")]
    BaseGone {
        /// Lowest base of the request.
        base: Position,
    },
    /// The tables were restored after the client loaded the spreadsheet.
    #[error("the tables were restored since the spreadsheet was loaded; reload the spreadsheet")]
    IncarnationChanged,
    /// The request's first mutation does not directly follow the client's last committed mutation.
    #[error("expected mutation {expected}, got {got}; send the missing mutations first")]
    Gap {
        /// Expected id of the first mutation.
        expected: u64,
        /// Actual id of the first mutation.
        got: u64,
    },
    /// Some mutations of an uploaded batch were already committed.
    #[error("mutations up to {last_id} are already committed; upload only the later mutations")]
    Overlap {
        /// Id of the last committed mutation.
        last_id: u64,
    },
    /// Other clients have changed the state from which operations of the request were computed, so
    /// the caller must compute them again.
    #[error("the log has newer edits up to {newest}; retry the unchanged request")]
    StaleResolution {
        /// Newest known edit.
        newest: Position,
    },
    /// Mutations of a fork cannot be transformed past the changes since the fork was created.
    #[error("too many rows, columns or sheets have moved since the fork was created")]
    MergeTooDistant,
    /// The append lost too many races against concurrent writers, or exceeded `MAX_APPEND_AGE_S`
    /// before a put.
    #[error("too many concurrent writers; retry the unchanged request")]
    Contention,
    /// The outcome of the last put is unknown. Retrying the unchanged request is safe.
    #[error("the outcome is unknown; retry the unchanged request")]
    OutcomeUnknown,
    /// The store is unreachable or rejected a request.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// The event does not match the last action. It is unknown whether an entry was put.
    #[error(transparent)]
    Unexpected(#[from] UnexpectedEvent),
    /// A mutation of the request was accepted although it cannot be stored.
    #[error("bug in Cellar: a checked mutation cannot be encoded as an entry")]
    Encoding,
    /// An entry is missing although a later entry exists.
    #[error("the log is corrupt at {at}: an entry is missing where a later one exists")]
    Corrupt {
        /// Position of the missing entry.
        at: Position,
    },
    /// The log is full: no position follows its last entry.
    #[error("the log is full")]
    Full,
}
