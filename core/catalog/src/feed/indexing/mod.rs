//! Indexes each event in the feed exactly once, in stream order.

mod known;
mod machine;
mod rules;
mod work;

pub use known::{Known, Mark, Tail};
pub use machine::Indexing;
pub use rules::{Rules, SafetyRule};

use super::checkpoint::{Checkpoint, Feed};
use super::item::Item;
use super::span::Span;
use crate::stream::StreamName;

/// Next action for the driver to perform. Every read is strongly consistent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IndexingAction {
    /// Read the latest partition and its generation.
    ReadPartition,
    /// Create a partition, unless it already exists.
    BeginPartition {
        /// Number of the partition.
        partition: u64,
        /// Generation of the feed.
        feed: Feed,
    },
    /// Read the last item of a partition.
    ReadTail {
        /// Number of the partition.
        partition: u64,
    },
    /// Read the high-water marks of streams: the index up to which each stream's events are in the
    /// feed.
    ReadMarks {
        /// Names of the streams.
        streams: Vec<StreamName>,
    },
    /// Raise these high-water marks. A stored mark remains unchanged if it is at least as high in
    /// the same feed generation, or if it belongs to a later generation.
    RaiseMarks {
        /// Streams and their new high-water marks.
        marks: Vec<(StreamName, Mark)>,
    },
    /// Read a range of events from their stream. The result may contain only the first events of
    /// the range.
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
    /// Put an item at a feed position, unless the position is taken.
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
    /// Return this result to the caller.
    Finish(Result<Indexed, IndexingFault>),
}

/// Result of an [`IndexingAction`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexingAnswer {
    /// The write or the reactions succeeded and are durable.
    Done,
    /// The condition of the write failed because the key was taken, so nothing was written.
    Exists,
    /// The outcome of the write is unknown. The write may still take effect.
    Unknown,
    /// The latest partition and its generation, or `None` if the feed has no partitions.
    Partition(Option<(u64, Feed)>),
    /// The partition's last item and its offset, or `None` if the partition is empty.
    Last(Option<(u64, Item)>),
    /// High-water marks of the requested streams, except streams without a mark.
    Marks(Vec<(StreamName, Mark)>),
    /// The requested events, or only the first of them. `None` if the stream does not contain them.
    Missing(Option<Span>),
    /// The action failed.
    Failed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    /// The requested delay has elapsed.
    Waited,
}

/// Numbers of indexed items and events.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Indexed {
    /// Number of items written in this indexing.
    pub items: u64,
    /// Number of events in these items.
    pub events: u64,
    /// Number of events that were read from their streams. These events had to be read because no
    /// change record announced them.
    pub found: u64,
}

/// Reason why events were not indexed. Retrying is safe: no event is indexed twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IndexingFault {
    /// A stream contains an announced event, but an earlier event is missing.
    #[error("the stream `{stream}` has no event {index}, although a later event was announced")]
    NotInStream {
        /// Name of the stream.
        stream: StreamName,
        /// Index of the missing event.
        index: u64,
    },
    /// The indexer lost every race against other indexers for a feed position.
    #[error("too many concurrent indexers; retry later")]
    Contention,
    /// The store failed.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// The feed is full: no position is left.
    #[error("the feed is full")]
    Full,
}
