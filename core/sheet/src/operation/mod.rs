//! Operations: changes to a spreadsheet.

mod axes;
mod decimal;
mod formats;
pub(crate) mod import;
mod invalid;
mod moved_lines;
#[cfg(any(test, feature = "testing"))]
pub mod random;
mod rejection;
mod set_cells;
pub(crate) mod set_name;
mod sheets;
mod sheets_of_file;
mod stored;
mod stored_cells;
mod stored_import;
mod stored_name;
mod unreadable;

pub use axes::{DeleteSpans, InsertBefore};
pub use formats::{ClearRange, SetFormat};
pub use import::{BadTileIndex, ImportSheet, TileIndex};
pub use invalid::InvalidOperation;
pub use moved_lines::LineMove;
pub use rejection::{Rejection, RejectionReason};
pub use set_cells::{CellEdit, SetCells};
pub use set_name::{InvalidName, SetName, check_name, completed_formula};
pub use sheets::{AddSheet, DeleteSheet, RenameSheet, sheet_name_from};
pub use sheets_of_file::{NamesInFile, SheetsOfFile};
pub use stored::StoredOperation;
pub use unreadable::UnreadableOperation;

pub use cellar_grid::{FIRST_SHEET_NAME, SheetId};
pub use cellar_grid::{Span, Spans};

use serde::{Deserialize, Serialize};

use axes::validated_spans;

use crate::cell::json_text_bytes;
use cellar_base::position::Position;
use cellar_grid::Axis;

/// A change to a spreadsheet. In a mutation that a client sends, rows, columns and sheets are
/// identified as at the base of the mutation, which is the latest position that the author had
/// seen.
///
/// In JSON, an operation is an object with a single field. Examples: `{"setCells":{"cells":[…]}}`,
/// `{"insertRows":{"before":3, "count":2}}`, `{"deleteColumns":{"spans":[{"first":0,"count":1}]}}`,
/// `{"undo":{"position":17}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Operation {
    /// Sets or clears cells.
    SetCells(SetCells),
    /// Clears the values and formulas of a range. Number formats are kept.
    ClearRange(ClearRange),
    /// Inserts blank rows.
    InsertRows(InsertBefore),
    /// Deletes rows.
    DeleteRows(DeleteSpans),
    /// Inserts blank columns.
    InsertColumns(InsertBefore),
    /// Deletes columns.
    DeleteColumns(DeleteSpans),
    /// Adds a sheet after the last sheet, or before another sheet.
    AddSheet(AddSheet),
    /// Renames a sheet.
    RenameSheet(RenameSheet),
    /// Deletes a sheet and its contents.
    DeleteSheet(DeleteSheet),
    /// Sets the number format of a range. Blank cells in the range are formatted too.
    SetFormat(SetFormat),
    /// Undoes the effects of one entry, except those that were changed later. The server computes
    /// the operations that reverse the entry, and stores them as the committed operations.
    Undo(Undo),
    /// A mutation that was rejected. It has no effect, but its mutation id counts as used.
    Rejected(Rejection),
    /// Adds a sheet from uploaded chunks.
    ImportSheet(ImportSheet),
    /// Reverts all edits after a position, in all sheets or in one sheet or range. The server computes
    /// the operations that reverse the edits, and stores them as the committed operations.
    Revert(Revert),
    /// Defines a name for a formula, or deletes the name.
    SetName(SetName),
}

/// Undoes the effects of one entry, except those that were changed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Undo {
    /// Position of the entry to be undone.
    pub position: Position,
}

/// Reverts all edits after a position, so that all sheets, one sheet or a range of a sheet are as
/// they were at that position. A revert is stored as an entry and can be undone.
///
/// A sheet that was deleted or replaced since then is added again at its place in the tab order,
/// with a new number. A sheet that has taken its name is deleted.
///
/// The revert of a range changes values, formulas and number formats of cells, but inserts and
/// deletes no rows and columns. Cells in rows or columns that were inserted since then are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Revert {
    /// Position to revert to.
    pub position: Position,
    /// Number of the only sheet to revert. The sheet must exist at `position`. If it is absent, all
    /// sheets are reverted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<SheetId>,
    /// Rows of the only range to revert, as at the base of the mutation. If they are absent, all rows
    /// are reverted. Rows require a sheet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Span>,
    /// Columns of the only range to revert, as at the base of the mutation. If they are absent, all
    /// columns are reverted. Columns require a sheet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Span>,
}

