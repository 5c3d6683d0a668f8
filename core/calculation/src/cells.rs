//! The cells that a calculation has loaded.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use cellar_functions::RunValues;
use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::Value;
use cellar_snapshot::merge::Window;
use cellar_snapshot::tile::Tile;

use crate::block::{BLOCK_ROWS, Block, PlacedRun};
use crate::formulas::FormulaTable;
use crate::lookups::Lookups;
use crate::run::{Explanation, FormulaState, StateView};
use crate::segment::Segment;
use crate::spills::Spills;
use crate::workbook::{CalculatedWorkbook, CellKey};

/// The loaded blocks of a column, keyed by block number.
pub(crate) type ColumnBlocks = BTreeMap<u32, Block>;

/// The loaded blocks of all sheets.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadedCells {
    columns: HashMap<(SheetId, u32), ColumnBlocks>,
    formulas: FormulaTable,
    /// The cells that results of other cells fill.
    pub(crate) spills: Arc<Spills>,
    /// The indexes of columns in which many formulas search.
    pub(crate) lookups: Lookups,
    memory_bytes: usize,
    /// Number of the current request.
    request: u64,
    /// Whether all formulas are evaluated one by one.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) splits_runs: bool,
}

/// Returns the number of the block that contains `row`, and the row relative to the start of the
/// block.
pub(crate) fn block_of(row: u32) -> (u32, u32) {
    (row / BLOCK_ROWS, row % BLOCK_ROWS)
}

impl LoadedCells {
    pub(crate) fn column(&self, sheet: SheetId, column: u32) -> Option<&ColumnBlocks> {
        self.columns.get(&(sheet, column))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes + self.formulas.memory_bytes()
    }

    /// Returns the block that contains a cell, and the row of the cell relative to the start of the
    /// block.
    pub(crate) fn block(&self, sheet: SheetId, cell: CellName) -> Option<(&Block, u32)> {
        let (number, row) = block_of(cell.row);
        Some((self.column(sheet, cell.column)?.get(&number)?, row))
    }

    fn block_mut(&mut self, key: CellKey) -> Option<(&mut Block, u32)> {
        let (number, row) = block_of(key.cell.row);
        let column = self.columns.get_mut(&(key.sheet, key.cell.column))?;
        Some((column.get_mut(&number)?, row))
    }

    /// Returns the run of a cell and the index of the cell in the run. Returns `None` if the cell is
    /// not loaded or has no formula.
    pub(crate) fn formula(&self, key: CellKey) -> Option<(PlacedRun<'_>, usize)> {
        let (block, row) = self.block(key.sheet, key.cell)?;
        let placed = block.run_at(row)?;
        Some((placed, (row - placed.first) as usize))
    }

