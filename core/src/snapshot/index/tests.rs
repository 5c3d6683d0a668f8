//! Levels at every rung of the packaging, against plain scans.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::axis_map::{Axis, Run};
use crate::limits::{
    MAX_AXIS_RUNS, MAX_CHUNK_BYTES, MAX_COLUMNS, MAX_LEVEL_CLEAR_SPANS, MAX_ROWS, MAX_SHEETS,
    MAX_STORED_CHUNK_BYTES,
};
use crate::operation::{Span, Spans};
use crate::snapshot::cbor::Kind;
use crate::snapshot::level::{ChunkHash, Level, Stripe, TilePlace};
use crate::snapshot::packed::{Bounds, PackedObject, unpack};
use crate::snapshot::{PackLimits, SnapshotError};

/// Everything in the root.
const ROOT: PackLimits =
    PackLimits { inline_bytes: 1 << 20, inline_total_bytes: 1 << 20, chunk_bytes: 1 << 20 };

pub(crate) fn span(first: u32, end: u32) -> Span {
    Span { first, count: end - first }
}

pub(crate) fn chunk_of(number: u32) -> ChunkRef {
    ChunkRef { hash: ChunkHash::of(&number.to_le_bytes()), bytes: 1 + number % 1_000 }
}

fn stripe(columns: Span, rows: &[(u32, u32)]) -> Stripe {
    let place = |(first, end): &(u32, u32)| TilePlace {
        rows: span(*first, *end),
        cells: end - first,
        stored: StoredTile::Chunk(chunk_of(columns.first ^ first)),
    };
    Stripe { columns, tiles: rows.iter().map(place).collect() }
}

pub(crate) fn sheet_of(sheet: u32, stripes: Vec<Stripe>) -> LevelSheet {
    LevelSheet {
        sheet: SheetId(sheet),
        rows: AxisMap::identity(Axis::Rows),
        columns: AxisMap::identity(Axis::Columns),
        value_clears: Vec::new(),
        format_clears: Vec::new(),
        stripes,
    }
}

/// The example of the seed.
pub(crate) fn seed_level() -> Level {
    let stripes = vec![
        stripe(span(0, 128), &[(0, 112), (112, 384), (384, 512)]),
        stripe(span(128, 256), &[(0, 176), (176, 512)]),
    ];
    Level { sheets: vec![sheet_of(0, stripes)] }
}

fn pairs(index: &AxisIndex) -> Vec<(u32, u32)> {
    index.pairs().iter().map(|pair| (pair.start, pair.count)).collect()
}

/// The store: chunks by name, decoded.
fn store(objects: &[PackedObject]) -> HashMap<ChunkHash, IndexChunk> {
    let chunk = |object: &PackedObject| {
        let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
        (object.chunk.hash, IndexChunk::decode(&bytes).unwrap())
    };
    objects.iter().map(chunk).collect()
}

