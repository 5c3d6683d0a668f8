//! Tests of roots and their chunks: round trips, damage and limits.

#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod clients;
mod formats;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;
use crate::PackLimits;
use crate::index::tests::{any_level, any_region, chunk_of, seed_level};
use crate::index::{Lookup, PackedSheet, StripeIndex, pack_level};
use crate::level::{Level, StoredTile, Stripe, StripeTile};
use crate::objects::{Fetch, Objects};
use crate::outdated::OutdatedAreas;
use crate::view;
use cellar_base::identity::{ClientKey, ClientName};
use cellar_base::limits::{
    CLIENT_IDLE_S, MAX_CLIENT_ID_BYTES, MAX_COLUMNS, MAX_DEFINED_NAMES, MAX_FORMAT_BYTES,
    MAX_MUTATION_ID, MAX_OUTDATED_AREAS, MAX_RANGE_FORMATS, MAX_ROOT_BYTES,
    MAX_ROOT_CLIENT_NAME_BYTES, MAX_ROOT_CLIENTS, MAX_ROWS, MAX_SHEET_NAME_CHARACTERS,
    MAX_SHEET_NUMBER_RUNS, MAX_SPANS, MAX_STORED_CHUNK_BYTES,
};
use cellar_sheet::a1::{CellName, Rectangle, SheetArea};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{FormatLayer, RangeFormat, SheetNumbers};
use cellar_sheet::operation::{Span, Spans};

const ALL: PackLimits = PackLimits {
    inline_bytes: 1 << 20,
    inline_total_bytes: 1 << 20,
    chunk_bytes: 1 << 20,
    referenced_bytes: u64::MAX,
};
const NOTHING: PackLimits = PackLimits {
    inline_bytes: 0,
    inline_total_bytes: 0,
    chunk_bytes: 0,
    referenced_bytes: u64::MAX,
};

fn at(segment: u32, num: u32) -> Position {
    Position::new(segment, num).unwrap()
}

fn sheet(number: u32, name: &str) -> RootSheet {
    RootSheet {
        sheet: SheetId(number),
        name: name.to_owned(),
        extent: Extent { rows: 512, columns: 256 },
        formats: PackedFormats::Inline(FormatRecords::default()),
    }
}

fn level_of(after: Option<Position>, last: Position, level: &Level) -> RootLevel {
    let (level, _) = pack_level(level, ALL).unwrap();
    RootLevel { after, last, cells: 1_024, bytes: 2_765, level }
}

/// Returns a layer with two formats. The second format partly overrides the first.
pub(crate) fn some_formats() -> FormatLayer {
    let rows = Spans::from_sorted(vec![Span { first: 1, count: 2 }, Span { first: 9, count: 300 }]);
    let all = RangeFormat { rows, columns: Spans::all(Axis::Columns), format: "0.00".to_owned() };
    let one = Spans::one(10, 1);
    let piece = RangeFormat { rows: one.clone(), columns: one, format: "General".to_owned() };
    FormatLayer::from_records(vec![all, piece])
}

/// Returns a root that uses every feature.
pub(crate) fn sample() -> Root {
    let mut level_0 = seed_level();
    level_0.sheets.truncate(1);
    let tile = StoredTile::Inline(vec![1, 2, 3]);
    let tiles = vec![StripeTile {
        rows: Span { first: 0, count: MAX_ROWS },
        cells: 3,
        stored: tile,
        formulas: None,
    }];
    let columns = Span { first: 0, count: MAX_COLUMNS };
    level_0.sheets[0].stripes = vec![Stripe { columns, tiles }];
    let (formats, _) = pack_formats([&some_formats()], ALL).unwrap();
    let mut sheets = vec![sheet(3, "Grüße"), sheet(0, "Sheet1")];
    sheets[0].formats = formats[0].clone();
    sheets[1].formats = PackedFormats::Chunks(vec![chunk_of(7)]);
    let used = SheetNumbers::of([0, 1, 3].map(SheetId));
    Root {
        position: at(1, 20),
        entries: 10_021,
        sheets,
        used: InlineOrChunk::Inline(StoredSheetNumbers(used)),
        levels: vec![level_of(None, at(0, 9_000), &seed_level())],
        level_0: Some(level_of(Some(at(0, 9_000)), at(1, 20), &level_0)),
        clients: Some(chunk_of(9)),
        totals: Totals { cells: 2_048, bytes: 5_530 },
        names: DefinedNames::default(),
        outdated: None,
    }
}

