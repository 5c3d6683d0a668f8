//! Reads by the client of the library. No read may return an older position than an earlier one.

use std::time::Instant;

use cellar::CellsQuery;
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};

use super::operations::{COLUMNS, ROWS};
use super::{ClientStuck, LoadClient};
use crate::measured::RequestKind;
use crate::stored::Cells;

/// Number of rows of a view.
const VIEW_ROWS: u32 = 50;
/// Number of entries of a page of history.
const HISTORY_ENTRIES: u32 = 50;

impl LoadClient {
    /// Reads a view of cells.
    pub(super) async fn cells(&mut self, due: Instant) -> Result<(), ClientStuck> {
        let row = self.random.u32(..ROWS);
        let first = CellName { row, column: 0 };
        let last = CellName { row: row + VIEW_ROWS - 1, column: COLUMNS - 1 };
        let range = Rectangle { first, last }.to_string();
        let query = CellsQuery::of_range(range).at_or_after(self.seen);
        let (api, begun) = (self.api(RequestKind::Cells), Instant::now());
        let reply = loop {
            match api.spreadsheet(self.spreadsheet.id).cells_page(&query).await {
                Ok(reply) => break reply,
                Err(error) => self.wait_before_retry(RequestKind::Cells, begun, error).await?,
            }
        };
        self.measured.count_answer(RequestKind::Cells, Some(due.elapsed()));
        self.record_seen(RequestKind::Cells, reply.position)
    }

    /// Reads the newest entries.
    pub(super) async fn history(&mut self, due: Instant) -> Result<(), ClientStuck> {
        let (api, begun) = (self.api(RequestKind::History), Instant::now());
        loop {
            match api
                .spreadsheet(self.spreadsheet.id)
                .history_page(None, Some(HISTORY_ENTRIES))
                .await
            {
                Ok(_) => break,
                Err(error) => self.wait_before_retry(RequestKind::History, begun, error).await?,
            }
        }
        self.measured.count_answer(RequestKind::History, Some(due.elapsed()));
        Ok(())
    }

    /// Loads the spreadsheet, like the start of a session.
    pub(super) async fn load(&mut self, due: Instant) -> Result<(), ClientStuck> {
        let (api, begun) = (self.api(RequestKind::Load), Instant::now());
        let reply = loop {
            match api.spreadsheet(self.spreadsheet.id).load(Some(self.seen)).await {
                Ok(reply) => break reply,
                Err(error) => self.wait_before_retry(RequestKind::Load, begun, error).await?,
            }
        };
        self.measured.count_answer(RequestKind::Load, Some(due.elapsed()));
        self.record_seen(RequestKind::Load, reply.head)
    }

    /// Reads all cells of the first sheet at a position, page by page. The reads are checks and not
    /// measured.
    pub(crate) async fn all_cells(&self, at: Position) -> Result<Cells, ClientStuck> {
        let query = CellsQuery::default().at_position(at);
        let cells = self.api.spreadsheet(self.spreadsheet.id).cells(query).collect().await;
        let cells = cells.map_err(|error| ClientStuck::during("cells", error))?;
        Ok(cells.into_iter().map(|found| ((found.row, found.column), found.cell)).collect())
    }
}
