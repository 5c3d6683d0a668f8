//! Append to a stream: exactly once, one write, usually no read (design `6-catalog-feed.md` §1).
//!
//! [`Append`] is the whole decision, a pure state machine. It begins with the tip on which its events
//! were decided, and ends when they are appended, or when it is certain that they never will be: then
//! the caller decides again, on the tip that is there.
//!
//! Safety rules, each of which has a test that fails without it:
//! - *Same write*: whatever is sent is sent on one etag, which no tip has twice. The same write sent
//!   twice is done once; one that lands late is done once or never.
//! - *Look before deciding*: after an unknown outcome nothing is decided again before the writer has
//!   looked for its own id in the tip and in every calf back to the index at which it had decided, and
//!   only if the tip has another etag by then: before that the first write may still land.

mod machine;
mod proposal;
mod rules;
mod write;

pub use machine::Append;
pub use proposal::Proposal;
pub use rules::{Rules, SafetyRule};
pub use write::{Update, Write};

use std::sync::Arc;

use super::event::InvalidEvent;
use super::tip::{Calf, Tip};
use cellar_base::limits::{MAX_STREAM_ITEM_BYTES, TIP_INDEX};

/// What the driver is to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamAppendAction {
    /// Write this: all of it or nothing, if its condition holds.
    Write(Arc<Write>),
    /// Read the tip, consistently.
    ReadTip,
    /// Read calves backwards, those whose index is below, consistently.
    ReadCalves {
        /// The index.
        below: u64,
    },
    /// Wait, then report [`StreamAppendAnswer::Waited`].
    Wait {
        /// How long, milliseconds.
        delay_ms: u64,
    },
    /// The end.
    Finish(Result<End, AppendFault>),
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamAppendAnswer {
    /// The write is done, durably.
    Done,
    /// The condition on the tip does not hold: nothing was written.
    Refused {
        /// The tip that stands there, if the refusal told.
        tip: Option<Arc<Tip>>,
    },
    /// The calf is there already, and nothing is told of the condition on the tip: nothing was written.
    CalfExists,
    /// The write may or may not have happened, or may yet.
    Unknown,
    /// The write was not accepted, as there are too many: nothing was written.
    Throttled,
    /// The write did not and will not happen: access denied, invalid request.
    Failed,
    /// The tip was read; `None` if there is no such stream.
    Tip(Option<Arc<Tip>>),
    /// A page of calves was read, the newest first.
    Calves {
        /// The calves.
        calves: Vec<Calf>,
    },
    /// A read failed.
    ReadFailed {
        /// Whether trying again may help.
        temporary: bool,
    },
    /// The wait is over.
    Waited,
}

/// How an append ends.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The events are in the stream, once.
    Appended {
        /// The newest tip that is known: that of this append, or a later one.
        tip: Arc<Tip>,
        /// Index of the first of the events.
        index: u64,
    },
    /// Others appended first: the events are not in the stream, and never will be by this append.
    Conflict {
        /// The tip that is there; `None` if there is none.
        tip: Option<Arc<Tip>>,
    },
}

/// Why an append was given up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendFault {
    /// There is nothing to append.
    #[error("an append has at least one event")]
    Empty,
    /// An event that no stream may have.
    #[error(transparent)]
    Event(#[from] InvalidEvent),
    /// The events and unfolds alone are more than an item may be.
    #[error("the append takes {bytes} bytes: an item has at most {MAX_STREAM_ITEM_BYTES}")]
    TooLarge {
        /// Bytes of its own item.
        bytes: usize,
    },
    /// There is no index left.
    #[error("the stream is full: it has at most {TIP_INDEX} events")]
    Full,
    /// The store does not take the write, again and again.
    #[error("the store is busy: try again in a moment")]
    Contention,
    /// It is not known whether the events were appended.
    #[error("the outcome is unknown: look for the append before it is decided again")]
    OutcomeUnknown,
    /// The store refuses or does not answer; nothing was appended.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// Events are missing, or there twice.
    #[error("the stream is damaged at index {index}")]
    Damaged {
        /// Where.
        index: u64,
    },
}
