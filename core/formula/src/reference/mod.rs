//! References to cells, ranges, whole rows and whole columns.

mod sheet_names;
mod text;

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_grid::Axis;
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, Rectangle};

pub use sheet_names::{NoSheets, SheetNames, quoted_sheet_name};
pub(crate) use text::DELETED;
pub use text::write_reference;

/// A row or column in a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Coordinate {
    /// Zero-based index of the row or column.
    pub index: u32,
    /// Whether the coordinate is absolute, that is, written with `$`. An absolute coordinate does
    /// not change when the formula is copied. Insertions and deletions affect absolute and relative
    /// coordinates alike.
    pub is_absolute: bool,
}

/// The inclusive bounds of an area on one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ends {
    /// First row or column.
    pub first: Coordinate,
    /// Last row or column, not before `first`.
    pub last: Coordinate,
}

impl Ends {
    /// Creates the bounds from two coordinates in any order.
    #[must_use]
    pub fn sorted(one: Coordinate, other: Coordinate) -> Self {
        if one.index <= other.index {
            Self { first: one, last: other }
        } else {
            Self { first: other, last: one }
        }
    }
}

/// The area of a reference, without its sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Area {
    /// One cell, such as `B$2`.
    Cell {
        /// Row of the cell.
        row: Coordinate,
        /// Column of the cell.
        column: Coordinate,
    },
    /// A rectangle, such as `A1:B2`.
    Range {
        /// Rows of the rectangle.
        rows: Ends,
        /// Columns of the rectangle.
        columns: Ends,
    },
    /// Whole rows, such as `3:5`.
    Rows(Ends),
    /// Whole columns, such as `A:C`.
    Columns(Ends),
    /// The area of a deleted reference: `#REF!`.
    Deleted,
}

impl Area {
    /// Returns the bounds of the area on an axis. Both bounds of a single cell are equal. Returns
    /// `None` if the area was deleted, or has no bounds on the axis, such as the columns of `3:5`.
    #[must_use]
    pub fn ends(&self, axis: Axis) -> Option<Ends> {
        match (*self, axis) {
            (Self::Cell { row: one, .. }, Axis::Rows)
            | (Self::Cell { column: one, .. }, Axis::Columns) => {
                Some(Ends { first: one, last: one })
            }
            (Self::Range { rows: ends, .. } | Self::Rows(ends), Axis::Rows)
            | (Self::Range { columns: ends, .. } | Self::Columns(ends), Axis::Columns) => {
                Some(ends)
            }
            (Self::Columns(_), Axis::Rows)
            | (Self::Rows(_), Axis::Columns)
            | (Self::Deleted, _) => None,
        }
    }

    /// Returns the rectangle of the area, or `None` if the area was deleted. Whole rows and columns
    /// extend to the end of the largest possible sheet.
    #[must_use]
    pub fn rectangle(&self) -> Option<Rectangle> {
        if matches!(self, Self::Deleted) {
            return None;
        }
        let bounds = |axis, limit: u32| match self.ends(axis) {
            Some(Ends { first, last }) => (first.index, last.index),
            None => (0, limit - 1),
        };
        let (first_row, last_row) = bounds(Axis::Rows, MAX_ROWS);
        let (first_column, last_column) = bounds(Axis::Columns, MAX_COLUMNS);
        Some(Rectangle {
            first: CellName { row: first_row, column: first_column },
            last: CellName { row: last_row, column: last_column },
        })
    }

    /// Returns the area after applying `change` to its bounds on each axis that has bounds. The
    /// area is deleted if `change` returns `None` for an axis.
    #[must_use]
    pub(crate) fn map_ends(self, mut change: impl FnMut(Axis, Ends) -> Option<Ends>) -> Self {
        let changed = match self {
            Self::Cell { row, column } => {
                let mut change_one = |axis, one| change(axis, Ends { first: one, last: one });
                change_one(Axis::Rows, row)
                    .zip(change_one(Axis::Columns, column))
                    .map(|(rows, columns)| Self::Cell { row: rows.first, column: columns.first })
            }
            Self::Range { rows, columns } => change(Axis::Rows, rows)
                .zip(change(Axis::Columns, columns))
                .map(|(rows, columns)| Self::Range { rows, columns }),
            Self::Rows(rows) => change(Axis::Rows, rows).map(Self::Rows),
            Self::Columns(columns) => change(Axis::Columns, columns).map(Self::Columns),
            Self::Deleted => None,
        };
        changed.unwrap_or(Self::Deleted)
    }
}

/// The sheet of a reference.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReferenceSheet {
    /// The sheet that contains the formula, because the reference has no sheet name.
    Own,
    /// The sheet with this number, which does not change when the sheet is renamed.
    Numbered(SheetId),
    /// A sheet name that no sheet has.
    Unknown(String),
}

/// A reference to cells in a formula.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The sheet of the cells.
    pub sheet: ReferenceSheet,
    /// The area within the sheet.
    pub area: Area,
}

impl Reference {
    /// Returns the number of the referenced sheet, or `None` if no sheet has the name in the
    /// reference. `own_sheet` is the sheet that contains the formula.
    #[must_use]
    pub fn sheet_number(&self, own_sheet: SheetId) -> Option<SheetId> {
        match self.sheet {
            ReferenceSheet::Own => Some(own_sheet),
            ReferenceSheet::Numbered(number) => Some(number),
            ReferenceSheet::Unknown(_) => None,
        }
    }
}
