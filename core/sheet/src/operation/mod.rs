//! Operations: changes to a spreadsheet.

mod axes;
mod decimal;
mod formats;
pub(crate) mod import;
mod invalid;
#[cfg(any(test, feature = "testing"))]
pub mod random;
mod rejection;
mod set_cells;
mod sheets;
mod stored;
mod stored_cells;
mod unreadable;

pub use axes::{DeleteSpans, InsertBefore};
pub use formats::{ClearRange, SetFormat};
pub use import::{BadTileIndex, ImportSheet, TileIndex};
pub use invalid::InvalidOperation;
pub use rejection::{Rejection, RejectionReason};
pub use set_cells::{CellEdit, SetCells};
pub use sheets::{AddSheet, DeleteSheet, RenameSheet, sheet_name_from};
pub use stored::StoredOperation;
pub use unreadable::UnreadableOperation;

pub use crate::sheet_id::{FIRST_SHEET_NAME, SheetId};
pub use crate::spans::{Span, Spans};

use serde::{Deserialize, Serialize};

use crate::axis::Axis;
use crate::cell::json_text_bytes;
use cellar_base::position::Position;

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
    /// Adds a sheet after the last sheet.
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
    /// Reverts all edits after a position. The server computes the operations that reverse the
    /// edits, and stores them as the committed operations.
    Revert(Revert),
}

/// Undoes the effects of one entry, except those that were changed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Undo {
    /// Position of the entry to be undone.
    pub position: Position,
}

/// Reverts all edits after a position, so that all sheets are as they were at that position. A
/// revert is stored as an entry and can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Revert {
    /// Position to revert to.
    pub position: Position,
}

impl Operation {
    /// Checks that the operation is valid regardless of the state of the spreadsheet, and
    /// normalizes it. Normalization sorts cells and spans. If a cell is edited more than once, the
    /// last edit is kept.
    ///
    /// # Errors
    /// Returns [`InvalidOperation`] if the operation is invalid.
    pub fn validated(self) -> Result<Self, InvalidOperation> {
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
            Self::Revert(revert) => Self::Revert(revert),
            Self::ImportSheet(import) => Self::ImportSheet(import.validated()?),
            // Only the server creates rejections.
            Self::Rejected(_) => return Err(InvalidOperation::NotForClients),
        })
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
            | Self::Rejected(_) => None,
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
            | Self::Rejected(_) => false,
        }
    }
}

fn spans_weight_bytes(spans: &Spans) -> usize {
    const SPAN_BYTES: usize = 40;
    spans.len().saturating_mul(SPAN_BYTES)
}
