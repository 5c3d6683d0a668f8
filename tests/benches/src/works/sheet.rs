//! A large sheet: its import, the size of a cell, and a view of a few rows far down.

use cellar_base::position::Position;
use cellar_reference_data::{COLUMNS, ENTROPY_BYTES_PER_CELL};
use cellar_sheet::metadata::{DefinedNames, SheetNumbers, Tabs};
use cellar_sheet::operation::SheetId;
use cellar_snapshot::chunk::{chunk_of, decode, encode};
use cellar_snapshot::fold::FoldedLevel;
use cellar_snapshot::index::{InlineOrChunk, pack_level};
use cellar_snapshot::level::{Level, LevelSheet, SheetMoves};
use cellar_snapshot::merge::{SheetWriter, Window, WrittenSheet};
use cellar_snapshot::objects::{ObjectKind, ObjectRequest, Objects};
use cellar_snapshot::packed::{Bounds, PackedObject, unpack};
use cellar_snapshot::root::{
    PackedFormats, Root, RootLevel, RootSheet, StoredSheetNumbers, Totals,
};
use cellar_snapshot::tile::Tile;
use cellar_snapshot::{PackLimits, view};

use crate::clock::{Stopwatch, median_s};
use crate::data;
use crate::report::Row;
use crate::worker::Bucket;
use crate::{Failure, Options, peak_memory, peers};

/// Repetitions of short measurements.
const REPEATS: usize = 21;
/// Number of cells to which the results are scaled.
const CELLS: f64 = 1e7;

/// An imported sheet in a bucket.
pub(super) struct Imported {
    pub(super) bucket: Bucket,
    pub(super) root: PackedObject,
    cells: u64,
    bytes: u64,
    cpu_s: f64,
}

pub(crate) fn run(options: &Options) -> Result<Vec<Row>, Failure> {
    let mut imported = import(options.rows)?;
    let view = far_view(&mut imported, options.rows)?;
    let decoded = decode_ns(options.rows)?;
    let memory = peak_memory::of("cellar", options.rows)?;
    let peers = peers::sheet::measured(options.rows)?;
    let scale = CELLS / (f64::from(options.rows) * f64::from(COLUMNS));
    let mut size = Row::new(
        "10 M cells",
        "bytes a populated cell",
        imported.bytes as f64 / imported.cells as f64,
    )
    .at_most(2.8)
    .beside("entropy", Some(ENTROPY_BYTES_PER_CELL));
    let mut write =
        Row::new("import of 10 M cells", "CPU ms", imported.cpu_s * scale * 1e3).at_most(1_000.0);
    let mut memory =
        Row::new("import of 10 M cells", "peak MB", memory.unwrap_or(f64::NAN)).at_most(64.0);
    let mut far = Row::new("50 rows far below, cold", "CPU ms", view.cpu_ms).at_most(1.1);
    let mut far_bytes = Row::new("50 rows far below, cold", "KB of cells", view.kb).at_most(210.0);
    let mut cell = Row::new("decode", "ns a cell", decoded).at_most(4.0);
    for peer in peers {
        size = size.beside(peer.name, peer.bytes_per_cell);
        write = write.beside(peer.name, peer.import_cpu_s.map(|cpu_s| cpu_s * 1e3));
        memory = memory.beside(peer.name, peer.import_peak_mb);
        far = far.beside(peer.name, peer.far_view_ms);
        far_bytes = far_bytes.beside(peer.name, peer.far_view_kb);
        cell = cell.beside(peer.name, peer.decode_ns);
    }
    let objects = Row::new("50 rows far below, cold", "objects", view.objects as f64);
    Ok(vec![size, write, memory, far, far_bytes, objects, cell])
}

/// Imports the sheet from blocks in memory, without measuring the preparation of the blocks.
pub(super) fn import(rows: u32) -> Result<Imported, Failure> {
    let (mut bucket, mut watch) = (Bucket::default(), Stopwatch::default());
    let put = |object: PackedObject| bucket.put(object.chunk.hash, object.stored);
    let sheet = written(rows, &mut watch, put)?;
    let cells = sheet.cells;
    let root = watch.run(|| root_of(&mut bucket, sheet))?;
    let bytes = bucket.put_bytes as u64 + root.stored.len() as u64;
    Ok(Imported { bucket, root, cells, bytes, cpu_s: watch.total_s() })
}

/// Imports the sheet without an object store.
pub(crate) fn import_to_nowhere(rows: u32) -> Result<(), Failure> {
    written(rows, &mut Stopwatch::default(), drop)?;
    Ok(())
}

