//! Append: exactly once, no gap, one write, usually no read (design `2-log.md` §2).
//!
//! [`Append`] is the whole decision, a pure state machine: it says what to do next ([`Action`]) and
//! is told what came of it ([`Event`]). The engine's driver performs the actions; the model checker
//! and the simulator run the same machine.
//!
//! Safety rules, each of which has a test that fails without it:
//! - *Known-exists*: entry n+1 is only put if entry n has been read, written or returned by a
//!   refused put, and is not an End Segment.
//! - *Same-key retry*: after an unknown outcome only the same entry under the same key is put.
//! - *No skipped entry*: every entry between the base and the put has been scanned for mutations of
//!   this client, so a retry finds what got through.
//! - *End Segment check*: nothing is put behind an End Segment.
//! - *Consistent refusal*: nothing is refused on the evidence of a read that may be stale.
//! - *Fresh undo*: an undo or a restore is only put behind the very state on which it was resolved.
//! - *Effect*: nothing is put as if it changed something that has no effect on the state at the tail
//!   (`effect.rs`).
//! - *Bounded age*: an append older than `MAX_APPEND_AGE_S` puts no more: its process was frozen,
//!   and what it has learned may have been purged.

mod batch;
pub(crate) mod commit;
pub(crate) mod effect;
mod known_run;
mod machine;
pub(crate) mod request;
mod rules;
mod scan;
#[cfg(test)]
pub(crate) mod tests;

pub use known_run::KnownRun;
pub use machine::Append;
pub use request::{
    AskedImport, AskedResolution, InvalidRequest, NewMutation, Request, Resolved, Target, Upload,
};
pub use rules::{Rules, SafetyRule};

use std::sync::Arc;

use crate::entry::{Entry, Header};
use crate::operation::{Operation, Rejection};
use crate::position::Position;
use crate::snapshot::outline::Outline;

/// What the driver is to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Read one page forward, `from` inclusive, within its segment.
    Read {
        /// The first position wanted.
        from: Position,
        /// Whether the read must see every acknowledged write.
        consistent: bool,
    },
    /// Put this entry if its key is free, and return the winner if it is not.
    Put {
        /// The entry.
        entry: Arc<Entry>,
    },
    /// Find the number of the newest segment, consistently.
    FindNewestSegment,
    /// Read the state at a position, without cells: no header says enough of it.
    ReadState {
        /// The position.
        at: Position,
    },
    /// Wait, then report [`Event::Waited`].
    Wait {
        /// How long, milliseconds.
        delay_ms: u64,
    },
    /// The end.
    Finish(Result<Appended, Refusal>),
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A page was read.
    Page {
        /// Entries in ascending order.
        entries: Vec<Arc<Entry>>,
        /// Whether the segment may have more behind them.
        more: bool,
    },
    /// The number of the newest segment; `None` if the log has none.
    NewestSegment(Option<u32>),
    /// The state that was asked for; `None` if it cannot be read.
    State(Option<Arc<Outline>>),
    /// A read failed.
    ReadFailed {
        /// Whether trying again may help.
        temporary: bool,
    },
    /// The put was accepted.
    PutAccepted,
    /// The key was taken; the condition returned who has it.
    PutRefused {
        /// The entry that stands there.
        winner: Arc<Entry>,
    },
    /// The put may or may not have happened: timeout, 5xx, throttle, conflict, connection lost.
    PutUnknown,
    /// The put did not and will not happen: access denied, invalid request.
    PutFailed,
    /// The wait is over.
    Waited,
}

/// Time and randomness, passed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    /// Unix seconds, for the `created` of an entry.
    pub now_s: u64,
    /// A fresh random number, for the jitter.
    pub random: u64,
}

/// What an append achieved.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// One for each mutation of the request, in its order.
    pub results: Vec<MutationResult>,
    /// The newest entry known: at least as new as the last put.
    pub tail: Position,
    /// That entry's header: the evidence for the roll and snapshot policy.
    pub header: Header,
    /// The entries after the lowest base that this request did not write, oldest first: what the
    /// client was missing.
    pub missing: Vec<Arc<Entry>>,
    /// If `missing` was cut at its limit: the position after which to go on with an update.
    pub missing_from: Option<Position>,
}

/// What became of one mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationResult {
    /// Its id.
    pub id: u64,
    /// Where it stands; unknown if the client acknowledged it and it was not among the entries
    /// that were read.
    pub position: Option<Position>,
    /// Whether it had got through before.
    pub duplicate: bool,
    /// Why it changed nothing and never will, if so.
    pub rejection: Option<Rejection>,
    /// What it was committed as, if that is not what was authored and this request put it there.
    pub committed: Option<Vec<Operation>>,
    /// Whether it changed nothing, because others deleted all that it names after its base.
    pub no_effect: bool,
}

/// Why an append was refused. Nothing was lost: what had got through stays, and can be retried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The base is not in the log.
    #[error("base {base} is not in the log: load the spreadsheet again")]
    UnknownBase {
        /// The base.
        base: Position,
    },
    /// The entries after the base are gone, and with them what this client did there.
    #[error("the entries after base {base} are gone: load the spreadsheet again")]
    BaseGone {
        /// The base.
        base: Position,
    },
    /// The spreadsheet was restored since the client loaded it.
    #[error("the spreadsheet was restored since it was loaded: load it again")]
    EpochChanged,
    /// Mutations are missing before the first of the request.
    #[error("mutation {expected} is missing: mutations are numbered without gaps, got {got}")]
    Gap {
        /// The id that must come next.
        expected: u64,
        /// The id that came.
        got: u64,
    },
    /// A part of an uploaded batch is in the log already.
    #[error("mutations up to {last_id} are in the log already: upload only those behind")]
    Overlap {
        /// The last that is there.
        last_id: u64,
    },
    /// Others have edited what an undo or a restore was resolved on: resolve it again.
    #[error("it was resolved before {newest} was there: repeat the request unchanged")]
    StaleResolution {
        /// The newest edit that is known.
        newest: Position,
    },
    /// Too many others wrote at the same time.
    #[error("too many writers at once: try again in a moment")]
    Contention,
    /// It is not known whether the last put happened: repeat the request as it is.
    #[error("the outcome is unknown: repeat the request unchanged")]
    OutcomeUnknown,
    /// The store refuses or does not answer.
    #[error("the store cannot be reached or refuses the request")]
    Store,
    /// The log itself is damaged.
    #[error("the log is corrupt at {at}: an entry is missing where a later one exists")]
    Corrupt {
        /// The position of the hole.
        at: Position,
    },
    /// There is no position left after the last entry.
    #[error("the log is full")]
    Full,
}
