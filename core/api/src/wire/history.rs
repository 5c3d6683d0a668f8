//! The history of a spreadsheet: `GET /v1/spreadsheets/{id}/history`, `…/diff` and `…/sheets`.

use serde::{Deserialize, Serialize};

use super::EntryView;
use cellar_base::position::Position;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::SheetDiff;

/// Entries of a log, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HistoryReply {
    /// One page of entries.
    pub entries: Vec<EntryView>,
    /// Position of the next older entry. Send it as `until` to get the next page. Absent if there
    /// are no older entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// Differences between the states at two positions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DiffReply {
    /// Earlier position.
    pub from: Position,
    /// Later position.
    pub to: Position,
    /// Sheets that differ, ordered by number. Only the first page lists inserted and deleted rows
    /// and columns.
    pub sheets: Vec<SheetDiff>,
    /// Whether inserted or deleted rows or columns were omitted because the first page would
    /// otherwise be too large. To get all of them, compare positions that are closer together.
    #[serde(default)]
    pub spans_truncated: bool,
    /// Cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Sheets of a spreadsheet, in tab order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetsReply {
    /// Position of the returned state.
    pub position: Position,
    /// Incarnation of the tables: the number of times that they were restored. It must be sent with
    /// edits that are based on this position.
    pub incarnation: u32,
    /// Sheets in tab order.
    pub sheets: Vec<SheetView>,
    /// Number for the next new sheet.
    pub next_sheet: SheetId,
}

/// A sheet of a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetView {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Name of the sheet.
    pub name: String,
    /// Used range of the sheet.
    pub extent: Extent,
}