fn written(
    rows: u32,
    watch: &mut Stopwatch,
    mut put: impl FnMut(PackedObject),
) -> Result<WrittenSheet, Failure> {
    let mut writer = SheetWriter::default();
    for block in data::blocks(rows) {
        watch.run(|| writer.push(block, &chunk_of))?.into_iter().for_each(&mut put);
    }
    let (sheet, chunks) = watch.run(|| writer.finish(&chunk_of))?;
    chunks.into_iter().for_each(put);
    Ok(sheet)
}

/// Returns the root of a workbook with this sheet.
fn root_of(bucket: &mut Bucket, sheet: WrittenSheet) -> Result<PackedObject, Failure> {
    let tiles = sheet.stripes.iter().flat_map(|stripe| &stripe.tiles);
    let cells = tiles.map(|tile| u64::from(tile.cells)).sum();
    let bytes = bucket.put_bytes as u64;
    let level = Level {
        sheets: vec![LevelSheet {
            sheet: SheetId::FIRST,
            moves: SheetMoves::default(),
            stripes: sheet.stripes,
        }],
    };
    let (level, objects) = pack_level(&level, PackLimits::LEVEL)?;
    objects.into_iter().for_each(|object| bucket.put(object.chunk.hash, object.stored));
    let position = Position::new(0, 1)?;
    let root = Root {
        position,
        entries: 1,
        sheets: vec![RootSheet {
            sheet: SheetId::FIRST,
            name: "Sheet1".to_owned(),
            extent: sheet.extent,
            formats: PackedFormats::Inline(Default::default()),
        }],
        used: InlineOrChunk::Inline(StoredSheetNumbers(SheetNumbers::of([SheetId::FIRST]))),
        levels: vec![RootLevel { after: None, last: position, cells, bytes, level }],
        level_0: None,
        clients: None,
        totals: Totals { cells, bytes },
        names: DefinedNames::default(),
        outdated: None,
    };
    Ok(root.pack()?)
}

struct FarView {
    cpu_ms: f64,
    /// Kilobytes of all objects except the root.
    kb: f64,
    objects: usize,
}

/// Reads the root, the tile index and the tiles, as stored, for 50 rows at nine tenths of the
/// sheet.
fn far_view(imported: &mut Imported, rows: u32) -> Result<FarView, Failure> {
    let first = rows / 10 * 9;
    let window = Window { rows: first..first + 50, columns: 0..20 };
    let Imported { bucket, root: stored, .. } = imported;
    let mut view = || -> Result<_, Failure> {
        let root = Root::unpack(stored.chunk.hash, &stored.stored)?;
        let (tail, tabs) = (FoldedLevel::default(), Tabs::default());
        bucket.ready(|objects| {
            Ok(view::read_window(Some(&root), &tail, &tabs, SheetId::FIRST, &window, objects)?)
        })
    };
    let (tile, fetched) = view()?;
    let expected = data::block(first, first + 50);
    if tile
        .columns
        .iter()
        .map(|column| &column.values)
        .ne(expected.columns.iter().map(|column| &column.values))
    {
        return Err("the view shows other cells than were imported".into());
    }
    let cpu_ms = median_s(REPEATS, view) * 1e3;
    let kb = fetched.sizes.iter().map(|bytes| f64::from(*bytes)).sum::<f64>() / 1e3;
    Ok(FarView { cpu_ms, kb, objects: 1 + fetched.sizes.len() })
}

/// Returns the nanoseconds per cell to decompress and decode a full tile.
fn decode_ns(rows: u32) -> Result<f64, Failure> {
    const TILE_ROWS: u32 = 5_000;
    let first = rows / 2;
    let mut tile: Tile = data::block(first, first + TILE_ROWS);
    tile.move_up_and_left(first, 0);
    let chunk = chunk_of(&tile).ok_or("the tile is too large")?;
    let bytes = unpack(chunk.chunk.hash, &chunk.stored, Bounds::CHUNK)?;
    if bytes != encode(&tile)? || decode(&bytes)? != tile {
        return Err("the tile does not read back".into());
    }
    let wanted = ObjectRequest::new(ObjectKind::Tile, chunk.chunk);
    let read = || {
        let mut objects = Objects::default();
        objects.insert(&wanted, &chunk.stored).is_ok()
    };
    Ok(median_s(REPEATS, read) * 1e9 / tile.cell_count() as f64)
}
