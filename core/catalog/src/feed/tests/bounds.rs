//! Tests of the limits of checkpoints, spans and items.

use proptest::prelude::*;

use super::world::{name, span};
use crate::feed::{
    BadCheckpoint, Checkpoint, Content, Feed, FeedId, Item, Span, appended_span, decode_spans,
    encode_spans, is_append, join_spans,
};
use crate::records::feed::{
    decode_item, decode_partition, encode_item, encode_partition, item_size,
};
use crate::stream::tests::support::{event, tip};
use crate::stream::{Kind, Payload};
use cellar_base::limits::{
    FEED_PARTITION_ITEMS, MAX_CHECKPOINT, MAX_EVENT_KIND_BYTES, MAX_FEED_ITEM_EVENTS,
    MAX_FEED_ITEM_NAME_BYTES, MAX_FEED_ITEM_SPANS, MAX_STREAM_ITEM_BYTES,
};
use cellar_base::table_attributes::{APPENDED, DATA, FEED_SORT_KEY, KINDS, NEXT_INDEX};
use cellar_base::{record::Attribute, record::item_bytes};

#[test]
fn a_checkpoint_is_a_partition_and_a_place_in_it() {
    for (number, partition, offset) in
        [(0, 0, 0), (999_999, 0, 999_999), (1_000_001, 1, 1), (2_000_344, 2, 344)]
    {
        let at = Checkpoint::at(partition, offset).unwrap();
        assert_eq!((at.number(), at.partition(), at.offset()), (number, partition, offset));
        assert_eq!(number.to_string().parse(), Ok(at));
    }
    assert_eq!(Checkpoint::at(0, FEED_PARTITION_ITEMS), Err(BadCheckpoint));
    assert_eq!(Checkpoint::new(MAX_CHECKPOINT).unwrap().next(), Err(BadCheckpoint));
    assert_eq!(Checkpoint::new(MAX_CHECKPOINT + 1), Err(BadCheckpoint));
    assert_eq!(Checkpoint::at(u64::MAX, 0), Err(BadCheckpoint));
    for text in ["", "-1", "+1", "1.0", "1e3", " 1", "99999999999999999999", "x"] {
        assert_eq!(text.parse::<Checkpoint>(), Err(BadCheckpoint), "{text}");
    }
}

#[test]
fn feed_ids_have_sixteen_digits() {
    let id = FeedId([0xab, 1, 2, 3, 4, 5, 6, 0xff]);
    assert_eq!((id.to_string().as_str(), "ab010203040506ff".parse()), ("ab010203040506ff", Ok(id)));
    for text in ["", "ab", "ab010203040506f", "ab010203040506ffff", "zz010203040506ff"] {
        assert_eq!(text.parse::<FeedId>(), Err(()));
    }
}

#[test]
fn spans_are_cut_and_joined() {
    assert_eq!(span(0, 3, 4).starting_at(0), Some(span(0, 3, 4)));
    assert_eq!(span(0, 3, 4).starting_at(5), Some(span(0, 5, 2)));
    assert_eq!(span(0, 3, 4).starting_at(7), None);
    let parts = vec![span(0, 4, 2), span(1, 0, 1), span(0, 0, 3), span(0, 2, 2), span(0, 8, 1)];
    let joined = join_spans(parts);
    assert_eq!(joined[&name(0)], [span(0, 0, 6), span(0, 8, 1)]);
    assert_eq!(joined[&name(1)], [span(1, 0, 1)]);
}

fn item(spans: Vec<Span>) -> Item {
    Item { time_ms: u64::MAX, partition_bytes: u64::MAX, content: Content::Spans(spans) }
}

