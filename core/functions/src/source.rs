//! The workbook that a formula reads.

use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Value;

/// Number of a sheet, counted from 0 in the order of the workbook.
pub type SheetIndex = u32;

/// Consecutive cells of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Block<'a> {
    /// Cells without a value.
    Empty(u32),
    /// Cells that are all numbers.
    Numbers(&'a [f64]),
    /// Cells of any type.
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

/// Facts about a cell other than its value, for `CELL`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellFacts {
    /// Number format, `None` for `General`.
    pub format: Option<String>,
    /// Width of the column in characters.
    pub column_width: Option<u32>,
}

/// Supplies the cells that a formula refers to. Rows and columns are counted from 0.
pub trait CellSource {
    /// Returns the largest possible size of a sheet. A whole column has this number of rows.
    fn grid_size(&self) -> Size;

    /// Returns the number of sheets.
    fn sheet_count(&self) -> u32;

    /// Returns the number of the sheet with this name, ignoring case.
    fn sheet_index(&self, name: &str) -> Option<SheetIndex>;

    /// Returns the name of a sheet.
    fn sheet_name(&self, sheet: SheetIndex) -> Option<String>;

    /// Returns the size of the used range of a sheet. All cells outside it are empty.
    fn used_size(&self, sheet: SheetIndex) -> Size;

    /// Returns the value of a cell.
    fn cell(&self, sheet: SheetIndex, cell: CellName) -> Value;

    /// Passes the cells of a column from `first_row` to `last_row` to `visit`, in order and without
    /// gaps. Stops when `visit` returns `false`.
    ///
    /// The default implementation reads cell by cell. Sources that store columns override it.
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

    /// Returns the text of the formula of a cell, starting with `=`.
    fn formula(&self, sheet: SheetIndex, cell: CellName) -> Option<String> {
        let _ = (sheet, cell);
        None
    }

    /// Returns the formula that a defined name stands for, starting with `=`. Names are compared
    /// without case. Names of `sheet` take precedence over names of the workbook.
    fn defined_name(&self, sheet: SheetIndex, name: &str) -> Option<String> {
        let _ = (sheet, name);
        None
    }

    /// Returns the cells that the array result of a cell fills, for `A1#`.
    fn spilled_area(&self, sheet: SheetIndex, cell: CellName) -> Option<Rectangle> {
        let _ = (sheet, cell);
        None
    }

    /// Returns whether a row is hidden, for `SUBTOTAL` and `AGGREGATE`.
    fn is_row_hidden(&self, sheet: SheetIndex, row: u32) -> bool {
        let _ = (sheet, row);
        false
    }

    /// Returns facts about a cell other than its value.
    fn facts(&self, sheet: SheetIndex, cell: CellName) -> CellFacts {
        let _ = (sheet, cell);
        CellFacts::default()
    }
}