    /// Returns the state of a formula. Returns `None` if the cell is not loaded or has no formula.
    pub(crate) fn state(&self, key: CellKey) -> Option<StateView<'_>> {
        let (placed, index) = self.formula(key)?;
        Some(placed.run.state(index))
    }

    /// Returns the rows of a segment whose formulas have no result, in order. The rows of each
    /// returned segment are in the same run, which is evaluated as a whole. Returns `None` if the
    /// block is not loaded.
    pub(crate) fn unfinished(&self, segment: Segment) -> Option<Vec<Segment>> {
        let first = segment.first();
        let (block, first_row) = self.block(first.sheet, first.cell)?;
        let block_start = segment.first_row - first_row;
        let end_row = segment.end_row - block_start;
        let mut found = Vec::new();
        for placed in block.runs() {
            if placed.end <= first_row {
                continue;
            }
            if placed.first >= end_row {
                break;
            }
            let rows = first_row.max(placed.first)..end_row.min(placed.end);
            push_unfinished(placed, rows, segment, block_start, &mut found);
        }
        Some(found)
    }

    pub(crate) fn set_state(&mut self, segment: Segment, state: FormulaState) {
        let rows = segment.row_count();
        if let Some((block, row)) = self.block_mut(segment.first()) {
            block.set_state(row..row + rows, state);
        }
    }

    /// Has the formulas of the run evaluated one by one.
    pub(crate) fn split_run(&mut self, key: CellKey) {
        if let Some((block, row)) = self.block_mut(key) {
            block.split_run(row);
        }
    }

    pub(crate) fn set_result(&mut self, key: CellKey, result: Value, explanation: Explanation) {
        let request = self.request;
        if let Some((block, row)) = self.block_mut(key) {
            block.last_request = request;
            self.memory_bytes += block.set_result(row, result, explanation);
        }
    }

    /// Stores the results of a segment, whose rows are in the same run.
    pub(crate) fn set_results(
        &mut self,
        segment: Segment,
        results: RunValues,
        explanation: Explanation,
    ) {
        let (request, rows) = (self.request, segment.row_count());
        if let Some((block, row)) = self.block_mut(segment.first()) {
            block.last_request = request;
            self.memory_bytes += block.set_results(row..row + rows, results, explanation);
        }
    }

    /// Adds the blocks of a window. The rows of the window must form whole blocks. Blocks that are
    /// already loaded are kept. Returns the number of cells added.
    pub(crate) fn add(
        &mut self,
        sheet: SheetId,
        window: &Window,
        tile: &Tile,
        workbook: &CalculatedWorkbook,
    ) -> u64 {
        let blocks = blocks_of(&window.rows);
        let mut cells = 0;
        for column in window.columns.clone() {
            let tile_column = tile.columns.binary_search_by_key(&column, |found| found.index);
            let tile_column = tile_column.ok().and_then(|index| tile.columns.get(index));
            let loaded = self.columns.entry((sheet, column)).or_default();
            for number in blocks.clone() {
                if loaded.contains_key(&number) {
                    continue;
                }
                let first_row = number * BLOCK_ROWS;
                let mut block = tile_column.map_or_else(Block::default, |found| {
                    Block::new(found, first_row, &mut self.formulas, workbook)
                });
                let rows = first_row..first_row + BLOCK_ROWS;
                block.fill_blank_cells(first_row, self.spills.cells_in(sheet, column, rows));
                block.last_request = self.request;
                cells += block.cell_count();
                self.memory_bytes += block.memory_bytes();
                loaded.insert(number, block);
            }
        }
        #[cfg(any(test, feature = "testing"))]
        if self.splits_runs {
            self.split_all_runs();
        }
        cells
    }

    #[cfg(any(test, feature = "testing"))]
    fn split_all_runs(&mut self) {
        for block in self.columns.values_mut().flat_map(BTreeMap::values_mut) {
            for row in 0..BLOCK_ROWS {
                block.split_run(row);
            }
        }
    }

    /// Returns the first cell of a window, in the order of rows, that is not blank. `except` and
    /// spilled cells do not count. A cell that is not loaded counts as not blank.
    pub(crate) fn content_in(
        &self,
        sheet: SheetId,
        window: &Window,
        except: CellName,
    ) -> Option<CellName> {
        let in_column = |column: u32| {
            let loaded = self.column(sheet, column);
            let content = blocks_of(&window.rows).find_map(|number| {
                let block_start = number * BLOCK_ROWS;
                let first = window.rows.start.max(block_start);
                let end = window.rows.end.min(block_start + BLOCK_ROWS);
                let Some(block) = loaded.and_then(|blocks| blocks.get(&number)) else {
                    return Some(first);
                };
                let is_content = |row: &u32| {
                    CellName { row: *row, column } != except && block.has_content(row - block_start)
                };
                (first..end).find(is_content)
            });
            content.map(|row| CellName { row, column })
        };
        window.columns.clone().filter_map(in_column).min()
    }

    pub(crate) fn fill_in_text(&mut self, hash: &[u8; 32], value: &Value) {
        if let Value::Text(text) = value {
            self.memory_bytes += text.len();
        }
        for column in self.columns.values_mut() {
            for block in column.values_mut() {
                block.fill_in_text(hash, value);
            }
        }
    }

    /// Starts a request. Drops blocks if they use more than `max_bytes` of memory. Drops blocks
    /// without formulas first, because the results of formulas are expensive to recompute. If the
    /// remaining blocks still use more than half of `max_bytes`, drops those that were used longest
    /// ago.
    pub(crate) fn start_request(&mut self, max_bytes: usize) {
        self.request += 1;
        if self.memory_bytes() <= max_bytes {
            return;
        }
        self.drop_blocks_without_formulas();
        if self.memory_bytes() > max_bytes / 2 {
            self.drop_oldest(max_bytes / 2);
            self.formulas.shrink();
        }
    }

    /// Drops the cells that are only inputs of formulas.
    pub(crate) fn drop_blocks_without_formulas(&mut self) {
        for column in self.columns.values_mut() {
            column.retain(|_, block| block.has_formulas());
        }
        self.count_memory();
    }

    fn count_memory(&mut self) {
        let blocks = self.columns.values().flat_map(BTreeMap::values);
        self.memory_bytes = blocks.map(Block::memory_bytes).sum();
    }

    /// Drops the blocks that were used longest ago, until the others use at most `max_bytes`.
    fn drop_oldest(&mut self, max_bytes: usize) {
        let mut bytes_of_requests: BTreeMap<u64, usize> = BTreeMap::new();
        for block in self.columns.values().flat_map(BTreeMap::values) {
            *bytes_of_requests.entry(block.last_request).or_default() += block.memory_bytes();
        }
        let mut kept_bytes = 0_usize;
        let mut oldest_kept = u64::MAX;
        for (request, bytes) in bytes_of_requests.into_iter().rev() {
            kept_bytes += bytes;
            if kept_bytes > max_bytes {
                break;
            }
            oldest_kept = request;
        }
        for column in self.columns.values_mut() {
            column.retain(|_, block| block.last_request >= oldest_kept);
        }
        self.columns.retain(|_, column| !column.is_empty());
        self.count_memory();
    }
}

/// Appends the rows of a run that have no result. `rows` are relative to the start of the block.
fn push_unfinished(
    placed: PlacedRun<'_>,
    rows: Range<u32>,
    segment: Segment,
    block_start: u32,
    found: &mut Vec<Segment>,
) {
    let start = found.len();
    for row in rows {
        let index = (row - placed.first) as usize;
        if placed.run.state(index) != StateView::Unknown {
            continue;
        }
        let row = block_start + row;
        let continues = !placed.run.is_split && found.len() > start;
        match found.last_mut() {
            Some(last) if continues && last.end_row == row => last.end_row += 1,
            _ => found.push(Segment { first_row: row, end_row: row + 1, ..segment }),
        }
    }
}

/// Returns the numbers of the blocks that contain `rows`.
pub(crate) fn blocks_of(rows: &Range<u32>) -> Range<u32> {
    rows.start / BLOCK_ROWS..rows.end.div_ceil(BLOCK_ROWS)
}
