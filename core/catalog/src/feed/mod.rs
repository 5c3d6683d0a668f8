//! The feed: every append to every stream, for ever, in an order that can be walked (design
//! `6-catalog-feed.md` §3).
//!
//! `DynamoDB`'s own stream of changes forgets after a day. The indexer reads it and appends what it says
//! to the Feed table: [`Item`]s of [`Span`]s, numbered without gaps within a partition; a [`Checkpoint`] is
//! a partition and a place in it. For each stream the table has a [`Mark`]: how far it is indexed.
//!
//! [`Indexing`] is the whole decision, a pure state machine. Every event is indexed once, in the order of
//! its stream, whatever is delivered twice, late, out of order or not at all, and however many indexers
//! there are. Safety rules, each of which has a test that fails without it:
//! - *Next place*: an item is put at the place behind the last one and only if nothing is there, so that
//!   items have one order, and whoever knows too little is refused.
//! - *Settle first*: nothing is put behind an item before the marks say what it says. So only the last
//!   item can be ahead of the marks, and whoever puts the next one has seen it.
//! - *From the mark*: a stream is indexed from its mark on: what is below was indexed, what is missing
//!   between is read from the stream itself, which is the truth.
//! - *Marks only rise*, so that one who wakes up late takes nothing back.
//! - *React first*: what follows from events is done before they are indexed, so that whatever the index
//!   has was reacted to.

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
    Action, Answer, Indexed, Indexing, IndexingFault, Known, Mark, Rules, SafetyRule, Tail,
};
pub use item::{Content, Item, PartitionPolicy, UnreadableItem, decode_spans, encode_spans};
pub use record::{appended, is_appended};
pub use span::{Span, joined};
