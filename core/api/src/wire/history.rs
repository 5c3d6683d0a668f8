//! `GET /v1/spreadsheets/{id}/history`, `…/diff` and `…/sheets`.

use serde::{Deserialize, Serialize};

use super::EntryView;
use cellar_base::position::Position;
use cellar_sheet::metadata::Extent;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::SheetDiff;

/// Entries, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HistoryReply {
    /// One page of entries.
    pub entries: Vec<EntryView>,
    /// Position of the next older entry, to pass as `until`, if there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// The differences between two positions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DiffReply {
    /// Earlier position.
    pub from: Position,
    /// Later position.
    pub to: Position,
    /// Sheets that differ, by number. Only the first page has their rows and columns; every page
    /// has cells.
    pub sheets: Vec<SheetDiff>,
    /// Set on the first page if some spans were omitted because they exceed the size of a reply;
    /// compare closer positions.
    #[serde(default)]
    pub spans_truncated: bool,
    /// Cursor of the next page, if the cells were truncated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// The sheets of a spreadsheet, in tab order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetsReply {
    /// Position of these sheets.
    pub position: Position,
    /// Incarnation of the tables, for appends based on this position.
    pub incarnation: u32,
    /// Sheets.
    pub sheets: Vec<SheetView>,
    /// Number for a new sheet: above every number ever used.
    pub next_sheet: SheetId,
}

/// One sheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetView {
    /// Sheet id.
    pub sheet: SheetId,
    /// Name.
    pub name: String,
    /// Used range of the sheet.
    pub extent: Extent,
}
