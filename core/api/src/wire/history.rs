//! The history of a spreadsheet: `GET /v1/spreadsheets/{id}/history`, `…/diff` and `…/sheets`.

use serde::{Deserialize, Serialize};

use super::EntryView;
use cellar_base::position::Position;
use cellar_sheet::metadata::{DefinedName, Extent, WorkbookMetadata};
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::{NameDiff, OrderDiff, SheetDiff};

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
    /// and columns. A formula whose references only moved with their cells does not differ, unless one
    /// became `#REF!`.
    pub sheets: Vec<SheetDiff>,
    /// Defined names that differ, in alphabetical order. Only the first page lists them. Names whose
    /// references only moved with their cells do not differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NameDiff>,
    /// The order of the sheets, if sheets that both states have are in another order. Only the first
    /// page contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderDiff>,
    /// Whether inserted or deleted rows or columns were omitted because the first page would
    /// otherwise be too large. To get all of them, compare positions that are closer together.
    #[serde(default)]
    pub spans_truncated: bool,
    /// Whether more formulas may have lost references than are listed, because they are too many.
    /// Absent if `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub formulas_incomplete: bool,
    /// Cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Sheets of a spreadsheet in tab order, and its defined names.
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
    /// Names that formulas can use, in alphabetical order.
    #[serde(default)]
    pub names: Vec<NameView>,
}

/// A name that formulas can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NameView {
    /// The name. Case is ignored.
    pub name: String,
    /// The formula that the name stands for at this position, such as `=Sheet1!$A$2:$A$10`.
    /// References to deleted cells and sheets are `#REF!`.
    pub formula: String,
}

impl NameView {
    /// Returns the names of a spreadsheet, given its metadata.
    #[must_use]
    pub fn of(metadata: &WorkbookMetadata) -> Vec<Self> {
        let view = |name: &DefinedName| Self {
            name: name.name().to_owned(),
            formula: name.formula(&metadata.tabs),
        };
        metadata.names.iter().map(view).collect()
    }
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
