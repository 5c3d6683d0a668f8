//! `GET /v1/spreadsheets/{id}/cells/trace`.

use cellar_base::position::Position;
use cellar_sheet::operation::{SheetId, Span};
use serde::{Deserialize, Serialize};

/// The cells that a cell reads, and the formulas that read it. Only direct connections are included.
/// References that a formula calculates, as with `INDIRECT`, are not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TraceReply {
    /// Position of the state that was read.
    pub position: Position,
    /// Incarnation of the tables: the number of times that they were restored.
    pub incarnation: u32,
    /// Number of the sheet.
    pub sheet: SheetId,
    /// The cell in A1 notation.
    pub cell: String,
    /// Whether the formula of the cell was not calculated. Absent if `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Why the formula was not calculated, or which cells form a cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Cell of the same sheet, in A1 notation, whose formula fills this cell with a part of its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled_by: Option<String>,
    /// The areas that the formula of the cell reads, each once, in the order of the formula. The areas
    /// of the names that it uses are included.
    pub precedents: Vec<TracedArea>,
    /// Whether `precedents` has all areas.
    pub precedents_complete: bool,
    /// The formulas that read the cell, by sheet, row and column.
    pub dependents: Vec<TracedCell>,
    /// Whether `dependents` has all formulas. If not, there are too many, or the search would read
    /// too much.
    pub dependents_complete: bool,
}

/// An area that a formula reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TracedArea {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// The area with its sheet as formulas write it, such as `Costs!$A$1:B9`.
    pub reference: String,
    /// Rows of the area. Whole columns have all possible rows.
    pub rows: Span,
    /// Columns of the area. Whole rows have all possible columns.
    pub columns: Span,
}

/// A formula that reads a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TracedCell {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
    /// Text of the formula.
    pub formula: String,
}
