//! Cell history: `GET /v1/spreadsheets/{id}/cells/history`.

use std::fmt;
use std::str::FromStr;

use cellar_base::limits::MAX_CELL_HISTORY_SPANS;
use cellar_base::position::Position;
use cellar_sheet::axis_map::Axis;
use cellar_sheet::operation::{SheetId, Span, Spans};
use cellar_sheet::tracked_cells::TrackedCells;
use cellar_sheet::workbook::CellDiff;
use serde::{Deserialize, Serialize};

use super::MergedView;

/// Changes to the requested cells, newest first. The cells are traced back through inserted and
/// deleted rows and columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellHistoryReply {
    /// One page of changes. A page may be empty even if it is not the last one.
    pub changes: Vec<CellHistoryEntry>,
    /// Whether some changes of the last entry on this page were omitted because the page would
    /// otherwise be too large. To get all of them, request a smaller range.
    #[serde(default)]
    pub truncated: bool,
    /// Cursor of the next page, which contains older changes. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A change to the requested cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CellHistoryEntry {
    /// Position of the entry that made the change.
    pub position: Position,
    /// Time of the entry in seconds since the Unix epoch.
    pub created_s: u64,
    /// Author of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Origin of the change if it was merged from a fork. `created_s` is then the time of the
    /// merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergedView>,
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Name of the sheet after the change.
    pub name: String,
    /// The change.
    pub change: CellHistoryChange,
    /// The undo or revert that recovered the sheet, if the change is `sheetAdded` and no new sheet was
    /// added. Older changes are those of the sheet that it recovered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered: Option<Recovery>,
}

/// How a deleted sheet was recovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Recovery {
    /// By an undo of the entry at this position.
    Undo(Position),
    /// By a revert to this position.
    Revert(Position),
}

/// A change to the requested cells. Row and column indices refer to the state at the entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CellHistoryChange {
    /// The value or formula of a cell changed. Number formats are not included.
    Cell(CellDiff),
    /// These rows were inserted and contain requested cells.
    RowsInserted(Spans),
    /// These columns were inserted and contain requested cells.
    ColumnsInserted(Spans),
    /// These rows were deleted. Reported only in the history of a whole sheet.
    RowsDeleted(Spans),
    /// These columns were deleted. Reported only in the history of a whole sheet.
    ColumnsDeleted(Spans),
    /// The sheet was added, or recovered by an undo.
    SheetAdded,
    /// The sheet was imported together with its cells. They have no older history.
    SheetImported,
}

/// The start of a page of a cell history: an entry, and the cells in the coordinates after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellHistoryCursor {
    /// Position of the newest entry of the page.
    pub position: Position,
    /// The cells in the coordinates at `position`.
    pub cells: TrackedCells,
    /// The cells that an undo or revert recovered, if older than `position`.
    pub recovered: Option<RecoveredCells>,
}

/// Cells of a sheet that was deleted and then recovered. Between the recovered state and the deletion,
/// rows and columns may have been deleted that the recovered state contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredCells {
    /// Position of the recovered state.
    pub position: Position,
    /// Rows of the cells at this position.
    pub rows: Spans,
    /// Columns of the cells at this position.
    pub columns: Spans,
}

/// Error when parsing a [`CellHistoryCursor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is invalid; send the `next` of the preceding page unchanged")]
pub struct NotACellHistoryCursor;

impl fmt::Display for CellHistoryCursor {
    /// Writes `POSITION~SHEET~ROWS~COLUMNS`, and for recovered cells also `~POSITION~ROWS~COLUMNS`.
    /// Rows and columns are written as spans `FIRST-COUNT` separated by dots, such as `0-2.5-1`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, cells, recovered } = self;
        write!(formatter, "{}~{}", position.pack(), cells.sheet.0)?;
        write_spans(formatter, [&cells.rows, &cells.columns])?;
        if let Some(RecoveredCells { position, rows, columns }) = recovered {
            write!(formatter, "~{}", position.pack())?;
            write_spans(formatter, [rows, columns])?;
        }
        Ok(())
    }
}

fn write_spans(formatter: &mut fmt::Formatter<'_>, of_axes: [&Spans; 2]) -> fmt::Result {
    for spans in of_axes {
        let spans: Vec<String> =
            spans.iter().map(|span| format!("{}-{}", span.first, span.count)).collect();
        write!(formatter, "~{}", spans.join("."))?;
    }
    Ok(())
}

impl FromStr for CellHistoryCursor {
    type Err = NotACellHistoryCursor;

    fn from_str(text: &str) -> Result<Self, NotACellHistoryCursor> {
        parse_cursor(text).ok_or(NotACellHistoryCursor)
    }
}

