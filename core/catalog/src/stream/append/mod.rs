//! Appends events to an event stream exactly once, with one write and usually no read.
//!
//! [`Append`] is a pure state machine that makes all decisions. It starts from the tip (the item
//! with the stream's latest events) on which the caller based its decision to append the events. It
//! ends when the events are appended, when they can never be appended, or with a fault. If they can
//! never be appended, the caller handles its command again, based on the current tip.
//!
//! For each of the following safety rules, a test fails if the rule is disabled:
//! - *Same write*: a write is conditional on the tip's etag. No etag ever recurs in a stream, so a
//!   retried or late write takes effect at most once. As long as the tip has that etag, only the
//!   identical write is sent, because an earlier attempt may still take effect.
//! - *Search before deciding*: after an unknown outcome, the writer searches for its append id. It
//!   searches the tip, and then the event batches back to the index at which its events were to be
//!   appended. The caller handles its command again only if the id is not found.

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
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_base::variant_names;

/// Next action for the driver to perform.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamAppendAction {
    /// Perform this conditional write atomically.
    Write(Arc<Write>),
    /// Read the tip with strong consistency.
    ReadTip,
    /// Read batches of older events in descending order, with strong consistency.
    ReadBatches {
        /// Exclusive upper bound on the indices of the batches.
        below: u64,
    },
    /// Wait for this delay, then report [`StreamAppendAnswer::Waited`].
    Wait {
        /// Delay in milliseconds.
        delay_ms: u64,
    },
    Finish(Result<AppendOutcome, AppendFault>),
}

/// Result of a [`StreamAppendAction`].
#[derive(Debug, Clone, PartialEq)]
pub enum StreamAppendAnswer {
    /// The write is durable.
    Done,
    /// The newest item of the stream has changed, so nothing was written.
    Refused {
        /// The newest item, if the response contained it.
        tip: Option<Arc<Tip>>,
    },
    /// The batch of older events already exists, so nothing was written. The newest item of the
    /// stream may have changed too.
    BatchExists,
    /// The outcome of the write is unknown. The write may still take effect.
    Unknown,
    /// The write was throttled, so nothing was written.
    Throttled,
    /// The write failed permanently, for example because access was denied.
    Failed,
    /// The newest item of the stream, or `None` if the stream does not exist.
    Tip(Option<Arc<Tip>>),
    Batches {
        /// Event batches, latest first.
        batches: Vec<EventBatch>,
    },
    ReadFailed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    Waited,
}

variant_names!(StreamAppendAnswer {
    Done,
    Refused,
    BatchExists,
    Unknown,
    Throttled,
    Failed,
    Tip,
    Batches,
    ReadFailed,
    Waited,
});

/// Outcome of an append.
#[derive(Debug, Clone, PartialEq)]
pub enum AppendOutcome {
    /// The events were appended exactly once.
    Appended {
        /// The newest item of the stream, written by this append or by a later one.
        tip: Arc<Tip>,
        /// Index of the first appended event.
        index: u64,
    },
    /// Another writer appended events first. The events of this append are not in the stream and
    /// never will be.
    Conflict {
        /// The newest item of the stream, or `None` if the stream does not exist.
        tip: Option<Arc<Tip>>,
    },
}

/// Reason why an append failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendFault {
    #[error("an append must have at least one event")]
    Empty,
    #[error(transparent)]
    Event(#[from] InvalidEvent),
    #[error("the append has {bytes} bytes; at most {MAX_STREAM_ITEM_BYTES} are allowed")]
    TooLarge {
        /// Size of the item that would contain the events and cached states, in bytes.
        bytes: usize,
    },
    #[error("the stream is full; it can have at most {TIP_INDEX} events")]
    Full,
    #[error("the store is busy; retry later")]
    Contention,
    #[error("the outcome is unknown; search the stream for the append before deciding again")]
    OutcomeUnknown,
    /// The store failed, and nothing was appended.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// The answer does not match the last action. It is unknown whether the events were appended.
    #[error(transparent)]
    Unexpected(#[from] UnexpectedEvent),
    /// The stream is corrupt: events are missing or duplicated.
    #[error("the stream is damaged at index {index}")]
    Damaged {
        /// Index of a missing or duplicated event.
        index: u64,
    },
}
