//! Feed records in the Feed table.

use crate::feed::{self, Checkpoint, Content, Feed, FeedId, Mark, Span};
use crate::stream::{Payload, StreamName};
use cellar_base::record::{Item, Reader, RecordError, item_bytes, put_bytes, put_number, put_text};
use cellar_base::table_attributes::{
    DATA, DATA_ENCODING, FEED, FEED_PARTITION_KEY, FEED_SORT_KEY, FIRST_PARTITION, NEXT_INDEX,
    PARTITION_BYTES, TIME,
};

const ITEM: &str = "item of the feed";
const PARTITION: &str = "partition of the feed";
const MARK: &str = "mark of a stream";

const MARK_SORT: &str = "mark";
/// Partition key under which the feed partitions are listed.
pub const PARTITIONS: &str = "$AppendsIndex-0";

/// Prefix of the partition keys under which feed items are stored.
const PARTITION_PREFIX: &str = "$AppendsEpoch-0_";

/// Returns the partition key of the items in a feed partition.
#[must_use]
pub fn feed_partition_key(partition: u64) -> String {
    format!("{PARTITION_PREFIX}{partition}")
}

/// Decodes the feed position in the key of an item.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode_feed_position(record: &Item) -> Result<Checkpoint, RecordError> {
    let reader = Reader { record: ITEM, item: record };
    let partition_key = reader.text(FEED_PARTITION_KEY)?;
    let partition: Option<u64> =
        partition_key.strip_prefix(PARTITION_PREFIX).and_then(|number| number.parse().ok());
    let offset = decode_sort_key(&reader, "an offset in a partition")?;
    let feed_position = partition.and_then(|partition| Checkpoint::at(partition, offset).ok());
    feed_position
        .ok_or_else(|| reader.attribute_error(FEED_PARTITION_KEY, "a partition of the feed"))
}

/// Returns the sort key of a feed item. The offset is padded with zeros, so that items sort by
/// offset.
#[must_use]
pub fn offset_sort(offset: u64) -> String {
    format!("{offset:06}")
}

/// Returns the sort key of a partition in the list of feed partitions. The number is padded with
/// zeros, so that partitions sort by number.
#[must_use]
pub fn partition_sort(partition: u64) -> String {
    format!("{partition:010}")
}

fn key(partition: &str, sort: &str) -> Item {
    let mut item = Item::new();
    put_text(&mut item, FEED_PARTITION_KEY, Some(partition));
    put_text(&mut item, FEED_SORT_KEY, Some(sort));
    item
}

/// Returns the key of a feed item.
#[must_use]
pub fn item_key(at: Checkpoint) -> Item {
    key(&feed_partition_key(at.partition()), &offset_sort(at.offset()))
}

/// Returns the key of a partition in the list of feed partitions.
#[must_use]
pub fn partition_key(partition: u64) -> Item {
    key(PARTITIONS, &partition_sort(partition))
}

/// Returns the key of the high-water mark of an event stream, which states how far the stream has
/// been added to the feed.
#[must_use]
pub fn mark_key(stream: &StreamName) -> Item {
    key(stream.as_str(), MARK_SORT)
}

/// Encodes a feed item.
///
/// # Errors
/// Returns a [`RecordError`] if the item has too many events.
pub fn encode_item(at: Checkpoint, item: &feed::Item) -> Result<Item, RecordError> {
    let mut record = item_key(at);
    put_number(&mut record, TIME, item.time_ms);
    put_number(&mut record, PARTITION_BYTES, item.partition_bytes);
    match &item.content {
        Content::Spans(spans) => put_spans(&mut record, spans)?,
        Content::End(feed) => put_feed(&mut record, *feed),
    }
    Ok(record)
}

fn put_spans(record: &mut Item, spans: &[Span]) -> Result<(), RecordError> {
    let payload = feed::encode_spans(spans)
        .map_err(|_| attribute_error(ITEM, DATA, "spans within the limits of an item"))?;
    if payload.encoding != 0 {
        put_number(record, DATA_ENCODING, payload.encoding);
    }
    put_bytes(record, DATA, payload.stored);
    Ok(())
}

