//! Converts a merged window, which is a rectangle of a sheet, to cells and applies range formats.

use std::sync::Arc;

use crate::merge::StoredFormula;
use crate::tile::{Tile, TileColumn, TileValue, ValueLayer};
use cellar_formula::Template;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, GENERAL, Value};
use cellar_sheet::metadata::FormatLayer;
use cellar_sheet::workbook::{CellAt, StateCell, StateFormula};

/// A cell of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct TileCell {
    /// Row index.
    pub row: u32,
    /// Column index.
    pub column: u32,
    /// Content of the cell. The value of a long text is only its preview.
    pub cell: Cell,
    /// BLAKE3 hash of the cell's full text, if that text is stored as a separate object.
    pub long_text: Option<[u8; 32]>,
    /// Whether the formula was not calculated.
    pub is_stale: bool,
    /// The cell whose formula fills this cell with a part of its result.
    pub filled_by: Option<CellName>,
    /// The cells that the formula of this cell fills, if there are several.
    pub fills: Option<Rectangle>,
    /// Why the formula was not calculated, or which cells form a cycle.
    pub note: Option<Arc<str>>,
}

impl TileCell {
    /// Returns a blank cell with the format of the newest range that covers it.
    #[must_use]
    pub fn blank(row: u32, column: u32, formats: &FormatLayer) -> Self {
        let format = formats.format_at(row, column).filter(|format| *format != GENERAL);
        let cell = Cell { format: format.map(str::to_owned), ..Cell::default() };
        Self::with_cell(row, column, cell)
    }

    /// Returns a cell that is neither stale nor filled by another one, and has no long text.
    #[must_use]
    pub fn with_cell(row: u32, column: u32, cell: Cell) -> Self {
        let (long_text, note) = (None, None);
        Self { row, column, cell, long_text, is_stale: false, filled_by: None, fills: None, note }
    }
}

/// A cell of a window as the state stores it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTileCell {
    /// Place of the cell.
    pub place: CellName,
    /// Content of the cell. The value of a long text is only its preview.
    pub cell: StateCell,
    /// BLAKE3 hash of the cell's full text, if that text is stored as a separate object.
    pub long_text: Option<[u8; 32]>,
}

/// The value of a long text stays its preview.
impl From<TileCell> for CellAt {
    fn from(cell: TileCell) -> Self {
        let TileCell { row, column, cell, long_text: _, is_stale, filled_by, fills, note } = cell;
        Self {
            row,
            column,
            cell,
            stale: is_stale,
            filled_by: filled_by.map(|anchor| anchor.to_string()),
            fills: fills.map(|cells| cells.to_string()),
            note: note.map(|note| note.to_string()),
            text: None,
        }
    }
}

/// Returns the non-blank cells of a merged window, sorted by row and column. A cell without its own
/// format gets the newest range format that covers it.
#[must_use]
pub fn visible_cells(tile: &Tile, formats: &FormatLayer) -> Vec<TileCell> {
    // The places are sorted instead of the cells, which are large.
    let places = tile
        .columns
        .iter()
        .flat_map(|column| occupied_rows(column).into_iter().map(move |row| (row, column)));
    let mut places: Vec<(u32, &TileColumn)> = places.collect();
    places.sort_by_key(|(row, _)| *row);
    let visible = |(row, column)| visible_cell(column, row, formats);
    places.into_iter().filter_map(visible).collect()
}

/// Returns the cells of a merged window as stored, in unspecified order. Range formats are not
/// applied, and a cell may have the explicit format `General`.
pub fn stored_cells(tile: &Tile) -> impl Iterator<Item = StoredTileCell> + '_ {
    tile.columns.iter().flat_map(stored_column_cells)
}

/// Returns `None` if the cell is blank.
fn visible_cell(column: &TileColumn, row: u32, range_formats: &FormatLayer) -> Option<TileCell> {
    let (value, long_text) = value_at(column, row);
    let formula = column.formulas.at(row).map(str::to_owned);
    let own_format = column.formats.at(row).map(str::to_owned);
    let range_format = range_formats.format_at(row, column.index);
    let format = own_format.or_else(|| range_format.map(str::to_owned));
    let cell = Cell { value, formula, format: format.filter(|format| *format != GENERAL) };
    let tile_cell = TileCell { long_text, ..TileCell::with_cell(row, column.index, cell) };
    (!tile_cell.cell.is_blank()).then_some(tile_cell)
}

fn stored_column_cells(column: &TileColumn) -> impl Iterator<Item = StoredTileCell> + '_ {
    occupied_rows(column).into_iter().map(|row| stored_cell(column, row))
}

/// Returns the rows that have a value or a format, in ascending order.
fn occupied_rows(column: &TileColumn) -> Vec<u32> {
    let mut rows = [column.values.rows(), column.formats.rows()].concat();
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn stored_cell(column: &TileColumn, row: u32) -> StoredTileCell {
    let (value, long_text) = value_at(column, row);
    let formula = StoredFormula::at(column, row).and_then(|formula| match formula {
        StoredFormula::Text(text) => Some(StateFormula::Text(text.to_owned())),
        StoredFormula::Template(encoded) => {
            Template::decode(encoded.to_owned()).ok().map(StateFormula::Template)
        }
    });
    let cell = StateCell { value, formula, format: column.formats.at(row).map(str::to_owned) };
    StoredTileCell { place: CellName { row, column: column.index }, cell, long_text }
}

/// Returns the value in a row, and the hash of a long text.
fn value_at(column: &TileColumn, row: u32) -> (Value, Option<[u8; 32]>) {
    let index = column.values.rows().binary_search(&row).ok();
    let stored = index.and_then(|index| column.values.values().get(index));
    let value = stored.map_or(Value::Empty, |value| to_cell_value(&column.values, value));
    let long_text = match stored {
        Some(TileValue::LongText(index)) => column.values.long_text(*index),
        _ => None,
    };
    (value, long_text.map(|long_text| long_text.hash))
}

/// A long text is replaced by its preview.
fn to_cell_value(layer: &ValueLayer, value: &TileValue) -> Value {
    match value {
        TileValue::Empty => Value::Empty,
        TileValue::Number(number) => Value::Number(*number),
        TileValue::Bool(boolean) => Value::Bool(*boolean),
        TileValue::Error(code) => Value::Error(*code),
        TileValue::Text(span) => Value::Text(span.of(layer.texts()).to_owned()),
        TileValue::LongText(index) => match layer.long_text(*index) {
            Some(long_text) => Value::Text(long_text.preview.of(layer.texts()).to_owned()),
            None => Value::Empty,
        },
    }
}
