//! Records of the EventStream table: the newest item of each event stream, and batches of older
//! events.

use crate::feed::Span;
use crate::stream::{
    Etag, EventBatch, Kind, Payload, StreamEvent, StreamName, Tip, Unfold, WriterId, event_count,
};
use cellar_base::limits::TIP_INDEX;
use cellar_base::record::{
    Attribute, Item, Reader, RecordError, item_bytes, put_bytes, put_number, put_text,
};
use cellar_base::table_attributes::{
    APPENDED, BATCH_BYTES, CAUSATION, CORRELATION, DATA, DATA_ENCODING, ETAG, EVENTS, KINDS, META,
    META_ENCODING, NEXT_INDEX, STREAM, STREAM_INDEX, TIME, UNFOLDS, WRITER,
};

const TIP: &str = "tip of a stream";
const EVENT_BATCH: &str = "event batch of a stream";
const EVENT: &str = "event of a stream";
const UNFOLD: &str = "unfold of a stream";

/// Returns the key of an item of an event stream. `index` is `TIP_INDEX` for the newest item, and
/// the index of the first event for any other item.
#[must_use]
pub fn key(name: &StreamName, index: u64) -> Item {
    let mut item = Item::new();
    put_text(&mut item, STREAM, Some(name.as_str()));
    put_number(&mut item, STREAM_INDEX, index);
    item
}

/// Encodes a tip.
#[must_use]
pub fn encode_tip(tip: &Tip) -> Item {
    let mut item = key(&tip.name, TIP_INDEX);
    put_number(&mut item, BATCH_BYTES, tip.batch_bytes);
    put_bytes(&mut item, ETAG, tip.etag.0.to_vec());
    put_number(&mut item, NEXT_INDEX, tip.next);
    put_number(&mut item, APPENDED, tip.appended);
    put_events(&mut item, &tip.events);
    item.insert(UNFOLDS.to_owned(), encode_unfolds(&tip.unfolds));
    item
}

/// Encodes an event batch.
#[must_use]
pub fn encode_event_batch(batch: &EventBatch) -> Item {
    let mut item = key(&batch.name, batch.index);
    put_number(&mut item, NEXT_INDEX, batch.next());
    put_events(&mut item, &batch.events);
    item
}

fn put_events(item: &mut Item, events: &[StreamEvent]) {
    item.insert(KINDS.to_owned(), encode_kinds(events));
    item.insert(EVENTS.to_owned(), encode_events(events));
}

/// Encodes event kinds as the attribute [`KINDS`].
#[must_use]
pub fn encode_kinds(events: &[StreamEvent]) -> Attribute {
    let kind = |event: &StreamEvent| Attribute::Text(event.kind.as_str().to_owned());
    Attribute::List(events.iter().map(kind).collect())
}

/// Encodes events without their kinds as the attribute [`EVENTS`].
#[must_use]
pub fn encode_events(events: &[StreamEvent]) -> Attribute {
    Attribute::List(events.iter().map(encode_event).collect())
}

/// Encodes cached states as the attribute [`UNFOLDS`].
#[must_use]
pub fn encode_unfolds(unfolds: &[Unfold]) -> Attribute {
    Attribute::List(unfolds.iter().map(encode_unfold).collect())
}

fn encode_event(event: &StreamEvent) -> Attribute {
    let mut item = Item::new();
    put_number(&mut item, TIME, event.time_ms);
    put_payload(&mut item, [DATA, DATA_ENCODING], &event.data);
    put_payload(&mut item, [META, META_ENCODING], &event.meta);
    put_text(&mut item, CORRELATION, event.correlation.as_deref());
    put_text(&mut item, CAUSATION, event.causation.as_deref());
    put_bytes(&mut item, WRITER, event.writer.0.to_vec());
    Attribute::Map(item)
}

fn encode_unfold(unfold: &Unfold) -> Attribute {
    let mut item = Item::new();
    put_number(&mut item, STREAM_INDEX, unfold.index);
    put_number(&mut item, TIME, unfold.time_ms);
    put_text(&mut item, KINDS, Some(unfold.kind.as_str()));
    put_payload(&mut item, [DATA, DATA_ENCODING], &unfold.data);
    put_payload(&mut item, [META, META_ENCODING], &unfold.meta);
    Attribute::Map(item)
}