/// Returns the size of a feed item in the table, in bytes.
#[must_use]
pub fn item_size(at: Checkpoint, item: &feed::Item) -> u64 {
    let record = encode_item(at, item).unwrap_or_default();
    u64::try_from(item_bytes(&record)).unwrap_or(u64::MAX)
}

/// Decodes a feed item and its offset.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode_item(record: &Item) -> Result<(u64, feed::Item), RecordError> {
    let reader = Reader { record: ITEM, item: record };
    let content = match reader.optional_bytes(DATA)? {
        Some(stored_spans) => Content::Spans(decode_spans(&reader, stored_spans)?),
        None => Content::End(decode_feed(&reader)?),
    };
    let offset = decode_sort_key(&reader, "an offset in a partition")?;
    let item = feed::Item {
        time_ms: reader.number(TIME)?,
        partition_bytes: reader.number(PARTITION_BYTES)?,
        content,
    };
    Ok((offset, item))
}

fn decode_spans(reader: &Reader<'_>, stored_spans: &[u8]) -> Result<Vec<Span>, RecordError> {
    let encoding = reader.optional_number(DATA_ENCODING)?.unwrap_or_default();
    let payload = Payload { encoding, stored: stored_spans.to_vec() };
    feed::decode_spans(&payload).map_err(|_| reader.attribute_error(DATA, "spans"))
}

/// Encodes a partition in the list of feed partitions.
#[must_use]
pub fn encode_partition(partition: u64, feed: Feed) -> Item {
    let mut record = partition_key(partition);
    put_feed(&mut record, feed);
    record
}

/// Decodes a partition in the list of feed partitions.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode_partition(record: &Item) -> Result<(u64, Feed), RecordError> {
    let reader = Reader { record: PARTITION, item: record };
    let feed = decode_feed(&reader)?;
    let partition = decode_sort_key(&reader, "a partition")?;
    if feed.first_partition > partition || Checkpoint::at(partition, 0).is_err() {
        return Err(reader.attribute_error(FIRST_PARTITION, "a partition at or before this one"));
    }
    Ok((partition, feed))
}

/// Decodes the high-water mark of an event stream, which states how far the stream has been added
/// to the feed.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode_mark(record: &Item) -> Result<(StreamName, Mark), RecordError> {
    let reader = Reader { record: MARK, item: record };
    let name = reader.text(FEED_PARTITION_KEY)?;
    let stream = name
        .parse()
        .map_err(|_| reader.attribute_error(FEED_PARTITION_KEY, "the name of a stream"))?;
    let (first_partition, next) = (reader.number(FIRST_PARTITION)?, reader.number(NEXT_INDEX)?);
    Ok((stream, Mark { first_partition, next }))
}

/// Encodes a stream's mark.
#[must_use]
pub fn encode_mark(stream: &StreamName, mark: Mark) -> Item {
    let mut record = mark_key(stream);
    put_number(&mut record, FIRST_PARTITION, mark.first_partition);
    put_number(&mut record, NEXT_INDEX, mark.next);
    record
}

fn put_feed(record: &mut Item, feed: Feed) {
    put_bytes(record, FEED, feed.id.0.to_vec());
    put_number(record, FIRST_PARTITION, feed.first_partition);
}

fn decode_feed(reader: &Reader<'_>) -> Result<Feed, RecordError> {
    Ok(Feed { id: FeedId(reader.array(FEED)?), first_partition: reader.number(FIRST_PARTITION)? })
}

/// Error messages contain `expected` as the description of the sort key.
fn decode_sort_key(reader: &Reader<'_>, expected: &'static str) -> Result<u64, RecordError> {
    let sort_key = reader.text(FEED_SORT_KEY)?;
    let has_only_digits = sort_key.bytes().all(|byte| byte.is_ascii_digit());
    let number = if has_only_digits { sort_key.parse().ok() } else { None };
    number.ok_or_else(|| reader.attribute_error(FEED_SORT_KEY, expected))
}

fn attribute_error(
    record: &'static str,
    name: &'static str,
    expected: &'static str,
) -> RecordError {
    RecordError::Attribute { record, name, expected }
}
