//! Tests of the range formats of sheets.

use std::collections::HashMap;

use super::*;

/// Returns the decoded layer, and the number of its chunks.
fn read_formats(layer: &FormatLayer, limits: PackLimits) -> (FormatLayer, usize) {
    let (packed, objects) = pack_formats([layer], limits).unwrap();
    let packed: PackedFormats = minicbor::decode(&minicbor::to_vec(&packed[0]).unwrap()).unwrap();
    let chunk = |object: &PackedObject| {
        let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
        (object.chunk.hash, FormatRecords::decode(&bytes).unwrap())
    };
    let chunks: HashMap<ChunkHash, FormatRecords> = objects.iter().map(chunk).collect();
    if !chunks.is_empty() {
        let need = packed.layer(&|_| None).unwrap();
        assert!(matches!(need, Lookup::Missing(need) if need.len() >= chunks.len()));
    }
    let Lookup::Ready(read) = packed.layer(&|hash| chunks.get(hash)).unwrap() else { panic!() };
    (read, chunks.len())
}

fn record(rows: Spans, format: &str) -> RangeFormat {
    RangeFormat { rows, columns: Spans::one(0, 1), format: format.to_owned() }
}

#[test]
fn formats_are_bounded() {
    let packs = |records: Vec<RangeFormat>| {
        pack_formats([&FormatLayer::from_records(records)], PackLimits::METADATA).is_ok()
    };
    let row = || Spans::one(0, 1);
    let odd = |count: u32| Spans::of((0..count).map(|at| at * 2));
    for (more, fits) in [(0, true), (1, false)] {
        assert_eq!(packs(vec![record(row(), "0"); MAX_RANGE_FORMATS + more]), fits);
        assert_eq!(packs(vec![record(row(), &"0".repeat(MAX_FORMAT_BYTES + more))]), fits);
        assert_eq!(packs(vec![record(odd((MAX_SPANS + more) as u32), "0")]), fits);
        assert_eq!(packs(vec![record(Spans::one(MAX_ROWS - 1, 1 + more as u32), "0")]), fits);
    }
    assert!(!packs(vec![record(Spans::default(), "0")]));
    // If the same chunk occurred twice, the layer would have too many records.
    let most = FormatLayer::from_records(vec![record(row(), "0"); MAX_RANGE_FORMATS]);
    let (read, chunks) = read_formats(&most, NOTHING);
    assert_eq!((read, chunks), (most.clone(), 1));
    let chunk = FormatRecords::of(&most);
    let twice = PackedFormats::Chunks(vec![chunk_of(1), chunk_of(2)]);
    assert!(twice.layer(&|_| Some(&chunk)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_formats_read_back(records in vec((any_region(), "[0#@.]{1,5}|General"), 0..8), chunk_bytes in 0..300_usize) {
        let record = |(region, format): (crate::level::Region, String)| {
            RangeFormat { rows: region.rows, columns: region.columns, format }
        };
        let layer = FormatLayer::from_records(records.into_iter().map(record).collect());
        prop_assert_eq!(&read_formats(&layer, ALL), &(layer.clone(), 0));
        let (read, _) = read_formats(&layer, PackLimits { chunk_bytes, ..NOTHING });
        prop_assert_eq!(read, layer);
    }
}
