//! Reads with the client library. No read may return an older position than an earlier read.

use std::time::Instant;

use cellar::CellsQuery;
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};

use super::operations::{COLUMNS, ROWS};
use super::{ClientStuck, LoadClient};
use crate::measured::RequestKind;
use crate::stored::Cells;

/// Number of rows in a view.
const VIEW_ROWS: u32 = 50;
/// Number of entries on a page of the history.
const HISTORY_ENTRIES: u32 = 50;

impl LoadClient {
    /// Reads a view of cells.
    pub(super) async fn read_cells(&mut self, due_at: Instant) -> Result<(), ClientStuck> {
        let first_row = self.random.u32(..ROWS);
        let first = CellName { row: first_row, column: 0 };
        let last = CellName { row: first_row + VIEW_ROWS - 1, column: COLUMNS - 1 };
        let range = Rectangle { first, last }.to_string();
        let query = CellsQuery::of_range(range).at_or_after(self.seen);
        let api = self.api(RequestKind::Cells);
        let begun_at = Instant::now();
        let reply = loop {
            match api.spreadsheet(self.spreadsheet.id).cells_page(&query).await {
                Ok(reply) => break reply,
                Err(error) => self.wait_before_retry(RequestKind::Cells, begun_at, error).await?,
            }
        };
        self.measured.count_answer(RequestKind::Cells, Some(due_at.elapsed()));
        self.record_seen(RequestKind::Cells, reply.position)
    }

    /// Reads the newest entries.
    pub(super) async fn read_history(&mut self, due_at: Instant) -> Result<(), ClientStuck> {
        let api = self.api(RequestKind::History);
        let begun_at = Instant::now();
        loop {
            match api
                .spreadsheet(self.spreadsheet.id)
                .history_page(None, Some(HISTORY_ENTRIES))
                .await
            {
                Ok(_) => break,
                Err(error) => self.wait_before_retry(RequestKind::History, begun_at, error).await?,
            }
        }
        self.measured.count_answer(RequestKind::History, Some(due_at.elapsed()));
        Ok(())
    }

    /// Loads the spreadsheet, as at the start of a session.
    pub(super) async fn load_spreadsheet(&mut self, due_at: Instant) -> Result<(), ClientStuck> {
        let api = self.api(RequestKind::Load);
        let begun_at = Instant::now();
        let reply = loop {
            match api.spreadsheet(self.spreadsheet.id).load(Some(self.seen)).await {
                Ok(reply) => break reply,
                Err(error) => self.wait_before_retry(RequestKind::Load, begun_at, error).await?,
            }
        };
        self.measured.count_answer(RequestKind::Load, Some(due_at.elapsed()));
        self.record_seen(RequestKind::Load, reply.head)
    }

    /// Reads all cells of the first sheet at the given position, page by page. These reads are part
    /// of the checks and are not measured.
    pub(crate) async fn read_all_cells(&self, position: Position) -> Result<Cells, ClientStuck> {
        let query = CellsQuery::default().at_position(position);
        let cells = self.api.spreadsheet(self.spreadsheet.id).cells(query).collect().await;
        let cells = cells.map_err(|error| ClientStuck::during("cells", error))?;
        Ok(cells.into_iter().map(|cell| ((cell.row, cell.column), cell.cell)).collect())
    }
}
