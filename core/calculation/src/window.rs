//! The formulas of a window that was read.

use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_snapshot::cells::TileCell;

use crate::calculation::Calculation;
use crate::workbook::CellKey;

impl Calculation {
    /// Starts a request for the formulas among the cells of a sheet.
    pub fn start_window(&mut self, sheet: SheetId, cells: &[TileCell]) {
        self.start(formulas_of(cells).map(|cell| key_of(sheet, cell)).collect());
    }

    /// Gives the formulas among the cells of a sheet their results.
    pub fn show_results(&self, sheet: SheetId, cells: &mut [TileCell]) {
        for cell in cells.iter_mut().filter(|cell| cell.cell.formula.is_some()) {
            if let Some(result) = self.result(key_of(sheet, cell)) {
                // The text is that of the stored value.
                cell.long_text = cell.long_text.filter(|_| result.is_stale);
                cell.cell.value = result.value;
                cell.cell.format = cell.cell.format.take().or(result.format);
                cell.is_stale = result.is_stale;
                cell.note = result.note;
            }
        }
    }
}

/// Returns whether the cells contain a formula.
#[must_use]
pub fn has_formulas(cells: &[TileCell]) -> bool {
    formulas_of(cells).next().is_some()
}

fn formulas_of(cells: &[TileCell]) -> impl Iterator<Item = &TileCell> {
    cells.iter().filter(|cell| cell.cell.formula.is_some())
}

fn key_of(sheet: SheetId, cell: &TileCell) -> CellKey {
    CellKey { sheet, cell: CellName { row: cell.row, column: cell.column } }
}