fn parse_cursor(text: &str) -> Option<CellHistoryCursor> {
    let mut parts = text.split('~');
    let position = parse_position(parts.next()?)?;
    let sheet = SheetId(parts.next()?.parse().ok()?);
    let rows = parse_spans(parts.next()?, Axis::Rows)?;
    let columns = parse_spans(parts.next()?, Axis::Columns)?;
    let recovered = match parts.next() {
        None => None,
        Some(position) => Some(RecoveredCells {
            position: parse_position(position)?,
            rows: parse_spans(parts.next()?, Axis::Rows)?,
            columns: parse_spans(parts.next()?, Axis::Columns)?,
        }),
    };
    if parts.next().is_some() {
        return None;
    }
    let cells = TrackedCells { sheet, rows, columns };
    let is_valid = match &recovered {
        None => !cells.is_empty(),
        Some(recovered) => !recovered.rows.is_empty() && !recovered.columns.is_empty(),
    };
    is_valid.then_some(CellHistoryCursor { position, cells, recovered })
}

fn parse_position(text: &str) -> Option<Position> {
    Position::unpack(text.parse().ok()?).ok()
}

fn parse_spans(text: &str, axis: Axis) -> Option<Spans> {
    let mut spans: Vec<Span> = Vec::new();
    for span in text.split('.').filter(|_| !text.is_empty()) {
        let (first, count) = span.split_once('-')?;
        let span = Span { first: first.parse().ok()?, count: count.parse().ok()? };
        let previous_end = spans.last().map_or(0, |previous| previous.end());
        let end = span.first.checked_add(span.count)?;
        let is_valid = span.count > 0 && span.first >= previous_end && end <= axis.limit();
        if !is_valid || spans.len() >= MAX_CELL_HISTORY_SPANS {
            return None;
        }
        spans.push(span);
    }
    Some(Spans::from_sorted(spans))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(rows: Spans) -> CellHistoryCursor {
        let position = Position::new(1, 42).unwrap();
        let columns = Spans::all(Axis::Columns);
        let cells = TrackedCells { sheet: SheetId(3), rows, columns };
        CellHistoryCursor { position, cells, recovered: None }
    }

    #[test]
    fn cursors_round_trip() {
        for rows in [Spans::one(0, 1), Spans::of([1, 2, 7]), Spans::all(Axis::Rows)] {
            let cursor = cursor(rows);
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        assert_eq!(cursor(Spans::of([1, 2, 7])).to_string(), "4294967338~3~1-2.7-1~0-4194304");
    }

    #[test]
    fn cursors_of_recovered_cells_round_trip() {
        // All rows were deleted after the state that was recovered.
        for (rows, text) in [(Spans::one(5, 2), "5-2"), (Spans::default(), "")] {
            let recovered = RecoveredCells {
                position: Position::new(1, 40).unwrap(),
                rows: Spans::one(4, 2),
                columns: Spans::one(0, 1),
            };
            let cursor = CellHistoryCursor { recovered: Some(recovered), ..cursor(rows) };
            let expected = format!("4294967338~3~{text}~0-4194304~4294967336~4-2~0-1");
            assert_eq!(cursor.to_string(), expected);
            assert_eq!(expected.parse(), Ok(cursor));
        }
    }

    #[test]
    fn rejects_other_texts() {
        for text in [
            "",
            "0~0~0-1",
            "0~0~0-1~0-1~0-1",
            "0~0~0-1~0-1~0",
            "0~0~0-1~0-1~0~0-1",
            "0~0~0-1~0-1~0~~0-1",
            "0~0~0-1~0-1~0~0-1~",
            "0~0~0-1~0-1~x~0-1~0-1",
            "0~0~0-1~0-1~0~0-1~0-1~0",
            "9007199254740992~0~0-1~0-1",
            "0~0~~0-1",
            "0~0~0-0~0-1",
            "0~0~5-1.4-1~0-1",
            "0~0~1-4294967295~0-1",
            "0~0~1073741824-1~0-1",
            "0~x~0-1~0-1",
        ] {
            assert_eq!(text.parse::<CellHistoryCursor>(), Err(NotACellHistoryCursor), "{text}");
        }
    }

    #[test]
    fn limits_the_spans() {
        let spans = |count: usize| Spans::of((0..u32::try_from(count).unwrap()).map(|row| 2 * row));
        let most = cursor(spans(MAX_CELL_HISTORY_SPANS));
        assert_eq!(most.to_string().parse(), Ok(most));
        let more = cursor(spans(MAX_CELL_HISTORY_SPANS + 1)).to_string();
        assert!(more.parse::<CellHistoryCursor>().is_err());
    }
}
