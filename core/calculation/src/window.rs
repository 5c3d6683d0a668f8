//! Calculates the formulas among the cells of a window.

use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::Value;
use cellar_snapshot::cells::TileCell;

use crate::calculation::Calculation;
use crate::workbook::CellKey;

impl Calculation {
    /// Starts a request for the outdated formulas in `cells`, which are cells of `sheet`.
    pub fn start_window(&mut self, sheet: SheetId, cells: &[TileCell]) {
        let outdated = self.outdated();
        let is_outdated = |cell: &&TileCell| {
            cell.cell.value == Value::Empty || outdated.contains(sheet, key_of(sheet, cell).cell)
        };
        let formulas = formulas_of(cells).filter(is_outdated);
        let keys = formulas.map(|cell| key_of(sheet, cell)).collect();
        self.start(keys);
    }

    /// Replaces the values of formula cells in `cells` with the results of the request. The other
    /// formula cells keep their stored values.
    pub fn show_results(&self, sheet: SheetId, cells: &mut [TileCell]) {
        for cell in cells.iter_mut().filter(|cell| cell.cell.formula.is_some()) {
            if let Some(result) = self.result(key_of(sheet, cell)) {
                // The long text belongs to the stored value, which is only shown if the formula is
                // stale.
                cell.long_text = cell.long_text.filter(|_| result.is_stale);
                cell.cell.value = result.value;
                cell.cell.format = cell.cell.format.take().or(result.format);
                cell.is_stale = result.is_stale;
                cell.note = result.note;
            }
        }
    }
}

/// Returns whether any of the cells contains a formula.
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
