//! Divides a rectangle of a sheet into windows that fit into memory, ordered by row and column.
//! Blank windows of any size are skipped without being read.

use cellar_sheet::a1::CellName;
use cellar_sheet::operation::SheetId;
use cellar_snapshot::WindowEstimate;
use cellar_snapshot::merge::Window;

use super::super::{LogError, View};
use super::budget::Budget;
use super::first_cell;

/// Maximum number of tiles read at once.
const MAX_WINDOW_TILES: u64 = 64;

/// The windows of a rectangle. Each window consists of whole rows or of a part of a single row.
pub(super) struct Windows {
    whole: Window,
    /// First cell that no earlier window contains.
    next: CellName,
    /// Number of rows of the next window, or `None` if `next` was not called yet.
    height: Option<u32>,
}

pub(super) enum NextWindow {
    /// A window with cells.
    Cells(Window),
    /// The page ends before this cell.
    PageEnd(CellName),
    /// There are no more windows with cells.
    End,
}

impl Windows {
    /// Divides the rectangle `whole` into windows, starting at the cell `first`. Earlier cells are
    /// skipped.
    pub(super) fn new(whole: Window, first: CellName) -> Self {
        Self { whole, next: first, height: None }
    }

    pub(super) async fn next(
        &mut self,
        view: &mut View,
        sheet: SheetId,
        budget: &mut Budget,
    ) -> Result<NextWindow, LogError> {
        loop {
            if self.whole.rows.end <= self.next.row || self.whole.columns.is_empty() {
                return Ok(NextWindow::End);
            }
            if budget.ends_at_window() {
                return Ok(NextWindow::PageEnd(self.next));
            }
            let mut window = self.largest_next(budget.window_cells);
            let mut estimate = estimate(view, sheet, &window, budget).await?;
            while is_too_large(estimate, budget.window_cells) && shrink(&mut window) {
                estimate = self::estimate(view, sheet, &window, budget).await?;
            }
            self.move_past(&window, estimate, budget.window_cells);
            if estimate.cells > 0 {
                budget.take_estimate(estimate);
                return Ok(NextWindow::Cells(window));
            }
            budget.advance();
        }
    }

    fn largest_next(&self, window_cells: u64) -> Window {
        let CellName { row, column } = self.next;
        let is_row_begun = column > self.whole.columns.start;
        let columns = self.whole.columns.end.saturating_sub(self.whole.columns.start).max(1);
        let first_height = u32::try_from(window_cells / u64::from(columns)).unwrap_or(u32::MAX);
        let height = if is_row_begun { 1 } else { self.height.unwrap_or(first_height).max(1) };
        let end = row.saturating_add(height).min(self.whole.rows.end);
        let first_column = column.max(self.whole.columns.start);
        Window { rows: row..end, columns: first_column..self.whole.columns.end }
    }

    fn move_past(&mut self, window: &Window, estimate: WindowEstimate, window_cells: u64) {
        let is_row_complete = window.columns.end >= self.whole.columns.end;
        self.next = match is_row_complete {
            true => CellName { row: window.rows.end, column: self.whole.columns.start },
            false => CellName { row: window.rows.start, column: window.columns.end },
        };
        if first_cell(window).column > self.whole.columns.start {
            return;
        }
        let height = window.rows.end.saturating_sub(window.rows.start).max(1);
        let is_sparse = estimate.cells <= window_cells / 4 && estimate.tiles < MAX_WINDOW_TILES / 4;
        self.height = Some(if is_sparse { height.saturating_mul(2) } else { height });
    }
}

async fn estimate(
    view: &mut View,
    sheet: SheetId,
    window: &Window,
    budget: &mut Budget,
) -> Result<WindowEstimate, LogError> {
    budget.take_window();
    // Without this yield, a long sequence of blank windows would prevent the runtime from ending
    // the request at its deadline.
    tokio::task::yield_now().await;
    view.estimate(sheet, window).await
}

fn is_too_large(estimate: WindowEstimate, window_cells: u64) -> bool {
    estimate.cells > window_cells || estimate.tiles > MAX_WINDOW_TILES
}

/// Halves the number of rows, or the number of columns if there is only one row. Returns `false` if
/// the window is a single cell.
fn shrink(window: &mut Window) -> bool {
    let halve = |range: &mut std::ops::Range<u32>| {
        let length = range.end.saturating_sub(range.start);
        range.end = range.start.saturating_add((length / 2).max(1));
        length > 1
    };
    halve(&mut window.rows) || halve(&mut window.columns)
}
