//! Windows of cells that a calculation asks for.

use std::collections::BTreeSet;
use std::ops::Range;

use cellar_formula::reference::Reference;
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, Rectangle};
use cellar_snapshot::merge::Window;

use crate::block::BLOCK_ROWS;
use crate::cells::{LoadedCells, blocks_of};
use crate::workbook::{CalculatedWorkbook, CellKey};

/// A window of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellWindow {
    /// Number of the sheet.
    pub sheet: SheetId,
    /// Rows and columns.
    pub window: Window,
}

/// Rows of a column that a formula reads and that are not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MissingBlocks {
    pub(crate) sheet: SheetId,
    pub(crate) column: u32,
    /// Numbers of blocks.
    pub(crate) blocks: Range<u32>,
}

impl MissingBlocks {
    /// Returns the rows of the blocks.
    pub(crate) fn rows(&self) -> Range<u32> {
        self.blocks.start * BLOCK_ROWS..self.blocks.end * BLOCK_ROWS
    }
}

/// Maximum number of cells of a window, also empty ones.
const MAX_WINDOW_CELLS: u32 = 1 << 18;
/// Maximum number of columns of a window.
const MAX_WINDOW_COLUMNS: u32 = 64;
/// Maximum number of windows that are asked for at once.
const MAX_WINDOWS: usize = 16;
/// A reference to at most this number of cells is loaded before its formula is evaluated, even if
/// the evaluation may not read it.
const MAX_PREPARED_CELLS: u32 = 8_192;

impl MissingBlocks {
    /// Returns the windows of the missing rows. If a reference of the formula contains them, its
    /// other columns are read at the same time.
    pub(crate) fn windows(
        &self,
        workbook: &CalculatedWorkbook,
        own_sheet: SheetId,
        references: &[&Reference],
    ) -> Vec<CellWindow> {
        let rows = self.rows();
        let mut containing = references.iter().filter_map(|reference| {
            let area = used_area(workbook, own_sheet, reference)?;
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

/// Returns the used cells of a reference.
fn used_area(
    workbook: &CalculatedWorkbook,
    own_sheet: SheetId,
    reference: &Reference,
) -> Option<CellWindow> {
    let sheet = reference.sheet_number(own_sheet)?;
    let Rectangle { first, last } = reference.area.rectangle()?;
    let extent = workbook.extent(sheet);
    let window = Window {
        rows: first.row..(last.row + 1).min(extent.rows),
        columns: first.column..(last.column + 1).min(extent.columns),
    };
    let is_used = !window.rows.is_empty() && !window.columns.is_empty();
    is_used.then_some(CellWindow { sheet, window })
}

/// Returns the windows of small references that are not loaded, and the formula's own block.
pub(crate) fn windows_to_prepare(
    workbook: &CalculatedWorkbook,
    cells: &LoadedCells,
    key: CellKey,
    references: &[&Reference],
) -> Vec<CellWindow> {
    let mut missing = BTreeSet::new();
    for reference in references {
        let Some(CellWindow { sheet, window }) = used_area(workbook, key.sheet, reference) else {
            continue;
        };
        let (rows, columns) = (window.rows.len(), window.columns.len());
        if rows.saturating_mul(columns) > MAX_PREPARED_CELLS as usize {
            continue;
        }
        for column in window.columns {
            for number in blocks_of(&window.rows) {
                let row = number * BLOCK_ROWS;
                if cells.block(sheet, CellName { row, column }).is_none() {
                    missing.insert((sheet, row, column));
                }
            }
        }
    }
    windows_around(missing)
}

/// Returns windows of whole blocks that contain cells, which are given as sheet, row and column.
/// Blocks beside each other are read together.
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