/// Asks until there is an answer, loading what is needed; and how many rounds that took.
fn fetch<T>(
    store: &HashMap<ChunkHash, IndexChunk>,
    ask: impl Fn(&Loaded<'_>) -> Result<Fetched<T>, SnapshotError>,
) -> (T, usize) {
    let mut known: Vec<ChunkRef> = Vec::new();
    for rounds in 0.. {
        let loaded = |hash: &ChunkHash| {
            known.iter().any(|chunk| chunk.hash == *hash).then(|| store.get(hash)).flatten()
        };
        match ask(&loaded).unwrap() {
            Fetched::Ready(ready) => return (ready, rounds),
            Fetched::Need(need) => {
                assert!(!need.is_empty() && need.iter().all(|chunk| !known.contains(chunk)));
                known.extend(need);
            }
        }
    }
    panic!("no end")
}

#[test]
fn the_seeds_example_has_the_seeds_pairs() {
    let level = seed_level();
    let (packed, objects) = pack_level(&level, PackLimits::LEVEL).unwrap();
    assert!(objects.is_empty());
    let Stripes::Inline(stripes) = &packed.sheets[0].stripes else { panic!("{packed:?}") };
    assert_eq!(pairs(stripes.index()), [(0, 2), (256, 0)]);
    let rows = |stripe: usize| match &stripes.items()[stripe] {
        RowIndex::Tiles(tiles) => pairs(tiles.index()),
        RowIndex::Parts(_) => panic!(),
    };
    assert_eq!(rows(0), [(0, 1), (112, 1), (384, 1), (512, 0)]);
    assert_eq!(rows(1), [(0, 1), (176, 1), (512, 0)]);
    assert_eq!(fetch(&store(&objects), |loaded| packed.load_all(loaded)), (level, 0));
}

#[test]
fn a_regular_grid_of_any_size_is_two_pairs() {
    let mut index = AxisIndex::default();
    for first in (0..1_000_000).step_by(100) {
        assert!(index.push(Span { first, count: 100 }));
    }
    assert_eq!(pairs(&index), [(0, 10_000), (1_000_000, 0)]);
    assert_eq!(index.get(9_999), Some(span(999_900, 1_000_000)));
    assert_eq!((index.number_from(123_456), index.number_from(u32::MAX)), (1_234, 10_000));
    // With a gap, and then parts of another size.
    assert!(index.push(span(2_000_000, 2_000_001)) && index.push(span(2_000_001, 2_000_003)));
    let behind = [(0, 10_000), (1_000_000, 0), (2_000_000, 1), (2_000_001, 1), (2_000_003, 0)];
    assert_eq!(pairs(&index), behind);
    assert!(
        !index.push(span(2_000_002, 2_000_005)) && !index.push(Span { first: 3_000_000, count: 0 })
    );
    assert_eq!((pairs(&index), index.len()), (behind.to_vec(), 10_002));
}

#[test]
fn pairs_that_nobody_writes_are_refused() {
    let read = |pairs: &[(u32, u32)]| {
        let pairs = pairs.iter().map(|(start, count)| Pair { start: *start, count: *count });
        AxisIndex::from_pairs(pairs.collect())
    };
    assert_eq!(read(&[]), Some(AxisIndex::default()));
    assert!(read(&[(3, 2), (5, 0), (7, 1), (8, 1), (10, 0)]).is_some());
    for bad in [
        &[(0, 1)][..],                     // no end
        &[(0, 0)],                         // nothing but an end
        &[(0, 0), (1, 1), (2, 0)],         // a gap at the beginning
        &[(0, 2), (3, 0)],                 // no whole sizes
        &[(0, 4), (3, 0)],                 // parts of nothing
        &[(0, 1), (0, 1), (1, 0)],         // twice the same start
        &[(5, 1), (4, 0)],                 // backwards
        &[(0, 1), (4, 0), (4, 1), (6, 0)], // a gap of nothing
        &[(0, 1), (4, 0), (5, 0)],         // two gaps
        &[(0, 1), (4, 1), (8, 0)],         // equal parts that are not one run
        &[(0, u32::MAX), (u32::MAX, u32::MAX), (1, 0)],
    ] {
        assert_eq!(read(bad), None, "{bad:?}");
    }
}

fn any_spans(limit: u32) -> impl Strategy<Value = Vec<Span>> {
    let side = prop_oneof![3 => Just(2_u32), 2 => 1..4_u32, 1 => 1..(limit / 32)];
    let gap = prop_oneof![3 => Just(0_u32), 1 => 0..5_u32, 1 => 0..(limit / 32)];
    vec((gap, side), 0..8).prop_map(|parts| {
        let mut end = 0;
        let mut next = |(gap, count): (u32, u32)| {
            let first = end + gap;
            end = first + count;
            Span { first, count }
        };
        parts.into_iter().map(&mut next).collect()
    })
}

fn any_stored() -> impl Strategy<Value = StoredTile> {
    prop_oneof![
        3 => any::<u32>().prop_map(|number| StoredTile::Chunk(chunk_of(number))),
        1 => vec(any::<u8>(), 1..40).prop_map(StoredTile::Inline),
    ]
}

fn any_stripes() -> impl Strategy<Value = Vec<Stripe>> {
    any_spans(MAX_COLUMNS).prop_flat_map(|columns| {
        let tiles =
            || {
                any_spans(MAX_ROWS).prop_flat_map(|rows| {
                    let place =
                        |rows| {
                            (any::<u32>(), any_stored())
                                .prop_map(move |(cells, stored)| TilePlace { rows, cells, stored })
                        };
                    rows.into_iter().map(place).collect::<Vec<_>>()
                })
            };
        let stripe = |columns| tiles().prop_map(move |tiles| Stripe { columns, tiles });
        columns.into_iter().map(stripe).collect::<Vec<_>>()
    })
}

fn any_map(axis: Axis) -> impl Strategy<Value = AxisMap> {
    let far = axis.limit() / 64;
    vec((0..far, 0..far, 1..far), 0..20).prop_map(move |runs| {
        let (mut map, mut src, mut dst) = (AxisMap::empty(axis), 0, 0);
        for (src_gap, dst_gap, len) in runs {
            (src, dst) = (src + src_gap, dst + dst_gap);
            map.push(Run { src, dst, len });
            (src, dst) = (src + len, dst + len);
        }
        // Some end where the axis does.
        map.push(Run { src, dst, len: if src % 2 == 0 { axis.limit() - src.max(dst) } else { 0 } });
        map
    })
}

fn some_spans(limit: u32) -> impl Strategy<Value = Spans> {
    any_spans(limit).prop_filter_map("no spans", |spans| {
        Some(Spans::from_sorted(spans)).filter(|spans| !spans.is_empty())
    })
}

pub(crate) fn any_region() -> impl Strategy<Value = Region> {
    (some_spans(MAX_ROWS), some_spans(MAX_COLUMNS))
        .prop_map(|(rows, columns)| Region { rows, columns })
}

pub(crate) fn any_level() -> impl Strategy<Value = Level> {
    let regions = || vec(any_region(), 0..3);
    let maps = (any_map(Axis::Rows), any_map(Axis::Columns));
    let sheet = (maps, regions(), regions(), any_stripes());
    let sheet = sheet.prop_map(|((rows, columns), value_clears, format_clears, stripes)| {
        LevelSheet { sheet: SheetId(0), rows, columns, value_clears, format_clears, stripes }
    });
    vec(sheet, 0..3).prop_map(|mut sheets| {
        (0..).zip(&mut sheets).for_each(|(number, sheet)| sheet.sheet = SheetId(number * 3));
        Level { sheets }
    })
}

fn any_limits() -> impl Strategy<Value = PackLimits> {
    let bytes = || prop_oneof![Just(0_usize), 0..500_usize, Just(1 << 20)];
    (bytes(), bytes(), bytes()).prop_map(|(inline_bytes, inline_total_bytes, chunk_bytes)| {
        PackLimits { inline_bytes, inline_total_bytes, chunk_bytes }
    })
}

/// Without stripes that have no tiles: they are nothing.
fn occupied(mut level: Level) -> Level {
    level
        .sheets
        .iter_mut()
        .for_each(|sheet| sheet.stripes.retain(|stripe| !stripe.tiles.is_empty()));
    level
}

fn meets(spans: &Spans, span: Span) -> bool {
    spans.iter().any(|one| one.intersection(span).is_some())
}

/// The tiles of a sheet that meet a region, by looking at each.
fn scanned(level: &Level, sheet: SheetId, region: &Region) -> Vec<(Span, TilePlace)> {
    let stripes = level.sheets.iter().filter(|other| other.sheet == sheet);
    let stripes = stripes.flat_map(|sheet| &sheet.stripes);
    let tiles =
        stripes.flat_map(|stripe| stripe.tiles.iter().map(|tile| (stripe.columns, tile.clone())));
    tiles
        .filter(|(columns, tile)| {
            meets(&region.columns, *columns) && meets(&region.rows, tile.rows)
        })
        .collect()
}

/// A region around places where stripes and tiles begin, and another anywhere.
fn regions_of(level: &Level, sheet: SheetId, any: Region) -> Vec<Region> {
    let around = |first: u32, count| Spans::one(first.saturating_sub(1), count);
    let all = Region { rows: Spans::all(Axis::Rows), columns: Spans::all(Axis::Columns) };
    let places = scanned(level, sheet, &all);
    let region = |(columns, tile): &(Span, TilePlace)| {
        [(tile.rows.first, columns.first), (tile.rows.end(), columns.end())]
            .map(|(row, column)| Region { rows: around(row, 2), columns: around(column, 1) })
    };
    places.iter().take(8).flat_map(region).chain([any, all, Region::default()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn an_axis_index_is_what_was_pushed(spans in any_spans(MAX_ROWS), asked in some_spans(MAX_ROWS)) {
        let mut index = AxisIndex::default();
        prop_assert!(spans.iter().all(|span| index.push(*span)));
        prop_assert_eq!(index.spans().collect::<Vec<_>>(), spans.clone());
        prop_assert_eq!(AxisIndex::from_pairs(index.pairs().to_vec()), Some(index.clone()));
        let bytes = minicbor::to_vec(&index).unwrap();
        prop_assert_eq!(minicbor::decode::<AxisIndex>(&bytes).unwrap(), index.clone());
        let met: Vec<usize> = (0..).zip(&spans).filter(|(_, span)| meets(&asked, **span)).map(|(number, _)| number).collect();
        prop_assert_eq!(index.meeting(&asked).collect::<Vec<_>>(), met);
        for place in spans.iter().flat_map(|span| [span.first.saturating_sub(1), span.first, span.end()]) {
            let number = spans.iter().position(|span| span.end() > place).unwrap_or(spans.len());
            prop_assert_eq!(index.number_from(place), number);
        }
    }

    #[test]
    fn any_level_reads_back_from_any_rung(level in any_level(), limits in any_limits()) {
        let (packed, objects) = pack_level(&level, limits).unwrap();
        prop_assert_eq!(&pack_level(&level, limits).unwrap(), &(packed.clone(), objects.clone()));
        // Through the bytes of the root, too.
        let bytes = minicbor::to_vec(&packed).unwrap();
        let packed: PackedLevel = minicbor::decode(&bytes).unwrap();
        packed.check().unwrap();
        let (read, rounds) = fetch(&store(&objects), |loaded| packed.load_all(loaded));
        prop_assert_eq!(read, occupied(level));
        prop_assert!(rounds <= 3, "{} rounds", rounds);
    }

    #[test]
    fn a_region_has_the_tiles_that_a_scan_finds(level in any_level(), limits in any_limits(), any in any_region()) {
        let (packed, objects) = pack_level(&level, limits).unwrap();
        let store = store(&objects);
        for sheet in [SheetId(0), SheetId(1), SheetId(3)] {
            for region in regions_of(&level, sheet, any.clone()) {
                let (found, rounds) = fetch(&store, |loaded| packed.tiles(sheet, &region, loaded));
                prop_assert_eq!(found, scanned(&level, sheet, &region));
                // The tile itself is the fourth read.
                prop_assert!(rounds <= 3, "{} rounds", rounds);
            }
        }
    }

    #[test]
    fn chunks_are_no_longer_than_they_should_be(level in any_level(), limits in any_limits()) {
        let (packed, objects) = pack_level(&level, limits).unwrap();
        for object in &objects {
            let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
            let elements = match IndexChunk::decode(&bytes).unwrap() {
                IndexChunk::Stripes(stripes) => stripes.items().len(),
                IndexChunk::Tiles(tiles) => tiles.items().len(),
                // One element; and the list that grows.
                IndexChunk::Moves(_) | IndexChunk::Parts(_) => 1,
            };
            prop_assert!(bytes.len() <= limits.chunk_bytes || elements == 1);
        }
        let inline = |sheet: &PackedSheet| {
            let moves = minicbor::to_vec(&sheet.moves).unwrap().len();
            moves + minicbor::to_vec(&sheet.stripes).unwrap().len()
        };
        let inline: usize = packed.sheets.iter().map(inline).sum();
        // A reference takes about 40 bytes, and the head of a list a few.
        prop_assert!(inline <= limits.inline_total_bytes + packed.sheets.len() * 100);
    }
}

impl Default for Region {
    fn default() -> Self {
        Self { rows: Spans::default(), columns: Spans::default() }
    }
}

/// A level of one sheet: stripes of two columns, each with tiles of two rows.
fn grid(stripes: u32, tiles: u32) -> Level {
    let rows: Vec<(u32, u32)> = (0..tiles).map(|tile| (tile * 2, tile * 2 + 2)).collect();
    let stripes = (0..stripes).map(|at| stripe(span(at * 2, at * 2 + 2), &rows)).collect();
    Level { sheets: vec![sheet_of(0, stripes)] }
}

/// Which rung a level is on: what the root has of it, and its chunks' kinds.
fn rung(level: &Level, limits: PackLimits) -> (&'static str, Vec<&'static str>, usize) {
    let (packed, objects) = pack_level(level, limits).unwrap();
    let root = match &packed.sheets[0].stripes {
        Stripes::Inline(_) => "index",
        Stripes::Parts(_) => "parts",
        Stripes::Chunk(_) => "chunk",
    };
    let chunks = store(&objects);
    let kind = |object: &PackedObject| match &chunks[&object.chunk.hash] {
        IndexChunk::Moves(_) => "moves",
        IndexChunk::Parts(_) => "parts",
        IndexChunk::Stripes(_) => "stripes",
        IndexChunk::Tiles(_) => "tiles",
    };
    let mut kinds: Vec<&str> = objects.iter().map(kind).collect();
    kinds.dedup();
    let rounds = fetch(&chunks, |loaded| packed.load_all(loaded)).1;
    (root, kinds, rounds)
}

#[test]
fn a_level_climbs_the_ladder() {
    let limits = |inline, chunk_bytes| PackLimits {
        inline_bytes: inline,
        inline_total_bytes: inline,
        chunk_bytes,
    };
    assert_eq!(rung(&grid(4, 10), ROOT), ("index", vec![], 0));
    // One part: an index chunk.
    assert_eq!(rung(&grid(4, 10), limits(100, 1 << 20)), ("parts", vec!["stripes"], 1));
    // Many parts, and their list in the root or not.
    assert_eq!(rung(&grid(4, 10), limits(300, 1_000)), ("parts", vec!["stripes"], 1));
    assert_eq!(rung(&grid(4, 10), limits(50, 1_000)), ("chunk", vec!["stripes", "parts"], 2));
    // Rows in parts of their own.
    let tall = ("chunk", vec!["tiles", "stripes", "parts"], 3);
    assert_eq!(rung(&grid(4, 100), limits(20, 1_000)), tall);
    // Maps that do not fit into the root either.
    let tall = ("chunk", vec!["moves", "tiles", "stripes", "parts"], 3);
    assert_eq!(rung(&grid(4, 100), limits(0, 1_000)), tall);
}

#[test]
fn real_levels_stay_near_the_root() {
    // 10 million cells of 40,000 a tile; 100 million; a billion.
    let cells = |tiles| rung(&grid(1, tiles), PackLimits::LEVEL);
    assert_eq!(cells(250), ("index", vec![], 0));
    assert_eq!(cells(2_500), ("parts", vec!["stripes"], 1));
    assert_eq!(cells(25_000), ("index", vec!["tiles"], 1));
    assert_eq!(rung(&grid(128, 2_000), PackLimits::LEVEL), ("parts", vec!["stripes"], 1));
}

#[test]
fn the_size_follows_what_is_occupied_not_how_far_apart_it_is() {
    let apart = |step: u32| {
        let rows: Vec<(u32, u32)> = (0..100).map(|tile| (tile * step, tile * step + 1)).collect();
        let stripes = vec![stripe(span(0, 1), &rows)];
        let (packed, _) = pack_level(&Level { sheets: vec![sheet_of(0, stripes)] }, ROOT).unwrap();
        minicbor::to_vec(&packed).unwrap().len()
    };
    assert!(apart(2) <= 100 * 60 && apart(10_000_000) <= 100 * 60);
}

#[test]
fn a_level_that_is_not_in_order_is_not_packed() {
    let refused = |sheets: Vec<LevelSheet>| pack_level(&Level { sheets }, ROOT).is_err();
    let fine = || stripe(span(0, 2), &[(0, 2)]);
    assert!(!refused(vec![sheet_of(0, vec![fine()]), sheet_of(1, vec![fine()])]));
    assert!(refused(vec![sheet_of(1, vec![]), sheet_of(0, vec![])]));
    assert!(refused(vec![sheet_of(1, vec![]), sheet_of(1, vec![])]));
    assert!(refused(vec![sheet_of(0, vec![fine(), stripe(span(1, 3), &[(0, 2)])])]));
    assert!(refused(vec![sheet_of(0, vec![stripe(span(0, 2), &[(0, 2), (1, 3)])])]));
    let no_bytes = TilePlace { rows: span(0, 1), cells: 1, stored: StoredTile::Inline(Vec::new()) };
    let no_bytes = Stripe { columns: span(0, 1), tiles: vec![no_bytes] };
    assert!(refused(vec![sheet_of(0, vec![no_bytes])]));
    let (mut stray, run) = (sheet_of(0, vec![]), Run { src: 0, dst: 5, len: 1 });
    stray.rows = AxisMap::delete(Axis::Rows, &Spans::one(0, 1)).with_run(run);
    assert!(refused(vec![stray]));
}

fn reaching(rows: u32, columns: u32) -> Result<(), SnapshotError> {
    let stripes = vec![stripe(span(columns - 1, columns), &[(rows - 1, rows)])];
    pack_level(&Level { sheets: vec![sheet_of(0, stripes)] }, ROOT).map(|_| ())
}

#[test]
fn limits_are_met_at_n_and_not_at_one_more() {
    assert!(reaching(MAX_ROWS, MAX_COLUMNS).is_ok());
    assert!(reaching(MAX_ROWS + 1, MAX_COLUMNS).is_err());
    assert!(reaching(MAX_ROWS, MAX_COLUMNS + 1).is_err());

    let sheets = |count: u32| Level { sheets: (0..count).map(|at| sheet_of(at, vec![])).collect() };
    assert!(pack_level(&sheets(MAX_SHEETS as u32), ROOT).is_ok());
    assert!(pack_level(&sheets(MAX_SHEETS as u32 + 1), ROOT).is_err());
    for (count, fits) in [(MAX_SHEETS as u32, true), (MAX_SHEETS as u32 + 1, false)] {
        let (mut packed, _) = pack_level(&sheets(MAX_SHEETS as u32), ROOT).unwrap();
        let last = PackedSheet { sheet: SheetId(count), ..packed.sheets[0].clone() };
        packed.sheets.resize(count as usize, last);
        let bytes = minicbor::to_vec(&packed).unwrap();
        assert_eq!(minicbor::decode::<PackedLevel>(&bytes).is_ok(), fits);
    }

    let odd = |count: usize| Spans::of((0..count as u32).map(|at| at * 2 + 1));
    let with = |change: &dyn Fn(&mut LevelSheet)| {
        let mut sheet = sheet_of(0, vec![]);
        change(&mut sheet);
        pack_level(&Level { sheets: vec![sheet] }, PackLimits::LEVEL)
    };
    // As many runs as deleted spans, and the one behind them.
    let map = |runs: usize| AxisMap::delete(Axis::Rows, &odd(runs - 1));
    assert!(with(&|sheet| sheet.rows = map(MAX_AXIS_RUNS)).is_ok());
    assert!(with(&|sheet| sheet.rows = map(MAX_AXIS_RUNS + 1)).is_err());
    let region = |spans: usize| Region { rows: odd(spans - 1), columns: Spans::one(0, 1) };
    let half = MAX_LEVEL_CLEAR_SPANS / 2;
    for (spans, fits) in [(half, true), (half + 1, false)] {
        let packed = with(&|sheet| {
            sheet.value_clears = vec![region(half)];
            sheet.format_clears = vec![region(spans)];
        });
        assert_eq!(packed.is_ok(), fits);
    }
    assert!(with(&|sheet| sheet.value_clears = vec![Region::default()]).is_err());

    let stored = |stored: StoredTile| {
        let tile = TilePlace { rows: span(0, 1), cells: 1, stored };
        let stripes = vec![Stripe { columns: span(0, 1), tiles: vec![tile] }];
        pack_level(
            &Level { sheets: vec![sheet_of(0, stripes)] },
            PackLimits { inline_bytes: usize::MAX, inline_total_bytes: usize::MAX, ..ROOT },
        )
        .is_ok()
    };
    let chunk = |bytes: usize| StoredTile::Chunk(ChunkRef { bytes: bytes as u32, ..chunk_of(0) });
    assert!(stored(chunk(MAX_STORED_CHUNK_BYTES)) && !stored(chunk(MAX_STORED_CHUNK_BYTES + 1)));
    assert!(!stored(chunk(0)));
    let inline = |bytes: usize| StoredTile::Inline(vec![7; bytes]);
    assert!(stored(inline(MAX_CHUNK_BYTES)) && !stored(inline(MAX_CHUNK_BYTES + 1)));
}

/// Moves as long as they may be: places far apart at random, which do not compress.
#[test]
fn the_largest_moves_fit_into_a_chunk() {
    let mut noise = blake3::Hasher::new().finalize_xof();
    let mut next = |below: u32| {
        let mut bytes = [0; 4];
        noise.fill(&mut bytes);
        1 + u32::from_le_bytes(bytes) % below
    };
    let mut map = |axis: Axis| {
        let step = axis.limit() / MAX_AXIS_RUNS as u32 / 2;
        let (mut map, mut src, mut dst) = (AxisMap::empty(axis), 0, 0);
        for _ in 0..MAX_AXIS_RUNS {
            let run = Run { src: src + next(step), dst: dst + next(step), len: next(step) };
            map.push(run);
            (src, dst) = (run.src + run.len, run.dst + run.len);
        }
        map
    };
    let mut sheet = sheet_of(0, vec![]);
    (sheet.rows, sheet.columns) = (map(Axis::Rows), map(Axis::Columns));
    let region = |_| Region {
        rows: Spans::one(next(MAX_ROWS / 2), next(MAX_ROWS / 2)),
        columns: Spans::one(next(MAX_COLUMNS / 2), next(MAX_COLUMNS / 2)),
    };
    sheet.value_clears = (0..MAX_LEVEL_CLEAR_SPANS / 2).map(region).collect();
    let (packed, objects) = pack_level(&Level { sheets: vec![sheet] }, PackLimits::LEVEL).unwrap();
    assert!(matches!(packed.sheets[0].moves, Kept::Chunk(_)));
    println!("the largest moves: {} bytes", objects[0].stored.len());
    assert!(objects[0].stored.len() <= MAX_STORED_CHUNK_BYTES);
}

#[test]
fn a_chunk_in_anothers_place_is_an_error() {
    let limits = PackLimits { inline_bytes: 0, inline_total_bytes: 0, chunk_bytes: 300 };
    let (packed, objects) = pack_level(&grid(3, 20), limits).unwrap();
    let right = store(&objects);
    let mut seen = 0;
    for object in &objects {
        for other in right.values().filter(|other| **other != right[&object.chunk.hash]) {
            let mut wrong = right.clone();
            wrong.insert(object.chunk.hash, other.clone());
            let loaded = |hash: &ChunkHash| wrong.get(hash);
            match packed.load_all(&loaded) {
                // Parts of one extent cannot be told apart: only their hash can.
                Ok(read) => assert!(matches!(read, Fetched::Ready(_))),
                Err(error) => {
                    assert!(matches!(error, SnapshotError::Shape(_)));
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_are_a_chunk_or_an_error(bytes in vec(any::<u8>(), 0..60), kind in 0..10_u8) {
        let _ = IndexChunk::decode(&bytes);
        let _ = IndexChunk::decode(&[&[0x83, kind, 1], bytes.as_slice()].concat());
    }

    #[test]
    fn damaged_chunks_are_chunks_or_errors(level in any_level(), at in any::<usize>(), bit in 0..8_u8) {
        let limits = PackLimits { inline_bytes: 0, inline_total_bytes: 0, chunk_bytes: 300 };
        let (_, objects) = pack_level(&level, limits).unwrap();
        for object in &objects {
            let mut bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
            let at = at % bytes.len();
            prop_assert!(IndexChunk::decode(&bytes[..at]).is_err());
            bytes[at] ^= 1 << bit;
            if let Ok(chunk) = IndexChunk::decode(&bytes) {
                prop_assert_eq!(chunk.check(), Ok(()));
            }
        }
    }
}

/// A list that declares far more than there is, or items that are small in bytes.
#[test]
fn declared_lengths_reserve_nothing() {
    let declared = [0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    for kind in [Kind::Moves, Kind::Parts, Kind::Stripes, Kind::Tiles] {
        for before in [&[][..], &[0x82], &[0x82, 0x84, 0, 1, 1, 0]] {
            let bytes = [&[0x83, kind as u8, 1], before, &declared].concat();
            assert!(IndexChunk::decode(&bytes).is_err());
        }
    }
}
