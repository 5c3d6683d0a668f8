//! `GET /v1/spreadsheets/{id}/cells`: materialised cells at any position in history.

use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::operation::SheetId;
use crate::position::Position;
use crate::workbook::{Extent, RangeFormat};

/// The cells of a range that are not blank, by row and column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellsReply {
    /// The sheet.
    pub sheet: SheetId,
    /// Its name.
    pub name: String,
    /// The position at which these are the cells; pass it as `at` to get further pages of the same.
    pub position: Position,
    /// The epoch, for appends based on what was read here.
    pub epoch: u32,
    /// How far the whole sheet was ever written to.
    pub extent: Extent,
    /// The formats of ranges that meet the range, oldest first: for cells that are blank so far.
    /// They come with the first page only, which is the one without `from`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<RangeFormat>,
    /// On the first page: there are more formats than fit one reply. The oldest are missing, and
    /// come with no page: ask for a smaller range.
    #[serde(default)]
    pub formats_cut: bool,
    /// The cells.
    pub cells: Vec<PlacedCell>,
    /// If the cells were cut: the cell to go on `from`, in A1 notation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A cell and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlacedCell {
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
    /// What it holds.
    #[serde(flatten)]
    pub cell: Cell,
}
