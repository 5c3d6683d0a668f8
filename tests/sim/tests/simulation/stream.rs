//! The change stream of a table.

use std::sync::Arc;

use cellar_base::identity::LogId;
use cellar_log::entry::Entry;
use cellar_sim::stream::{MODIFY, Record, SHARDS, STREAM_RETENTION_MS, Stream};
use cellar_snapshot::relay::INSERT;

#[test]
fn records_are_read_in_order_and_forgotten_after_a_day() {
    let log = LogId::from_uuid(uuid::Uuid::from_u128(5));
    let (stream, entry) = (Stream::default(), Arc::new(Entry::first(log, None, 0)));
    for at_ms in [0, 1, 2] {
        stream.changed(at_ms, &entry, at_ms != 1);
    }
    let shard = (0..SHARDS).find(|shard| !stream.read(*shard, 0, 9, 2).0.is_empty()).unwrap();
    let names = |(records, _): (Vec<Record>, u64)| {
        records.iter().map(|record| (record.number, record.name)).collect::<Vec<_>>()
    };
    assert_eq!(names(stream.read(shard, 0, 2, 2)), [(1, INSERT), (2, MODIFY)]);
    let late_ms = STREAM_RETENTION_MS + 1;
    let (left, forgotten) = stream.read(shard, 0, 9, late_ms);
    assert_eq!((left.len(), forgotten), (2, 1), "those that are exactly a day old stay");
    assert!(!stream.is_read_to([0; SHARDS]) && stream.is_read_to([3; SHARDS]));
    assert_eq!(names(stream.read(shard, 2, 9, late_ms)), [(3, INSERT)]);
}
