//! Tests of event stream records with golden files and invalid records.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::records::stream::{decode_event_batch, decode_tip, encode_event_batch, encode_tip, key};
use crate::stream::{Etag, EventBatch, Kind, Payload, StreamEvent, Tip, Unfold, WriterId};
use cellar_base::limits::TIP_INDEX;
use cellar_base::{record::Attribute, record::Item};

fn event(number: u8) -> StreamEvent {
    StreamEvent {
        time_ms: 1_795_246_133_000 + u64::from(number),
        kind: Kind::new("Renamed").unwrap(),
        data: Payload { encoding: 0, stored: vec![number, 2, 3] },
        meta: Payload::default(),
        correlation: None,
        causation: None,
        writer: WriterId([number; 16]),
    }
}

fn tip() -> Tip {
    let full = StreamEvent {
        kind: Kind::new("Created").unwrap(),
        data: Payload { encoding: 1, stored: vec![0x28, 0xb5, 0x2f, 0xfd] },
        meta: Payload { encoding: 0, stored: b"{}".to_vec() },
        correlation: Some("request 7".into()),
        causation: Some("Grüße".into()),
        ..event(1)
    };
    let unfold = Unfold {
        index: 12,
        time_ms: 1_795_246_133_000,
        kind: Kind::new("State").unwrap(),
        data: Payload { encoding: 0, stored: vec![9] },
        meta: Payload { encoding: 1, stored: vec![8] },
    };
    Tip {
        name: "Spreadsheet-6e0b".parse().unwrap(),
        etag: Etag([0xe7; 16]),
        next: 12,
        batch_bytes: 20_480,
        appended: 1,
        events: vec![full, event(2)],
        unfolds: vec![unfold],
    }
}

fn batch() -> EventBatch {
    let events = vec![event(3), event(4), StreamEvent { data: Payload::default(), ..event(5) }];
    EventBatch { name: "$AppendsEpoch-0_1".parse().unwrap(), index: 7, events }
}

/// Converts an item to DynamoDB JSON with hexadecimal bytes.
fn to_json(item: &Item) -> Value {
    item.iter().map(|(name, value)| (name.clone(), value_to_json(value))).collect()
}

fn value_to_json(value: &Attribute) -> Value {
    match value {
        Attribute::Text(text) => json!({ "S": text }),
        Attribute::Number(number) => json!({ "N": number.to_string() }),
        Attribute::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "B": digits })
        }
        Attribute::List(list) => json!({ "L": list.iter().map(value_to_json).collect::<Value>() }),
        Attribute::Map(map) => json!({ "M": to_json(map) }),
    }
}

/// Compares an item with its golden file. If the file is missing and `WRITE_GOLDEN_FILES` is set,
/// the file is written.
fn golden(name: &str, item: &Item) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
    let text = format!("{}\n", serde_json::to_string_pretty(&to_json(item)).unwrap());
    if std::env::var_os("WRITE_GOLDEN_FILES").is_some() && !path.exists() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "{name}: the layout has changed");
}

#[test]
fn tips_and_event_batches_round_trip_in_a_stable_layout() {
    golden("stream-tip-v1.json", &encode_tip(&tip()));
    golden("stream-event-batch-v1.json", &encode_event_batch(&batch()));
    assert_eq!(decode_tip(&encode_tip(&tip())), Ok(tip()));
    assert_eq!(decode_event_batch(&encode_event_batch(&batch())), Ok(batch()));
}

#[test]
fn names_each_invalid_attribute() {
    for (name, value) in [
        ("p", Attribute::Text("no name".into())),
        ("i", Attribute::Number(7)),
        ("etag", Attribute::Bytes(vec![1; 15])),
        ("n", Attribute::Number(1)),
        ("n", Attribute::Number(TIP_INDEX + 1)),
        ("a", Attribute::Text("1".into())),
        ("b", Attribute::Bytes(vec![])),
        ("c", Attribute::List(vec![Attribute::Text("Created".into())])),
        ("c", Attribute::List(vec![Attribute::Number(1), Attribute::Number(2)])),
        ("e", Attribute::List(vec![])),
        ("e", Attribute::List(vec![Attribute::Number(1), Attribute::Number(2)])),
    ] {
        let mut item = encode_tip(&tip());
        item.insert(name.to_owned(), value);
        let fault = decode_tip(&item).unwrap_err().to_string();
        assert!(fault.contains(&format!("`{name}`")), "{fault}");
    }
    let mut item = encode_event_batch(&batch());
    item.insert("n".to_owned(), Attribute::Number(11));
    assert!(decode_event_batch(&item).unwrap_err().to_string().contains("`n`"));
    assert!(
        decode_event_batch(&encode_tip(&tip())).is_err()
            && decode_tip(&encode_event_batch(&batch())).is_err()
    );
    assert!(decode_tip(&key(&tip().name, TIP_INDEX)).is_err());
}

#[test]
fn missing_unfolds_count_as_empty() {
    let without = Tip { unfolds: vec![], ..tip() };
    let mut item = encode_tip(&tip());
    item.remove("u");
    assert_eq!(decode_tip(&item), Ok(without.clone()));
    item.insert("u".to_owned(), Attribute::Number(1));
    assert_eq!(decode_tip(&item), Ok(without));
}

#[test]
fn ignores_unreadable_unfolds() {
    let mut item = encode_tip(&tip());
    let Some(Attribute::List(unfolds)) = item.get_mut("u") else { panic!() };
    unfolds.insert(0, Attribute::Text("?".into()));
    unfolds.push(Attribute::Map(Item::new()));
    assert_eq!(decode_tip(&item), Ok(tip()));
}

/// Generates arbitrary attributes.
fn attributes() -> impl Strategy<Value = Attribute> {
    let names = prop::sample::select(vec!["p", "i", "t", "d", "D", "m", "M", "c", "w", "x"]);
    let leaf = prop_oneof![
        any::<u64>().prop_map(Attribute::Number),
        "[A-Za-z-]{0,12}".prop_map(Attribute::Text),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Attribute::Bytes),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let map =
            prop::collection::btree_map(names.clone().prop_map(str::to_owned), inner.clone(), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Attribute::List),
            map.prop_map(Attribute::Map),
        ]
    })
}

proptest! {
    #[test]
    fn any_attributes_give_a_record_or_an_error(
        name in prop::sample::select(vec!["p", "i", "b", "etag", "n", "a", "c", "e", "u"]),
        value in attributes(),
        is_batch in any::<bool>(),
    ) {
        let mut item = if is_batch { encode_event_batch(&batch()) } else { encode_tip(&tip()) };
        item.insert(name.to_owned(), value);
        if let Ok(tip) = decode_tip(&item) {
            prop_assert_eq!(decode_tip(&encode_tip(&tip)), Ok(tip.clone()));
            prop_assert!(tip.events.iter().all(|event| event.data.unpack().is_ok() || event.data.encoding != 0));
        }
        if let Ok(batch) = decode_event_batch(&item) {
            prop_assert_eq!(decode_event_batch(&encode_event_batch(&batch)), Ok(batch));
        }
    }
}
