//! Finds the cells that results fill, with cells in memory.

use cellar_formula::Formula;
use cellar_formula::reference::NoSheets;
use cellar_grid::a1::CellName;
use cellar_snapshot::outdated::OutdatedAreas;

use super::MemoryCells;
use crate::{CalculatedWorkbook, Calculation, CellKey, SpillSearch};

impl MemoryCells {
    /// Returns a calculation of all formulas that knows the cells that results fill.
    #[must_use]
    pub fn calculation(&self, workbook: &CalculatedWorkbook) -> Calculation {
        let mut search = SpillSearch::new(self.anchors(workbook));
        loop {
            let calculation = Calculation::new(workbook.clone(), OutdatedAreas::everything());
            let mut calculation = search.prepare(calculation);
            search.start(&mut calculation);
            self.answer(&mut calculation);
            search.start_placing(&mut calculation);
            self.answer(&mut calculation);
            if search.advance(&calculation) {
                return calculation;
            }
        }
    }

    /// Returns the formulas that may return several cells.
    fn anchors(&self, workbook: &CalculatedWorkbook) -> Vec<CellKey> {
        let has_several = |text: &str| {
            let is_several = |name: &str| workbook.named_formula(name).is_some_and(is_area);
            let formula = Formula::parse(text, &NoSheets);
            formula.is_ok_and(|formula| formula.expression().may_have_several_cells(is_several))
        };
        let with_formulas = self.cells.iter().filter(|(_, cell)| {
            let formula = cell.formula.as_deref();
            formula.is_some_and(has_several)
        });
        let key = |(sheet, column, row): &(_, u32, u32)| {
            let cell = CellName { row: *row, column: *column };
            CellKey { sheet: *sheet, cell }
        };
        with_formulas.map(|(place, _)| key(place)).collect()
    }
}

fn is_area(text: &str) -> bool {
    let formula = Formula::parse(text, &NoSheets);
    formula.is_ok_and(|formula| formula.expression().may_have_several_cells(|_| false))
}
