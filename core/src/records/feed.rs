//! The records of the Index table that are the feed (design `6-catalog-feed.md` §3).

use super::{Item, Reader, RecordError, item_bytes, put_bytes, put_number, put_text};
use crate::feed::{self, Checkpoint, Content, Feed, FeedId, Mark};
use crate::schema::{
    DATA, DATA_ENCODING, EPOCH_BYTES, FEED, FIRST_EPOCH, INDEX_PARTITION, INDEX_SORT, NEXT_INDEX,
    TIME,
};
use crate::stream::{Payload, StreamName};

const ITEM: &str = "item of the feed";
const EPOCH: &str = "epoch of the feed";
const MARK: &str = "mark of a stream";

/// The sort key of a stream's mark.
const MARK_SORT: &str = "mark";
/// The partition of the list of epochs. There is one partition of the feed, number 0.
pub const EPOCHS: &str = "$AppendsIndex-0";

/// What the partitions of epochs begin with.
const EPOCH_PREFIX: &str = "$AppendsEpoch-0_";

/// The partition of an epoch.
#[must_use]
pub fn epoch_partition(epoch: u64) -> String {
    format!("{EPOCH_PREFIX}{epoch}")
}

/// Where the record of an item stands, by its key alone.
///
/// # Errors
/// [`RecordError`] with the attribute that is wrong.
pub fn place_of(record: &Item) -> Result<Checkpoint, RecordError> {
    let reader = Reader { record: ITEM, item: record };
    let partition = reader.text(INDEX_PARTITION)?;
    let epoch = partition.strip_prefix(EPOCH_PREFIX).and_then(|epoch| epoch.parse().ok());
    let offset = decode_sort(&reader, "a place in an epoch")?;
    let place = epoch.and_then(|epoch: u64| Checkpoint::at(epoch, offset).ok());
    place.ok_or_else(|| reader.fault(INDEX_PARTITION, "an epoch of the feed"))
}

/// The sort key of a place in an epoch: texts sort as the places do.
#[must_use]
pub fn offset_sort(offset: u64) -> String {
    format!("{offset:06}")
}

/// The sort key of an epoch in the list of epochs.
#[must_use]
pub fn epoch_sort(epoch: u64) -> String {
    format!("{epoch:010}")
}

fn key(partition: &str, sort: &str) -> Item {
    let mut item = Item::new();
    put_text(&mut item, INDEX_PARTITION, Some(partition));
    put_text(&mut item, INDEX_SORT, Some(sort));
    item
}

/// The key of an item of the feed.
#[must_use]
pub fn item_key(at: Checkpoint) -> Item {
    key(&epoch_partition(at.epoch()), &offset_sort(at.offset()))
}

/// The key of an epoch in the list of epochs.
#[must_use]
pub fn epoch_key(epoch: u64) -> Item {
    key(EPOCHS, &epoch_sort(epoch))
}

/// The key of a stream's mark.
#[must_use]
pub fn mark_key(stream: &StreamName) -> Item {
    key(stream.as_str(), MARK_SORT)
}

/// The record of an item.
///
/// # Errors
/// [`RecordError`] for more than an item may have.
pub fn encode_item(at: Checkpoint, item: &feed::Item) -> Result<Item, RecordError> {
    let mut record = item_key(at);
    put_number(&mut record, TIME, item.time_ms);
    put_number(&mut record, EPOCH_BYTES, item.epoch_bytes);
    match &item.content {
        Content::Spans(spans) => {
            let payload =
                feed::encode_spans(spans).map_err(|_| fault(ITEM, DATA, "few enough spans"))?;
            if payload.encoding != 0 {
                put_number(&mut record, DATA_ENCODING, payload.encoding);
            }
            put_bytes(&mut record, DATA, payload.stored);
        }
        Content::End(feed) => put_feed(&mut record, *feed),
    }
    Ok(record)
}

