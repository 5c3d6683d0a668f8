//! The feed: all appended events of all event streams in one permanent order.
//!
//! The indexer reads the change streams of `DynamoDB`, which keep their records for a day, and
//! writes the Feed table: [`Item`]s of [`Span`]s, numbered without gaps within a partition. A
//! [`Checkpoint`] is a partition and an offset in it. Each stream has a [`Mark`]: the index up to
//! which its events are indexed.
//!
//! [`Indexing`] is a pure state machine that makes all decisions. Every event is indexed once, in
//! the order of its stream, even if records arrive twice, late, out of order or never, and with any
//! number of indexers. Safety rules, each with a test that fails without it:
//! - *Next place*: an item is put at the place after the last item, if that place is free. Items
//!   therefore have one order, and the put of an indexer with stale state is refused.
//! - *Settle first*: no item is put before the marks include the preceding item. Only the last item
//!   can therefore be ahead of the marks, and the indexer that puts the next item has read it.
//! - *From the mark*: a stream is indexed from its mark on. Earlier events are already indexed;
//!   missing events are read from the stream itself.
//! - *Marks only rise*: an indexer that was frozen cannot lower a mark.
//! - *React first*: the reactions to events are performed before the events are indexed, so that no
//!   indexed event lacks its reaction.

mod checkpoint;
mod entries;
mod indexing;
mod item;
mod record;
mod span;
#[cfg(test)]
mod tests;

pub use checkpoint::{BadCheckpoint, Checkpoint, Feed, FeedId};
pub use entries::{
    EntryKind, LOG_CATEGORY, entries_span, entry_span, segment_of_stream, stream_of_segment,
};
pub use indexing::{
    Indexed, Indexing, IndexingAction, IndexingAnswer, IndexingFault, Known, Mark, Rules,
    SafetyRule, Tail,
};
pub use item::{Content, Item, PartitionPolicy, UnreadableItem, decode_spans, encode_spans};
pub use record::{appended_span, is_append};
pub use span::{Span, join_spans};
