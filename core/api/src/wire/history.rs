//! `GET /v1/spreadsheets/{id}/history`, `…/diff` and `…/sheets`.

use serde::{Deserialize, Serialize};

use super::EntryView;
use cellar_base::position::Position;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::{Extent, SheetDiff};

/// Entries, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HistoryReply {
    /// The entries.
    pub entries: Vec<EntryView>,
    /// If there are older ones: the position to go on `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// What differs between two positions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DiffReply {
    /// The one state.
    pub from: Position,
    /// The other.
    pub to: Position,
    /// The sheets that differ, by number. Their rows and columns come with the first page only,
    /// their cells with every page.
    pub sheets: Vec<SheetDiff>,
    /// On the first page: there are more spans of rows and columns than fit one reply. Those that
    /// are missing come with no page: ask for a diff of positions that are nearer to each other.
    #[serde(default)]
    pub spans_truncated: bool,
    /// If the cells were cut: how many to `skip` for those that are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// The sheets of a spreadsheet, in the order of their tabs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetsReply {
    /// The position at which these are the sheets.
    pub position: Position,
    /// The incarnation, for appends based on what was read here.
    pub incarnation: u32,
    /// The sheets.
    pub sheets: Vec<SheetView>,
    /// The number for a new sheet: above every one that was ever used.
    pub next_sheet: SheetId,
}

/// One sheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SheetView {
    /// Its number.
    pub sheet: SheetId,
    /// Its name.
    pub name: String,
    /// How far it was ever written to.
    pub extent: Extent,
}
