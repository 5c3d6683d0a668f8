//! Paths through tiles and snapshots.

use std::collections::HashMap;

use cellar_reference_data::{COLUMNS, ReferenceValue, value};
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::{Tabs, WorkbookMetadata};
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_snapshot::chunk::chunk_of;
use cellar_snapshot::fold::{Fold, FoldedLevel};
use cellar_snapshot::index::pack_level;
use cellar_snapshot::level::{ChunkHash, Level, LevelSheet, SheetMoves};
use cellar_snapshot::merge::{SheetWriter, Window};
use cellar_snapshot::objects::{Fetch, ObjectKind, ObjectRequest, Objects};
use cellar_snapshot::root::Root;
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};
use cellar_snapshot::{PackLimits, view};

use crate::{Failure, PreparedPath};

const TILE_ROWS: u32 = 2_000;
const SHEET_ROWS: u32 = 20_000;
const VIEW_ROWS: u32 = 50;
const EDITS: u32 = 1_000;

/// Returns these rows of the reference data.
pub(crate) fn reference_tile(first_row: u32, end_row: u32) -> Tile {
    let column = |index| {
        let mut column = TileColumn::new(index);
        for row in first_row..end_row {
            match value(row, index) {
                ReferenceValue::Empty => {}
                ReferenceValue::Number(number) => {
                    column.values.push(row, TileValue::Number(number));
                }
                ReferenceValue::Bool(boolean) => column.values.push(row, TileValue::Bool(boolean)),
                ReferenceValue::Text(text) => column.values.push_text(row, &text),
            }
        }
        column
    };
    Tile { columns: (0..COLUMNS).map(column).collect() }
}

pub(crate) fn encode_tile() -> Result<PreparedPath, Failure> {
    let tile = reference_tile(0, TILE_ROWS);
    Ok(Box::new(move || Ok(chunk_of(&tile).ok_or("the tile is too large")?.stored.len())))
}

pub(crate) fn decode_tile() -> Result<PreparedPath, Failure> {
    let chunk = chunk_of(&reference_tile(0, TILE_ROWS)).ok_or("the tile is too large")?;
    let request = ObjectRequest::new(ObjectKind::Tile, chunk.chunk);
    Ok(Box::new(move || {
        let mut objects = Objects::default();
        objects.insert(&request, &chunk.stored)?;
        Ok(objects.tile_count())
    }))
}

pub(crate) fn fold_edits() -> Result<PreparedPath, Failure> {
    let edit = |number: u32| {
        let value = Some(match value(number, number % COLUMNS) {
            ReferenceValue::Empty => Value::Empty,
            ReferenceValue::Number(number) => Value::Number(number),
            ReferenceValue::Bool(boolean) => Value::Bool(boolean),
            ReferenceValue::Text(text) => Value::Text(text),
        });
        let row = number.wrapping_mul(0x9e37_79b9) % SHEET_ROWS;
        let cell = CellEdit { row, column: number % COLUMNS, value, formula: None, format: None };
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![cell] })
    };
    let operations: Vec<Operation> = (0..EDITS).map(edit).collect();
    Ok(Box::new(move || {
        let mut fold = Fold::new(WorkbookMetadata::default());
        for operation in &operations {
            fold.apply_operations(std::slice::from_ref(operation))?;
        }
        let (_, level) = fold.finish();
        Ok(level.sheets.iter().map(|sheet| sheet.tile.cell_count()).sum())
    }))
}

/// Reads rows at nine tenths of an imported sheet, whose objects are in memory as they are stored.
pub(crate) fn far_window() -> Result<PreparedPath, Failure> {
    let mut stored: HashMap<ChunkHash, Vec<u8>> = HashMap::new();
    let mut writer = SheetWriter::default();
    let chunks = writer.push(reference_tile(0, SHEET_ROWS), &chunk_of)?;
    let (sheet, last_chunks) = writer.finish(&chunk_of)?;
    let moves = SheetMoves::default();
    let level_sheet = LevelSheet { sheet: SheetId::FIRST, moves, stripes: sheet.stripes };
    let (level, index) = pack_level(&Level { sheets: vec![level_sheet] }, PackLimits::LEVEL)?;
    for object in chunks.into_iter().chain(last_chunks).chain(index) {
        stored.insert(object.chunk.hash, object.stored);
    }
    let tail = FoldedLevel { imported: level, ..FoldedLevel::default() };
    let first_row = SHEET_ROWS / 10 * 9;
    let window = Window { rows: first_row..first_row + VIEW_ROWS, columns: 0..COLUMNS };
    Ok(Box::new(move || {
        let (root, tabs, mut objects) = (None::<&Root>, Tabs::default(), Objects::default());
        loop {
            match view::read_window(root, &tail, &tabs, SheetId::FIRST, &window, &objects)? {
                Fetch::Ready(tile) => return Ok(tile.cell_count()),
                Fetch::Missing(requests) => {
                    for request in requests {
                        let bytes = stored.get(&request.hash).ok_or("an object is missing")?;
                        objects.insert(&request, bytes)?;
                    }
                }
            }
        }
    }))
}