impl Revert {
    /// Creates a revert of all sheets to `position`.
    #[must_use]
    pub fn whole(position: Position) -> Self {
        Self { position, sheet: None, rows: None, columns: None }
    }

    /// Returns the rows and columns of the range to revert, or `None` if the revert is not limited
    /// to a range.
    #[must_use]
    pub fn range(&self) -> Option<(Spans, Spans)> {
        if self.rows.is_none() && self.columns.is_none() {
            return None;
        }
        let spans = |span: Option<Span>, axis| match span {
            Some(Span { first, count }) => Spans::one(first, count),
            None => Spans::all(axis),
        };
        Some((spans(self.rows, Axis::Rows), spans(self.columns, Axis::Columns)))
    }

    fn validated(self) -> Result<Self, InvalidOperation> {
        let Some((rows, columns)) = self.range() else { return Ok(self) };
        if self.sheet.is_none() {
            return Err(InvalidOperation::RangeWithoutSheet);
        }
        validated_spans(rows, Axis::Rows)?;
        validated_spans(columns, Axis::Columns)?;
        Ok(self)
    }
}

impl Operation {
    /// Checks that the operation is valid regardless of the state of the spreadsheet, and
    /// normalizes it. Normalization sorts cells and spans, and writes formulas as their canonical
    /// text. If a cell is edited more than once, the last edit is kept.
    ///
    /// # Errors
    /// Returns [`InvalidOperation`] if the operation is invalid.
    pub fn validated(self) -> Result<Self, InvalidOperation> {
        let mut operation = self.validated_from_log()?;
        operation.check_number_formats()?;
        match &mut operation {
            Self::SetCells(set) => set.normalize_formulas()?,
            Self::SetName(set) => set.check_length()?,
            _ => {}
        }
        Ok(operation)
    }

    /// Same, but accepts any number format, and any text as a formula. Operations of a log, which are
    /// merged into another log, may have number formats and formulas that are not accepted from
    /// users. Such a number format is displayed as `General`, and such a formula stays as it is.
    ///
    /// # Errors
    /// Returns [`InvalidOperation`] if the operation is invalid.
    pub fn validated_from_log(self) -> Result<Self, InvalidOperation> {
        Ok(match self {
            Self::SetCells(set) => Self::SetCells(set.validated()?),
            Self::ClearRange(clear) => Self::ClearRange(clear.validated()?),
            Self::InsertRows(insert) => Self::InsertRows(insert.validated(Axis::Rows)?),
            Self::DeleteRows(delete) => Self::DeleteRows(delete.validated(Axis::Rows)?),
            Self::InsertColumns(insert) => Self::InsertColumns(insert.validated(Axis::Columns)?),
            Self::DeleteColumns(delete) => Self::DeleteColumns(delete.validated(Axis::Columns)?),
            Self::AddSheet(add) => Self::AddSheet(add.validated()?),
            Self::RenameSheet(rename) => Self::RenameSheet(rename.validated()?),
            Self::DeleteSheet(delete) => Self::DeleteSheet(delete),
            Self::SetFormat(set) => Self::SetFormat(set.validated()?),
            Self::Undo(undo) => Self::Undo(undo),
            Self::Revert(revert) => Self::Revert(revert.validated()?),
            Self::ImportSheet(import) => Self::ImportSheet(import.validated()?),
            Self::SetName(set) => Self::SetName(set.validated()?),
            // Only the server creates rejections.
            Self::Rejected(_) => return Err(InvalidOperation::NotForClients),
        })
    }

    fn check_number_formats(&self) -> Result<(), InvalidOperation> {
        match self {
            Self::SetCells(set) => set.check_number_formats(),
            Self::SetFormat(set) => set.check_number_format(),
            Self::ClearRange(_)
            | Self::InsertRows(_)
            | Self::DeleteRows(_)
            | Self::InsertColumns(_)
            | Self::DeleteColumns(_)
            | Self::AddSheet(_)
            | Self::RenameSheet(_)
            | Self::DeleteSheet(_)
            | Self::Undo(_)
            | Self::Rejected(_)
            | Self::ImportSheet(_)
            | Self::Revert(_)
            | Self::SetName(_) => Ok(()),
        }
    }

