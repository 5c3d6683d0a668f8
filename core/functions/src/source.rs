//! The workbook that formulas read.

use std::sync::Arc;

use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Value;

use crate::lookup_index::LookupIndex;

/// Zero-based index of a sheet in its workbook.
pub type SheetIndex = u32;

/// Consecutive cells in a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Block<'a> {
    /// Number of empty cells.
    Empty(u32),
    /// Cells that all contain numbers.
    Numbers(&'a [f64]),
    /// Cells with values of any type.
    Values(&'a [Value]),
}

/// The number of rows and columns of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

/// Properties of a cell, other than its value, that the function `CELL` returns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellFacts {
    /// Number format, or `None` for `General`.
    pub format: Option<String>,
    /// Width of the column in characters.
    pub column_width: Option<u32>,
}

/// Supplies the cells that a formula reads. Row and column indices start at 0.
pub trait CellSource {
    /// Returns the maximum size of a sheet. A reference to a whole column has this number of rows.
    fn grid_size(&self) -> Size;

    /// Returns the number of sheets.
    fn sheet_count(&self) -> u32;

    /// Returns the index of the sheet with this name, ignoring case.
    fn sheet_index(&self, name: &str) -> Option<SheetIndex>;

    /// Returns the name of a sheet.
    fn sheet_name(&self, sheet: SheetIndex) -> Option<String>;

    /// Returns the size of the used range of a sheet, counted from `A1`. All cells outside it are
    /// empty.
    fn used_size(&self, sheet: SheetIndex) -> Size;

    /// Returns the value of a cell.
    fn cell(&self, sheet: SheetIndex, cell: CellName) -> Value;

    /// Visits the cells of a column in rows `first_row..=last_row`, in order and without gaps.
    /// Stops when `visit` returns `false`.
    ///
    /// The default implementation reads one cell at a time. Sources that store columns should
    /// override it.
    fn visit_column(
        &self,
        sheet: SheetIndex,
        column: u32,
        first_row: u32,
        last_row: u32,
        visit: &mut dyn FnMut(Block<'_>) -> bool,
    ) {
        for row in first_row..=last_row {
            let value = self.cell(sheet, CellName { row, column });
            if !visit(Block::Values(std::slice::from_ref(&value))) {
                return;
            }
        }
    }

    /// Returns whether all cells of a column in rows `first_row..=last_row` can be read without an
    /// interruption.
    fn has_cells(&self, sheet: SheetIndex, column: u32, first_row: u32, last_row: u32) -> bool {
        let _ = (sheet, column, first_row, last_row);
        false
    }

    /// Returns an index of the values of a column in rows `first_row..=last_row`, and the number of
    /// cells that were read to build it. Sources that keep the values of cells can build an index
    /// after several exact searches of the same rows.
    fn lookup_index(
        &self,
        sheet: SheetIndex,
        column: u32,
        first_row: u32,
        last_row: u32,
    ) -> Option<(Arc<LookupIndex>, u64)> {
        let _ = (sheet, column, first_row, last_row);
        None
    }

    /// Returns whether a cell could not be read. The result of the evaluation is then useless, and
    /// the evaluation may stop.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Returns the formula of a cell, including the `=`, or `None` if the cell contains no formula.
    fn formula(&self, sheet: SheetIndex, cell: CellName) -> Option<String> {
        let _ = (sheet, cell);
        None
    }

    /// Returns the formula of a defined name, including the `=`. Names are case-insensitive. Names
    /// of `sheet` take precedence over names of the workbook.
    fn defined_name(&self, sheet: SheetIndex, name: &str) -> Option<String> {
        let _ = (sheet, name);
        None
    }

    /// Returns the range into which the result of a cell spills, for references such as `A1#`.
    fn spilled_area(&self, sheet: SheetIndex, cell: CellName) -> Option<Rectangle> {
        let _ = (sheet, cell);
        None
    }

    /// Returns whether a row is hidden. `SUBTOTAL` and `AGGREGATE` can ignore hidden rows.
    fn is_row_hidden(&self, sheet: SheetIndex, row: u32) -> bool {
        let _ = (sheet, row);
        false
    }

    /// Returns the properties of a cell, for the function `CELL`.
    fn facts(&self, sheet: SheetIndex, cell: CellName) -> CellFacts {
        let _ = (sheet, cell);
        CellFacts::default()
    }
}
