//! Indexes each event once, in the order of its stream.

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
    /// Begin a partition, unless it exists.
    BeginPartition {
        /// Partition.
        partition: u64,
        /// Generation.
        feed: Feed,
    },
    /// Read the last item of a partition.
    ReadTail {
        /// Partition.
        partition: u64,
    },
    /// Read the marks of streams.
    ReadMarks {
        /// Streams.
        streams: Vec<StreamName>,
    },
    /// Raise the marks of streams that are lower or belong to another generation.
    RaiseMarks {
        /// Streams with their marks.
        marks: Vec<(StreamName, Mark)>,
    },
    /// Read events from a stream itself: all of the range, or a part from its start.
    ReadMissing {
        /// Stream.
        stream: StreamName,
        /// Index of the first event.
        from: u64,
        /// Index after the last event.
        to: u64,
    },
    /// Perform the reactions to these events. They may be repeated.
    React {
        /// Events.
        spans: Vec<Span>,
    },
    /// Put an item at a place, unless it is taken.
    Put {
        /// Place.
        at: Checkpoint,
        /// Item.
        item: Item,
    },
    /// Wait, then report [`IndexingAnswer::Waited`].
    Wait {
        /// Milliseconds.
        delay_ms: u64,
    },
    /// The result.
    Finish(Result<Indexed, IndexingFault>),
}

/// Result of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexingAnswer {
    /// Done and durable.
    Done,
    /// The key exists; nothing was written.
    Exists,
    /// The outcome is unknown; the write may still take effect.
    Unknown,
    /// Newest partition; `None` before the first.
    Partition(Option<(u64, Feed)>),
    /// Last item of the partition and its offset; `None` if the partition is empty.
    Last(Option<(u64, Item)>),
    /// Marks of the streams that have one.
    Marks(Vec<(StreamName, Mark)>),
    /// Events of the requested stream, from the first on; `None` if the stream does not have them.
    Missing(Option<Span>),
    /// The action failed.
    Failed {
        /// Set if a retry may succeed.
        temporary: bool,
    },
    /// The wait is over.
    Waited,
}

/// What was indexed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Indexed {
    /// Items that this indexer put.
    pub items: u64,
    /// Events in these items.
    pub events: u64,
    /// Events among them that were read from their streams because no record had announced them.
    pub found: u64,
}

/// Reason why events were not indexed. They can be indexed later; no event is indexed twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IndexingFault {
    /// The stream lacks an announced event.
    #[error("the stream `{stream}` has no event {index}, though a later one was appended")]
    NotInStream {
        /// Stream.
        stream: StreamName,
        /// Index of the event.
        index: u64,
    },
    /// Other indexers won every race.
    #[error("the index is busy: try again in a moment")]
    Contention,
    /// The store failed.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// The feed has no further places.
    #[error("the feed is full")]
    Full,
}
