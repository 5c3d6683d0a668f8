//! Consecutive cells of a column.

use cellar_grid::SheetId;
use cellar_grid::a1::CellName;

use crate::workbook::CellKey;

/// Consecutive cells of a column, which all are in the same block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) sheet: SheetId,
    pub(crate) column: u32,
    pub(crate) first_row: u32,
    /// Exclusive.
    pub(crate) end_row: u32,
}

impl Segment {
    pub(crate) fn cell(key: CellKey) -> Self {
        let CellKey { sheet, cell: CellName { row, column } } = key;
        Self { sheet, column, first_row: row, end_row: row + 1 }
    }

    pub(crate) fn is_cell(self) -> bool {
        self.row_count() == 1
    }

    pub(crate) fn row_count(self) -> u32 {
        self.end_row - self.first_row
    }

    pub(crate) fn key(self, row: u32) -> CellKey {
        CellKey { sheet: self.sheet, cell: CellName { row, column: self.column } }
    }

    pub(crate) fn first(self) -> CellKey {
        self.key(self.first_row)
    }

    pub(crate) fn keys(self) -> impl Iterator<Item = CellKey> {
        (self.first_row..self.end_row).map(move |row| self.key(row))
    }

    pub(crate) fn contains(self, key: CellKey) -> bool {
        self.sheet == key.sheet
            && self.column == key.cell.column
            && (self.first_row..self.end_row).contains(&key.cell.row)
    }
}
