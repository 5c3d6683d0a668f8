//! Operations: what a mutation does to a spreadsheet.

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
mod spans;
mod stored;
mod stored_cells;

pub use axes::{DeleteSpans, InsertBefore};
pub use formats::{ClearRange, SetFormat};
pub use import::{BadTileIndex, ImportSheet, TileIndex};
pub use invalid::InvalidOperation;
pub use rejection::{Rejection, RejectionReason};
pub use set_cells::{CellEdit, SetCells};
pub use sheets::{AddSheet, DeleteSheet, RenameSheet, sheet_name_from};
pub use spans::{Span, Spans};
pub use stored::{StoredOperation, UnreadableOperation};

use serde::{Deserialize, Serialize};

use crate::axis_map::Axis;
use crate::cell::json_text_bytes;
use cellar_base::position::Position;

/// The number of a sheet (a tab) within its spreadsheet, given once and never reused.
///
/// `GET …/sheets` lists the numbers. The sheet of a new spreadsheet is 0. An import into a new spreadsheet
/// takes the place of that sheet and has the next number, 1: sheet 0 keeps its own, so that an undo of the
/// import brings it back.
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
///
/// In JSON, an object with one field: `{"setCells":{"cells":[…]}}`, `{"insertRows":{"before":3,
/// "count":2}}`, `{"deleteColumns":{"spans":[{"first":0,"count":1}]}}`, `{"undo":{"position":17}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Operation {
    /// Sets or clears cells.
    SetCells(SetCells),
    /// Clears the values and formulas of a range; formats stay.
    ClearRange(ClearRange),
    /// Inserts blank rows.
    InsertRows(InsertBefore),
    /// Deletes rows.
    DeleteRows(DeleteSpans),
    /// Inserts blank columns.
    InsertColumns(InsertBefore),
    /// Deletes columns.
    DeleteColumns(DeleteSpans),
    /// Adds a sheet behind the others.
    AddSheet(AddSheet),
    /// Gives a sheet another name.
    RenameSheet(RenameSheet),
    /// Deletes a sheet with all it holds.
    DeleteSheet(DeleteSheet),
    /// Sets the number format of a range, of cells that are blank, too.
    SetFormat(SetFormat),
    /// Takes back what one entry did, as far as nobody has changed it since. Resolved when it is
    /// appended: what takes effect is in the mutation's committed operations.
    Undo(Undo),
    /// A mutation that can never succeed: it changes nothing and keeps its client's numbering.
    Rejected(Rejection),
    /// Adds a sheet whose cells are in chunks already.
    ImportSheet(ImportSheet),
    /// Takes back all that was done behind a position. Resolved as [`Self::Undo`] is.
    Revert(Revert),
}

/// Takes back what one entry did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Undo {
    /// The position of the entry.
    pub position: Position,
}

/// Takes back all that was done behind a position, so that sheets are what they were there (design
/// `4-sync.md` §5): a later entry like any other, which can be taken back itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Revert {
    /// The position whose state comes back.
    pub position: Position,
}

/// What an axis's parts are called in messages.
pub(crate) fn axis_name(axis: Axis) -> &'static str {
    match axis {
        Axis::Rows => "rows",
        Axis::Columns => "columns",
    }
}

impl Operation {
    /// Checks everything that does not depend on the state, and brings the operation into its
    /// canonical form (cells sorted, the last edit of a cell wins; spans in order).
    ///
    /// # Errors
    /// [`InvalidOperation`] with what is wrong.
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
            // Only the server rejects.
            Self::Rejected(_) => return Err(InvalidOperation::NotForClients),
        })
    }

    /// About how many bytes it takes in memory and in a reply: for bounds, not for bills.
    #[must_use]
    pub fn weight_bytes(&self) -> usize {
        const SPAN_BYTES: usize = 40;
        let spans = |spans: &Spans| spans.len().saturating_mul(SPAN_BYTES);
        match self {
            Self::SetCells(set) => set.cells.iter().map(CellEdit::weight_bytes).sum(),
            Self::ClearRange(clear) => spans(&clear.rows) + spans(&clear.columns),
            Self::SetFormat(set) => {
                spans(&set.rows) + spans(&set.columns) + json_text_bytes(&set.format)
            }
            Self::DeleteRows(delete) | Self::DeleteColumns(delete) => spans(&delete.spans),
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

    /// Whether what it does is only found when it is appended, on the very state behind which it is
    /// put: its author does not know it, and it is never moved.
    #[must_use]
    pub fn is_resolved_on_append(&self) -> bool {
        matches!(self, Self::Undo(_) | Self::Revert(_))
    }

    /// The sheet that has to exist for it to change anything.
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

    /// How much it adds to what it costs to go past it: its spans, at least one.
    pub fn parts(&self) -> usize {
        match self {
            Self::DeleteRows(delete) | Self::DeleteColumns(delete) => delete.spans.len().max(1),
            _ => 1,
        }
    }

    /// Whether rows, columns or numbers of sheets are others after it: what is transformed past
    /// it, moves.
    #[must_use]
    pub fn moves_cells(&self) -> bool {
        match self {
            Self::InsertRows(_)
            | Self::DeleteRows(_)
            | Self::InsertColumns(_)
            | Self::DeleteColumns(_)
            | Self::AddSheet(_)
            | Self::ImportSheet(_)
            // What it does is not known before it is resolved.
            | Self::Undo(_)
            | Self::Revert(_) => true,
            Self::SetCells(_)
            | Self::ClearRange(_)
            | Self::RenameSheet(_)
            // A deleted sheet's number is never used again: what is for it, changes nothing.
            | Self::DeleteSheet(_)
            | Self::SetFormat(_)
            | Self::Rejected(_) => false,
        }
    }
}