/// Returns a root with defined names, which has another version.
pub(crate) fn sample_with_names() -> Root {
    let names = [
        ("Prices", "=SUM(\u{1}3!R1C1:R9C1\u{2})"),
        ("TAX", "=0.19"),
        ("x", "=\u{1}0!R2:R3\u{2}+\u{1}x\u{2}"),
    ];
    let names = names.map(|(name, formula)| (name.to_owned(), formula.to_owned()));
    Root { names: DefinedNames::from_stored(names).unwrap(), ..sample() }
}

fn bytes_of(root: &Root) -> Vec<u8> {
    cbor::encode(Kind::Root, root)
}

#[test]
fn a_root_reads_back() {
    let root = sample();
    let object = root.pack().unwrap();
    assert_eq!(Root::unpack(object.chunk.hash, &object.stored).unwrap(), root);
    assert_eq!(root.pack().unwrap(), object);
    let lasts: Vec<Position> = root.all_levels().map(|level| level.last).collect();
    assert_eq!(lasts, [at(0, 9_000), at(1, 20)]);
}

#[test]
fn a_damaged_root_is_an_error_or_a_valid_root() {
    let bytes = bytes_of(&sample());
    let mut read = 0;
    for cut in 0..bytes.len() {
        assert!(Root::decode(&bytes[..cut]).is_err(), "{cut}");
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[cut] ^= 1 << bit;
            if let Ok(root) = Root::decode(&flipped) {
                read += 1;
                // A decoded root can be encoded again, and decodes to the same root.
                assert_eq!(Root::decode(&bytes_of(&root)).unwrap(), root);
                assert!(root.pack().is_ok());
            }
        }
    }
    // Most of a root consists of numbers and hashes, for which any value is valid.
    assert!(read > 500, "{read} of {}", bytes.len() * 8);
    assert!(Root::decode(&[bytes.as_slice(), &[0]].concat()).is_err());
}

#[test]
fn a_root_with_names_reads_back_and_older_releases_refuse_it() {
    let root = sample_with_names();
    let object = root.pack().unwrap();
    assert_eq!(Root::unpack(object.chunk.hash, &object.stored).unwrap(), root);
    let bytes = bytes_of(&root);
    assert_eq!((bytes[2], bytes_of(&sample())[2]), (2, 1), "the versions");
    let metadata = view::read_metadata(&Root { used: sample().used, ..root }, &Objects::default());
    assert!(matches!(metadata, Ok(Fetch::Missing(_))), "formats in a chunk");
    for cut in 0..bytes.len() {
        assert!(Root::decode(&bytes[..cut]).is_err(), "{cut}");
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[cut] ^= 1 << bit;
            if let Ok(root) = Root::decode(&flipped) {
                assert_eq!(Root::decode(&bytes_of(&root)).unwrap(), root);
            }
        }
    }
}

/// Returns a root with values of formulas, of which some are outdated.
pub(crate) fn sample_with_outdated() -> Root {
    let area = |sheet, first: (u32, u32), last: (u32, u32)| SheetArea {
        sheet: SheetId(sheet),
        cells: Rectangle {
            first: CellName { row: first.0, column: first.1 },
            last: CellName { row: last.0, column: last.1 },
        },
    };
    let mut outdated = OutdatedAreas::default();
    outdated.add(area(0, (4, 1), (900, 3)));
    outdated.add(area(3, (0, 0), (MAX_ROWS - 1, MAX_COLUMNS - 1)));
    outdated.add(area(0, (0, 7), (0, 7)));
    Root { outdated: Some(outdated.reduced()), ..sample() }
}

#[test]
fn outdated_areas_read_back_and_are_limited() {
    for outdated in [None, Some(OutdatedAreas::default()), sample_with_outdated().outdated] {
        let root = Root { outdated, ..sample() };
        assert_eq!(Root::decode(&bytes_of(&root)).unwrap(), root);
    }
    let with_areas = |numbers: &[u32]| {
        let mut bytes = bytes_of(&sample());
        assert_eq!(bytes[3], 0xa8, "a map with 8 keys");
        bytes[3] += 1;
        let mut encoder = minicbor::Encoder::new(Vec::new());
        encoder.u8(9).unwrap().array(numbers.len() as u64).unwrap();
        numbers.iter().for_each(|number| _ = encoder.u32(*number).unwrap());
        bytes.extend(encoder.into_writer());
        Root::decode(&bytes).map(|root| root.outdated.unwrap().iter().count())
    };
    let areas = |count: usize| (0..count).flat_map(|row| [0, 2 * row as u32, 1, 0, 1]);
    for (count, is_valid) in [(MAX_OUTDATED_AREAS, true), (MAX_OUTDATED_AREAS + 1, false)] {
        let found = with_areas(&areas(count).collect::<Vec<_>>());
        assert_eq!(found.is_ok_and(|found| found == count), is_valid);
    }
    assert_eq!(with_areas(&[0, MAX_ROWS - 1, 1, MAX_COLUMNS - 1, 1]), Ok(1));
    for malformed in [
        &[0, MAX_ROWS - 1, 2, 0, 1][..],
        &[0, 0, 1, MAX_COLUMNS, 1],
        &[0, 0, 0, 0, 1],
        &[0, 0, 1, 0, 0],
        &[0, u32::MAX, u32::MAX, 0, 1],
        &[0, 0, 1, 0],
    ] {
        assert!(with_areas(malformed).is_err(), "{malformed:?}");
    }
}

