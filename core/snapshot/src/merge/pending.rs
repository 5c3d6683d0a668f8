//! Cells that are merged and not yet in a tile.

use crate::level::{StoredTile, TilePlace};
use crate::packed::PackedObject;
use crate::tile::Tile;
use cellar_base::limits::{
    FIRST_TILE_BYTES, MAX_STORED_CHUNK_BYTES, MAX_TILE_CELLS, TARGET_CHUNK_BYTES,
};
use cellar_sheet::operation::Span;

use super::TileEncoder;

/// Tiles are cut by how large the ones before became: bytes of 1,024 cells.
const FIRST_GUESS: u64 = 4 * 1_024;

/// The cells of a stripe that wait for a tile, in rows and columns of the output.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    columns: Span,
    tile: Tile,
    cells: usize,
    /// Bytes of 1,024 cells, as seen.
    density: u64,
}

/// A tile that was cut, and the chunk to store.
#[derive(Debug, Clone)]
pub(super) struct CutTile {
    pub(super) place: TilePlace,
    pub(super) object: PackedObject,
}

/// A row that fits no chunk: no row of `MIN_STRIPE_COLUMNS` columns is that large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("row {row} of the stripe from column {column} fits no chunk")]
pub struct RowTooLarge {
    /// The row.
    pub row: u32,
    /// The stripe's first column.
    pub column: u32,
}

impl Pending {
    pub(super) fn new(columns: Span, density: Option<u64>) -> Self {
        let density = density.unwrap_or(FIRST_GUESS).max(1);
        Self { columns, tile: Tile::default(), cells: 0, density }
    }

    /// Bytes of 1,024 cells, as seen: what a later tile is cut by.
    pub(super) fn density(&self) -> u64 {
        self.density
    }

    pub(super) fn append(&mut self, tile: Tile) {
        self.cells = self.cells.saturating_add(tile.cells());
        self.tile.append(tile);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// About how many bytes it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.tile.memory_bytes()
    }

    /// How many bytes it would take as a tile, about.
    pub(super) fn expected_bytes(&self) -> u64 {
        u64::try_from(self.cells).unwrap_or(u64::MAX).saturating_mul(self.density) / 1_024
    }

    /// Whether there is enough for a tile and half a tile behind it.
    pub(super) fn is_full(&self) -> bool {
        let target = self.target_bytes();
        self.expected_bytes() >= target.saturating_add(target / 2) || self.cells > MAX_TILE_CELLS
    }

    /// The first tile of a sheet is smaller, so that its first view is there sooner.
    fn target_bytes(&self) -> u64 {
        let first = self.columns.first == 0 && self.tile.first_row() == Some(0);
        let target = if first { FIRST_TILE_BYTES } else { TARGET_CHUNK_BYTES };
        u64::try_from(target).unwrap_or(u64::MAX)
    }

    /// Cuts a tile off the top; `None` if there is nothing.
    pub(super) fn cut(&mut self, encode: TileEncoder<'_>) -> Result<Option<CutTile>, RowTooLarge> {
        let Some(first) = self.tile.first_row() else { return Ok(None) };
        let mut wanted = self.wanted_cells();
        let mut corrected = false;
        loop {
            let end = self.row_behind(first, wanted);
            let rows = first..end;
            let part = self.tile.part(&rows, first, self.columns.first);
            let cells = part.cells();
            let fits = encode(&part).filter(|object| object.stored.len() <= MAX_STORED_CHUNK_BYTES);
            let Some(object) = fits else {
                if end.saturating_sub(first) <= 1 {
                    return Err(RowTooLarge { row: first, column: self.columns.first });
                }
                wanted = (wanted.min(cells) / 2).max(1);
                continue;
            };
            let target = self.target_bytes();
            self.learn(object.stored.len(), cells);
            let stored = u64::try_from(object.stored.len()).unwrap_or(u64::MAX);
            let far_off = stored > target.saturating_mul(3) / 2 || stored < target / 2;
            let better = self.wanted_cells();
            if far_off && !corrected && self.row_behind(first, better) != end {
                wanted = better;
                corrected = true;
                continue;
            }
            self.drop_rows_above(end);
            let rows = Span { first, count: end.saturating_sub(first) };
            let stored = StoredTile::Chunk(object.chunk);
            let cells = u32::try_from(cells).unwrap_or(u32::MAX);
            return Ok(Some(CutTile { place: TilePlace { rows, cells, stored }, object }));
        }
    }

    /// How many cells the next tile should have: all, if they are not too many.
    fn wanted_cells(&self) -> usize {
        if !self.is_full() {
            return self.cells;
        }
        let cells = self.target_bytes().saturating_mul(1_024) / self.density;
        usize::try_from(cells).unwrap_or(usize::MAX).clamp(1, MAX_TILE_CELLS)
    }

    fn learn(&mut self, bytes: usize, cells: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(1_024);
        let cells = u64::try_from(cells).unwrap_or(u64::MAX).max(1);
        self.density = (bytes / cells).max(1);
    }

    /// The row behind as many cells as wanted, at least one row; behind the last that holds
    /// something.
    fn row_behind(&self, first: u32, cells: usize) -> u32 {
        let last = self.tile.end();
        let (mut low, mut high) = (first.saturating_add(1), last);
        while low < high {
            let middle = low.midpoint(high).saturating_add(1).min(high);
            if self.tile.cells_above(middle) <= cells {
                low = middle;
            } else {
                high = middle.saturating_sub(1);
            }
        }
        // No tile ends in rows that hold nothing.
        self.tile.end_above(low)
    }

    fn drop_rows_above(&mut self, row: u32) {
        self.tile = self.tile.part(&(row..u32::MAX), 0, 0);
        self.cells = self.tile.cells();
    }
}
