//! The feed: all appended events of all event streams in a single permanent order.
//!
//! The indexer reads `DynamoDB` change streams, which retain their records for a day, and writes
//! the Feed table. The table contains [`Item`]s, which consist of [`Span`]s (event ranges of a
//! stream) and are numbered without gaps within a partition. A [`Checkpoint`] is a partition and an
//! offset in it. Each event stream has a [`Mark`], its indexing high-water mark: the index up to
//! which its events are in the feed.
//!
//! [`Indexing`] is a pure state machine that makes all decisions. Every event is indexed exactly
//! once, in stream order, even if change records are duplicated, late, out of order or lost, and
//! with any number of indexers. This is guaranteed by the following safety rules, each with a test
//! that fails if the rule is disabled:
//! - *Next place*: an item is put directly after the last item, if that position is free. Items
//!   therefore have a total order, and a put based on stale state is refused.
//! - *Settle first*: an item is put only after the high-water marks include the preceding item. At
//!   most the last item is therefore ahead of the marks, and the indexer that puts the next item has
//!   read it.
//! - *From the mark*: indexing continues from the stream's high-water mark. Earlier events are
//!   already indexed; missing events after the mark are read from the stream itself.
//! - *Marks only rise*: a suspended indexer cannot lower a high-water mark.
//! - *React first*: the reactions to events (such as updates of spreadsheet lists) are performed
//!   before the events are indexed, so every indexed event has had its reaction.

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
