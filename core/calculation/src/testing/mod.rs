//! Calculates workbooks in memory, and checks the values that a reader shows.
#![allow(clippy::panic, reason = "used only in tests")]

mod memory_cells;
mod shown;
mod spills;

use std::collections::BTreeMap;

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_grid::SheetId;
use cellar_grid::a1::Rectangle;
use cellar_sheet::cell::{Cell, Value};
use cellar_sheet::workbook::{CellAt, SheetReader, Workbook};
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::merge::Window;

use crate::CalculatedWorkbook;

pub use memory_cells::MemoryCells;
pub use shown::{FormulaCounts, ShownCells};

/// Cells of each sheet in the order of rows.
pub type SheetCells = BTreeMap<SheetId, Vec<CellAt>>;

/// Calculates all cells of a workbook, without snapshots. `time_s` and `seed` are those of
/// [`CalculatedWorkbook::new`]. The used ranges of the returned workbook contain the cells that
/// results fill. `imported` contains the calculated cells of imported sheets, which
/// are not in the workbook.
#[must_use]
pub fn calculate(
    workbook: &Workbook,
    time_s: u64,
    seed: u64,
    imported: &SheetCells,
) -> (CalculatedWorkbook, SheetCells) {
    let described = CalculatedWorkbook::new(&workbook.metadata(), time_s, seed);
    let mut memory = MemoryCells::default();
    for (id, sheet) in workbook.sheets() {
        match imported.get(&id) {
            Some(cells) => add_values(&mut memory, id, cells),
            None => add_stored_cells(&mut memory, id, sheet),
        }
    }
    let mut calculation = memory.calculation(&described);
    let mut calculated = SheetCells::new();
    for (id, sheet) in workbook.sheets() {
        let mut cells: Vec<TileCell> =
            sheet.cells_in(Rectangle::EVERYTHING).map(tile_cell).collect();
        calculation.start_window(id, &cells);
        memory.answer(&mut calculation);
        calculation.show_results(id, &mut cells);
        let metadata = workbook.metadata();
        if let Some(metadata) = metadata.sheets.get(&id) {
            let everything = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };
            calculation.show_spilled_cells(id, &everything, &metadata.formats, &mut cells);
        }
        calculated.insert(id, cells.into_iter().map(cell_at).collect());
    }
    (calculation.workbook, calculated)
}

fn add_values(memory: &mut MemoryCells, sheet: SheetId, cells: &[CellAt]) {
    for CellAt { row, column, cell, .. } in cells {
        memory.set(sheet, (*row, *column), Cell { formula: None, ..cell.clone() });
    }
}

fn add_stored_cells(memory: &mut MemoryCells, id: SheetId, sheet: SheetReader<'_>) {
    for ((row, column), cell) in sheet.cells_in(Rectangle::EVERYTHING) {
        let format = sheet.own_format(row, column).map(str::to_owned);
        memory.set(id, (row, column), Cell { format, ..cell });
    }
}

fn tile_cell(((row, column), cell): ((u32, u32), Cell)) -> TileCell {
    TileCell::with_cell(row, column, cell)
}

fn cell_at(cell: TileCell) -> CellAt {
    cell.into()
}

/// Returns whether two readers show the same, with equal bits of numbers. Values that are not
/// calculated may differ, because the bounds of a reading depend on its windows.
#[must_use]
pub fn shows_same(one: &[CellAt], other: &[CellAt]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            let is_same_cell = (one.row, one.column, &one.cell.formula)
                == (other.row, other.column, &other.cell.formula)
                && (&one.filled_by, &one.fills) == (&other.filled_by, &other.fills);
            is_same_cell
                && (one.stale
                    || other.stale
                    || (is_same_value(&one.cell.value, &other.cell.value)
                        && (&one.cell.format, &one.note) == (&other.cell.format, &other.note)))
        })
}

/// Unlike `==`, distinguishes 0 from -0.
fn is_same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.to_bits() == other.to_bits(),
        _ => one == other,
    }
}