#[test]
fn the_most_names_fit_into_a_root() {
    let count = MAX_DEFINED_NAMES;
    let formula = |number: usize| format!("=SUM(\u{1}0!R{number}C1\u{2})+{number}");
    let names = |count: usize| -> Vec<(String, String)> {
        (0..count).map(|number| (format!("name_{number:05}"), formula(number))).collect()
    };
    let full = Root { names: DefinedNames::from_stored(names(count)).unwrap(), ..sample() };
    assert_eq!(Root::decode(&bytes_of(&full)).unwrap(), full);
    assert!(DefinedNames::from_stored(names(count + 1)).is_err());
}

#[test]
fn an_unknown_field_is_skipped() {
    // Appends an unknown field with number 10: a list that contains lists and a map.
    let mut bytes = bytes_of(&sample());
    assert_eq!(bytes[3], 0xa8);
    bytes[3] += 1;
    bytes.extend([10, 0x82, 0x81, 0x43, 1, 2, 3, 0xa1, 0x61, b'x', 0xfb, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Root::decode(&bytes).unwrap(), sample());
    // Skipping lists of indefinite length would need a stack.
    bytes.truncate(bytes.len() - 18);
    let endless = [bytes, vec![0x9f; 1_000], vec![0xff; 1_000]].concat();
    let shape = SnapshotError::Shape("an object is not CBOR, or has an item of indefinite length");
    assert_eq!(Root::decode(&endless), Err(shape));
}

/// Returns the error of a modified root. Encoding and decoding must return the same error.
fn fault(change: impl FnOnce(&mut Root)) -> Option<SnapshotError> {
    let mut root = sample();
    change(&mut root);
    let read = Root::decode(&bytes_of(&root));
    assert_eq!(read.is_ok(), root.pack().is_ok());
    read.err()
}

fn assert_rejected(change: impl FnOnce(&mut Root), what: &str) {
    let said = fault(change).map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains(what), "{said:?} instead of {what:?}");
}

#[test]
fn levels_must_be_contiguous() {
    assert_eq!(fault(|_| ()), None);
    let none = |root: &mut Root| (root.levels, root.level_0) = (Vec::new(), None);
    assert_eq!(fault(none), None);
    assert_rejected(|root| root.level_0 = None, "does not end at the root's position");
    assert_rejected(|root| root.levels.clear(), "does not start where");
    assert_rejected(|root| root.levels[0].after = Some(Position::FIRST), "does not start where");
    assert_rejected(|root| root.levels[0].last = at(0, 8_999), "does not start where");
    assert_rejected(|root| root.position = at(1, 21), "does not end at the root's position");
    let backwards = |root: &mut Root| {
        root.position = at(0, 8_999);
        root.level_0.as_mut().unwrap().last = at(0, 8_999);
    };
    assert_rejected(backwards, "ends before its start");
    let twice = |root: &mut Root| {
        let sheets = &mut root.levels[0].level.sheets;
        sheets.push(sheets[0].clone());
    };
    assert_rejected(twice, "not in order");
}

#[test]
fn sheets_must_have_distinct_ids_and_names() {
    assert_rejected(|root| root.sheets.clear(), "no sheet");
    assert_rejected(|root| root.sheets[0].sheet = SheetId(0), "the same id");
    assert_rejected(|root| root.sheets[0].name = "sHEET1".to_owned(), "the same name");
    assert_rejected(|root| root.sheets[0].name.clear(), "is empty");
    assert_rejected(|root| root.sheets[0].sheet = SheetId(2), "missing from the used sheet ids");
    assert_rejected(
        |root| root.sheets[1].formats = PackedFormats::Chunks(Vec::new()),
        "stored in no chunk",
    );
    assert_rejected(|root| root.clients = Some(ChunkRef { bytes: 0, ..chunk_of(9) }), "too long");
}

