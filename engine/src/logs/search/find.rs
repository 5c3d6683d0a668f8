//! Finds the cells whose displayed text matches a pattern.

use cellar_api::wire::{FindCursor, FoundCell};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::json_text_bytes;
use cellar_sheet::operation::SheetId;
use cellar_sheet::text_pattern::TextPattern;
use cellar_snapshot::cells::TileCell;

use super::super::cells::{SheetName, sheet_number};
use super::super::{LogError, Logs, View};
use super::budget::Budget;
use super::windows::{NextWindow, Windows};
use super::{first_cell, used_window};

/// A request for the cells whose displayed text matches a pattern.
#[derive(Debug, Clone)]
pub struct FindQuery {
    pub pattern: TextPattern,
    /// Sheet to search, or `None` for all sheets.
    pub sheet: Option<SheetName>,
    pub rectangle: Rectangle,
    /// Whether to count the cells without returning them.
    pub is_count_only: bool,
    /// Position of the state to read, or `None` for the latest state.
    pub at: Option<Position>,
    /// The `next` cursor of the preceding page.
    pub cursor: Option<FindCursor>,
    /// Position that the log is known to contain.
    pub min_position: Option<Position>,
}

/// One page of matching cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Position of the state that was read.
    pub position: Position,
    /// How many times the tables had been restored when the entry at `position` was written.
    pub incarnation: u32,
    /// Cells, ordered by sheet, row and column.
    pub cells: Vec<FoundCell>,
    /// Number of matching cells on this page, even if they are not returned.
    pub count: u64,
    /// Number of stale cells that were compared on this page.
    pub stale_cells: u64,
    /// Start of the next page, or `None` on the last page.
    pub next: Option<FindCursor>,
}

impl Logs {
    /// Returns a page of the cells whose displayed text matches a pattern. A page may be empty even
    /// if it is not the last one.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::UnknownSheet`] if the sheet does not exist, or another [`LogError`] if
    /// the log cannot be read.
    pub async fn find(&self, log_id: LogId, query: &FindQuery) -> Result<Found, LogError> {
        self.find_within(log_id, query, Budget::default()).await
    }

    pub(in super::super) async fn find_within(
        &self,
        log_id: LogId,
        query: &FindQuery,
        budget: Budget,
    ) -> Result<Found, LogError> {
        let view = self.open_view(log_id, query.at, query.min_position).await?;
        let sheets = sheets_from_cursor(&view, query)?;
        let (position, incarnation) = (view.position, view.incarnation);
        let mut search =
            Search { view, query, budget, cells: Vec::new(), count: 0, stale_cells: 0 };
        let next = search.search_sheets(&sheets).await;
        let next = self.roots.invalidate_on_error(log_id, next)?;
        let Search { cells, count, stale_cells, .. } = search;
        Ok(Found { position, incarnation, cells, count, stale_cells, next })
    }
}

/// Returns the sheets to search. Sheets before the cursor were searched by earlier pages.
fn sheets_from_cursor(view: &View, query: &FindQuery) -> Result<Vec<SheetId>, LogError> {
    let unknown = |sheet: String| LogError::UnknownSheet { sheet };
    let sheets = match &query.sheet {
        None => view.metadata.tabs.order().to_vec(),
        Some(name) => {
            let sheet = sheet_number(&view.metadata, name);
            vec![sheet.ok_or_else(|| unknown(name.to_string()))?]
        }
    };
    let Some(FindCursor { sheet: start, .. }) = query.cursor else { return Ok(sheets) };
    let start_index = sheets.iter().position(|sheet| *sheet == start);
    let start_index = start_index.ok_or_else(|| unknown(start.0.to_string()))?;
    Ok(sheets.into_iter().skip(start_index).collect())
}

struct Search<'a> {
    view: View,
    query: &'a FindQuery,
    budget: Budget,
    cells: Vec<FoundCell>,
    count: u64,
    stale_cells: u64,
}

impl Search<'_> {
    async fn search_sheets(&mut self, sheets: &[SheetId]) -> Result<Option<FindCursor>, LogError> {
        for sheet in sheets {
            if let Some(cell) = self.search_sheet(*sheet).await? {
                return Ok(Some(FindCursor { sheet: *sheet, cell }));
            }
        }
        Ok(None)
    }

    /// Searches a sheet. Returns the first cell of the next page, or `None` if the whole sheet was
    /// searched.
    async fn search_sheet(&mut self, sheet: SheetId) -> Result<Option<CellName>, LogError> {
        let metadata = &self.view.metadata;
        let Some(name) = metadata.tabs.name(sheet).map(str::to_owned) else { return Ok(None) };
        let extent = self.view.used_range(sheet).await?;
        let whole = used_window(self.query.rectangle, extent);
        let Some(sheet_metadata) = self.view.metadata.sheets.get(&sheet) else { return Ok(None) };
        self.budget.set_formats(sheet_metadata.formats.records().len());
        let start = match self.query.cursor {
            Some(cursor) if cursor.sheet == sheet => cursor.cell.max(first_cell(&whole)),
            _ => first_cell(&whole),
        };
        let mut windows = Windows::new(whole, start);
        loop {
            match windows.next(&mut self.view, sheet, &mut self.budget).await? {
                NextWindow::End => return Ok(None),
                NextWindow::PageEnd(cell) => return Ok(Some(cell)),
                NextWindow::Cells(window) => {
                    for cell in self.view.cells_with_previews(sheet, &window).await? {
                        let cell_name = CellName { row: cell.row, column: cell.column };
                        if !self.search_cell(sheet, &name, cell).await? {
                            return Ok(Some(cell_name));
                        }
                    }
                    self.budget.advance();
                }
            }
        }
    }

    /// Adds the cell to the page if it matches. Returns `false` if the page ends before the cell.
    async fn search_cell(
        &mut self,
        sheet: SheetId,
        name: &str,
        mut tile_cell: TileCell,
    ) -> Result<bool, LogError> {
        if self.budget.ends_at_cell() {
            return Ok(false);
        }
        if tile_cell.long_text.is_some() {
            self.budget.take_long_text();
            self.view.fill_in_long_text(&mut tile_cell).await?;
        }
        let is_stale = tile_cell.is_stale;
        if self.query.pattern.is_regex() {
            self.budget.take_regex_text(&tile_cell.cell);
        }
        if self.query.pattern.matches(&tile_cell.cell.text()) {
            if !self.query.is_count_only {
                let name_bytes = json_text_bytes(name);
                if !self.budget.take_reply(&tile_cell, name_bytes, self.cells.is_empty()) {
                    return Ok(false);
                }
                let cell = tile_cell.into();
                self.cells.push(FoundCell { sheet, name: name.to_owned(), cell });
            }
            self.count = self.count.saturating_add(1);
        }
        self.stale_cells = self.stale_cells.saturating_add(u64::from(is_stale));
        self.budget.advance();
        Ok(true)
    }
}