/// Adds encoded data to an item. Empty data and the default encoding are omitted, because DynamoDB
/// bills for every byte.
fn put_payload(item: &mut Item, [data, encoding]: [&str; 2], payload: &Payload) {
    if !payload.stored.is_empty() {
        put_bytes(item, data, payload.stored.clone());
    }
    if payload.encoding != 0 {
        put_number(item, encoding, payload.encoding);
    }
}

/// Returns the size of events and their kinds in the table, in bytes.
#[must_use]
pub fn events_bytes(events: &[StreamEvent]) -> usize {
    let mut item = Item::new();
    put_events(&mut item, events);
    item_bytes(&item)
}

/// Returns the size of cached states in the table, in bytes.
#[must_use]
pub fn unfolds_bytes(unfolds: &[Unfold]) -> usize {
    item_bytes(&Item::from([(UNFOLDS.to_owned(), encode_unfolds(unfolds))]))
}

/// Decodes the newest item of an event stream. Cached states that cannot be decoded are ignored,
/// because they can be computed from the events.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode_tip(item: &Item) -> Result<Tip, RecordError> {
    let reader = Reader { record: TIP, item };
    if reader.number(STREAM_INDEX)? != TIP_INDEX {
        return Err(reader.attribute_error(STREAM_INDEX, "the index of a tip"));
    }
    let tip = Tip {
        name: decode_name(&reader)?,
        etag: Etag(reader.array(ETAG)?),
        next: reader.number(NEXT_INDEX)?,
        batch_bytes: reader.number(BATCH_BYTES)?,
        appended: reader.number(APPENDED)?,
        events: decode_events(&reader)?,
        unfolds: decode_readable_unfolds(&reader),
    };
    let has_all_events = tip.next - tip.first() == event_count(&tip.events);
    if tip.next > TIP_INDEX || !has_all_events {
        return Err(reader.attribute_error(NEXT_INDEX, "an index that all events precede"));
    }
    Ok(tip)
}

/// Decodes the cached states that are valid. A missing or invalid list is considered empty, because
/// the states can be computed from the events.
fn decode_readable_unfolds(reader: &Reader<'_>) -> Vec<Unfold> {
    let unfold_attributes = reader.list(UNFOLDS).unwrap_or_default();
    unfold_attributes.iter().filter_map(|attribute| decode_unfold(attribute).ok()).collect()
}

/// Returns the events that the last write appended to the newest item of an event stream. The
/// record may lack the attribute with the events themselves.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn appended_span(item: &Item) -> Result<Span, RecordError> {
    let reader = Reader { record: TIP, item };
    let next_index = reader.number(NEXT_INDEX)?;
    let appended_count = reader.number(APPENDED)?;
    if reader.number(STREAM_INDEX)? != TIP_INDEX || next_index > TIP_INDEX {
        return Err(reader.attribute_error(NEXT_INDEX, "the next index of a tip"));
    }
    let invalid_count =
        || reader.attribute_error(APPENDED, "at least one and at most all events of the tip");
    let first = next_index.checked_sub(appended_count).ok_or_else(invalid_count)?;
    let all_kinds = reader.list(KINDS)?;
    let appended_kinds = last_elements(all_kinds, appended_count)
        .filter(|kinds| !kinds.is_empty())
        .ok_or_else(invalid_count)?;
    let kinds: Option<Vec<Kind>> = appended_kinds.iter().map(decode_kind).collect();
    let kinds = kinds.ok_or_else(|| reader.attribute_error(KINDS, "a list of kinds"))?;
    Ok(Span { stream: decode_name(&reader)?, first, kinds })
}

/// Returns the last `count` elements of a list, or `None` if the list has fewer.
fn last_elements(list: &[Attribute], count: u64) -> Option<&[Attribute]> {
    let first_index = list.len().checked_sub(usize::try_from(count).ok()?)?;
    list.get(first_index..)
}

