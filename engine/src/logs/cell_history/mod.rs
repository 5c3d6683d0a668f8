//! Reads the history of cells: traces the cells back through the entries that moved them, and
//! compares their contents before and after each entry that changed them.

mod page;
mod recovered;
mod replay;
mod walk;

use cellar_api::wire::{CellHistoryCursor, CellHistoryEntry};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::Spans;
use cellar_sheet::tracked_cells::TrackedCells;

use super::cells::{SheetName, sheet_number};
use super::{LogError, Logs};

/// A request for the history of the cells in a rectangle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellHistoryQuery {
    /// Sheet of the `rectangle`. Both refer to the state at `until` and are ignored if `cursor` is
    /// set.
    pub sheet: SheetName,
    pub rectangle: Rectangle,
    /// Position of the newest entry to read, or `None` for the latest.
    pub until: Option<Position>,
    /// Position after which entries are read, or `None` to read all entries.
    pub since: Option<Position>,
    /// Author whose changes are returned, or `None` for all authors.
    pub author: Option<String>,
    /// Maximum number of entries whose changes are returned.
    pub max_entries: u32,
    /// The `next` cursor of the preceding page.
    pub cursor: Option<CellHistoryCursor>,
}

/// One page of a cell history.
#[derive(Debug, Clone, PartialEq)]
pub struct CellHistory {
    /// Changes, newest first.
    pub changes: Vec<CellHistoryEntry>,
    /// Whether some changes of the oldest entry on the page were omitted.
    pub truncated: bool,
    /// Start of the next page, or `None` if no older entry affects the cells.
    pub next: Option<CellHistoryCursor>,
}

impl Logs {
    /// Returns a page of changes to cells, newest first. Reads at most `MAX_CELL_HISTORY_ENTRIES`
    /// entries and the state before the oldest entry that changed the cells.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::UnknownSheet`] or [`LogError::NoSuchPosition`] if the sheet or position
    /// does not exist, [`LogError::HistoryTooLarge`] or [`LogError::TooLarge`] if the range is too
    /// large, or another [`LogError`] if the log cannot be read.
    pub async fn cell_history(
        &self,
        log_id: LogId,
        query: &CellHistoryQuery,
    ) -> Result<CellHistory, LogError> {
        let start = self.start_of_history(log_id, query).await?;
        let head = self.head(log_id, Some(start.position)).await?.head;
        if start.position > head {
            return Err(LogError::NoSuchPosition { at: start.position, newest: head });
        }
        let walked = self.walk_back(log_id, query, start).await?;
        let changed_entries = self.replay(log_id, &walked.visited).await?;
        Ok(page::fill_page(changed_entries, query.author.as_deref(), walked))
    }

    async fn start_of_history(
        &self,
        log_id: LogId,
        query: &CellHistoryQuery,
    ) -> Result<CellHistoryCursor, LogError> {
        if let Some(cursor) = &query.cursor {
            return Ok(cursor.clone());
        }
        let view = self.open_view(log_id, query.until, None).await?;
        let unknown_sheet = || LogError::UnknownSheet { sheet: query.sheet.to_string() };
        let sheet = sheet_number(&view.metadata, &query.sheet).ok_or_else(unknown_sheet)?;
        let Rectangle { first, last } = query.rectangle;
        let length = |first: u32, last: u32| last.saturating_sub(first).saturating_add(1);
        let rows = Spans::one(first.row, length(first.row, last.row));
        let columns = Spans::one(first.column, length(first.column, last.column));
        let cells = TrackedCells { sheet, rows, columns };
        Ok(CellHistoryCursor { position: view.position, cells, recovered: None })
    }
}
