//! Indexes events: once each, in the order of their streams.

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

/// What the driver is to do next. Every read is consistent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Action {
    /// Read which partition is the newest, and whose.
    ReadPartition,
    /// Begin a partition, if nobody has.
    BeginPartition {
        /// The partition.
        partition: u64,
        /// The feed.
        feed: Feed,
    },
    /// Read the last item of a partition.
    ReadTail {
        /// The partition.
        partition: u64,
    },
    /// Read how far these streams are indexed.
    ReadMarks {
        /// The streams.
        streams: Vec<StreamName>,
    },
    /// Raise the marks of streams where they are lower, or of another feed.
    RaiseMarks {
        /// Each stream and its mark.
        marks: Vec<(StreamName, Mark)>,
    },
    /// Read from the stream itself what was appended: all of it or a part, from the first on.
    ReadMissing {
        /// The stream.
        stream: StreamName,
        /// Index of the first event.
        from: u64,
        /// Index behind the last one.
        to: u64,
    },
    /// Do what follows from these events. It may be repeated.
    React {
        /// The events.
        spans: Vec<Span>,
    },
    /// Put an item at this place, if nothing is there.
    Put {
        /// The place.
        at: Checkpoint,
        /// What it says.
        item: Item,
    },
    /// Wait, then report [`Answer::Waited`].
    Wait {
        /// How long, milliseconds.
        delay_ms: u64,
    },
    /// The end.
    Finish(Result<Indexed, IndexingFault>),
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is done, durably.
    Done,
    /// Something is there already: nothing was written.
    Exists,
    /// It may or may not have happened, or may yet.
    Unknown,
    /// The newest partition; `None` before the first.
    Partition(Option<(u64, Feed)>),
    /// The last item of the partition and its place; `None` if the partition has none.
    Last(Option<(u64, Item)>),
    /// The marks of the streams that have one.
    Marks(Vec<(StreamName, Mark)>),
    /// Events of the stream that was asked for, from the first on; `None` if it does not have them.
    Missing(Option<Span>),
    /// It failed.
    Failed {
        /// Whether trying again may help.
        temporary: bool,
    },
    /// The wait is over.
    Waited,
}

/// What was indexed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Indexed {
    /// The items that this indexer put, in order.
    pub items: u64,
    /// Events in them.
    pub events: u64,
    /// Of them, events that nobody had told of: they were read from their streams.
    pub found: u64,
}

/// Why events were not indexed. They can be indexed later: nothing is indexed twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IndexingFault {
    /// The stream does not have what it is said to have.
    #[error("the stream `{stream}` has no event {index}, though a later one was appended")]
    NotInStream {
        /// The stream.
        stream: StreamName,
        /// The index.
        index: u64,
    },
    /// Others were faster, again and again.
    #[error("the index is busy: try again in a moment")]
    Contention,
    /// The store does not answer, or refuses.
    #[error("the store is unreachable or rejected the request")]
    Store,
    /// The feed cannot have another place.
    #[error("the feed is full")]
    Full,
}
