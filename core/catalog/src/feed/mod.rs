//! The feed: all appended events of all event streams in one permanent order.
//!
//! A change stream of `DynamoDB` keeps its records for a day. The indexer reads it and writes the
//! Feed table: [`Item`]s of [`Span`]s, numbered without gaps within a partition. A [`Checkpoint`]
//! is a partition and a place in it. Each stream has a [`Mark`]: the place up to which it is
//! indexed.
//!
//! [`Indexing`] is a pure state machine that makes all decisions. Every event is indexed once, in
//! the order of its stream, even if records arrive twice, late, out of order or never, and with any
//! number of indexers. Each safety rule has a test that fails without it:
//! - *Next place*: an item is put at the place after the last one, only if that is free. So items
//!   have one order, and an indexer with outdated state is refused.
//! - *Settle first*: nothing is put after an item before the marks include it. So only the last
//!   item can be ahead of the marks, and the indexer that puts the next one has read it.
//! - *From the mark*: a stream is indexed from its mark on. Events below it are already indexed;
//!   missing events are read from the stream itself.
//! - *Marks only rise*, so that an indexer that was frozen cannot lower them.
//! - *React first*: the reactions to events are performed before they are indexed, so no indexed
//!   event lacks its reaction.

mod checkpoint;
mod entries;
mod indexing;
mod item;
mod record;
mod span;
#[cfg(test)]
mod tests;

pub use checkpoint::{BadCheckpoint, Checkpoint, Feed, FeedId};
pub use entries::{EntryKind, LOG_CATEGORY, put, segment_of_stream, span_of, stream_of_segment};
pub use indexing::{
    Indexed, Indexing, IndexingAction, IndexingAnswer, IndexingFault, Known, Mark, Rules,
    SafetyRule, Tail,
};
pub use item::{Content, Item, PartitionPolicy, UnreadableItem, decode_spans, encode_spans};
pub use record::{appended, is_appended};
pub use span::{Span, joined};
