//! Calculates the formulas among the cells of a window.

use std::sync::Arc;

use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};
use cellar_sheet::metadata::{Extent, FormatLayer};
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::merge::Window;

use crate::block::BLOCK_ROWS;
use crate::calculation::Calculation;
use crate::cells::blocks_of;
use crate::run::{Column, Run, StateView};
use crate::workbook::CellKey;

impl Calculation {
    /// Starts a request for the outdated formulas in `cells`, which are cells of `sheet`.
    pub fn start_window(&mut self, sheet: SheetId, cells: &[TileCell]) {
        let formulas = formulas_of(cells).filter(|cell| self.is_outdated(sheet, cell));
        let keys = formulas.map(|cell| key_of(sheet, cell)).collect();
        self.start(keys);
    }

    fn is_outdated(&self, sheet: SheetId, cell: &TileCell) -> bool {
        cell.cell.value == Value::Empty || self.outdated().contains(sheet, key_of(sheet, cell).cell)
    }

    /// Replaces the values of formula cells in `cells` with the results of the request. The other
    /// formula cells keep their stored values.
    pub fn show_results(&self, sheet: SheetId, cells: &mut [TileCell]) {
        for cell in cells.iter_mut().filter(|cell| cell.cell.formula.is_some()) {
            cell.fills = self.cells.spills.area(key_of(sheet, cell));
            if let Some(result) = self.result(key_of(sheet, cell)) {
                // The long text belongs to the stored value, which is only shown if the formula is
                // stale.
                cell.long_text = cell.long_text.filter(|_| result.is_stale);
                cell.cell.value = result.value;
                cell.cell.format = cell.cell.format.take().or(result.format);
                cell.is_stale = result.is_stale;
                cell.note = result.note;
            } else if let Some(staleness) = &self.ended
                && self.is_outdated(sheet, cell)
            {
                // The request has ended before the cell was loaded.
                cell.is_stale = true;
                cell.note = Some(staleness.note(&self.workbook, key_of(sheet, cell)));
            }
        }
    }
}

impl Calculation {
    /// Shows the parts of the results of other cells in the blank cells of a window. `cells` are the
    /// other cells of the window, in the order of rows, and `formats` are the formats of ranges.
    pub fn show_spilled_cells(
        &self,
        sheet: SheetId,
        window: &Window,
        formats: &FormatLayer,
        cells: &mut Vec<TileCell>,
    ) {
        let mut blank_cells = Vec::new();
        for spilled in self.cells.spills.cells_of_window(sheet, window) {
            let CellName { row, column } = spilled.cell;
            let place = cells.binary_search_by_key(&(row, column), |cell| (cell.row, cell.column));
            let new_cell = || TileCell::blank(row, column, formats);
            let mut shown = match place {
                Ok(index) => cells.remove(index),
                Err(_) => new_cell(),
            };
            shown.cell.value = spilled.value.clone();
            if let (None, Some(format), Value::Number(_)) =
                (&shown.cell.format, spilled.format, spilled.value)
            {
                shown.cell.format = Some(format.to_string());
            }
            shown.filled_by = Some(spilled.anchor);
            blank_cells.push(shown);
        }
        if !blank_cells.is_empty() {
            cells.append(&mut blank_cells);
            cells.sort_unstable_by_key(|cell| (cell.row, cell.column));
        }
    }

    /// Returns the used range of a sheet with the cells that results fill.
    #[must_use]
    pub fn used_range(&self, sheet: SheetId) -> Extent {
        self.workbook.extent(sheet)
    }
}

/// The calculated value of a cell with a formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CalculatedValue<'a> {
    /// An empty cell. It is not the result of any formula.
    Empty,
    /// A number.
    Number(f64),
    /// A text.
    Text(&'a str),
    /// A boolean.
    Bool(bool),
    /// An error value.
    Error(ErrorCode),
}

impl<'a> From<&'a Value> for CalculatedValue<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Empty => Self::Empty,
            Value::Number(number) => Self::Number(*number),
            Value::Text(text) => Self::Text(text),
            Value::Bool(boolean) => Self::Bool(*boolean),
            Value::Error(code) => Self::Error(*code),
        }
    }
}

/// A cell with a formula that was calculated.
#[derive(Debug, Clone, PartialEq)]
pub struct CalculatedCell<'a> {
    /// Row and column.
    pub cell: CellName,
    /// The calculated value.
    pub value: CalculatedValue<'a>,
    /// Number format for displaying the value if the cell has none.
    pub format: Option<&'a str>,
    /// Explanation of an error value, such as the cells of a cycle.
    pub note: Option<&'a Arc<str>>,
}

impl Calculation {
    /// Returns the formulas of a window that have been calculated, column by column in the order of
    /// rows. Stale formulas are left out.
    pub fn results_in(
        &self,
        sheet: SheetId,
        window: &Window,
    ) -> impl Iterator<Item = CalculatedCell<'_>> {
        let Window { rows, columns } = window.clone();
        let window_rows = rows.clone();
        let blocks = columns.flat_map(move |column| {
            let loaded = self.cells.column(sheet, column);
            let numbers = blocks_of(&window_rows);
            let blocks = loaded.into_iter().flat_map(move |blocks| blocks.range(numbers.clone()));
            blocks.map(move |(number, block)| (column, number * BLOCK_ROWS, block))
        });
        blocks.flat_map(move |(column, block_start, block)| {
            let rows = rows.clone();
            block.runs().flat_map(move |placed| {
                let first_row = rows.start.max(block_start + placed.first);
                let end_row = rows.end.min(block_start + placed.end);
                (first_row..end_row).filter_map(move |row| {
                    let index = (row - block_start - placed.first) as usize;
                    calculated_cell(placed.run, index, CellName { row, column })
                })
            })
        })
    }
}

fn calculated_cell(run: &Run, index: usize, cell: CellName) -> Option<CalculatedCell<'_>> {
    let StateView::Calculated(explanation) = run.state(index) else { return None };
    let value = match &run.results {
        Column::Empty => CalculatedValue::Empty,
        Column::Numbers(numbers) => CalculatedValue::Number(*numbers.get(index)?),
        Column::Values(values) => values.get(index)?.into(),
    };
    let format = explanation.and_then(|explanation| explanation.format.as_deref());
    let note = explanation.and_then(|explanation| explanation.note.as_ref());
    Some(CalculatedCell { cell, value, format, note })
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
