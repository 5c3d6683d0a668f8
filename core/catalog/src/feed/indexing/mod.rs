//! Indexes each event exactly once, in stream order.

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
    /// Read the streams' high-water marks: the index up to which each stream's events are in the
    /// feed.
    ReadMarks {
        /// Names of the streams.
        streams: Vec<StreamName>,
    },
    /// Raise high-water marks that are lower or belong to an earlier feed generation.
    RaiseMarks {
        /// Streams and their new high-water marks.
        marks: Vec<(StreamName, Mark)>,
    },
    /// Read a range of events from their stream. The driver may return only a prefix of the range.
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
    /// Wait, then report [`IndexingAnswer::Waited`].
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
    /// The key already exists; nothing was written.
    Exists,
    /// The outcome of the write is unknown; it may still take effect.
    Unknown,
    /// The latest partition and its generation, or `None` if the feed has no partitions.
    Partition(Option<(u64, Feed)>),
    /// The partition's last item and its offset, or `None` if the partition is empty.
    Last(Option<(u64, Item)>),
    /// High-water marks of the requested streams. Streams without a mark are omitted.
    Marks(Vec<(StreamName, Mark)>),
    /// The requested events or a prefix of them, or `None` if the stream does not contain them.
    Missing(Option<Span>),
    /// The action failed.
    Failed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    /// The requested delay has elapsed.
    Waited,
}

/// Number of indexed items and events.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Indexed {
    /// Number of items written by this indexer.
    pub items: u64,
    /// Number of events in these items.
    pub events: u64,
    /// Number of these events that no change record had announced, so that they were read from
    /// their streams.
    pub found: u64,
}

/// Reason why events were not indexed. Retrying is safe: no event is indexed twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IndexingFault {
    /// An event before an announced event is missing from its stream.
    #[error("the stream `{stream}` has no event {index}, although a later event was announced")]
    NotInStream {
        /// Name of the stream.
        stream: StreamName,
        /// Index of the missing event.
        index: u64,
    },
    /// Lost every race against other indexers for a feed position.
    #[error("too many concurrent indexers; retry later")]
    Contention,
    /// The store failed.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// The feed has no positions left.
    #[error("the feed is full")]
    Full,
}
