//! Applies operations and reports the cells whose contents they changed.

use super::{CellDiff, Workbook};
use crate::a1::{CellName, Rectangle};
use crate::cell::Cell;
use crate::operation::{ClearRange, Operation, SheetId, Span};

/// Row, column and contents of a cell.
type PlacedCell = ((u32, u32), Cell);

/// More cells would have to be compared than the caller allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyComparisons;

impl Workbook {
    /// Applies an operation that sets or clears cells, and returns the cells whose value or formula it
    /// changed. The returned cells have no number formats. Other operations are applied without a
    /// report. `comparisons_left` is reduced by the number of compared cells.
    ///
    /// # Errors
    /// Returns [`TooManyComparisons`] if `comparisons_left` is too small. The operation is then not
    /// applied.
    pub fn apply_and_report(
        &mut self,
        operation: &Operation,
        comparisons_left: &mut usize,
    ) -> Result<Vec<CellDiff>, TooManyComparisons> {
        let (sheet, before): (SheetId, Vec<PlacedCell>) = match operation {
            Operation::SetCells(set) => {
                let cells = set.cells.iter();
                let contents = cells.map(|edit| {
                    let coordinates = (edit.row, edit.column);
                    (coordinates, self.contents(set.sheet, coordinates))
                });
                (set.sheet, contents.collect())
            }
            Operation::ClearRange(clear) => {
                (clear.sheet, self.contents_in(clear, *comparisons_left))
            }
            _ => {
                self.apply_operation(operation);
                return Ok(Vec::new());
            }
        };
        *comparisons_left = comparisons_left.checked_sub(before.len()).ok_or(TooManyComparisons)?;
        self.apply_operation(operation);
        let differs = |((row, column), before): PlacedCell| {
            let after = self.contents(sheet, (row, column));
            let is_same = before.formula == after.formula && before.has_value_of(&after);
            (!is_same).then_some(CellDiff { row, column, before, after })
        };
        Ok(before.into_iter().filter_map(differs).collect())
    }

    fn contents(&self, sheet: SheetId, (row, column): (u32, u32)) -> Cell {
        let cell = self.sheet(sheet).map(|sheet| sheet.cell(row, column)).unwrap_or_default();
        Cell { format: None, ..cell }
    }

    /// Returns the cells that are not blank in the smallest rectangle around the range, at most one
    /// more than `max_cells`.
    fn contents_in(&self, clear: &ClearRange, max_cells: usize) -> Vec<PlacedCell> {
        let Some(sheet) = self.sheet(clear.sheet) else { return Vec::new() };
        let bounds = |spans: &crate::operation::Spans| {
            let first = spans.iter().next()?.first;
            let last = spans.iter().next_back().map(Span::end)?.checked_sub(1)?;
            Some((first, last))
        };
        let (Some(rows), Some(columns)) = (bounds(&clear.rows), bounds(&clear.columns)) else {
            return Vec::new();
        };
        let first = CellName { row: rows.0, column: columns.0 };
        let last = CellName { row: rows.1, column: columns.1 };
        let cells = sheet.cells_in(Rectangle { first, last });
        let without_format = |(coordinates, cell)| (coordinates, Cell { format: None, ..cell });
        cells.map(without_format).take(max_cells.saturating_add(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::{MAX_CELL_HISTORY_COMPARISONS, MAX_CELLS_PER_OPERATION};

    use super::*;
    use crate::cell::Value;
    use crate::operation::{CellEdit, InsertBefore, SetCells, SetFormat, Spans};

    fn set(row: u32, text: &str) -> Operation {
        let value = Some(Value::Text(text.into()));
        let format = Some("0".to_owned());
        let edit = CellEdit { row, column: 1, value, formula: None, format };
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
    }

    fn text(text: &str) -> Cell {
        Cell { value: Value::Text(text.into()), ..Cell::default() }
    }

    fn clear(first_row: u32, count: u32) -> Operation {
        let (rows, columns) = (Spans::one(first_row, count), Spans::one(1, 1));
        Operation::ClearRange(ClearRange { sheet: SheetId::FIRST, rows, columns })
    }

    #[test]
    fn reports_changed_contents() {
        let (mut workbook, mut left) = (Workbook::default(), 100);
        let mut report = |operation| workbook.apply_and_report(&operation, &mut left).unwrap();
        let diff = |row, before, after| CellDiff { row, column: 1, before, after };
        assert_eq!(report(set(3, "a")), [diff(3, Cell::default(), text("a"))]);
        assert_eq!(report(set(3, "a")), [], "nothing changed");
        assert_eq!(report(set(5, "b")), [diff(5, Cell::default(), text("b"))]);
        let before = 4;
        let insert = InsertBefore { sheet: SheetId::FIRST, before, count: 2 };
        assert_eq!(report(Operation::InsertRows(insert)), []);
        let (rows, columns) = (Spans::one(0, 9), Spans::one(0, 9));
        let format = SetFormat { sheet: SheetId::FIRST, rows, columns, format: "0.0".into() };
        assert_eq!(report(Operation::SetFormat(format)), [], "formats do not count");
        let cleared = [diff(3, text("a"), Cell::default()), diff(7, text("b"), Cell::default())];
        assert_eq!(report(clear(0, 9)), cleared);
        assert_eq!(report(clear(0, 9)), []);
    }

    #[test]
    fn limits_the_compared_cells() {
        let mut workbook = Workbook::default();
        let cells = u32::try_from(MAX_CELLS_PER_OPERATION).unwrap();
        let edit = |row| CellEdit { row, column: 1, value: Some(Value::Bool(true)), ..no_edit() };
        let cells = (0..cells).map(edit).collect();
        let full = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells });
        let mut left = MAX_CELL_HISTORY_COMPARISONS;
        for _ in 0..MAX_CELL_HISTORY_COMPARISONS / MAX_CELLS_PER_OPERATION {
            workbook.apply_and_report(&full, &mut left).unwrap();
        }
        assert_eq!(left, 0);
        assert_eq!(workbook.apply_and_report(&set(0, "b"), &mut left), Err(TooManyComparisons));

        let before = workbook.clone();
        assert_eq!(workbook.apply_and_report(&clear(0, 4), &mut 3), Err(TooManyComparisons));
        assert_eq!(workbook, before);
        let mut left = 4;
        assert_eq!(workbook.apply_and_report(&clear(0, 4), &mut left).unwrap().len(), 4);
        assert_eq!(left, 0);
    }

    fn no_edit() -> CellEdit {
        CellEdit { row: 0, column: 0, value: None, formula: None, format: None }
    }
}
