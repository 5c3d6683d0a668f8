//! Operations: what a mutation does to a spreadsheet.

mod decimal;
mod set_cells;
mod stored;

pub use set_cells::{CellEdit, SetCells};
pub use stored::{StoredOperation, UnreadableOperation};

use serde::{Deserialize, Serialize};

/// The number of a sheet (a tab) within its spreadsheet, given once and never reused.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetId(pub u32);

impl SheetId {
    /// The sheet that every spreadsheet is created with.
    pub const FIRST: Self = Self(0);
}

/// The name of the sheet that every spreadsheet is created with.
pub const FIRST_SHEET_NAME: &str = "Sheet1";

/// One operation as its author meant it, in the coordinates of the mutation's base
/// (design `2-log.md` §5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Operation {
    /// Sets or clears cells.
    SetCells(SetCells),
}

/// Why an operation can never succeed, whatever the state of the spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidOperation {
    /// The sheet does not exist.
    #[error("sheet {sheet} does not exist")]
    UnknownSheet {
        /// The sheet's number.
        sheet: u32,
    },
    /// No cells at all.
    #[error("the operation sets no cells: give at least one")]
    NoCells,
    /// Too many cells.
    #[error("the operation sets {count} cells, at most {max} are allowed: split it")]
    TooManyCells {
        /// How many it sets.
        count: usize,
        /// How many are allowed.
        max: usize,
    },
    /// A cell outside the largest sheet.
    #[error(
        "row {row}, column {column} is outside the sheet: rows are below {rows} and columns \
         below {columns}, both counted from 0"
    )]
    OutsideSheet {
        /// The row, from 0.
        row: u32,
        /// The column, from 0.
        column: u32,
        /// Rows of the largest sheet.
        rows: u32,
        /// Columns of the largest sheet.
        columns: u32,
    },
    /// A text, formula or format that is too long.
    #[error("{cell}: the {what} has {length} bytes, at most {max} are allowed")]
    TooLong {
        /// The cell, in A1 notation.
        cell: String,
        /// `text`, `formula` or `format`.
        what: &'static str,
        /// Its bytes.
        length: usize,
        /// The bytes allowed.
        max: usize,
    },
    /// A formula without a value, or an edit that changes nothing.
    #[error("{cell}: {why}")]
    EmptyEdit {
        /// The cell, in A1 notation.
        cell: String,
        /// What is missing.
        why: &'static str,
    },
    /// A number that is infinite or not a number.
    #[error("{cell}: the number is not finite")]
    NotFinite {
        /// The cell, in A1 notation.
        cell: String,
    },
}

impl Operation {
    /// Checks everything that does not depend on the state, and brings the operation into its
    /// canonical form (cells sorted, the last edit of a cell wins).
    ///
    /// # Errors
    /// [`InvalidOperation`] with what is wrong.
    pub fn validated(self) -> Result<Self, InvalidOperation> {
        match self {
            Self::SetCells(set) => set.validated().map(Self::SetCells),
        }
    }

    /// About how many bytes it takes in memory and in a reply: for bounds, not for bills.
    #[must_use]
    pub fn weight_bytes(&self) -> usize {
        match self {
            Self::SetCells(set) => set.cells.iter().map(CellEdit::weight_bytes).sum(),
        }
    }
}
