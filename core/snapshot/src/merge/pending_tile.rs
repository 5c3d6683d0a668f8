//! Merged cells that are not part of a finished output tile yet.

use crate::level::{StoredTile, TilePlace};
use crate::packed::PackedObject;
use crate::tile::Tile;
use cellar_base::limits::{
    FIRST_TILE_BYTES, MAX_STORED_CHUNK_BYTES, MAX_TILE_CELLS, TARGET_CHUNK_BYTES,
};
use cellar_sheet::operation::Span;

/// Encodes a tile as a chunk. Returns `None` if the tile is too large for a chunk.
pub type TileEncoder<'a> = &'a dyn Fn(&Tile) -> Option<PackedObject>;

/// Number of cells to which a density refers: a density is the number of stored bytes per this many
/// cells.
pub(super) const DENSITY_CELLS: u64 = 1_024;

/// Density assumed before the first tile is encoded: 4 bytes per cell.
const INITIAL_DENSITY: u64 = 4 * DENSITY_CELLS;

/// Merged cells of a stripe, in output coordinates, that are not part of a finished tile yet.
#[derive(Debug, Clone)]
pub(super) struct PendingTile {
    columns: Span,
    tile: Tile,
    cells: usize,
    /// Stored bytes per `DENSITY_CELLS` cells in the last tile, used to predict the size of the
    /// next tile.
    density: u64,
}

/// A finished output tile and its chunk.
#[derive(Debug, Clone)]
pub(super) struct CutTile {
    pub(super) place: TilePlace,
    pub(super) object: PackedObject,
}

/// A row does not fit into a chunk. Cannot happen in a stripe of `MIN_STRIPE_COLUMNS` columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("row {row} of the stripe at column {column} is too large for a chunk")]
pub struct RowTooLarge {
    /// Row index in the output.
    pub row: u32,
    /// First column of the stripe.
    pub column: u32,
}

impl PendingTile {
    pub(super) fn new(columns: Span, density: Option<u64>) -> Self {
        let density = density.unwrap_or(INITIAL_DENSITY).max(1);
        Self { columns, tile: Tile::default(), cells: 0, density }
    }

    /// Returns the stored bytes per `DENSITY_CELLS` cells in the last tile.
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

    /// Returns the approximate memory use in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.tile.memory_bytes()
    }

    /// Returns the estimated stored size of the pending cells in bytes.
    pub(super) fn expected_bytes(&self) -> u64 {
        u64::try_from(self.cells).unwrap_or(u64::MAX).saturating_mul(self.density) / DENSITY_CELLS
    }

    /// Returns whether the pending cells fill at least one and a half tiles. After one tile is cut
    /// off, enough cells for another tile then remain.
    pub(super) fn is_full(&self) -> bool {
        let target = self.target_bytes();
        self.expected_bytes() >= target.saturating_add(target / 2) || self.cells > MAX_TILE_CELLS
    }

    /// Returns the target size of the next tile. The first tile of a sheet is smaller, so that
    /// readers can display the first screen sooner.
    fn target_bytes(&self) -> u64 {
        let is_first_tile = self.columns.first == 0 && self.tile.first_row() == Some(0);
        let target = if is_first_tile { FIRST_TILE_BYTES } else { TARGET_CHUNK_BYTES };
        u64::try_from(target).unwrap_or(u64::MAX)
    }

    /// Cuts off the topmost tile and encodes it. Returns `None` if there are no cells. Encodes a
    /// second time if the first attempt misses the target size by far.
    pub(super) fn cut_tile(
        &mut self,
        encode: TileEncoder<'_>,
    ) -> Result<Option<CutTile>, RowTooLarge> {
        let Some(first) = self.tile.first_row() else { return Ok(None) };
        let mut target_cells = self.next_tile_cells();
        let mut is_resized = false;
        loop {
            let end = self.find_end_row(first, target_cells);
            let part = self.tile.slice_rows(&(first..end), first, self.columns.first);
            let cells = part.cells();
            let Some(object) = encode_within_limit(&part, encode) else {
                if end.saturating_sub(first) <= 1 {
                    return Err(RowTooLarge { row: first, column: self.columns.first });
                }
                target_cells = (target_cells.min(cells) / 2).max(1);
                continue;
            };
            self.update_density(object.stored.len(), cells);
            let resized_cells = self.next_tile_cells();
            if !is_resized
                && self.is_far_from_target(object.stored.len())
                && self.find_end_row(first, resized_cells) != end
            {
                target_cells = resized_cells;
                is_resized = true;
                continue;
            }
            self.drop_rows_before(end);
            let rows = Span { first, count: end.saturating_sub(first) };
            let stored = StoredTile::Chunk(object.chunk);
            let cells = u32::try_from(cells).unwrap_or(u32::MAX);
            return Ok(Some(CutTile { place: TilePlace { rows, cells, stored }, object }));
        }
    }

    /// Returns the number of cells for the next tile: all pending cells, unless they fill more than
    /// one tile.
    fn next_tile_cells(&self) -> usize {
        if !self.is_full() {
            return self.cells;
        }
        let cells = self.target_bytes().saturating_mul(DENSITY_CELLS) / self.density;
        usize::try_from(cells).unwrap_or(usize::MAX).clamp(1, MAX_TILE_CELLS)
    }

    fn is_far_from_target(&self, stored_bytes: usize) -> bool {
        let stored_bytes = u64::try_from(stored_bytes).unwrap_or(u64::MAX);
        let target = self.target_bytes();
        stored_bytes > target.saturating_mul(3) / 2 || stored_bytes < target / 2
    }

    fn update_density(&mut self, stored_bytes: usize, cells: usize) {
        let stored_bytes = u64::try_from(stored_bytes).unwrap_or(u64::MAX);
        let cells = u64::try_from(cells).unwrap_or(u64::MAX).max(1);
        self.density = (stored_bytes.saturating_mul(DENSITY_CELLS) / cells).max(1);
    }

    /// Returns the exclusive end row of a tile that starts at row `first`. The tile has at least
    /// one row, at most `max_cells` cells unless it is a single row, and no empty rows at the end.
    fn find_end_row(&self, first: u32, max_cells: usize) -> u32 {
        let (mut low, mut high) = (first.saturating_add(1), self.tile.end());
        while low < high {
            let middle = low.midpoint(high).saturating_add(1).min(high);
            if self.tile.cells_above(middle) <= max_cells {
                low = middle;
            } else {
                high = middle.saturating_sub(1);
            }
        }
        self.tile.end_above(low)
    }

    fn drop_rows_before(&mut self, row: u32) {
        self.tile = self.tile.slice_rows(&(row..u32::MAX), 0, 0);
        self.cells = self.tile.cells();
    }
}

fn encode_within_limit(tile: &Tile, encode: TileEncoder<'_>) -> Option<PackedObject> {
    encode(tile).filter(|object| object.stored.len() <= MAX_STORED_CHUNK_BYTES)
}
