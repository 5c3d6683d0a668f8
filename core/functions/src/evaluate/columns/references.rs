//! Reads the cells of references.

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{ErrorCode, Value};

use super::cells::{Builder, Cells};
use super::{Rows, RunEvaluator};
use crate::expression::{CellReference, Coordinate, Node};
use crate::source::{Block, SheetIndex};

/// The rows of a reference to one cell.
#[derive(Debug, Clone, Copy)]
struct CellColumn {
    sheet: SheetIndex,
    column: u32,
    row: Coordinate,
}

impl RunEvaluator<'_> {
    /// Returns the sheet of a reference. Returns `None` if the reference names several sheets or no
    /// existing one.
    pub(super) fn sheet_of(&self, reference: &CellReference) -> Option<SheetIndex> {
        let sheets = self.evaluator(self.context).sheets(&reference.sheets).ok()?;
        (sheets.start() == sheets.end()).then_some(*sheets.start())
    }

    /// Returns whether a reference can read the cells that are evaluated.
    pub(super) fn reads_own_rows(&self, node: &Node) -> bool {
        let Node::Reference(reference) = node else { return false };
        let own = self.context.cell;
        let Ok(sheets) = self.evaluator(self.context).sheets(&reference.sheets) else {
            return false;
        };
        if !sheets.contains(&self.context.sheet) {
            return false;
        }
        let last_offset = self.row_count - 1;
        let Some((first, last)) = reference.bounds(own, last_offset) else { return true };
        (first.column..=last.column).contains(&own.column)
            && first.row <= own.row.saturating_add(last_offset)
            && own.row <= last.row
    }

    /// Reads the cell of each row to which a reference refers. Returns `None` if a reference has
    /// several cells, or if a cell could not be read.
    pub(super) fn read_reference(
        &self,
        reference: &CellReference,
        rows: Rows<'_>,
    ) -> Option<Cells> {
        let (row, column) = reference.only_cell()?;
        let Ok(sheets) = self.evaluator(self.context).sheets(&reference.sheets) else {
            return Some(Cells::Same(Value::Error(ErrorCode::Ref)));
        };
        if sheets.start() != sheets.end() {
            return None;
        }
        let column = column.at(self.context.cell.column)?;
        let place = CellColumn { sheet: *sheets.start(), column, row };
        match row {
            Coordinate::Fixed(row) => {
                let value = self.source.cell(place.sheet, CellName { row, column });
                self.costs.add_cells(rows.len(), 1, 1);
                self.costs.add_steps(rows.len(), copy_steps(&value));
                if self.source.is_interrupted() { None } else { Some(Cells::Same(value)) }
            }
            Coordinate::Relative(_) => self.read_moving_cell(place, rows),
        }
    }

    fn read_moving_cell(&self, place: CellColumn, rows: Rows<'_>) -> Option<Cells> {
        let count = crate::number::count(rows.len());
        self.costs.add_cells(rows.len(), 1, count);
        let own_row = self.context.cell.row;
        let first = place.row.at(own_row)?;
        let last = place.row.at(own_row.checked_add(self.row_count - 1)?)?;
        if last >= self.source.grid_size().rows {
            return None;
        }
        let cells = match rows {
            Rows::All(_) => self.read_column(place.sheet, place.column, first, last)?,
            Rows::Some(offsets) => {
                if self.source.has_cells(place.sheet, place.column, first, last) {
                    let all = self.read_column(place.sheet, place.column, first, last)?;
                    all.picked(offsets.iter().map(|offset| *offset as usize))
                } else {
                    let mut builder = Builder::with_capacity(offsets.len());
                    for offset in offsets {
                        let cell = CellName { row: first + offset, column: place.column };
                        builder.push(self.source.cell(place.sheet, cell));
                    }
                    builder.finish()
                }
            }
        };
        if let Cells::Values(values) = &cells {
            let steps = values.iter().map(copy_steps).max().unwrap_or(0);
            self.costs.add_steps(rows.len(), steps);
        }
        if self.source.is_interrupted() { None } else { Some(cells) }
    }

    /// Reads the cells of a column in rows `first..=last`. Cells outside the used range are empty.
    /// Returns `None` if a cell could not be read.
    pub(super) fn read_column(
        &self,
        sheet: SheetIndex,
        column: u32,
        first: u32,
        last: u32,
    ) -> Option<Cells> {
        let count = (last - first + 1) as usize;
        let used = self.source.used_size(sheet);
        let mut builder = Builder::with_capacity(count);
        if column < used.columns && first < used.rows {
            let last_used = last.min(used.rows - 1);
            self.source.visit_column(sheet, column, first, last_used, &mut |block| {
                match block {
                    Block::Empty(cells) => builder.push_empty(cells as usize),
                    Block::Numbers(numbers) => builder.push_numbers(numbers),
                    Block::Values(values) => builder.push_values(values),
                }
                true
            });
            if builder.len() < (last_used - first + 1) as usize {
                return None;
            }
        }
        if builder.len() < count {
            builder.push_empty(count - builder.len());
        }
        Some(builder.finish())
    }
}

/// Returns the steps for reading a long text.
fn copy_steps(value: &Value) -> u64 {
    const BYTES_PER_STEP: usize = 64;
    match value {
        Value::Text(text) => crate::number::count(text.len() / BYTES_PER_STEP),
        _ => 0,
    }
}

impl CellReference {
    /// Returns the row and column of a reference that is a single cell in all cells of its formula.
    pub(super) fn only_cell(&self) -> Option<(Coordinate, Coordinate)> {
        let (row, column) = (self.first_row?, self.first_column?);
        let is_cell = self.last_row == Some(row) && self.last_column == Some(column);
        is_cell.then_some((row, column))
    }

    pub(super) fn has_relative_rows(&self) -> bool {
        [self.first_row, self.last_row]
            .iter()
            .any(|row| matches!(row, Some(Coordinate::Relative(_))))
    }

    /// Returns the first and the last cell that the formulas in `own` and in the `last_offset` cells
    /// below read. Returns `None` if a cell is not on the sheet.
    pub(super) fn bounds(&self, own: CellName, last_offset: u32) -> Option<(CellName, CellName)> {
        let last_row = own.row.checked_add(last_offset)?;
        let rows = [(self.first_row, 0), (self.last_row, u32::MAX)].map(|(row, edge)| {
            let ends = row.map(|row| row.at(own.row).zip(row.at(last_row)));
            ends.unwrap_or(Some((edge, edge)))
        });
        let columns = [(self.first_column, 0), (self.last_column, u32::MAX)]
            .map(|(column, edge)| column.map_or(Some(edge), |column| column.at(own.column)));
        let ([Some(top), Some(bottom)], [Some(left), Some(right)]) = (rows, columns) else {
            return None;
        };
        let first = CellName { row: top.0.min(bottom.0), column: left.min(right) };
        let last = CellName { row: top.1.max(bottom.1), column: left.max(right) };
        Some((first, last))
    }
}
