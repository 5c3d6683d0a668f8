//! Tile indexes of any packaging equal linear scans.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

mod axis_index;
mod damage;
mod ladder;
mod limits;

use super::*;
use crate::cbor::Kind;
use crate::error::SnapshotError;
use crate::level::{ChunkHash, Level, LevelSheet, Region, Stripe, StripeTile};
use crate::packed::{Bounds, PackedObject, unpack};
use crate::packer::PackLimits;
use crate::tile_formulas::{StoredReads, TileFormulas};
use cellar_base::limits::{
    MAX_AXIS_RUNS, MAX_CHUNK_BYTES, MAX_COLUMNS, MAX_LEVEL_CLEAR_SPANS, MAX_LINE_ENDS, MAX_ROWS,
    MAX_SHEET_READ_AREAS, MAX_SHEETS, MAX_STORED_CHUNK_BYTES, MAX_TILE_READ_AREAS,
};
use cellar_formula::expression::FormulaTraits;
use cellar_formula::{DeletedLines, ReadAreas};
use cellar_sheet::axis_map::{Axis, AxisMap, Run};
use cellar_sheet::operation::{Span, Spans};

/// Limits that keep everything in the root.
const ROOT: PackLimits = PackLimits {
    inline_bytes: 1 << 20,
    inline_total_bytes: 1 << 20,
    chunk_bytes: 1 << 20,
    referenced_bytes: u64::MAX,
};

pub(crate) fn span(first: u32, end: u32) -> Span {
    Span { first, count: end - first }
}

pub(crate) fn chunk_of(number: u32) -> ChunkRef {
    ChunkRef { hash: ChunkHash::of(&number.to_le_bytes()), bytes: 1 + number % 1_000 }
}

fn stripe(columns: Span, rows: &[(u32, u32)]) -> Stripe {
    let place = |(first, end): &(u32, u32)| StripeTile {
        rows: span(*first, *end),
        cells: end - first,
        stored: StoredTile::Chunk(chunk_of(columns.first ^ first)),
        formulas: None,
    };
    Stripe { columns, tiles: rows.iter().map(place).collect() }
}

pub(crate) fn sheet_of(sheet: u32, stripes: Vec<Stripe>) -> LevelSheet {
    LevelSheet { sheet: SheetId(sheet), moves: SheetMoves::default(), stripes }
}

/// An example level.
pub(crate) fn seed_level() -> Level {
    let stripes = vec![
        stripe(span(0, 128), &[(0, 112), (112, 384), (384, 512)]),
        stripe(span(128, 256), &[(0, 176), (176, 512)]),
    ];
    Level { sheets: vec![sheet_of(0, stripes)] }
}

fn pairs(index: &AxisIndex) -> Vec<(u32, u32)> {
    index.runs().iter().map(|pair| (pair.start, pair.count)).collect()
}

/// Returns the decoded chunks by name.
fn store(objects: &[PackedObject]) -> HashMap<ChunkHash, IndexChunk> {
    let chunk = |object: &PackedObject| {
        let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
        (object.chunk.hash, IndexChunk::decode(&bytes).unwrap())
    };
    objects.iter().map(chunk).collect()
}