#[test]
fn limits_are_met_at_n_and_not_at_one_more() {
    let fits = |change: &dyn Fn(&mut Root)| fault(change).is_none();
    for (more, fit) in [(0, true), (1, false)] {
        let named = |root: &mut Root| {
            root.sheets[0].name = "ß".repeat(MAX_SHEET_NAME_CHARACTERS + more as usize);
        };
        assert_eq!(fits(&named), fit);
        assert_eq!(fits(&|root| root.sheets[0].extent.rows = MAX_ROWS + more), fit);
        assert_eq!(fits(&|root| root.sheets[0].extent.columns = MAX_COLUMNS + more), fit);
        let sheets = |root: &mut Root| {
            let count = MAX_SHEETS as u32 + more;
            root.sheets = (0..count).map(|number| sheet(number, &number.to_string())).collect();
            root.used = InlineOrChunk::Inline(StoredSheetNumbers(SheetNumbers::of(
                (0..count).map(SheetId),
            )));
        };
        assert_eq!(fits(&sheets), fit);
        let levels = |root: &mut Root| {
            let count = MAX_LEVELS as u32 + more;
            let place = |num: u32| num.checked_sub(1).map(|num| at(0, num));
            let nothing = Level::default();
            let mut all: Vec<_> =
                (0..count).map(|num| level_of(place(num), at(0, num), &nothing)).collect();
            root.position = at(0, count - 1);
            root.level_0 = all.pop();
            root.levels = all;
        };
        assert_eq!(fits(&levels), fit);
        let numbers =
            SheetNumbers::of((0..MAX_SHEET_NUMBER_RUNS as u32 + more).map(|at| SheetId(at * 2)));
        assert_eq!(pack_sheet_numbers(numbers, PackLimits::METADATA).is_ok(), fit);
    }
    // Decoding also rejects a list of levels that is too long.
    let mut root = sample();
    root.levels = vec![root.levels[0].clone(); MAX_LEVELS + 1];
    assert!(matches!(Root::decode(&bytes_of(&root)), Err(SnapshotError::Cbor { .. })));
}

#[test]
fn the_length_of_a_root_is_bounded() {
    // Three inline tiles of adjustable length bring the root to the required length.
    let with = |bytes: usize| {
        let mut root = sample();
        let tile = StoredTile::Inline(vec![7; bytes]);
        let rows = Span { first: 0, count: 1 };
        let tiles = |first| StripeTile {
            rows: Span { first, ..rows },
            cells: 1,
            stored: tile.clone(),
            formulas: None,
        };
        let stripe = Stripe { columns: rows, tiles: vec![tiles(0), tiles(1), tiles(2)] };
        let mut level = seed_level();
        level.sheets[0].stripes = vec![stripe];
        let limits = PackLimits { inline_bytes: 1 << 30, inline_total_bytes: 1 << 30, ..ALL };
        let limits = PackLimits { chunk_bytes: 1 << 30, ..limits };
        root.level_0.as_mut().unwrap().level = pack_level(&level, limits).unwrap().0;
        root
    };
    let rest = bytes_of(&with(1 << 20)).len() - (3 << 20);
    // The three tiles together fill the remaining space.
    let each = (MAX_ROOT_BYTES - rest) / 3;
    let (fits, beyond) = (with(each), with(each + 1));
    assert!(bytes_of(&fits).len() <= MAX_ROOT_BYTES && bytes_of(&fits).len() > MAX_ROOT_BYTES - 3);
    assert!(bytes_of(&beyond).len() > MAX_ROOT_BYTES);
    assert!(fits.pack().is_ok() && Root::decode(&bytes_of(&fits)).is_ok());
    assert!(matches!(beyond.pack(), Err(SnapshotError::TooLong { .. })));
    assert!(matches!(Root::decode(&bytes_of(&beyond)), Err(SnapshotError::TooLong { .. })));
}