#[test]
fn limits_items_so_that_the_largest_fits_the_table() {
    let at = Checkpoint::new(MAX_CHECKPOINT).unwrap();
    let kind = Kind::new(&"k".repeat(MAX_EVENT_KIND_BYTES)).unwrap();
    let events = MAX_FEED_ITEM_EVENTS / MAX_FEED_ITEM_SPANS;
    let id = |number: usize| {
        format!("{number:0>width$}", width = MAX_FEED_ITEM_NAME_BYTES / MAX_FEED_ITEM_SPANS - 2)
    };
    let spans: Vec<_> = (0..MAX_FEED_ITEM_SPANS)
        .map(|number| Span {
            stream: crate::stream::StreamName::new("S", &id(number)).unwrap(),
            first: 1 << 31,
            kinds: vec![kind.clone(); events],
        })
        .collect();
    let largest = encode_item(at, &item(spans.clone())).unwrap();
    assert!(item_bytes(&largest) < MAX_STREAM_ITEM_BYTES);
    assert_eq!(decode_item(&largest).unwrap(), (at.offset(), item(spans.clone())));
    let one_more = [spans, vec![span(0, 0, 1)]].concat();
    assert!(decode_spans(&encode_spans(&one_more).unwrap()).is_err());
    let most = u64::try_from(MAX_FEED_ITEM_EVENTS).unwrap();
    for (events, is_read) in [(most, true), (most + 1, false)] {
        let spans = encode_spans(&[span(0, 0, events)]).unwrap();
        assert_eq!(decode_spans(&spans).is_ok(), is_read);
    }
}

#[test]
fn ends_and_partitions_round_trip() {
    let feed = Feed { id: FeedId([1; 8]), first_partition: 3 };
    let end = Item { time_ms: 1, partition_bytes: 2, content: Content::End(feed) };
    let at = Checkpoint::at(4, 5).unwrap();
    assert_eq!(decode_item(&encode_item(at, &end).unwrap()), Ok((5, end.clone())));
    assert!(item_size(at, &end) > 0);
    assert_eq!(decode_partition(&encode_partition(4, feed)), Ok((4, feed)));
    assert!(decode_partition(&encode_partition(2, feed)).is_err(), "before the first partition");
    let mut damaged = encode_partition(4, feed);
    damaged.insert(FEED_SORT_KEY.to_owned(), Attribute::Text("+4".to_owned()));
    assert!(decode_partition(&damaged).is_err());
}

#[test]
fn rejects_invalid_spans() {
    for bad in [
        encode_spans(&[]).unwrap(),
        encode_spans(&[Span { kinds: vec![], ..span(0, 0, 1) }]).unwrap(),
        encode_spans(&[Span { first: u64::MAX, ..span(0, 0, 1) }]).unwrap(),
        Payload::default(),
    ] {
        assert!(decode_spans(&bad).is_err());
    }
    let mut longer = encode_spans(&[span(0, 0, 1)]).unwrap();
    longer.stored.push(0);
    assert!(decode_spans(&longer).is_err());
}

#[test]
fn only_a_tip_counts_as_appended() {
    let events = vec![event(1, "a"), event(2, "b"), event(2, "c")];
    let tip = crate::stream::Tip { appended: 2, ..(*tip(1, 7, events)).clone() };
    let image = crate::records::stream::encode_tip(&tip);
    assert!(is_append(&image));
    let span = appended_span(&image).unwrap();
    assert_eq!((span.stream, span.first, span.kinds.len()), (tip.name.clone(), tip.next - 2, 2));
    let batch = crate::stream::EventBatch { name: tip.name.clone(), index: 0, events: tip.events };
    assert!(!is_append(&crate::records::stream::encode_event_batch(&batch)));
    let number = |number| Attribute::Number(number);
    for (attribute, value) in [
        (APPENDED, number(0)),
        (APPENDED, number(4)),
        (APPENDED, number(u64::MAX)),
        (NEXT_INDEX, number(1)),
        (NEXT_INDEX, number(u64::MAX)),
        (KINDS, Attribute::List(vec![number(1); 3])),
        (KINDS, number(1)),
    ] {
        let mut image = image.clone();
        image.insert(attribute.to_owned(), value.clone());
        assert!(appended_span(&image).is_err(), "{attribute} {value:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_give_spans_or_an_error(stored: Vec<u8>, encoding in 0_u64..3) {
        let _ = decode_spans(&Payload { encoding, stored: stored.clone() });
        let mut record = encode_item(Checkpoint::START, &item(vec![span(0, 0, 1)])).unwrap();
        record.insert(DATA.to_owned(), Attribute::Bytes(stored));
        let _ = decode_item(&record);
    }
}
