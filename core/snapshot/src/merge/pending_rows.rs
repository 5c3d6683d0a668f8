//! Rows of cells in blocks, from which tiles are taken from top to bottom.

use std::collections::VecDeque;

use crate::tile::Tile;
use cellar_base::limits::MAX_TILE_CELLS;

/// Blocks of rows, from top to bottom. A block that is about as large as a tile becomes a tile without
/// a copy of its cells. Other blocks are joined and divided.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingRows {
    /// None of the blocks is empty.
    blocks: VecDeque<Tile>,
}

impl PendingRows {
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(super) fn cell_count(&self) -> usize {
        self.blocks.iter().map(Tile::cell_count).sum()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.blocks.iter().map(Tile::memory_bytes).sum()
    }

    pub(super) fn first_row(&self) -> Option<u32> {
        self.blocks.front().and_then(Tile::first_row)
    }

    /// Adds a block below all others. Joins it to the last one if both together have at most
    /// `tile_cells` cells.
    pub(super) fn push(&mut self, block: Tile, tile_cells: usize) {
        if block.is_empty() {
            return;
        }
        match self.blocks.back_mut() {
            Some(last) if last.cell_count() + block.cell_count() <= tile_cells => {
                last.append(block);
            }
            _ => self.blocks.push_back(block),
        }
    }

    /// Calls `add_rows` with the last block. It must add rows only below its rows.
    pub(super) fn add_below(&mut self, add_rows: impl FnOnce(&mut Tile)) {
        let mut last = self.blocks.pop_back().unwrap_or_default();
        add_rows(&mut last);
        if !last.is_empty() {
            self.blocks.push_back(last);
        }
    }

    /// Removes the rows for a tile of about `tile_cells` cells, at least one row.
    ///
    /// If other blocks follow, the rows of the first one are divided into equal tiles, so that the
    /// end of a tile is the end of the block. The number of cells is then between three quarters of
    /// `tile_cells` and one and a half times as many. Without other blocks, there are at most
    /// `tile_cells`, unless they are in a single row.
    pub(super) fn take_top_rows(&mut self, tile_cells: usize) -> Tile {
        let do_blocks_follow = self.blocks.len() > 1;
        let mut top = self.join_top_blocks(tile_cells - tile_cells / 4);
        let cell_count = top.cell_count();
        let max_cells =
            if do_blocks_follow { equal_share(cell_count, tile_cells) } else { tile_cells };
        if cell_count > max_cells {
            let lower_rows = top.split_off(find_end_row(&top, max_cells));
            if !lower_rows.is_empty() {
                self.blocks.push_front(lower_rows);
            }
        }
        top
    }

    /// Undoes [`PendingRows::take_top_rows`].
    pub(super) fn put_back(&mut self, mut top: Tile) {
        top.append(self.blocks.pop_front().unwrap_or_default());
        self.blocks.push_front(top);
    }

    /// Removes the first block, and as many others as it takes to have `min_cells` cells.
    fn join_top_blocks(&mut self, min_cells: usize) -> Tile {
        let mut top = self.blocks.pop_front().unwrap_or_default();
        while top.cell_count() < min_cells
            && let Some(next) = self.blocks.pop_front()
        {
            top.append(next);
        }
        top
    }
}

/// Divides cells into tiles of about `tile_cells` cells. Returns the number of cells of each.
fn equal_share(cell_count: usize, tile_cells: usize) -> usize {
    let nearest_count = (cell_count + tile_cells / 2) / tile_cells.max(1);
    let min_count = cell_count.div_ceil(MAX_TILE_CELLS);
    cell_count.div_ceil(nearest_count.max(min_count).max(1))
}

