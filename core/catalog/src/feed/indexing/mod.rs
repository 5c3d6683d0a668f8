//! Indexes each event exactly once, in the order of its stream.

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

/// Next action that the driver must perform. Every read is strongly consistent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IndexingAction {
    /// Read the newest partition and its generation.
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
    /// Read the marks of streams, which are the indexes up to which their events are in the feed.
    ReadMarks {
        /// Names of the streams.
        streams: Vec<StreamName>,
    },
    /// Raise the marks that are lower or belong to an earlier generation of the feed.
    RaiseMarks {
        /// The streams and their new marks.
        marks: Vec<(StreamName, Mark)>,
    },
    /// Read a range of events from their stream. The driver may return only the first part of the
    /// range.
    ReadMissing {
        /// Name of the stream.
        stream: StreamName,
        /// Index of the first event.
        from: u64,
        /// Index after the last event to read.
        to: u64,
    },
    /// Perform the reactions to these events. Reactions must be idempotent.
    React {
        /// Events to react to.
        spans: Vec<Span>,
    },
    /// Put an item at a place in the feed, unless the place is taken.
    Put {
        /// Place of the item.
        at: Checkpoint,
        /// Item to put.
        item: Item,
    },
    /// Wait, then report [`IndexingAnswer::Waited`].
    Wait {
        /// Duration of the wait, in milliseconds.
        delay_ms: u64,
    },
    /// Return this result to the caller.
    Finish(Result<Indexed, IndexingFault>),
}

/// Result of an [`IndexingAction`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexingAnswer {
    /// The write or the reactions are complete and durable.
    Done,
    /// The key already exists, so nothing was written.
    Exists,
    /// The outcome of the write is unknown; it may still take effect.
    Unknown,
    /// The newest partition and its generation, or `None` if the feed has no partition.
    Partition(Option<(u64, Feed)>),
    /// The last item of the partition and its offset, or `None` if the partition is empty.
    Last(Option<(u64, Item)>),
    /// The marks of the requested streams; streams without a mark are omitted.
    Marks(Vec<(StreamName, Mark)>),
    /// The requested events or the first part of them, or `None` if the stream does not contain
    /// them.
    Missing(Option<Span>),
    /// The action failed.
    Failed {
        /// Whether a retry may succeed.
        temporary: bool,
    },
    /// The requested wait is over.
    Waited,
}

/// Numbers of indexed items and events.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Indexed {
    /// Number of items that this indexer wrote.
    pub items: u64,
    /// Number of events in these items.
    pub events: u64,
    /// Number of these events that were read from their streams because no change record had
    /// announced them.
    pub found: u64,
}

/// Reason why events were not indexed. A retry is safe: no event is indexed twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IndexingFault {
    /// The stream lacks an event before an announced event.
    #[error("the stream `{stream}` has no event {index}, although a later event was announced")]
    NotInStream {
        /// Name of the stream.
        stream: StreamName,
        /// Index of the missing event.
        index: u64,
    },
    /// Other indexers won every race for a place in the feed.
    #[error("too many concurrent indexers; retry later")]
    Contention,
    /// The store failed.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// No place is left in the feed.
    #[error("the feed is full")]
    Full,
}
