//! Stored items of the feed.

use std::collections::BTreeSet;

use cellar_base::limits::{MAX_FEED_ITEM_EVENTS, MAX_FEED_ITEM_SPANS};
use cellar_catalog::feed::{
    Checkpoint, Content, Item, Span, decode_spans, encode_spans, join_spans,
};
use cellar_catalog::records::feed::{decode_item, encode_item};
use cellar_catalog::stream::Payload;

const TIME_MS: u64 = 1_795_246_133_000;

/// Reads the spans of an item, after a byte that is `0` for plain or `1` for compressed data.
/// Readable spans must encode to the same value, also as a record, and joining them must keep each
/// event exactly once.
pub(super) fn item(bytes: &[u8]) -> bool {
    let Some((encoding, stored)) = bytes.split_first() else { return false };
    let payload =
        Payload { encoding: u64::from(encoding.wrapping_sub(b'0')), stored: stored.to_vec() };
    let Ok(spans) = decode_spans(&payload) else { return false };
    assert!(!spans.is_empty() && spans.len() <= MAX_FEED_ITEM_SPANS);
    assert!(spans.iter().all(|span| (1..=MAX_FEED_ITEM_EVENTS).contains(&span.kinds.len())));
    let packed = encode_spans(&spans).unwrap();
    assert_eq!(decode_spans(&packed).as_ref(), Ok(&spans));
    let at = Checkpoint::at(3, 7).unwrap();
    let content = Content::Spans(spans.clone());
    let item = Item { time_ms: TIME_MS, partition_bytes: 1, content };
    assert_eq!(decode_item(&encode_item(at, &item).unwrap()).unwrap(), (at.offset(), item));
    assert_are_joined(spans);
    true
}

fn assert_are_joined(spans: Vec<Span>) {
    let all = |span: &Span| (span.first..span.next()).collect::<BTreeSet<u64>>();
    let before: BTreeSet<_> = spans
        .iter()
        .flat_map(|span| all(span).into_iter().map(|index| (span.stream.clone(), index)))
        .collect();
    let joined = join_spans(spans);
    let mut after = Vec::new();
    for (stream, spans) in &joined {
        let apart = |pair: &[Span]| matches!(pair, [one, other] if one.next() < other.first);
        assert!(spans.windows(2).all(apart), "they touch or are not in order: {spans:?}");
        after.extend(spans.iter().flat_map(all).map(|index| (stream.clone(), index)));
    }
    assert!(after.into_iter().eq(before), "an event is lost, or made up");
}
