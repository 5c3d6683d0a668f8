//! The cells that a calculation has loaded.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use cellar_grid::SheetId;
use cellar_grid::a1::CellName;
use cellar_sheet::cell::Value;
use cellar_snapshot::merge::Window;
use cellar_snapshot::tile::Tile;

use crate::block::{BLOCK_ROWS, Block, Explanation, FormulaCell, FormulaState, PartCells};
use crate::workbook::CellKey;

/// The loaded blocks of a column, keyed by block number.
pub(crate) type ColumnBlocks = BTreeMap<u32, Block>;

/// The loaded blocks of all sheets.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadedCells {
    columns: HashMap<(SheetId, u32), ColumnBlocks>,
    memory_bytes: usize,
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

    #[cfg(test)]
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
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

    /// Returns the formula of a cell, or `None` if the cell is not loaded or has no formula.
    pub(crate) fn formula(&self, key: CellKey) -> Option<&FormulaCell> {
        let (block, row) = self.block(key.sheet, key.cell)?;
        block.formulas.get(block.formula_index(row)?)
    }

    /// Returns the result of a calculated formula.
    pub(crate) fn result(&self, key: CellKey) -> Option<Value> {
        let (block, row) = self.block(key.sheet, key.cell)?;
        let (part, first_row) = block.part_at(row)?;
        match &part.cells {
            PartCells::Formulas { results, .. } => results.get((row - first_row) as usize).cloned(),
            _ => None,
        }
    }

    pub(crate) fn set_state(&mut self, key: CellKey, state: FormulaState) {
        if let Some((block, row)) = self.block_mut(key) {
            block.set_state(row, state);
        }
    }

    pub(crate) fn set_result(&mut self, key: CellKey, result: Value, explanation: Explanation) {
        if let Value::Text(text) = &result {
            self.memory_bytes = self.memory_bytes.saturating_add(text.len());
        }
        if let Some((block, row)) = self.block_mut(key) {
            block.set_result(row, result, explanation);
        }
    }

    /// Adds the blocks of a window. The rows of the window must form whole blocks. Blocks that are
    /// already loaded are kept. Returns the number of cells added.
    pub(crate) fn add(&mut self, sheet: SheetId, window: &Window, tile: &Tile) -> u64 {
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
                let block = tile_column
                    .map_or_else(Block::default, |found| Block::new(found, number * BLOCK_ROWS));
                cells += block.cell_count();
                self.memory_bytes = self.memory_bytes.saturating_add(block.memory_bytes());
                loaded.insert(number, block);
            }
        }
        cells
    }

    pub(crate) fn fill_in_text(&mut self, hash: &[u8; 32], value: &Value) {
        if let Value::Text(text) = value {
            self.memory_bytes = self.memory_bytes.saturating_add(text.len());
        }
        for column in self.columns.values_mut() {
            for block in column.values_mut() {
                block.fill_in_text(hash, value);
            }
        }
    }

    /// Drops blocks if they use more than `max_bytes` of memory. Drops blocks without formulas
    /// first, because the results of formulas are expensive to recompute. If the remaining blocks
    /// still use more than half of `max_bytes`, drops them too.
    pub(crate) fn shrink(&mut self, max_bytes: usize) {
        if self.memory_bytes <= max_bytes {
            return;
        }
        for column in self.columns.values_mut() {
            column.retain(|_, block| !block.formulas.is_empty());
        }
        let blocks = self.columns.values().flat_map(BTreeMap::values);
        self.memory_bytes = blocks.map(Block::memory_bytes).sum();
        if self.memory_bytes > max_bytes / 2 {
            *self = Self::default();
        }
    }
}

/// Returns the numbers of the blocks that contain `rows`.
pub(crate) fn blocks_of(rows: &Range<u32>) -> Range<u32> {
    rows.start / BLOCK_ROWS..rows.end.div_ceil(BLOCK_ROWS)
}