/// Bytes that an item takes.
#[must_use]
pub fn item_size(at: Checkpoint, item: &feed::Item) -> u64 {
    let record = encode_item(at, item).unwrap_or_default();
    u64::try_from(item_bytes(&record)).unwrap_or(u64::MAX)
}

/// Reads the record of an item, and where it stands in its epoch.
///
/// # Errors
/// [`RecordError`] with the attribute that is wrong.
pub fn decode_item(record: &Item) -> Result<(u64, feed::Item), RecordError> {
    let reader = Reader { record: ITEM, item: record };
    let content = match reader.optional_bytes(DATA)? {
        None => Content::End(decode_feed(&reader)?),
        Some(stored) => {
            let encoding = reader.optional_number(DATA_ENCODING)?.unwrap_or_default();
            let payload = Payload { encoding, stored: stored.to_vec() };
            let spans = feed::decode_spans(&payload).map_err(|_| reader.fault(DATA, "spans"))?;
            Content::Spans(spans)
        }
    };
    let offset = decode_sort(&reader, "a place in an epoch")?;
    let (time_ms, epoch_bytes) = (reader.number(TIME)?, reader.number(EPOCH_BYTES)?);
    Ok((offset, feed::Item { time_ms, epoch_bytes, content }))
}

/// The record of an epoch in the list of epochs.
#[must_use]
pub fn encode_epoch(epoch: u64, feed: Feed) -> Item {
    let mut record = epoch_key(epoch);
    put_feed(&mut record, feed);
    record
}

/// Reads the record of an epoch.
///
/// # Errors
/// [`RecordError`] with the attribute that is wrong.
pub fn decode_epoch(record: &Item) -> Result<(u64, Feed), RecordError> {
    let reader = Reader { record: EPOCH, item: record };
    let feed = decode_feed(&reader)?;
    let epoch = decode_sort(&reader, "an epoch")?;
    match feed.first_epoch <= epoch && Checkpoint::at(epoch, 0).is_ok() {
        true => Ok((epoch, feed)),
        false => Err(reader.fault(FIRST_EPOCH, "an epoch that is not behind it")),
    }
}

/// Reads the record of a stream's mark.
///
/// # Errors
/// [`RecordError`] with the attribute that is wrong.
pub fn decode_mark(record: &Item) -> Result<(StreamName, Mark), RecordError> {
    let reader = Reader { record: MARK, item: record };
    let name = reader.text(INDEX_PARTITION)?;
    let stream = name.parse().map_err(|_| reader.fault(INDEX_PARTITION, "the name of a stream"))?;
    let (first_epoch, next) = (reader.number(FIRST_EPOCH)?, reader.number(NEXT_INDEX)?);
    Ok((stream, Mark { first_epoch, next }))
}

/// The record of a stream's mark.
#[must_use]
pub fn encode_mark(stream: &StreamName, mark: Mark) -> Item {
    let mut record = mark_key(stream);
    put_number(&mut record, FIRST_EPOCH, mark.first_epoch);
    put_number(&mut record, NEXT_INDEX, mark.next);
    record
}

fn put_feed(record: &mut Item, feed: Feed) {
    put_bytes(record, FEED, feed.id.0.to_vec());
    put_number(record, FIRST_EPOCH, feed.first_epoch);
}

fn decode_feed(reader: &Reader<'_>) -> Result<Feed, RecordError> {
    Ok(Feed { id: FeedId(reader.array(FEED)?), first_epoch: reader.number(FIRST_EPOCH)? })
}

fn decode_sort(reader: &Reader<'_>, expected: &'static str) -> Result<u64, RecordError> {
    let sort = reader.text(INDEX_SORT)?;
    let is_number = !sort.is_empty() && sort.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| sort.parse().ok()).flatten();
    number.ok_or_else(|| reader.fault(INDEX_SORT, expected))
}

fn fault(record: &'static str, name: &'static str, expected: &'static str) -> RecordError {
    RecordError::Attribute { record, name, expected }
}
