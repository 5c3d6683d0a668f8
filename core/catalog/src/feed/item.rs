//! Items of the feed.

use serde::{Deserialize, Serialize};

use super::checkpoint::Feed;
use super::span::Span;
use crate::stream::{Kind, Payload};
use cellar_base::bounded::at_most;
use cellar_base::limits::{
    FEED_PARTITION_BYTES, FEED_PARTITION_ITEMS, MAX_FEED_ITEM_EVENTS, MAX_FEED_ITEM_SPANS,
};

/// An item of the feed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Item {
    /// Time at which the item was written, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// Total size of the items in the partition up to and including this one, in bytes.
    pub partition_bytes: u64,
    /// The events, or the end of the partition.
    pub content: Content,
}

/// Content of an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Content {
    Spans(Vec<Span>),
    /// The partition ends here. The next partition belongs to this generation of the feed.
    End(Feed),
}

/// Thresholds at which a partition ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PartitionPolicy {
    /// Maximum total size of the items in a partition, in bytes.
    pub bytes: u64,
    /// Maximum number of items in a partition. The item that marks its end is counted too.
    pub items: u64,
}

impl Default for PartitionPolicy {
    fn default() -> Self {
        Self { bytes: FEED_PARTITION_BYTES, items: FEED_PARTITION_ITEMS }
    }
}

/// Bytes are not a valid list of event ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an item of the feed cannot be read; rebuild the feed with `synth feed rebuild`")]
pub struct UnreadableItem;

#[derive(Serialize, Deserialize)]
struct StoredSpan<'a> {
    stream: &'a str,
    first: u64,
    #[serde(borrow, deserialize_with = "at_most::<_, _, MAX_FEED_ITEM_EVENTS>")]
    kinds: Vec<&'a str>,
}

#[derive(Serialize, Deserialize)]
struct StoredSpans<'a>(
    #[serde(borrow, deserialize_with = "at_most::<_, _, MAX_FEED_ITEM_SPANS>")] Vec<StoredSpan<'a>>,
);

/// Encodes event ranges, compressed if that makes them smaller.
///
/// # Errors
/// Returns [`UnreadableItem`] if the events exceed the limits of an item.
pub fn encode_spans(spans: &[Span]) -> Result<Payload, UnreadableItem> {
    let stored_spans = spans.iter().map(|span| StoredSpan {
        stream: span.stream.as_str(),
        first: span.first,
        kinds: span.kinds.iter().map(Kind::as_str).collect(),
    });
    let encoded_spans =
        postcard::to_allocvec(&StoredSpans(stored_spans.collect())).map_err(|_| UnreadableItem)?;
    Payload::pack(encoded_spans).map_err(|_| UnreadableItem)
}

/// Decodes event ranges.
///
/// # Errors
/// Returns [`UnreadableItem`] if the bytes are not a valid list of event ranges.
pub fn decode_spans(payload: &Payload) -> Result<Vec<Span>, UnreadableItem> {
    let encoded_spans = payload.unpack().map_err(|_| UnreadableItem)?;
    let (StoredSpans(stored_spans), trailing_bytes) =
        postcard::take_from_bytes::<StoredSpans<'_>>(&encoded_spans).map_err(|_| UnreadableItem)?;
    if !trailing_bytes.is_empty() || stored_spans.is_empty() {
        return Err(UnreadableItem);
    }
    stored_spans.into_iter().map(StoredSpan::into_span).collect()
}

impl StoredSpan<'_> {
    fn into_span(self) -> Result<Span, UnreadableItem> {
        let kind_count = u64::try_from(self.kinds.len()).unwrap_or(u64::MAX);
        let indices_overflow = self.first.checked_add(kind_count).is_none();
        if kind_count == 0 || indices_overflow {
            return Err(UnreadableItem);
        }
        let stream = self.stream.parse().map_err(|_| UnreadableItem)?;
        let mut kinds = Vec::with_capacity(self.kinds.len());
        for kind in self.kinds {
            kinds.push(Kind::new(kind).map_err(|_| UnreadableItem)?);
        }
        Ok(Span { stream, first: self.first, kinds })
    }
}