    /// Returns the approximate number of bytes that the operation takes in memory or in a response.
    #[must_use]
    pub fn weight_bytes(&self) -> usize {
        match self {
            Self::SetCells(set) => set.cells.iter().map(CellEdit::weight_bytes).sum(),
            Self::ClearRange(clear) => {
                spans_weight_bytes(&clear.rows) + spans_weight_bytes(&clear.columns)
            }
            Self::SetFormat(SetFormat { rows, columns, format, .. }) => {
                spans_weight_bytes(rows) + spans_weight_bytes(columns) + json_text_bytes(format)
            }
            Self::DeleteRows(delete) | Self::DeleteColumns(delete) => {
                spans_weight_bytes(&delete.spans)
            }
            Self::AddSheet(AddSheet { name, .. }) | Self::RenameSheet(RenameSheet { name, .. }) => {
                json_text_bytes(name)
            }
            Self::Rejected(rejection) => json_text_bytes(&rejection.detail),
            Self::ImportSheet(import) => import.weight_bytes(),
            Self::SetName(set) => set.weight_bytes(),
            Self::InsertRows(_)
            | Self::InsertColumns(_)
            | Self::DeleteSheet(_)
            | Self::Undo(_)
            | Self::Revert(_) => 0,
        }
    }

    /// Returns whether the operation is an undo or revert. The server computes the effect of such
    /// an operation when it appends the operation to the log. Until then, the operation cannot be
    /// transformed.
    #[must_use]
    pub fn is_resolved_on_append(&self) -> bool {
        matches!(self, Self::Undo(_) | Self::Revert(_))
    }

    /// Returns the sheet without which the operation has no effect.
    #[must_use]
    pub fn sheet(&self) -> Option<SheetId> {
        match self {
            Self::SetCells(set) => Some(set.sheet),
            Self::ClearRange(clear) => Some(clear.sheet),
            Self::SetFormat(set) => Some(set.sheet),
            Self::InsertRows(insert) | Self::InsertColumns(insert) => Some(insert.sheet),
            Self::DeleteRows(delete) | Self::DeleteColumns(delete) => Some(delete.sheet),
            Self::RenameSheet(rename) => Some(rename.sheet),
            Self::DeleteSheet(delete) => Some(delete.sheet),
            Self::AddSheet(_)
            | Self::ImportSheet(_)
            | Self::Undo(_)
            | Self::Revert(_)
            | Self::Rejected(_)
            // A name whose sheet is missing refers to `#REF!`.
            | Self::SetName(_) => None,
        }
    }

    /// Returns the cost of transforming another operation past this one: the number of deleted
    /// spans, but at least 1.
    pub fn transform_cost(&self) -> usize {
        match self {
            Self::DeleteRows(delete) | Self::DeleteColumns(delete) => delete.spans.len().max(1),
            _ => 1,
        }
    }

    /// Returns whether the operation adds, renames or deletes a sheet.
    #[must_use]
    pub fn changes_tabs(&self) -> bool {
        matches!(
            self,
            Self::AddSheet(_) | Self::RenameSheet(_) | Self::DeleteSheet(_) | Self::ImportSheet(_)
        )
    }

    /// Returns whether concurrent operations must be transformed past this one because it moves
    /// rows or columns, or changes the set of sheet numbers.
    #[must_use]
    pub fn moves_cells(&self) -> bool {
        match self {
            Self::InsertRows(_)
            | Self::DeleteRows(_)
            | Self::InsertColumns(_)
            | Self::DeleteColumns(_)
            | Self::AddSheet(_)
            | Self::ImportSheet(_)
            // The effect of an undo or revert is unknown until the server has computed it.
            | Self::Undo(_)
            | Self::Revert(_) => true,
            Self::SetCells(_)
            | Self::ClearRange(_)
            | Self::RenameSheet(_)
            // Operations on a deleted sheet need not be transformed. They have no effect, because
            // sheet numbers are never reused.
            | Self::DeleteSheet(_)
            | Self::SetFormat(_)
            | Self::SetName(_)
            | Self::Rejected(_) => false,
        }
    }
}

fn spans_weight_bytes(spans: &Spans) -> usize {
    const SPAN_BYTES: usize = 40;
    spans.len().saturating_mul(SPAN_BYTES)
}
