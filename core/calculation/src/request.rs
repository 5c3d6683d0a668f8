//! The windows of cells that a calculation requests.

use std::collections::BTreeSet;
use std::ops::Range;

use cellar_functions::InputArea;
use cellar_grid::SheetId;
use cellar_grid::a1::{Rectangle, SheetArea};
use cellar_snapshot::merge::Window;

use crate::block::BLOCK_ROWS;
use crate::cells::{LoadedCells, blocks_of};
use crate::workbook::CalculatedWorkbook;

/// A window of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellWindow {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Rows and columns.
    pub window: Window,
}

/// Blocks of a column that a formula reads and that are not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MissingBlocks {
    pub(crate) sheet: SheetId,
    pub(crate) column: u32,
    /// Range of block numbers.
    pub(crate) blocks: Range<u32>,
}

impl MissingBlocks {
    /// Returns the rows of the blocks.
    pub(crate) fn rows(&self) -> Range<u32> {
        self.blocks.start * BLOCK_ROWS..self.blocks.end * BLOCK_ROWS
    }
}

/// Maximum number of cells in a window, including empty cells.
const MAX_WINDOW_CELLS: u32 = 1 << 18;
/// Maximum number of columns in a window.
const MAX_WINDOW_COLUMNS: u32 = 64;
/// Maximum number of windows requested in one step.
const MAX_WINDOWS: usize = 16;
/// Maximum size of a reference, in cells, that is loaded before its formula is evaluated. The
/// evaluation may turn out not to read these cells.
const MAX_PREPARED_CELLS: u32 = 8_192;

impl MissingBlocks {
    /// Returns windows that contain the missing rows. If a reference of the formula covers them,
    /// the windows also include the columns of the reference to the right of the missing one.
    pub(crate) fn windows(
        &self,
        workbook: &CalculatedWorkbook,
        inputs: &[InputArea],
    ) -> Vec<CellWindow> {
        let rows = self.rows();
        let mut containing = inputs.iter().filter_map(|input| {
            let area = used_area(workbook, input)?;
            let has_rows = area.window.rows.start < rows.end && rows.start < area.window.rows.end;
            let has_column = area.window.columns.contains(&self.column);
            (area.sheet == self.sheet && has_rows && has_column).then_some(area.window.columns)
        });
        let columns = containing.next_back().unwrap_or(self.column..self.column + 1);
        let start = columns.start.max(self.column);
        let columns = start..columns.end.min(start + MAX_WINDOW_COLUMNS);
        let max_blocks = (MAX_WINDOW_CELLS / (columns.end - columns.start) / BLOCK_ROWS).max(1);
        let mut windows = Vec::new();
        let mut first_row = rows.start;
        while first_row < rows.end && windows.len() < MAX_WINDOWS {
            let end = rows.end.min(first_row + max_blocks * BLOCK_ROWS);
            let window = Window { rows: first_row..end, columns: columns.clone() };
            windows.push(CellWindow { sheet: self.sheet, window });
            first_row = end;
        }
        windows
    }
}

/// Returns the cells of an area that are within the used range of its sheet, or `None` if there are
/// none.
pub(crate) fn used_area(workbook: &CalculatedWorkbook, input: &InputArea) -> Option<CellWindow> {
    let InputArea { sheet, first, last, .. } = *input;
    let (sheet, ..) = workbook.sheet_at(sheet)?;
    used_window(workbook, &SheetArea { sheet: *sheet, cells: Rectangle { first, last } })
}

/// Like [`used_area`], for an area of a sheet.
pub(crate) fn used_window(workbook: &CalculatedWorkbook, area: &SheetArea) -> Option<CellWindow> {
    let extent = workbook.extent(area.sheet);
    let Rectangle { first, last } = area.cells;
    let window = Window {
        rows: first.row..last.row.saturating_add(1).min(extent.rows),
        columns: first.column..last.column.saturating_add(1).min(extent.columns),
    };
    let is_used = !window.rows.is_empty() && !window.columns.is_empty();
    is_used.then_some(CellWindow { sheet: area.sheet, window })
}

/// Returns windows that contain the cells of small areas that are not loaded.
pub(crate) fn windows_to_prepare(
    workbook: &CalculatedWorkbook,
    cells: &LoadedCells,
    inputs: &[InputArea],
) -> Vec<CellWindow> {
    let is_small = |area: &CellWindow| {
        let (rows, columns) = (area.window.rows.len(), area.window.columns.len());
        rows.saturating_mul(columns) <= MAX_PREPARED_CELLS as usize
    };
    let areas = inputs.iter().filter_map(|input| used_area(workbook, input));
    missing_windows(cells, areas.filter(is_small))
}

/// Returns windows that contain the cells of `windows` that are not loaded.
pub(crate) fn missing_windows(
    cells: &LoadedCells,
    windows: impl IntoIterator<Item = CellWindow>,
) -> Vec<CellWindow> {
    let mut missing = BTreeSet::new();
    for CellWindow { sheet, window } in windows {
        for column in window.columns {
            let loaded = cells.column(sheet, column);
            for number in blocks_of(&window.rows) {
                if loaded.is_none_or(|blocks| !blocks.contains_key(&number)) {
                    missing.insert((sheet, number * BLOCK_ROWS, column));
                }
            }
        }
    }
    windows_around(missing)
}

/// Returns windows of whole blocks that contain the given cells, which are tuples of sheet, row and
/// column. Blocks in adjacent columns are combined into one window.
pub(crate) fn windows_around(cells: BTreeSet<(SheetId, u32, u32)>) -> Vec<CellWindow> {
    let blocks: BTreeSet<_> =
        cells.into_iter().map(|(sheet, row, column)| (sheet, row / BLOCK_ROWS, column)).collect();
    let mut windows: Vec<CellWindow> = Vec::new();
    for (sheet, number, column) in blocks {
        let rows = number * BLOCK_ROWS..(number + 1) * BLOCK_ROWS;
        if let Some(last) = windows.last_mut()
            && last.sheet == sheet
            && last.window.rows == rows
            && last.window.columns.end == column
        {
            last.window.columns.end += 1;
            continue;
        }
        if windows.len() >= MAX_WINDOWS {
            break;
        }
        windows.push(CellWindow { sheet, window: Window { rows, columns: column..column + 1 } });
    }
    windows
}
