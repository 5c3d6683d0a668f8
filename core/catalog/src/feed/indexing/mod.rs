//! Adds each event to the feed exactly once, in the order of its event stream.

mod known;
mod machine;
mod phase;
mod rules;
mod work;

pub use known::{Known, Mark, Tail};
pub use machine::Indexing;
pub use rules::{Rules, SafetyRule};

use super::checkpoint::{Checkpoint, Feed};
use super::item::Item;
use super::span::Span;
use crate::stream::StreamName;
use cellar_base::unexpected_event::UnexpectedEvent;
use cellar_base::variant_names;

/// The next action that the driver must perform. All reads must be strongly consistent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IndexingAction {
    /// Read the latest partition and its generation.
    ReadPartition,
    /// Create a partition if it does not exist.
    BeginPartition {
        /// Number of the partition.
        partition: u64,
        /// Generation of the feed.
        feed: Feed,
    },
    ReadTail {
        /// Number of the partition.
        partition: u64,
    },
    ReadMarks {
        /// Names of the streams.
        streams: Vec<StreamName>,
    },
    /// Raise the stored high-water marks of event streams. A stored mark must not be changed if it
    /// is at least as high, or if it belongs to a later generation of the feed.
    RaiseMarks {
        /// Streams and their new high-water marks.
        marks: Vec<(StreamName, Mark)>,
    },
    /// Read events from their stream. The answer may contain only the first of them.
    ReadMissing {
        /// Name of the stream.
        stream: StreamName,
        /// Index of the first event.
        from: u64,
        /// Index after the last event to read.
        to: u64,
    },
    /// Perform the reactions to these events, such as updates of spreadsheet lists. Reactions must
    /// be idempotent.
    React {
        /// Events to react to.
        spans: Vec<Span>,
    },
    /// Write an item at a position of the feed if there is no item at this position.
    Put {
        /// Place of the item.
        at: Checkpoint,
        /// Item to put.
        item: Item,
    },
    /// Wait for this delay, then report [`IndexingAnswer::Waited`].
    Wait {
        /// Delay in milliseconds.
        delay_ms: u64,
    },
    Finish(Result<Indexed, IndexingFault>),
}

/// Result of an [`IndexingAction`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexingAnswer {
    /// The write or the reactions have succeeded.
    Done,
    /// The partition or item already exists, so nothing was written.
    Exists,
    /// The outcome of the write is unknown. The write may still take effect.
    Unknown,
    /// The latest partition and its generation, or `None` if there is no feed yet.
    Partition(Option<(u64, Feed)>),
    /// The offset of the last item in the partition, and the item. `None` if the partition is
    /// empty.
    LastItem(Option<(u64, Item)>),
    /// High-water marks of the requested streams. Streams without a stored high-water mark are
    /// omitted.
    Marks(Vec<(StreamName, Mark)>),
    /// The requested events or the first of them, or `None` if the stream does not contain them.
    Events(Option<Span>),
    Failed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    Waited,
}

variant_names!(IndexingAnswer {
    Done,
    Exists,
    Unknown,
    Partition,
    LastItem,
    Marks,
    Events,
    Failed,
    Waited,
});

/// Numbers of indexed items and events.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Indexed {
    /// Number of items that were added to the feed.
    pub items: u64,
    /// Number of events in these items.
    pub events: u64,
    /// Number of events that were read from their streams because no change record had reported
    /// them.
    pub found: u64,
}

/// The reason why events were not added to the feed. Adding them again is safe, because no event is
/// added twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IndexingFault {
    /// An event is missing from its stream although a later event of the stream exists.
    #[error("the stream `{stream}` has no event {index}, although a later event exists")]
    NotInStream {
        /// Name of the stream.
        stream: StreamName,
        /// Index of the missing event.
        index: u64,
    },
    /// Other indexers were faster in every attempt to add an item to the feed.
    #[error("too many concurrent indexers; retry later")]
    Contention,
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// The answer does not match the last action.
    #[error(transparent)]
    Unexpected(#[from] UnexpectedEvent),
    #[error("the feed is full")]
    Full,
}