#[test]
fn the_size_of_a_sheet_in_a_root_is_within_its_estimate() {
    let name = "\u{10ffff}".repeat(MAX_SHEET_NAME_CHARACTERS);
    let extent = Extent { rows: MAX_ROWS, columns: MAX_COLUMNS };
    let formats = PackedFormats::Chunks(vec![ChunkRef { bytes: u32::MAX, ..chunk_of(0) }]);
    let sheet = RootSheet { sheet: SheetId(u32::MAX), name, extent, formats };
    let bytes = cbor::encoded_byte_length(&sheet);
    assert!(bytes <= SHEET_BYTES, "{bytes}");
    let chunk = ChunkRef { bytes: u32::MAX, ..chunk_of(0) };
    let (moves, stripes) = (InlineOrChunk::Chunk(chunk), StripeIndex::Chunk(chunk));
    let bytes = cbor::encoded_byte_length(&PackedSheet {
        sheet: SheetId(u32::MAX),
        moves,
        stripes,
        formulas: Some(u64::MAX),
        reads: None,
    });
    assert!(bytes <= REFERENCES_BYTES, "{bytes}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_root_reads_back(levels in vec(any_level(), 0..4), level_0 in any::<bool>(), entries in any::<u64>()) {
        let mut root = sample();
        let last = |index: usize| at(index as u32, 7);
        let level = |(index, level): (usize, &Level)| {
            let after = index.checked_sub(1).map(last);
            RootLevel { after, last: last(index), cells: 1, bytes: entries, level: pack_level(level, PackLimits::LEVEL).unwrap().0 }
        };
        root.levels = levels.iter().enumerate().map(level).collect();
        root.level_0 = if level_0 { root.levels.pop() } else { None };
        root.position = levels.len().checked_sub(1).map_or(root.position, last);
        root.entries = entries;
        let object = root.pack().unwrap();
        prop_assert_eq!(Root::unpack(object.chunk.hash, &object.stored).unwrap(), root);
    }

    #[test]
    fn any_numbers_read_back(numbers in btree_set(prop_oneof![0..30_u32, 0..u32::MAX], 0..30)) {
        let sheets = numbers.iter().map(|number| SheetId(*number));
        let stored = SheetNumbers::of(sheets.clone());
        prop_assert!(stored.runs().iter().flat_map(|run| run.first..run.end()).map(SheetId).eq(sheets));
        let (kept, object) = pack_sheet_numbers(stored.clone(), ALL).unwrap();
        prop_assert_eq!((kept, object), (InlineOrChunk::Inline(StoredSheetNumbers(stored.clone())), None));
        let (kept, object) = pack_sheet_numbers(stored.clone(), NOTHING).unwrap();
        let object = object.unwrap();
        prop_assert_eq!(kept, InlineOrChunk::Chunk(object.chunk));
        let bytes = unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap();
        prop_assert_eq!(StoredSheetNumbers::decode(&bytes).unwrap().0, stored);
    }

    #[test]
    fn any_bytes_decode_to_a_value_or_an_error(bytes in vec(any::<u8>(), 0..60), kind in 0..10_u8) {
        let object = [&[0x83, kind, 1], bytes.as_slice()].concat();
        let _ = (Root::decode(&bytes), Root::decode(&object));
        let _ = (FormatRecords::decode(&object), StoredSheetNumbers::decode(&object));
        let _ = ClientMap::decode(&object);
    }
}

#[test]
fn used_ids_in_a_chunk_must_contain_the_roots_sheets() {
    for (numbers, fit) in [([0, 3], true), ([0, 4], false)] {
        let numbers = SheetNumbers::of(numbers.map(SheetId));
        let (kept, object) = pack_sheet_numbers(numbers, NOTHING).unwrap();
        let (mut root, object) = (Root { used: kept, ..sample() }, object.unwrap());
        root.sheets.iter_mut().for_each(|sheet| sheet.formats = PackedFormats::Chunks(vec![]));
        let mut objects = Objects::default();
        let Ok(Fetch::Missing(wanted)) = view::read_metadata(&root, &objects) else { panic!() };
        objects.insert(&wanted[0], &object.stored).unwrap();
        assert_eq!(view::read_metadata(&root, &objects).is_ok(), fit);
    }
}

#[test]
fn the_longest_sheet_numbers_fit_into_a_chunk() {
    // Returns isolated ids that are as far apart as possible, with incompressible gaps.
    let mut noise = blake3::Hasher::new().finalize_xof();
    let (step, mut number) = (u32::MAX / MAX_SHEET_NUMBER_RUNS as u32 - 2, 0);
    let numbers = (0..MAX_SHEET_NUMBER_RUNS).map(|_| {
        let mut bytes = [0; 4];
        noise.fill(&mut bytes);
        number += 2 + u32::from_le_bytes(bytes) % step;
        SheetId(number)
    });
    let (_, object) = pack_sheet_numbers(SheetNumbers::of(numbers), PackLimits::METADATA).unwrap();
    let object = object.unwrap();
    assert!(object.stored.len() <= MAX_STORED_CHUNK_BYTES);
}
