//! A sheet as a client writes it from a file.

use std::collections::BTreeMap;

use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{ImportSheet, Operation, SheetId, TileIndex};
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::chunk::encode;
use cellar_snapshot::index::pack_import;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::merge::{SheetWriter, WrittenSheet};
use cellar_snapshot::packed::{Bounds, PackedObject, pack};
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

/// The objects of a sheet, and its cells.
pub(crate) struct Written {
    pub(super) tiles: Vec<PackedObject>,
    pub(super) texts: Vec<PackedObject>,
    /// Chunks of the tile index, in the order of their checks.
    pub(super) chunks: Vec<PackedObject>,
    pub(super) cells: BTreeMap<(u32, u32), Value>,
    index: TileIndex,
    sheet: WrittenSheet,
}

impl Written {
    /// Returns a sheet with `rows` rows and cells in these columns: numbers, a text in every 97th
    /// cell, and a long text in the last column of every 50th row. A tile has at most `tile_cells`
    /// cells.
    pub(crate) fn new(rows: u32, columns: &[u32], tile_cells: usize) -> Self {
        let (mut writer, mut stored) = (SheetWriter::default(), Vec::new());
        let small = |tile: &Tile| {
            let is_small = tile.cell_count() <= tile_cells;
            is_small.then(|| chunk_of(tile)).flatten()
        };
        let (mut cells, mut texts) = (BTreeMap::new(), Vec::new());
        for first in (0..rows).step_by(64) {
            let rows = first..rows.min(first + 64);
            let block = block(rows, columns, &mut cells, &mut texts);
            stored.extend(writer.push(block, &small).unwrap());
        }
        let (sheet, last) = writer.finish(&small).unwrap();
        stored.extend(last);
        Self { texts, ..Self::of_written(sheet, stored, cells) }
    }

    /// Returns a sheet of one tile, without the objects of its long texts.
    pub(super) fn of(tile: Tile, cells: BTreeMap<(u32, u32), Value>) -> Self {
        let mut writer = SheetWriter::default();
        let mut stored = writer.push(tile, &chunk_of).unwrap();
        let (sheet, last) = writer.finish(&chunk_of).unwrap();
        stored.extend(last);
        Self::of_written(sheet, stored, cells)
    }

    fn of_written(
        sheet: WrittenSheet,
        tiles: Vec<PackedObject>,
        cells: BTreeMap<(u32, u32), Value>,
    ) -> Self {
        let (index, chunks) = pack_import(&sheet.stripes).unwrap();
        Self { tiles, texts: vec![], chunks, cells, index, sheet }
    }

    pub(crate) fn operation(&self, sheet: u32, name: &str, replaces: Option<SheetId>) -> Operation {
        Operation::ImportSheet(ImportSheet {
            sheet: SheetId(sheet),
            name: name.to_owned(),
            replaces,
            extent: self.sheet.extent,
            cells: self.sheet.cells,
            formulas: None,
            sheets: BTreeMap::new(),
            tile_index: self.index.clone(),
        })
    }

    /// Returns the cells within a rectangle.
    pub(super) fn part(
        &self,
        rows: std::ops::Range<u32>,
        columns: std::ops::Range<u32>,
    ) -> BTreeMap<(u32, u32), Value> {
        let inside = |at: &(u32, u32)| rows.contains(&at.0) && columns.contains(&at.1);
        self.cells.iter().filter(|(at, _)| inside(at)).map(|(at, v)| (*at, v.clone())).collect()
    }
}

/// Encodes a tile as a chunk.
pub(super) fn packed_tile(tile: &Tile) -> PackedObject {
    pack(&encode(tile).unwrap(), Bounds::CHUNK).unwrap()
}

fn block(
    rows: std::ops::Range<u32>,
    columns: &[u32],
    cells: &mut BTreeMap<(u32, u32), Value>,
    texts: &mut Vec<PackedObject>,
) -> Tile {
    let mut tile = Tile::default();
    for number in columns.iter().copied() {
        let mut column = TileColumn::new(number);
        for row in rows.clone() {
            let value = value(row, number, columns.last() == Some(&number));
            match &value {
                Value::Text(text) if text.len() > MAX_TILE_TEXT_BYTES => {
                    let hash = ChunkHash::of(text.as_bytes());
                    let bytes = u32::try_from(text.len()).unwrap();
                    column.values.push_long_text(
                        row,
                        text.get(..MAX_TILE_TEXT_BYTES).unwrap(),
                        hash.0,
                        bytes,
                    );
                    texts.push(pack(text.as_bytes(), Bounds::TEXT).unwrap());
                }
                Value::Text(text) => column.values.push_text(row, text),
                Value::Number(number) => column.values.push(row, TileValue::Number(*number)),
                other => panic!("{other:?}"),
            }
            cells.insert((row, number), value);
        }
        tile.columns.push(column);
    }
    tile
}

fn value(row: u32, column: u32, is_last: bool) -> Value {
    let mixed = (row * 1_000 + column).wrapping_mul(0x9E37_79B9) >> 4;
    if is_last && row.is_multiple_of(50) {
        return Value::Text(format!("long text {row} ").repeat(900));
    }
    if mixed.is_multiple_of(97) {
        return Value::Text(format!("text {mixed}"));
    }
    Value::Number(f64::from(mixed) / 3.0)
}
