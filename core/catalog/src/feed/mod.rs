//! The feed: all appended events of all event streams in one permanent order.
//!
//! The indexer reads the change streams of `DynamoDB`, which keep their records for a day, and
//! writes the Feed table. The table contains [`Item`]s, which consist of [`Span`]s and are numbered
//! without gaps within a partition. A [`Checkpoint`] is a partition and an offset in it. For each
//! event stream, a [`Mark`] stores the index up to which its events are indexed.
//!
//! [`Indexing`] is a pure state machine that makes all decisions. Every event is indexed exactly
//! once, in the order of its stream, even if change records are duplicated, late, out of order or
//! lost, and with any number of indexers. The following safety rules guarantee this; each has a
//! test that fails without the rule:
//! - *Next place*: an item is put at the place after the last item, if that place is free. Items
//!   therefore have one order, and the put of an indexer with stale state is refused.
//! - *Settle first*: an item is put only after the marks include the preceding item. At most the
//!   last item is therefore ahead of the marks, and the indexer that puts the next item has read it.
//! - *From the mark*: indexing continues from the stream's mark. Events before the mark are already
//!   indexed, and events missing after it are read from the stream itself.
//! - *Marks only rise*: an indexer that was suspended cannot lower a mark.
//! - *React first*: the reactions to events are performed before the events are indexed, so that
//!   every indexed event has had its reaction.

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