fn decode_kind(attribute: &Attribute) -> Option<Kind> {
    match attribute {
        Attribute::Text(kind) => Kind::new(kind).ok(),
        _ => None,
    }
}

/// Decodes a batch of older events.
///
/// # Errors
/// Returns a [`RecordError`] with the name of the invalid attribute.
pub fn decode_event_batch(item: &Item) -> Result<EventBatch, RecordError> {
    let reader = Reader { record: EVENT_BATCH, item };
    let batch = EventBatch {
        name: decode_name(&reader)?,
        index: reader.number(STREAM_INDEX)?,
        events: decode_events(&reader)?,
    };
    if batch.index >= TIP_INDEX {
        return Err(reader.attribute_error(STREAM_INDEX, "the index of an event batch"));
    }
    if reader.number(NEXT_INDEX)? != batch.next() || batch.next() > TIP_INDEX {
        return Err(reader.attribute_error(NEXT_INDEX, "the index after the last event"));
    }
    Ok(batch)
}

fn decode_name(reader: &Reader<'_>) -> Result<StreamName, RecordError> {
    reader.text(STREAM)?.parse().map_err(|_| reader.attribute_error(STREAM, "a stream name"))
}

/// An item without events is invalid.
fn decode_events(reader: &Reader<'_>) -> Result<Vec<StreamEvent>, RecordError> {
    let event_attributes = reader.list(EVENTS)?;
    let kind_attributes = reader.list(KINDS)?;
    if event_attributes.is_empty() {
        return Err(reader.attribute_error(EVENTS, "a list with at least one event"));
    }
    if event_attributes.len() != kind_attributes.len() {
        return Err(reader.attribute_error(KINDS, "one kind per event"));
    }
    let mut events = Vec::with_capacity(event_attributes.len());
    for (event, kind) in event_attributes.iter().zip(kind_attributes) {
        let Attribute::Text(kind) = kind else {
            return Err(reader.attribute_error(KINDS, "a list of texts"));
        };
        events.push(decode_event(event, kind)?);
    }
    Ok(events)
}

fn map_reader<'a>(record: &'static str, value: &'a Attribute) -> Result<Reader<'a>, RecordError> {
    match value {
        Attribute::Map(item) => Ok(Reader { record, item }),
        _ => Err(RecordError::Attribute { record, name: EVENTS, expected: "a list of maps" }),
    }
}

fn decode_event(value: &Attribute, kind: &str) -> Result<StreamEvent, RecordError> {
    let reader = map_reader(EVENT, value)?;
    Ok(StreamEvent {
        time_ms: reader.number(TIME)?,
        kind: Kind::new(kind).map_err(|_| reader.attribute_error(KINDS, "an event kind"))?,
        data: decode_payload(&reader, [DATA, DATA_ENCODING])?,
        meta: decode_payload(&reader, [META, META_ENCODING])?,
        correlation: reader.optional_text(CORRELATION)?,
        causation: reader.optional_text(CAUSATION)?,
        writer: WriterId(reader.array(WRITER)?),
    })
}

fn decode_unfold(value: &Attribute) -> Result<Unfold, RecordError> {
    let reader = map_reader(UNFOLD, value)?;
    let kind = reader.text(KINDS)?;
    Ok(Unfold {
        index: reader.number(STREAM_INDEX)?,
        time_ms: reader.number(TIME)?,
        kind: Kind::new(&kind).map_err(|_| reader.attribute_error(KINDS, "an unfold kind"))?,
        data: decode_payload(&reader, [DATA, DATA_ENCODING])?,
        meta: decode_payload(&reader, [META, META_ENCODING])?,
    })
}

fn decode_payload(
    reader: &Reader<'_>,
    [data, encoding]: [&'static str; 2],
) -> Result<Payload, RecordError> {
    let stored = reader.optional_bytes(data)?.unwrap_or_default().to_vec();
    Ok(Payload { encoding: reader.optional_number(encoding)?.unwrap_or_default(), stored })
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
