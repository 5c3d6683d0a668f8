//! Filters the rows of a sheet by conditions.

use cellar_api::wire::CellAt;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::Value;
use cellar_sheet::condition::Conditions;
use cellar_sheet::exact_sum::ExactSum;
use cellar_sheet::operation::SheetId;
use cellar_snapshot::cells::TileCell;
use cellar_snapshot::merge::Window;

use super::super::cells::{SheetName, sheet_number};
use super::super::{LogError, Logs, View};
use super::budget::Budget;
use super::evaluate::{Evaluated, column_window, evaluate};
use super::windows::{NextWindow, Windows};
use super::{first_cell, used_window};

/// Number of rows in a group. The rows of a group are tested and returned together.
const GROUP_ROWS: u32 = 1_024;

/// A request for the rows that fulfil conditions.
#[derive(Debug, Clone)]
pub struct FilterQuery {
    pub conditions: Conditions,
    pub sheet: SheetName,
    /// Rows to test and columns to return. The conditions may refer to other columns.
    pub rectangle: Rectangle,
    /// Column whose numbers are summed.
    pub sum_column: Option<u32>,
    /// Whether to count the rows without returning them.
    pub is_count_only: bool,
    /// Position of the state to read, or `None` for the latest state.
    pub at: Option<Position>,
    /// The `next` cursor of the preceding page. Its row is counted by this page only if its column
    /// is the first column of the rectangle.
    pub cursor: Option<CellName>,
    /// Position that the log is known to contain.
    pub min_position: Option<Position>,
}

/// One page of the rows that fulfil conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Filtered {
    /// Position of the state that was read.
    pub position: Position,
    /// How many times the tables had been restored when the entry at `position` was written.
    pub incarnation: u32,
    pub sheet: SheetId,
    pub name: String,
    /// Number of matching rows on this page, even if they are not returned. A row that continues on
    /// later pages is counted only on its first page.
    pub rows: u64,
    /// Number of stale cells that were compared with a condition on this page.
    pub stale_cells: u64,
    /// Number of summed numbers in these rows.
    pub numbers: u64,
    /// Number of stale cells in the summed column of these rows.
    pub stale_summed: u64,
    /// Sum of these numbers.
    pub sum: ExactSum,
    /// Cells, ordered by row and column.
    pub cells: Vec<CellAt>,
    /// First cell of the next page, or `None` on the last page.
    pub next: Option<CellName>,
}

impl Logs {
    /// Returns a page of the rows that fulfil conditions. A page may be empty even if it is not the
    /// last one.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::UnknownSheet`] if the sheet does not exist, or another [`LogError`] if
    /// the log cannot be read.
    pub async fn filter(&self, log_id: LogId, query: &FilterQuery) -> Result<Filtered, LogError> {
        self.filter_within(log_id, query, Budget::default()).await
    }

    pub(in super::super) async fn filter_within(
        &self,
        log_id: LogId,
        query: &FilterQuery,
        mut budget: Budget,
    ) -> Result<Filtered, LogError> {
        let mut view = self.open_view(log_id, query.at, query.min_position).await?;
        let unknown_sheet = || LogError::UnknownSheet { sheet: query.sheet.to_string() };
        let sheet = sheet_number(&view.metadata, &query.sheet).ok_or_else(unknown_sheet)?;
        let name = view.metadata.tabs.name(sheet).unwrap_or_default().to_owned();
        let extent = self.roots.invalidate_on_error(log_id, view.used_range(sheet).await)?;
        let whole = used_window(query.rectangle, extent);
        let metadata = view.metadata.sheets.get(&sheet).ok_or_else(unknown_sheet)?;
        budget.set_formats(metadata.formats.records().len());
        let (position, incarnation) = (view.position, view.incarnation);
        let start = query.cursor.unwrap_or(first_cell(&whole)).max(first_cell(&whole));
        let page = Page::default();
        let mut filter = Filter { view, query, sheet, budget, whole, start, page };
        let next = filter.read_page().await;
        let next = self.roots.invalidate_on_error(log_id, next)?;
        let Page { rows, stale_cells, numbers, stale_summed, sum, cells } = filter.page;
        Ok(Filtered {
            position,
            incarnation,
            sheet,
            name,
            rows,
            stale_cells,
            numbers,
            stale_summed,
            sum,
            cells,
            next,
        })
    }
}

#[derive(Default)]
struct Page {
    rows: u64,
    stale_cells: u64,
    numbers: u64,
    stale_summed: u64,
    sum: ExactSum,
    cells: Vec<CellAt>,
}

struct Filter<'a> {
    view: View,
    query: &'a FilterQuery,
    sheet: SheetId,
    budget: Budget,
    /// The rows to test and the columns to return.
    whole: Window,
    start: CellName,
    page: Page,
}