/// Returns the exclusive end row of a tile at the top of `cells`. It has at least one row, and does not
/// end with an empty row. Unless it has a single row, it has at most `max_cells` cells.
fn find_end_row(cells: &Tile, max_cells: usize) -> u32 {
    // Binary search for the maximum end row with at most `max_cells` cells above it.
    let mut lowest_end = cells.first_row().unwrap_or(0) + 1;
    let mut highest_end = cells.end();
    while lowest_end < highest_end {
        let middle = lowest_end + (highest_end - lowest_end).div_ceil(2);
        if cells.cell_count_above(middle) <= max_cells {
            lowest_end = middle;
        } else {
            highest_end = middle - 1;
        }
    }
    cells.end_above(lowest_end)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::*;

    use super::*;
    use crate::tile::{TileColumn, TileValue};

    const TILE_CELLS: usize = 100;

    /// Returns a block with a number in the first column of each row.
    fn block(rows: Range<u32>) -> Tile {
        let mut column = TileColumn::new(0);
        rows.for_each(|row| column.values.push(row, TileValue::Number(row.into())));
        Tile { columns: vec![column] }
    }

    fn rows_of(tile: &Tile) -> &[u32] {
        tile.columns.first().map_or(&[], |column| column.values.rows())
    }

    fn pending(block_rows: &[u32]) -> PendingRows {
        let (mut pending, mut first_row) = (PendingRows::default(), 0);
        for rows in block_rows {
            pending.push(block(first_row..first_row + rows), TILE_CELLS);
            first_row += rows;
        }
        pending
    }

    /// Returns the number of rows of each tile.
    fn tile_sizes(mut pending: PendingRows) -> Vec<usize> {
        let mut sizes = Vec::new();
        while !pending.is_empty() {
            sizes.push(pending.take_top_rows(TILE_CELLS).cell_count());
        }
        sizes
    }

    #[test]
    fn a_block_of_about_a_tile_is_not_copied() {
        for rows in [75, 100, 149] {
            let mut pending = pending(&[rows, 75]);
            let address_before = rows_of(&pending.blocks[0]).as_ptr();
            let tile = pending.take_top_rows(TILE_CELLS);
            assert_eq!(rows_of(&tile).as_ptr(), address_before);
            assert_eq!((tile.end(), pending.cell_count()), (rows, 75));
        }
    }

    #[test]
    fn the_last_tile_of_a_block_ends_with_it() {
        assert_eq!(tile_sizes(pending(&[150, 80])), [75, 75, 80]);
        assert_eq!(tile_sizes(pending(&[74, 100, 100])), [87, 87, 100]);
        assert_eq!(tile_sizes(pending(&[330, 90])), [110, 110, 110, 90]);
        assert_eq!(tile_sizes(pending(&[330])), [100, 100, 100, 30]);
    }

    #[test]
    fn small_blocks_are_joined_up_to_the_size_of_a_tile() {
        let pending = pending(&[40, 60, 1, 98, 2]);
        let block_sizes: Vec<usize> = pending.blocks.iter().map(Tile::cell_count).collect();
        assert_eq!(block_sizes, [100, 99, 2]);
    }

    #[test]
    fn no_tile_has_more_cells_than_a_tile_can_have() {
        assert_eq!(equal_share(MAX_TILE_CELLS, MAX_TILE_CELLS), MAX_TILE_CELLS);
        assert_eq!(equal_share(MAX_TILE_CELLS + 1, MAX_TILE_CELLS), MAX_TILE_CELLS / 2 + 1);
        assert_eq!(equal_share(1, MAX_TILE_CELLS), 1);
        assert_eq!(equal_share(7, 0), 1);
    }

    proptest! {
        #[test]
        fn tiles_contain_each_row_once(
            block_rows in proptest::collection::vec(1..400_u32, 1..12),
            is_put_back in any::<bool>(),
        ) {
            let mut pending = pending(&block_rows);
            let mut taken_rows = Vec::new();
            while !pending.is_empty() {
                let followed = pending.blocks.len() > 1;
                let mut tile = pending.take_top_rows(TILE_CELLS);
                if is_put_back {
                    pending.put_back(tile);
                    tile = pending.take_top_rows(TILE_CELLS);
                }
                let cells = tile.cell_count();
                let max_cells = if followed { TILE_CELLS * 3 / 2 } else { TILE_CELLS };
                prop_assert!(cells <= max_cells);
                let is_last = pending.is_empty();
                prop_assert!(is_put_back || !followed || is_last || cells >= TILE_CELLS * 3 / 4);
                taken_rows.extend_from_slice(rows_of(&tile));
            }
            let all_rows: Vec<u32> = (0..block_rows.iter().sum()).collect();
            prop_assert_eq!(taken_rows, all_rows);
        }
    }
}
