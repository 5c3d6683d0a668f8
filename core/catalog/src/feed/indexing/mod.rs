//! Indexes each event once and in the order of its stream.

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

/// Next action of the driver. Every read is strongly consistent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IndexingAction {
    /// Read the newest partition and its generation.
    ReadPartition,
    /// Create a partition, unless it exists.
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
    /// Read the marks of streams.
    ReadMarks {
        /// Names of the streams.
        streams: Vec<StreamName>,
    },
    /// Raise the marks that are lower or belong to an earlier generation.
    RaiseMarks {
        /// Streams with their new marks.
        marks: Vec<(StreamName, Mark)>,
    },
    /// Read events from a stream itself: the whole range, or a part from its start.
    ReadMissing {
        /// Name of the stream.
        stream: StreamName,
        /// Index of the first event.
        from: u64,
        /// Index after the last event.
        to: u64,
    },
    /// Perform the reactions to these events. A reaction must be idempotent.
    React {
        /// Events to react to.
        spans: Vec<Span>,
    },
    /// Put an item at a place of the feed, unless the place is taken.
    Put {
        /// Place of the item.
        at: Checkpoint,
        /// Item to put.
        item: Item,
    },
    /// Wait, then report [`IndexingAnswer::Waited`].
    Wait {
        /// Duration of the wait in milliseconds.
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
    /// The key exists; nothing was written.
    Exists,
    /// The outcome is unknown; the write may still take effect.
    Unknown,
    /// The newest partition and its generation; `None` if the feed has no partition.
    Partition(Option<(u64, Feed)>),
    /// The last item of the partition and its offset; `None` if the partition is empty.
    Last(Option<(u64, Item)>),
    /// The marks of those streams that have a mark.
    Marks(Vec<(StreamName, Mark)>),
    /// The requested events, or the first of them; `None` if the stream does not have them.
    Missing(Option<Span>),
    /// The action failed.
    Failed {
        /// Set if a retry may succeed.
        temporary: bool,
    },
    /// The requested wait is over.
    Waited,
}

/// Numbers of indexed items and events.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Indexed {
    /// Number of items that this indexer put.
    pub items: u64,
    /// Number of events in these items.
    pub events: u64,
    /// Number of these events that no change record had announced, so that they were read from
    /// their streams.
    pub found: u64,
}

/// Reason why events were not indexed. A retry is safe: no event is indexed twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IndexingFault {
    /// The stream lacks an announced event.
    #[error("the stream `{stream}` has no event {index}, although a later event was announced")]
    NotInStream {
        /// Name of the stream.
        stream: StreamName,
        /// Index of the missing event.
        index: u64,
    },
    /// Other indexers won every race.
    #[error("too many concurrent indexers; retry later")]
    Contention,
    /// The store failed.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// The feed has no place left.
    #[error("the feed is full")]
    Full,
}