/// Calls `ask` until no chunk is missing. Also returns the number of sequential
/// requests.
fn fetch<T>(
    store: &HashMap<ChunkHash, IndexChunk>,
    ask: impl Fn(&LoadedChunks<'_>) -> Result<Lookup<T>, SnapshotError>,
) -> (T, usize) {
    let mut known: Vec<ChunkRef> = Vec::new();
    for rounds in 0.. {
        let loaded = |hash: &ChunkHash| {
            known.iter().any(|chunk| chunk.hash == *hash).then(|| store.get(hash)).flatten()
        };
        match ask(&loaded).unwrap() {
            Lookup::Ready(ready) => return (ready, rounds),
            Lookup::Missing(need) => {
                assert!(!need.is_empty() && need.iter().all(|chunk| !known.contains(chunk)));
                known.extend(need);
            }
        }
    }
    panic!("no end")
}

#[test]
fn the_example_level_has_the_expected_pairs() {
    let level = seed_level();
    let (packed, objects) = pack_level(&level, PackLimits::LEVEL).unwrap();
    assert!(objects.is_empty());
    let StripeIndex::Inline(stripes) = &packed.sheets[0].stripes else { panic!("{packed:?}") };
    assert_eq!(pairs(stripes.spans()), [(0, 2), (256, 0)]);
    let rows = |stripe: usize| match &stripes.items()[stripe] {
        RowIndex::Tiles(tiles) => pairs(tiles.spans()),
        RowIndex::Parts(_) => panic!(),
    };
    assert_eq!(rows(0), [(0, 1), (112, 1), (384, 1), (512, 0)]);
    assert_eq!(rows(1), [(0, 1), (176, 1), (512, 0)]);
    assert_eq!(fetch(&store(&objects), |loaded| packed.load_all(loaded)), (level, 0));
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
                            (any::<u32>(), any_stored()).prop_map(move |(cells, stored)| {
                                StripeTile { rows, cells, stored, formulas: None }
                            })
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
        // Some spans end at the end of the axis.
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

/// Returns ends of some of the first rows that a map deletes.
fn some_ends(map: &AxisMap, ends: &[(u32, u32)]) -> Vec<DeletedLines> {
    let kept_end = |run: &Run| run.src + run.len;
    let next_runs = map.runs().iter().skip(1);
    let deleted = map.runs().iter().zip(next_runs).filter_map(|(run, next)| {
        let first = kept_end(run);
        Some(Span { first, count: next.src.checked_sub(first).filter(|count| *count > 0)? })
    });
    let with_ends = deleted.zip(ends).map(|(span, (start, end))| DeletedLines {
        span: Span { count: 1, ..span },
        start: *start,
        end: *end,
    });
    with_ends.collect()
}

/// Returns formulas with a number of areas that depends on `seed`.
fn some_formulas(count: u32, seed: u32) -> TileFormulas {
    let areas =
        (0..count * (seed % 4)).flat_map(|sheet| [sheet, seed % 999, 3, sheet, seed % 7 + 1]);
    let traits = FormulaTraits::from_bits(u16::try_from(count * 127).unwrap()).unwrap();
    let areas: Vec<u32> = areas.collect();
    let reads = ReadAreas::from_numbers(traits, &areas, MAX_TILE_READ_AREAS).unwrap();
    TileFormulas { count, reads: if count > 0 { reads } else { ReadAreas::default() } }
}

pub(crate) fn any_level() -> impl Strategy<Value = Level> {
    let regions = || vec(any_region(), 0..3);
    let maps = (any_map(Axis::Rows), any_map(Axis::Columns));
    let ends = vec((0..3_u32, 0..MAX_COLUMNS), 0..4);
    let formulas = proptest::option::of(0..3_u32);
    let sheet = (maps, (regions(), regions()), any_stripes(), (ends, formulas));
    let sheet = sheet.prop_map(|(maps, clears, mut stripes, (ends, formulas))| {
        let ((rows, columns), (value_clears, format_clears)) = (maps, clears);
        let row_ends = some_ends(&rows, &ends);
        let moves = SheetMoves {
            rows,
            columns,
            value_clears,
            format_clears,
            row_ends,
            ..Default::default()
        };
        // The formulas of a sheet are all known or all unknown.
        for tile in stripes.iter_mut().flat_map(|stripe| &mut stripe.tiles) {
            let count = formulas.map(|formulas| formulas.wrapping_mul(tile.cells) % 3);
            tile.formulas = count.map(|count| some_formulas(count, tile.cells));
        }
        LevelSheet { sheet: SheetId(0), moves, stripes }
    });
    vec(sheet, 0..3).prop_map(|mut sheets| {
        (0..).zip(&mut sheets).for_each(|(number, sheet)| sheet.sheet = SheetId(number * 3));
        Level { sheets }
    })
}

fn any_limits() -> impl Strategy<Value = PackLimits> {
    let bytes = || prop_oneof![Just(0_usize), 0..500_usize, Just(1 << 20)];
    (bytes(), bytes(), bytes()).prop_map(|(inline_bytes, inline_total_bytes, chunk_bytes)| {
        PackLimits { inline_bytes, inline_total_bytes, chunk_bytes, referenced_bytes: u64::MAX }
    })
}

/// Removes stripes without tiles, which packing omits.
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

/// Finds the tiles of a sheet that overlap a region by a linear scan.
fn scanned(level: &Level, sheet: SheetId, region: &Region) -> Vec<LocatedTile> {
    let stripes = level.sheets.iter().filter(|other| other.sheet == sheet);
    let stripes = stripes.flat_map(|sheet| &sheet.stripes);
    let tiles =
        stripes.flat_map(|stripe| stripe.tiles.iter().map(|tile| (stripe.columns, tile.clone())));
    tiles
        .filter(|(columns, tile)| {
            meets(&region.columns, *columns) && meets(&region.rows, tile.rows)
        })
        .map(|(columns, tile)| LocatedTile { columns, tile })
        .collect()
}

/// Returns regions at the starts of stripes and tiles, and an arbitrary region.
fn regions_of(level: &Level, sheet: SheetId, any: Region) -> Vec<Region> {
    let around = |first: u32, count| Spans::one(first.saturating_sub(1), count);
    let all = Region { rows: Spans::all(Axis::Rows), columns: Spans::all(Axis::Columns) };
    let places = scanned(level, sheet, &all);
    let region = |LocatedTile { columns, tile }: &LocatedTile| {
        [(tile.rows.first, columns.first), (tile.rows.end(), columns.end())]
            .map(|(row, column)| Region { rows: around(row, 2), columns: around(column, 1) })
    };
    places.iter().take(8).flat_map(region).chain([any, all, nowhere()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_level_reads_back_from_any_packaging(level in any_level(), limits in any_limits()) {
        let (packed, objects) = pack_level(&level, limits).unwrap();
        prop_assert_eq!(&pack_level(&level, limits).unwrap(), &(packed.clone(), objects.clone()));
        // Also through the encoded bytes of the root.
        let bytes = minicbor::to_vec(&packed).unwrap();
        let packed: PackedLevel = minicbor::decode(&bytes).unwrap();
        packed.check().unwrap();
        let (read, rounds) = fetch(&store(&objects), |loaded| packed.load_all(loaded));
        prop_assert_eq!(read, occupied(level));
        prop_assert!(rounds <= 3, "{} rounds", rounds);
    }

    #[test]
    fn the_areas_of_a_sheet_contain_those_of_its_tiles(level in any_level(), limits in any_limits()) {
        let (packed, _) = pack_level(&level, limits).unwrap();
        for (sheet, packed) in level.sheets.iter().zip(&packed.sheets) {
            let Some(reads) = &packed.reads else { continue };
            prop_assert!(reads.areas().len() <= MAX_SHEET_READ_AREAS);
            let tiles = sheet.stripes.iter().flat_map(|stripe| &stripe.tiles);
            for own in tiles.map(|tile| &tile.formulas.as_ref().unwrap().reads) {
                prop_assert_eq!(reads.traits().with(own.traits()), reads.traits());
                for area in own.areas() {
                    let mut all = reads.clone();
                    let one: Vec<u32> = vec![
                        area.sheet.0, area.cells.first.row, 3, area.cells.first.column, 1,
                    ];
                    let one = ReadAreas::from_numbers(FormulaTraits::NONE, &one, 1).unwrap();
                    all.add_all(&one, MAX_SHEET_READ_AREAS);
                    prop_assert_eq!(&all, reads);
                }
            }
        }
    }

    #[test]
    fn a_lookup_finds_the_same_tiles_as_a_scan(level in any_level(), limits in any_limits(), any in any_region()) {
        let (packed, objects) = pack_level(&level, limits).unwrap();
        let store = store(&objects);
        for sheet in [SheetId(0), SheetId(1), SheetId(3)] {
            for region in regions_of(&level, sheet, any.clone()) {
                let (found, rounds) = fetch(&store, |loaded| packed.tiles(sheet, &region, loaded));
                prop_assert_eq!(found, scanned(&level, sheet, &region));
                // Reading the tile is the fourth request.
                prop_assert!(rounds <= 3, "{} rounds", rounds);
            }
        }
    }

    #[test]
    fn chunks_do_not_exceed_their_target_length(level in any_level(), limits in any_limits()) {
        let (packed, objects) = pack_level(&level, limits).unwrap();
        for object in &objects {
            let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
            let elements = match IndexChunk::decode(&bytes).unwrap() {
                IndexChunk::Stripes(stripes) => stripes.items().len(),
                IndexChunk::Tiles(tiles) => tiles.items().len(),
                // A single item, or the list of parts, may exceed the limit.
                IndexChunk::Moves(_) | IndexChunk::Parts(_) => 1,
            };
            prop_assert!(bytes.len() <= limits.chunk_bytes || elements == 1);
        }
        let inline = |sheet: &PackedSheet| {
            let moves = minicbor::to_vec(&sheet.moves).unwrap().len();
            let reads = sheet.reads.as_ref().map(StoredReads);
            let reads = reads.map_or(0, |reads| minicbor::to_vec(reads).unwrap().len());
            moves + reads + minicbor::to_vec(&sheet.stripes).unwrap().len()
        };
        let inline: usize = packed.sheets.iter().map(inline).sum();
        // A reference takes about 40 bytes and the head of a list a few.
        prop_assert!(inline <= limits.inline_total_bytes + packed.sheets.len() * 100);
    }
}

fn nowhere() -> Region {
    Region { rows: Spans::default(), columns: Spans::default() }
}
