//! Finding cells and filtering rows: `GET /v1/spreadsheets/{id}/cells/find` and `…/cells/filter`.

use std::fmt;
use std::str::FromStr;

use cellar_base::position::Position;
use cellar_sheet::a1::CellName;
use cellar_sheet::operation::SheetId;
use cellar_sheet::workbook::CellAt;
use serde::{Deserialize, Serialize};

/// Cells whose displayed text matches the query, ordered by sheet, row and column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FindReply {
    /// Position of the state that was searched. Send it as `at` to search the same state for
    /// further pages.
    pub position: Position,
    /// Incarnation of the tables: the number of times that they were restored.
    pub incarnation: u32,
    /// Number of matching cells on this page, including cells that `count_only` omits.
    pub count: u64,
    /// Number of stale cells that were compared on this page. Their values are older than their
    /// formulas, so some of them may be missing or found by mistake. Absent if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stale_cells: u64,
    /// The matching cells on this page. May be empty even if this is not the last page. Always
    /// empty with `count_only`.
    pub cells: Vec<FoundCell>,
    /// Cursor of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A matching cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FoundCell {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Name of the sheet.
    pub name: String,
    /// The cell and its coordinates.
    #[serde(flatten)]
    pub cell: CellAt,
}

/// Whether a count is left out of a reply.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FoundCell {
    /// Returns the reference of the cell in its sheet, such as `B3`.
    #[must_use]
    pub fn cell_name(&self) -> CellName {
        self.cell.name()
    }

    /// Returns the text that the cell displays.
    #[must_use]
    pub fn text(&self) -> String {
        self.cell.text()
    }
}

/// Rows that fulfil the conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FilterReply {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Name of the sheet.
    pub name: String,
    /// Position of the state that was read. Send it as `at` to read further pages of the same
    /// state.
    pub position: Position,
    /// Incarnation of the tables: the number of times that they were restored.
    pub incarnation: u32,
    /// Number of matching rows on this page. A row that continues on later pages is counted only on
    /// its first page.
    pub rows: u64,
    /// Number of stale cells of these and other rows that were compared with a condition on this
    /// page. Their values are older than their formulas, so some rows may be missing or returned by
    /// mistake. Absent if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stale_cells: u64,
    /// Sum of the requested column over these rows. Absent if no sum was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<PageSum>,
    /// The non-blank cells of matching rows on this page, ordered by row and column. May be empty
    /// even if this is not the last page. Always empty with `count_only`.
    pub cells: Vec<CellAt>,
    /// Cursor of the next page, which is a cell in A1 notation. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Sum of the numbers of a column on one page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PageSum {
    /// Number of cells that contain a number. Other cells are ignored.
    pub numbers: u64,
    /// Number of stale cells of the column in the matching rows. Their values, which are older than
    /// their formulas, are added if they are numbers. Absent if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stale_cells: u64,
    /// Numbers whose exact sum is the exact sum of this page. The sum of the column is the sum of
    /// the parts of all pages. If they are added without rounding errors, the result does not
    /// depend on how the rows are divided into pages.
    pub parts: Vec<f64>,
    /// Whether the sum of this page is outside the range of 64-bit floating-point numbers. The
    /// parts are then incomplete.
    #[serde(default)]
    pub too_large: bool,
}

/// The start of a page of matching cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindCursor {
    /// Sheet of the cell.
    pub sheet: SheetId,
    /// First cell of the page.
    pub cell: CellName,
}

/// Error when parsing a [`FindCursor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is invalid; send the `next` of the preceding page unchanged")]
pub struct NotAFindCursor;

impl fmt::Display for FindCursor {
    /// Writes the sheet number and the cell, such as `3~B7`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}~{}", self.sheet.0, self.cell)
    }
}

impl FromStr for FindCursor {
    type Err = NotAFindCursor;

    fn from_str(text: &str) -> Result<Self, NotAFindCursor> {
        let (sheet, cell) = text.split_once('~').ok_or(NotAFindCursor)?;
        let sheet = sheet.parse().map(SheetId).map_err(|_| NotAFindCursor)?;
        let cell = cell.parse().map_err(|_| NotAFindCursor)?;
        Ok(Self { sheet, cell })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip() {
        let cursor = FindCursor { sheet: SheetId(3), cell: CellName { row: 6, column: 1 } };
        assert_eq!(cursor.to_string(), "3~B7");
        assert_eq!("3~B7".parse(), Ok(cursor));
        for text in ["", "3", "~B7", "3~", "3~B", "3~B7:C8", "x~B7", "3~B7~", "4294967296~B7"] {
            assert_eq!(text.parse::<FindCursor>(), Err(NotAFindCursor), "{text}");
        }
    }
}
