//! The feed: the appended events of all event streams in a single permanent order.
//!
//! The indexer reads DynamoDB change streams, which retain their records for a day, and writes the
//! Feed table. The table contains [`Item`]s, numbered without gaps within a partition. An item
//! consists of [`Span`]s, each with consecutive events of one stream. A [`Checkpoint`] identifies a
//! partition and an offset in that partition. Each event stream has a [`Mark`], its high-water
//! mark: the index up to which its events are in the feed.
//!
//! [`Indexing`] is a pure state machine that makes all decisions. Every event is indexed exactly
//! once, in stream order, even if change records are duplicated, late, out of order or lost. This
//! holds for any number of indexers. For each of the following safety rules, a test fails if the
//! rule is disabled:
//! - *Next place*: an item is put directly after the last item, if that position is free. All items
//!   therefore have a total order, and a put based on outdated state is refused.
//! - *Settle first*: an item is put only after the high-water marks include the preceding item. The
//!   marks can therefore lack only the events of the last item. The indexer that puts the next item
//!   has read the last item, so it knows these events.
//! - *From the mark*: indexing continues at the stream's high-water mark. Events before the mark
//!   are already indexed. Missing events after the mark are read from the stream itself.
//! - *Marks only rise*: a suspended indexer cannot lower a high-water mark.
//! - *React first*: the reactions to events (such as updates of spreadsheet lists) are performed
//!   before the events are indexed, so no indexed event lacks its reaction.

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
