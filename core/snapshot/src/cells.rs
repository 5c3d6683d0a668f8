//! The cells that a person sees: what merging a window gives, under the formats of ranges.

use crate::tile::{Tile, TileColumn, TileValue};
use cellar_sheet::cell::{Cell, GENERAL, Value};
use cellar_sheet::metadata::FormatLayer;

/// A cell of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct TileCell {
    /// Its row.
    pub row: u32,
    /// Its column.
    pub column: u32,
    /// What it holds; of a long text only the beginning.
    pub cell: Cell,
    /// BLAKE3 of its text, if that is an object of its own.
    pub long_text: Option<[u8; 32]>,
}

/// The cells of a merged window that hold something, by row, then column. A cell has its own format
/// or else that of the newest range that holds it.
#[must_use]
pub fn cells(tile: &Tile, formats: &FormatLayer) -> Vec<TileCell> {
    let mut cells: Vec<TileCell> =
        tile.columns.iter().flat_map(|column| of_column(column, formats)).collect();
    cells.sort_unstable_by_key(|cell| (cell.row, cell.column));
    cells
}

/// The cells of a merged window as the sheet holds them, in no order: each with its own format only,
/// which may be `General`.
pub fn held(tile: &Tile) -> impl Iterator<Item = TileCell> + '_ {
    tile.columns.iter().flat_map(held_in)
}

fn of_column(column: &TileColumn, formats: &FormatLayer) -> Vec<TileCell> {
    let cells = held_in(column).map(|mut placed| {
        let of_range = || formats.at(placed.row, placed.column).map(str::to_owned);
        let format = placed.cell.format.take().or_else(of_range);
        placed.cell.format = format.filter(|format| *format != GENERAL);
        placed
    });
    cells.filter(|placed| !placed.cell.is_blank()).collect()
}

fn held_in(column: &TileColumn) -> impl Iterator<Item = TileCell> + '_ {
    let mut rows: Vec<u32> =
        column.values.rows().iter().chain(column.formats.rows()).copied().collect();
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter().map(|row| {
        let (value, long_text) = value(column, row);
        let formula = column.formulas.at(row).map(str::to_owned);
        let format = column.formats.at(row).map(str::to_owned);
        let cell = Cell { value, formula, format };
        TileCell { row, column: column.column, cell, long_text }
    })
}

fn value(column: &TileColumn, row: u32) -> (Value, Option<[u8; 32]>) {
    let layer = &column.values;
    let found = layer.rows().binary_search(&row).ok();
    let plain = match found.and_then(|index| layer.values().get(index)) {
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
    (plain, None)
}
