//! Converts a merged window (rectangle of a sheet) into cells and applies range formats.

use crate::tile::{Tile, TileColumn, TileValue};
use cellar_sheet::cell::{Cell, GENERAL, Value};
use cellar_sheet::metadata::FormatLayer;

/// A cell of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct TileCell {
    /// Row index.
    pub row: u32,
    /// Column index.
    pub column: u32,
    /// Cell content; for a long text, only its preview.
    pub cell: Cell,
    /// BLAKE3 hash of the cell's full text, if it is stored as a separate object.
    pub long_text: Option<[u8; 32]>,
}

/// Returns the non-blank cells of a merged window, sorted by row and column. A cell without its own
/// format gets the newest range format that covers it.
#[must_use]
pub fn visible_cells(tile: &Tile, formats: &FormatLayer) -> Vec<TileCell> {
    let mut cells: Vec<TileCell> =
        tile.columns.iter().flat_map(|column| visible_column_cells(column, formats)).collect();
    cells.sort_unstable_by_key(|cell| (cell.row, cell.column));
    cells
}

/// Returns the cells of a merged window as stored, in unspecified order. Range formats are not
/// applied, and a cell's own format may be `General`.
pub fn stored_cells(tile: &Tile) -> impl Iterator<Item = TileCell> + '_ {
    tile.columns.iter().flat_map(stored_column_cells)
}

fn visible_column_cells(column: &TileColumn, range_formats: &FormatLayer) -> Vec<TileCell> {
    let cells = stored_column_cells(column).map(|mut cell| {
        let range_format = || range_formats.format_at(cell.row, cell.column).map(str::to_owned);
        let format = cell.cell.format.take().or_else(range_format);
        cell.cell.format = format.filter(|format| *format != GENERAL);
        cell
    });
    cells.filter(|cell| !cell.cell.is_blank()).collect()
}

fn stored_column_cells(column: &TileColumn) -> impl Iterator<Item = TileCell> + '_ {
    let mut rows: Vec<u32> =
        column.values.rows().iter().chain(column.formats.rows()).copied().collect();
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().map(|row| {
        let (value, long_text) = value_at(column, row);
        let formula = column.formulas.at(row).map(str::to_owned);
        let format = column.formats.at(row).map(str::to_owned);
        let cell = Cell { value, formula, format };
        TileCell { row, column: column.column, cell, long_text }
    })
}

/// Returns the value at `row`. For a long text, returns the preview and the hash of the full text.
fn value_at(column: &TileColumn, row: u32) -> (Value, Option<[u8; 32]>) {
    let layer = &column.values;
    let index = layer.rows().binary_search(&row).ok();
    let value = match index.and_then(|index| layer.values().get(index)) {
        None | Some(TileValue::Empty) => Value::Empty,
        Some(TileValue::Number(number)) => Value::Number(*number),
        Some(TileValue::Bool(value)) => Value::Bool(*value),
        Some(TileValue::Error(code)) => Value::Error(*code),
        Some(TileValue::Text(span)) => Value::Text(span.of(layer.texts()).to_owned()),
        Some(TileValue::Long(number)) => match layer.long_text(*number) {
            Some((preview, hash, _)) => return (Value::Text(preview.to_owned()), Some(hash)),
            None => Value::Empty,
        },
    };
    (value, None)
}
