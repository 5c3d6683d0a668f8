//! Reads the cells of one sheet of a workbook.

use std::ops::RangeInclusive;

use super::axis_order::{IdRun, IndexLookup};
use super::moves::Moves;
use super::sheet::{CellId, Sheet, StoredCell};
use super::stored_formula::{FormulaReader, StoredFormula};
use crate::a1::Rectangle;
use crate::cell::{Cell, Value};
use crate::metadata::{Extent, FormatLayer, Tabs};
use cellar_grid::SheetId;

/// A sheet of a workbook. The names of sheets in its formulas are those that the workbook has now.
#[derive(Debug, Clone, Copy)]
pub struct SheetReader<'a> {
    pub(super) id: SheetId,
    pub(super) sheet: &'a Sheet,
    pub(super) tabs: &'a Tabs,
    pub(super) moves: &'a Moves,
}

impl<'a> SheetReader<'a> {
    /// Returns the used range, which changes when rows and columns are inserted or deleted.
    #[must_use]
    pub fn extent(self) -> Extent {
        self.sheet.extent
    }

    /// Returns the range formats.
    #[must_use]
    pub fn formats(self) -> &'a FormatLayer {
        &self.sheet.formats
    }

    /// Returns the number of cells that are not blank.
    #[must_use]
    pub fn cell_count(self) -> u64 {
        self.sheet.cell_count()
    }

    /// Returns the cells in a rectangle that are not blank, ordered by row and column.
    pub fn cells_in(
        self,
        rectangle: Rectangle,
    ) -> impl Iterator<Item = ((u32, u32), Cell)> + use<'a> {
        let sheet = self.sheet;
        let column_lookup = sheet.columns.index_lookup();
        let columns = rectangle.first.column..=rectangle.last.column;
        let last_row = rectangle.last.row.saturating_add(1);
        let row_runs = sheet.rows.runs_in(rectangle.first.row, last_row);
        let mut formulas = self.formulas();
        row_runs.flat_map(move |row_run| {
            self.cells_in_rows(row_run, &columns, &column_lookup, &mut formulas)
        })
    }

    /// Returns the cells in the given rows and columns that are not blank, ordered by row and
    /// column.
    fn cells_in_rows(
        self,
        row_run: IdRun,
        columns: &RangeInclusive<u32>,
        column_lookup: &IndexLookup,
        formulas: &mut FormulaReader<'_>,
    ) -> Vec<((u32, u32), Cell)> {
        let mut displayed_cells = Vec::new();
        for ((row_id, column_id), stored_cell) in self.sheet.stored_cells(row_run) {
            let Some(column) = column_lookup.index(*column_id) else { continue };
            if !columns.contains(&column) {
                continue;
            }
            let coordinates = (row_run.index_of(*row_id), column);
            let displayed_cell = self.displayed_cell(coordinates, stored_cell, formulas);
            if !displayed_cell.is_blank() {
                displayed_cells.push((coordinates, displayed_cell));
            }
        }
        displayed_cells.sort_by_key(|(coordinates, _)| *coordinates);
        displayed_cells
    }

    /// Returns a cell with the number format in which it is displayed. The cell may be blank.
    #[must_use]
    pub fn cell(self, row: u32, column: u32) -> Cell {
        self.cell_with((row, column), &mut self.formulas())
    }

    pub(super) fn cell_with(
        self,
        (row, column): (u32, u32),
        formulas: &mut FormulaReader<'_>,
    ) -> Cell {
        let blank = StoredCell::default();
        let stored_cell = self.sheet.stored_cell(row, column).unwrap_or(&blank);
        self.displayed_cell((row, column), stored_cell, formulas)
    }

    pub(super) fn formula(self, cell_id: CellId) -> Option<&'a StoredFormula> {
        self.sheet.cells.get(&cell_id)?.formula.as_ref()
    }

    /// Returns the value of a cell, or [`Value::Empty`] if the cell is blank.
    #[must_use]
    pub fn value(self, row: u32, column: u32) -> Value {
        let stored_cell = self.sheet.stored_cell(row, column);
        stored_cell.map(|cell| cell.value.clone()).unwrap_or_default()
    }

    /// Returns the number format of the cell itself, without those of ranges. It may be `General`.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn own_format(self, row: u32, column: u32) -> Option<&'a str> {
        self.sheet.stored_cell(row, column)?.format.as_deref()
    }

    pub(super) fn formulas(self) -> FormulaReader<'a> {
        FormulaReader::new(self.id, self.tabs, self.moves)
    }

    /// Returns a cell with the number format in which it is displayed: its own or that of the range.
    /// `General` becomes `None`.
    pub(super) fn displayed_cell(
        self,
        (row, column): (u32, u32),
        cell: &StoredCell,
        formulas: &mut FormulaReader<'_>,
    ) -> Cell {
        Cell {
            value: cell.value.clone(),
            formula: cell.formula.as_ref().map(|formula| formulas.text(formula)),
            format: self.sheet.displayed_format(row, column, cell).map(str::to_owned),
        }
    }
}