impl Filter<'_> {
    /// Reads a page. Returns the first cell of the next page, or `None` if this is the last page.
    async fn read_page(&mut self) -> Result<Option<CellName>, LogError> {
        let rows = self.start.row..self.whole.rows.end;
        let tested = column_window(rows, self.query.conditions.filled_column());
        let first = first_cell(&tested);
        let mut windows = Windows::new(tested, first);
        loop {
            match windows.next(&mut self.view, self.sheet, &mut self.budget).await? {
                NextWindow::End => return Ok(None),
                NextWindow::PageEnd(cell) => return Ok(Some(self.row_start(cell.row))),
                NextWindow::Cells(window) => {
                    let cells = self.view.cells_with_previews(self.sheet, &window).await?;
                    for group in cells.chunk_by(|one, next| group_of(one) == group_of(next)) {
                        if let Some(next) = self.filter_group(group).await? {
                            return Ok(Some(next));
                        }
                    }
                    self.budget.advance();
                }
            }
        }
    }

    fn row_start(&self, row: u32) -> CellName {
        CellName { row, column: self.whole.columns.start }
    }

    /// Adds the matching rows of a group to the page. `candidates` are the cells of the group in
    /// the column [`Conditions::filled_column`]. Returns the first cell of the next page if the
    /// page ends in this group.
    async fn filter_group(
        &mut self,
        candidates: &[TileCell],
    ) -> Result<Option<CellName>, LogError> {
        let conditions = &self.query.conditions;
        let evaluated =
            evaluate(&mut self.view, self.sheet, conditions, candidates, &mut self.budget).await?;
        let Evaluated { rows, stale_cells, page_end } = evaluated;
        let mut next = page_end.map(|row| self.row_start(row));
        if !self.query.is_count_only
            && let Some(cell) = self.read_rows(&rows).await?
        {
            next = Some(cell);
        }
        let counted: Vec<u32> =
            rows.into_iter().filter(|row| self.is_counted_here(*row, next)).collect();
        let stale = stale_cells.iter().filter(|cell| self.is_counted_here(cell.row, next)).count();
        self.page.stale_cells += u64::try_from(stale).unwrap_or(u64::MAX);
        self.count_rows(&counted).await?;
        self.budget.advance();
        Ok(next)
    }

    /// Returns whether this page counts the row. A row is counted by the page on which it starts.
    fn is_counted_here(&self, row: u32, next: Option<CellName>) -> bool {
        let row_start = self.row_start(row);
        row_start >= self.start && next.is_none_or(|next| row_start < next)
    }

    /// Adds the cells of the rows to the page. If not all cells fit, returns the first cell of the
    /// next page.
    async fn read_rows(&mut self, rows: &[u32]) -> Result<Option<CellName>, LogError> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(None) };
        let all_rows = *first..last.saturating_add(1);
        let window = Window { rows: all_rows, columns: self.whole.columns.clone() };
        let start = first_cell(&window).max(self.start);
        let mut windows = Windows::new(window, start);
        loop {
            match windows.next(&mut self.view, self.sheet, &mut self.budget).await? {
                NextWindow::End => return Ok(None),
                NextWindow::PageEnd(cell) => return Ok(Some(cell)),
                NextWindow::Cells(window) => {
                    let cells = self.view.cells_with_previews(self.sheet, &window).await?;
                    for cell in cells {
                        let cell_name = CellName { row: cell.row, column: cell.column };
                        let is_found = rows.binary_search(&cell.row).is_ok();
                        if is_found && !self.push_cell(cell).await? {
                            return Ok(Some(cell_name));
                        }
                    }
                }
            }
        }
    }

    /// Adds a cell to the page. Returns `false` if the page ends before the cell.
    async fn push_cell(&mut self, mut tile_cell: TileCell) -> Result<bool, LogError> {
        if tile_cell.long_text.is_some() {
            if self.budget.ends_at_cell() {
                return Ok(false);
            }
            self.budget.take_long_text();
            self.view.fill_in_long_text(&mut tile_cell).await?;
        }
        if !self.budget.take_reply(&tile_cell, 0, self.page.cells.is_empty()) {
            return Ok(false);
        }
        self.page.cells.push(tile_cell.into());
        self.budget.advance();
        Ok(true)
    }

    async fn count_rows(&mut self, rows: &[u32]) -> Result<(), LogError> {
        let count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        self.page.rows = self.page.rows.saturating_add(count);
        let (Some(column), Some(first), Some(last)) =
            (self.query.sum_column, rows.first(), rows.last())
        else {
            return Ok(());
        };
        let window = column_window(*first..last.saturating_add(1), column);
        for cell in self.view.cells_with_previews(self.sheet, &window).await? {
            if rows.binary_search(&cell.row).is_err() {
                continue;
            }
            self.page.stale_summed += u64::from(cell.is_stale);
            if let Value::Number(number) = cell.cell.value {
                self.page.numbers = self.page.numbers.saturating_add(1);
                self.page.sum.add(number);
            }
        }
        Ok(())
    }
}

fn group_of(cell: &TileCell) -> u32 {
    cell.row / GROUP_ROWS
}
