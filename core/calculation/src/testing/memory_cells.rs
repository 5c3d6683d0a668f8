//! Cells in memory that answer the steps of a calculation.

use std::collections::BTreeMap;

use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_formula::reference::NoSheets;
use cellar_formula::{Formula, Template};
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::{Cell, Value};
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};

use crate::{Calculation, CalculationStep, CellWindow};

/// More steps than any test needs.
const MAX_STEPS: usize = 100_000;

/// The stored cells of a spreadsheet. The formats are those of the cells themselves.
#[derive(Debug, Clone, Default)]
pub struct MemoryCells {
    /// Cells by sheet, column and row.
    pub(crate) cells: BTreeMap<(SheetId, u32, u32), Cell>,
}

/// Names a text by its length and its first bytes.
fn hash_of(text: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    let bytes = text.len().to_be_bytes().into_iter().chain(text.bytes());
    for (place, byte) in hash.iter_mut().zip(bytes) {
        *place = byte;
    }
    hash
}

impl MemoryCells {
    /// Replaces a cell.
    pub fn set(&mut self, sheet: SheetId, (row, column): (u32, u32), cell: Cell) {
        self.cells.insert((sheet, column, row), cell);
    }

    /// Answers the steps of a request that was started. Returns the number of windows that the
    /// calculation loaded.
    ///
    /// # Panics
    /// Panics if the calculation does not end.
    pub fn answer(&self, calculation: &mut Calculation) -> usize {
        let mut windows_read = 0;
        for _ in 0..MAX_STEPS {
            match calculation.step() {
                CalculationStep::Done => return windows_read,
                CalculationStep::Cells(windows) => {
                    assert!(!windows.is_empty(), "the calculation asks for nothing");
                    for window in windows {
                        windows_read += 1;
                        calculation.supply(&window, self.tile(&window));
                    }
                }
                CalculationStep::LongTexts(hashes) => {
                    for hash in hashes {
                        calculation.supply_text(&hash, self.text(&hash));
                    }
                }
            }
        }
        panic!("the calculation does not end");
    }

    fn text(&self, hash: &[u8; 32]) -> Option<String> {
        self.cells.values().find_map(|cell| match &cell.value {
            Value::Text(text) if hash_of(text) == *hash => Some(text.clone()),
            _ => None,
        })
    }

    pub(crate) fn tile(&self, CellWindow { sheet, window }: &CellWindow) -> Tile {
        let mut tile = Tile::default();
        for column in window.columns.clone() {
            let mut tile_column = TileColumn::new(column);
            let rows = (*sheet, column, window.rows.start)..(*sheet, column, window.rows.end);
            for ((_, _, row), cell) in self.cells.range(rows) {
                push_cell(&mut tile_column, *row, cell);
            }
            if !tile_column.is_empty() {
                tile.columns.push(tile_column);
            }
        }
        tile
    }
}

fn push_cell(column: &mut TileColumn, row: u32, cell: &Cell) {
    let values = &mut column.values;
    match &cell.value {
        Value::Text(text) if text.len() > MAX_TILE_TEXT_BYTES => {
            let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
            values.push_long_text(row, "preview", hash_of(text), bytes);
        }
        Value::Text(text) => values.push_text(row, text),
        Value::Number(number) => values.push(row, TileValue::Number(*number)),
        Value::Bool(value) => values.push(row, TileValue::Bool(*value)),
        Value::Error(code) => values.push(row, TileValue::Error(*code)),
        Value::Empty => values.push(row, TileValue::Empty),
    }
    if let Some(format) = &cell.format {
        column.formats.push(row, format);
    }
    match cell.formula.as_ref().map(|text| (text, Formula::parse(text, &NoSheets))) {
        Some((_, Ok(formula))) => {
            let template = Template::of(&formula, CellName { row, column: column.index });
            column.templates.push(row, template.encoded());
        }
        Some((text, Err(_))) => column.formulas.push(row, text),
        None => {}
    }
}
