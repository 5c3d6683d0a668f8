//! Golden files of released encodings. Each line contains an uncompressed object and its name.

use std::fs;
use std::path::PathBuf;

use super::PackLimits;
use super::cbor::{self, Kind};
use super::error::SnapshotError;
use super::index::tests::{sheet_of, span};
use super::index::{
    IndexChunk, InlineOrChunk, PackedLevel, PackedSheet, RowIndex, SpanMap, StripeIndex,
    pack_import, pack_level,
};
use super::level::{ChunkHash, ChunkRef, Level, Region, StoredTile, Stripe, StripeTile};
use super::packed::{Bounds, PackedObject, unpack};
use super::root::tests::{sample, sample_with_names, sample_with_outdated, some_formats};
use super::root::{ClientMap, FormatRecords, Root, pack_formats, pack_sheet_numbers};
use super::tile_formulas::TileFormulas;
use crate::root::StoredSheetNumbers;
use cellar_base::identity::ClientKey;
use cellar_base::limits::MAX_ROWS;
use cellar_formula::DeletedLines;
use cellar_sheet::axis_map::{Axis, AxisMap};
use cellar_sheet::metadata::SheetNumbers;
use cellar_sheet::operation::{SheetId, Spans, TileIndex};

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hexadecimal(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Checks that the current encoder still produces the released objects, and returns them. Creates a
/// missing golden file if `WRITE_GOLDEN_FILES` is set.
fn released(name: &str, objects: &[(&str, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
    let line = |(name, bytes): &(&str, Vec<u8>)| format!("{name} {}\n", hexadecimal(bytes));
    let today: String = objects.iter().map(line).collect();
    if std::env::var_os("WRITE_GOLDEN_FILES").is_some() && !path.exists() {
        fs::write(&path, &today).unwrap();
    }
    let released = fs::read_to_string(&path).unwrap();
    assert_eq!(
        today, released,
        "the encoding of a released version has changed: add a new version instead"
    );
    let object = |line: &str| {
        let (name, bytes) = line.split_once(' ').unwrap();
        (name.to_owned(), from_hexadecimal(bytes))
    };
    released.lines().map(object).collect()
}

fn plain(object: &PackedObject) -> Vec<u8> {
    unpack(object.chunk.hash, &object.stored, Bounds::CHUNK).unwrap()
}

fn chunk(number: u8) -> ChunkRef {
    ChunkRef { hash: ChunkHash([number; 32]), bytes: 100_000 + u32::from(number) }
}

fn tile(rows: (u32, u32), number: u8) -> StripeTile {
    let cells = 1_000 * u32::from(number);
    StripeTile {
        rows: span(rows.0, rows.1),
        cells,
        stored: StoredTile::Chunk(chunk(number)),
        formulas: None,
    }
}

/// Returns a sample level with axis maps, cleared regions and an inline tile.
fn level() -> Level {
    let first = vec![tile((0, 112), 1), tile((112, 384), 2), tile((384, 512), 3)];
    let inline = StoredTile::Inline(vec![0xce, 0x11]);
    let second = StripeTile { rows: span(176, 512), cells: 2, stored: inline, formulas: None };
    let stripes = vec![
        Stripe { columns: span(0, 128), tiles: first },
        Stripe { columns: span(128, 256), tiles: vec![tile((0, 176), 4), second] },
    ];
    let mut sheet = sheet_of(3, stripes);
    sheet.moves.rows = AxisMap::insert(Axis::Rows, 300, 2);
    sheet.moves.columns = AxisMap::delete(Axis::Columns, &Spans::one(5, 1));
    let region =
        |first, count| Region { rows: Spans::one(first, count), columns: Spans::of([1, 9]) };
    (sheet.moves.value_clears, sheet.moves.format_clears) =
        (vec![region(0, 10)], vec![region(70_000, 1)]);
    Level { sheets: vec![sheet] }
}

/// Built without the packer, because stored lengths depend on the version of the compression
/// library.
fn parts(list: &[(u32, u32, u8)]) -> SpanMap<ChunkRef> {
    let mut parts = SpanMap::default();
    for (first, end, number) in list {
        assert!(parts.push(span(*first, *end), chunk(*number)));
    }
    parts
}

/// Returns the sample level without inline parts, and with its second stripe split into two parts.
fn chunks(inline: &PackedLevel) -> Vec<(&'static str, Vec<u8>, IndexChunk)> {
    let InlineOrChunk::Inline(moves) = inline.sheets[0].moves.clone() else { panic!() };
    let StripeIndex::Inline(stripes) = inline.sheets[0].stripes.clone() else { panic!() };
    let RowIndex::Tiles(tiles) = stripes.items()[0].clone() else { panic!() };
    let mut second = SpanMap::default();
    assert!(second.push(span(128, 256), RowIndex::Parts(parts(&[(0, 176, 7), (176, 512, 8)]))));
    let list = parts(&[(0, 128, 9), (128, 256, 10)]);
    vec![
        ("moves", cbor::encode(Kind::Moves, &moves), IndexChunk::Moves(moves)),
        ("tiles", cbor::encode(Kind::Tiles, &tiles), IndexChunk::Tiles(tiles)),
        ("stripes", cbor::encode(Kind::Stripes, &second), IndexChunk::Stripes(second)),
        ("parts", cbor::encode(Kind::Parts, &list), IndexChunk::Parts(list)),
    ]
}

#[test]
fn index_version_1() {
    let all = PackLimits {
        inline_bytes: 9_999,
        inline_total_bytes: 9_999,
        chunk_bytes: 9_999,
        referenced_bytes: u64::MAX,
    };
    let (inline, objects) = pack_level(&level(), all).unwrap();
    assert!(objects.is_empty());
    let (moves, list) = (InlineOrChunk::Chunk(chunk(5)), parts(&[(0, 128, 9), (128, 256, 10)]));
    let sheet = |number, stripes| PackedSheet {
        sheet: SheetId(number),
        moves: moves.clone(),
        stripes,
        formulas: None,
        reads: None,
    };
    let sheets = vec![sheet(3, StripeIndex::Parts(list)), sheet(4, StripeIndex::Chunk(chunk(11)))];
    let packed = PackedLevel { sheets };
    let [inline_bytes, packed_bytes] =
        [&inline, &packed].map(|level| minicbor::to_vec(level).unwrap());
    let chunks = chunks(&inline);
    let mut lines = vec![("level", inline_bytes), ("level", packed_bytes)];
    lines.extend(chunks.iter().map(|(name, bytes, _)| (*name, bytes.clone())));
    let released = released("index-v1.hex", &lines);
    for ((_, bytes), level) in released.iter().zip([inline, packed]) {
        assert_eq!(minicbor::decode::<PackedLevel>(bytes).unwrap(), level);
    }
    for ((_, bytes), (.., chunk)) in released.iter().skip(2).zip(&chunks) {
        assert_eq!(&IndexChunk::decode(bytes).unwrap(), chunk);
    }
}

/// Returns the sample level with formulas and with ends of ranges.
fn level_with_formulas() -> Level {
    let mut level = level();
    let sheet = &mut level.sheets[0];
    sheet.moves.rows = AxisMap::delete(Axis::Rows, &Spans::one(300, 9));
    let ends =
        |first, count, start, end| DeletedLines { span: span(first, first + count), start, end };
    sheet.moves.row_ends = vec![ends(300, 2, 298, 299), ends(305, 1, 300, 301)];
    sheet.moves.column_ends = vec![ends(5, 1, 7, 6)];
    let tiles = sheet.stripes.iter_mut().flat_map(|stripe| &mut stripe.tiles);
    let areas: [&[u32]; 5] =
        [&[], &[0, 3, 1, 3, 0, 2], &[64, 3, 0, 272, 1, 1, 7, 0, MAX_ROWS, 2, 1], &[13], &[256]];
    for ((number, tile), areas) in (0..).zip(tiles).zip(areas) {
        let numbers: Vec<u32> = [number * 100].iter().chain(areas).copied().collect();
        tile.formulas = TileFormulas::from_numbers(&numbers).or(Some(TileFormulas::default()));
    }
    level
}

#[test]
fn index_version_2() {
    let all = PackLimits {
        inline_bytes: 9_999,
        inline_total_bytes: 9_999,
        chunk_bytes: 9_999,
        referenced_bytes: u64::MAX,
    };
    let (packed, _) = pack_level(&level_with_formulas(), all).unwrap();
    let InlineOrChunk::Inline(moves) = packed.sheets[0].moves.clone() else { panic!() };
    let StripeIndex::Inline(stripes) = packed.sheets[0].stripes.clone() else { panic!() };
    let RowIndex::Tiles(tiles) = stripes.items()[0].clone() else { panic!() };
    let lines = vec![
        ("level", minicbor::to_vec(&packed).unwrap()),
        ("moves", cbor::encode(Kind::Moves, &moves)),
        ("tiles", cbor::encode(Kind::Tiles, &tiles)),
        ("stripes", cbor::encode(Kind::Stripes, &stripes)),
    ];
    let released = released("index-v2.hex", &lines);
    assert_eq!(minicbor::decode::<PackedLevel>(&released[0].1).unwrap(), packed);
    let chunks = [IndexChunk::Moves(moves), IndexChunk::Tiles(tiles), IndexChunk::Stripes(stripes)];
    for ((_, bytes), chunk) in released.iter().skip(1).zip(&chunks) {
        assert_eq!(bytes[2], 2, "the version");
        assert_eq!(&IndexChunk::decode(bytes).unwrap(), chunk);
        let mut as_version_1 = bytes.clone();
        as_version_1[2] = 1;
        assert!(IndexChunk::decode(&as_version_1).is_err());
    }
}

#[test]
fn import_version_1() {
    let stripes = |sheet: usize| {
        let mut level = level();
        level.sheets[sheet].stripes.truncate(1);
        level.sheets[sheet].stripes.clone()
    };
    let few = pack_import(&stripes(0)).unwrap().0;
    let list = StripeIndex::Parts(parts(&[(0, 128, 9), (128, 256, 10)]));
    let indexes = [few, list.to_import().unwrap()];
    let chunk = StripeIndex::Chunk(chunk(11)).to_import().unwrap();
    let indexes: Vec<TileIndex> = indexes.into_iter().chain([chunk]).collect();
    let lines: Vec<_> = indexes.iter().map(|index| ("import", index.bytes().to_vec())).collect();
    for ((_, bytes), index) in released("import-v1.hex", &lines).iter().zip(&indexes) {
        assert_eq!(&TileIndex::new(bytes.clone()).unwrap(), index);
    }
}

#[test]
fn root_version_1() -> Result<(), SnapshotError> {
    let nothing = PackLimits {
        inline_bytes: 0,
        inline_total_bytes: 0,
        chunk_bytes: 0,
        referenced_bytes: u64::MAX,
    };
    let (_, formats) = pack_formats([&some_formats()], nothing)?;
    let numbers = SheetNumbers::of([0, 1, 3].map(SheetId));
    let (_, numbers_object) = pack_sheet_numbers(numbers.clone(), nothing)?;
    let mut clients = ClientMap::default();
    clients.record_mutation(ClientKey([1; 8]), 7, 1_700_000_000);
    clients.record_mutation(ClientKey([2; 8]), 300, 1_700_000_060);
    let objects = vec![
        ("root", cbor::encode(Kind::Root, &sample())),
        ("formats", plain(&formats[0])),
        ("formats", plain(&formats[1])),
        ("numbers", plain(&numbers_object.unwrap())),
        ("clients", plain(&clients.pack()?.unwrap())),
    ];
    let released: Vec<Vec<u8>> =
        released("root-v1.hex", &objects).into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(Root::decode(&released[0])?, sample());
    assert_ne!(FormatRecords::decode(&released[1])?, FormatRecords::decode(&released[2])?);
    assert_eq!(StoredSheetNumbers::decode(&released[3])?.0, numbers);
    assert_eq!(ClientMap::decode(&released[4])?, clients);
    Ok(())
}

#[test]
fn root_version_2() -> Result<(), SnapshotError> {
    let objects = vec![("root", cbor::encode(Kind::Root, &sample_with_names()))];
    let released = released("root-v2.hex", &objects);
    assert_eq!(Root::decode(&released[0].1)?, sample_with_names());
    Ok(())
}

#[test]
fn root_with_values_of_formulas() -> Result<(), SnapshotError> {
    let objects = vec![("root", cbor::encode(Kind::Root, &sample_with_outdated()))];
    let released = released("root-outdated.hex", &objects);
    assert_eq!(Root::decode(&released[0].1)?, sample_with_outdated());
    Ok(())
}
