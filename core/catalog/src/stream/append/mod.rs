//! Appends to an event stream: exactly once, with one write, usually without a read.
//!
//! [`Append`] is a pure state machine that makes all decisions. It starts with the tip on which its
//! events were decided, and ends when they are appended or certainly never will be. In the latter
//! case, the caller decides again on the current tip.
//!
//! Each safety rule has a test that fails without it:
//! - *Same write*: a write is conditional on one etag, which no tip ever has twice. The same write
//!   sent twice takes effect once; a late one takes effect once or never.
//! - *Look before deciding*: after an unknown outcome, nothing is decided again before the writer
//!   has searched for its id in the tip and in every event batch back to the index of its decision; and
//!   only if the tip has another etag by then, because before that, the first write may still take
//!   effect.

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
use super::tip::{EventBatch, Tip};
use cellar_base::limits::{MAX_STREAM_ITEM_BYTES, TIP_INDEX};

/// Next action of the driver.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamAppendAction {
    /// Perform this write, all or nothing, if its condition holds.
    Write(Arc<Write>),
    /// Read the tip with strong consistency.
    ReadTip,
    /// Read event batches below an index backwards, with strong consistency.
    ReadBatches {
        /// Index.
        below: u64,
    },
    /// Wait, then report [`StreamAppendAnswer::Waited`].
    Wait {
        /// Milliseconds.
        delay_ms: u64,
    },
    /// The result.
    Finish(Result<End, AppendFault>),
}

/// Result of an action.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamAppendAnswer {
    /// Done and durable.
    Done,
    /// The condition on the tip failed; nothing was written.
    Refused {
        /// Current tip, if the response included it.
        tip: Option<Arc<Tip>>,
    },
    /// The event batch exists; nothing was written, and the condition on the tip is unknown.
    BatchExists,
    /// The outcome is unknown; the write may still take effect.
    Unknown,
    /// The write was throttled; nothing was written.
    Throttled,
    /// The write failed permanently: access denied or invalid request.
    Failed,
    /// The tip; `None` if the stream does not exist.
    Tip(Option<Arc<Tip>>),
    /// A page of event batches, newest first.
    Batches {
        /// Event batches.
        batches: Vec<EventBatch>,
    },
    /// A read failed.
    ReadFailed {
        /// Set if a retry may succeed.
        temporary: bool,
    },
    /// The wait is over.
    Waited,
}

/// Result of an append.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The events are in the stream, once.
    Appended {
        /// Newest known tip: that of this append, or a later one.
        tip: Arc<Tip>,
        /// Index of the first appended event.
        index: u64,
    },
    /// Another writer appended first. The events are not in the stream, and this append will never
    /// add them.
    Conflict {
        /// Current tip; `None` if there is none.
        tip: Option<Arc<Tip>>,
    },
}

/// Reason why an append was given up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendFault {
    /// No events.
    #[error("an append has at least one event")]
    Empty,
    /// An event that exceeds a bound.
    #[error(transparent)]
    Event(#[from] InvalidEvent),
    /// The events and unfolds exceed the size of an item.
    #[error("the append takes {bytes} bytes: an item has at most {MAX_STREAM_ITEM_BYTES}")]
    TooLarge {
        /// Bytes of their item.
        bytes: usize,
    },
    /// The stream has no further indexes.
    #[error("the stream is full: it has at most {TIP_INDEX} events")]
    Full,
    /// The store throttled every attempt.
    #[error("the store is busy: try again in a moment")]
    Contention,
    /// The outcome is unknown.
    #[error("the outcome is unknown: look for the append before it is decided again")]
    OutcomeUnknown,
    /// The store failed; nothing was appended.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// Events are missing or duplicate.
    #[error("the stream is damaged at index {index}")]
    Damaged {
        /// Index.
        index: u64,
    },
}
