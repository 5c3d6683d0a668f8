//! Merged cells that are not in a finished output tile yet.

use super::merge_window::append_merged_window;
use super::pending_rows::PendingRows;
use super::placed_tile::PlacedTile;
use super::window::{OlderLevels, Window};
use crate::level::{StoredTile, StripeTile};
use crate::packed::PackedObject;
use crate::saturate::{saturate_u32, to_u64};
use crate::tile::{TextLayer, Tile};
use crate::tile_formulas::TileFormulas;
use cellar_base::limits::{
    FIRST_TILE_BYTES, MAX_CROWDED_TEMPLATE_BYTES, MAX_PENDING_TILE_BYTES, MAX_STORED_CHUNK_BYTES,
    MAX_TILE_CELLS, MIN_STRIPE_COLUMNS, TARGET_CHUNK_BYTES,
};
use cellar_sheet::a1::CellName;
use cellar_sheet::operation::{SheetId, Span};

/// Function that encodes a tile as a chunk. Returns `None` if the tile is too large for a chunk.
pub type TileEncoder<'a> = &'a dyn Fn(&Tile) -> Option<PackedObject>;

/// A density is the number of stored bytes per this number of cells.
pub(super) const DENSITY_CELLS: u64 = 1_024;

/// Density assumed before the first tile is encoded: 4 bytes per cell.
const INITIAL_DENSITY: u64 = 4 * DENSITY_CELLS;

/// Merged cells of a stripe that are not in a finished tile yet, in output coordinates.
#[derive(Debug, Clone)]
pub(super) struct PendingTile {
    /// Sheet of the cells, or `None` if it is not known. The index of the tiles then contains only the
    /// number of formulas.
    sheet: Option<SheetId>,
    columns: Span,
    rows: PendingRows,
    /// Stored bytes per `DENSITY_CELLS` cells of the last encoded tile. Before the first tile, an
    /// estimate.
    density: u64,
}

#[derive(Debug, Clone)]
pub(super) struct FinishedTile {
    pub(super) tile: StripeTile,
    pub(super) object: PackedObject,
}

/// Size of the pending cells, and the target size of the tile at their top.
#[derive(Debug, Clone, Copy)]
struct PendingSize {
    cell_count: usize,
    memory_bytes: usize,
    /// Stored size.
    target_bytes: u64,
}

struct EncodedRows {
    end_row: u32,
    cell_count: usize,
    /// Cells of the rows, relative to the first one.
    tile: Tile,
    object: PackedObject,
}

impl EncodedRows {
    /// Returns whether the tile is far from the target size. A single row that is too large cannot
    /// be divided.
    fn can_be_resized(&self, first_row: u32, target_bytes: u64) -> bool {
        let stored_bytes = to_u64(self.object.stored.len());
        let is_far_from_target = stored_bytes.abs_diff(target_bytes) > target_bytes / 2;
        let is_single_row = self.end_row - first_row <= 1;
        is_far_from_target && !(is_single_row && stored_bytes > target_bytes)
    }
}

/// A row does not fit into a chunk. This cannot happen in a stripe of `MIN_STRIPE_COLUMNS` columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("row {row} of the stripe at column {column} is too large for a chunk")]
pub struct RowTooLarge {
    /// Row index in the output.
    pub row: u32,
    /// First column of the stripe.
    pub column: u32,
}

impl PendingTile {
    pub(super) fn new(columns: Span, density: Option<u64>, sheet: Option<SheetId>) -> Self {
        let density = density.unwrap_or(INITIAL_DENSITY).max(1);
        Self { sheet, columns, rows: PendingRows::default(), density }
    }

    pub(super) fn density(&self) -> u64 {
        self.density
    }

    /// Appends a block below all earlier cells.
    pub(super) fn append(&mut self, block: Tile) {
        self.rows.push(block, self.tile_cells());
    }

    /// Returns the number of cells of a tile of the target size.
    pub(super) fn tile_cells(&self) -> usize {
        self.cells_of_bytes(to_u64(TARGET_CHUNK_BYTES))
    }

    /// Appends the merged cells of a window below all earlier cells.
    pub(super) fn append_merged(
        &mut self,
        tiles: &[PlacedTile<'_>],
        window: &Window,
        older_levels: OlderLevels,
    ) {
        self.rows.add_below(|cells| append_merged_window(cells, tiles, window, older_levels));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.rows.memory_bytes()
    }

    pub(super) fn expected_bytes(&self) -> u64 {
        self.bytes_of_cells(self.rows.cell_count())
    }

    fn bytes_of_cells(&self, cell_count: usize) -> u64 {
        to_u64(cell_count).saturating_mul(self.density) / DENSITY_CELLS
    }

    /// Returns whether the pending cells fill at least one and a half tiles. In this case, a tile
    /// can be cut off, and enough cells remain for another tile.
    pub(super) fn is_full(&self) -> bool {
        self.fills_tiles(self.size())
    }

    fn fills_tiles(&self, pending: PendingSize) -> bool {
        let one_and_a_half_tiles = pending.target_bytes + pending.target_bytes / 2;
        self.bytes_of_cells(pending.cell_count) >= one_and_a_half_tiles
            || pending.cell_count > MAX_TILE_CELLS
            || pending.memory_bytes > MAX_PENDING_TILE_BYTES
    }

    fn size(&self) -> PendingSize {
        PendingSize {
            cell_count: self.rows.cell_count(),
            memory_bytes: self.memory_bytes(),
            target_bytes: self.target_bytes(),
        }
    }

    /// The first tile of a sheet is smaller, so that readers can display the first screen sooner.
    fn target_bytes(&self) -> u64 {
        let is_first_tile = self.columns.first == 0 && self.rows.first_row() == Some(0);
        to_u64(if is_first_tile { FIRST_TILE_BYTES } else { TARGET_CHUNK_BYTES })
    }

    /// Returns `None` if there are no cells. If the encoded size is far from the target size, and
    /// another number of cells is closer to it, encodes the tile a second time.
    pub(super) fn cut_tile(
        &mut self,
        encode_tile: TileEncoder<'_>,
    ) -> Result<Option<FinishedTile>, RowTooLarge> {
        let Some(first_row) = self.rows.first_row() else { return Ok(None) };
        let pending = self.size();
        let cells = self.next_tile_cells(pending);
        let mut encoded_rows = self.encode_top_rows(first_row, cells, encode_tile)?;
        let resized_cells = self.next_tile_cells(pending);
        if resized_cells != cells && encoded_rows.can_be_resized(first_row, pending.target_bytes) {
            self.put_back(encoded_rows.tile, first_row);
            encoded_rows = self.encode_top_rows(first_row, resized_cells, encode_tile)?;
        }
        let EncodedRows { end_row, cell_count, tile: cells, object } = encoded_rows;
        let corner = CellName { row: first_row, column: self.columns.first };
        let tile = StripeTile {
            rows: Span { first: first_row, count: end_row - first_row },
            cells: saturate_u32(cell_count),
            stored: StoredTile::Chunk(object.chunk),
            formulas: Some(match self.sheet {
                Some(sheet) => TileFormulas::of_tile(&cells, corner, sheet),
                None => TileFormulas::counted(saturate_u32(cells.formula_count())),
            }),
        };
        Ok(Some(FinishedTile { tile, object }))
    }

    /// Encodes fewer rows if they are too large for a chunk. Updates the density.
    fn encode_top_rows(
        &mut self,
        first_row: u32,
        max_cells: usize,
        encode_tile: TileEncoder<'_>,
    ) -> Result<EncodedRows, RowTooLarge> {
        let mut cell_limit = max_cells;
        loop {
            let mut tile = self.rows.take_top_rows(cell_limit);
            let (end_row, cell_count) = (tile.end(), tile.cell_count());
            tile.move_up_and_left(first_row, self.columns.first);
            let is_single_row = end_row - first_row <= 1;
            let mut object = encode_within_limit(&tile, encode_tile);
            if object.is_none() && is_single_row && self.columns.count <= MIN_STRIPE_COLUMNS {
                tile = without_long_formulas(tile);
                object = encode_within_limit(&tile, encode_tile);
            }
            if let Some(object) = object {
                self.update_density(object.stored.len(), cell_count);
                return Ok(EncodedRows { end_row, cell_count, tile, object });
            }
            if is_single_row {
                return Err(RowTooLarge { row: first_row, column: self.columns.first });
            }
            cell_limit = (cell_limit.min(cell_count) / 2).max(1);
            self.put_back(tile, first_row);
        }
    }

    /// Returns the number of cells for the next tile of pending cells. It contains all of them,
    /// unless they fill more than one tile.
    fn next_tile_cells(&self, pending: PendingSize) -> usize {
        if !self.fills_tiles(pending) {
            return pending.cell_count;
        }
        self.cells_of_bytes(pending.target_bytes)
    }

    fn cells_of_bytes(&self, stored_bytes: u64) -> usize {
        let cell_count = stored_bytes * DENSITY_CELLS / self.density;
        usize::try_from(cell_count).unwrap_or(usize::MAX).clamp(1, MAX_TILE_CELLS)
    }

    fn update_density(&mut self, stored_bytes: usize, cell_count: usize) {
        let density = to_u64(stored_bytes) * DENSITY_CELLS / to_u64(cell_count).max(1);
        self.density = density.max(1);
    }

    fn put_back(&mut self, mut tile: Tile, first_row: u32) {
        tile.move_down_and_right(first_row, self.columns.first);
        self.rows.put_back(tile);
    }
}

/// Template of a formula that is lost.
const LOST_FORMULA: &str = "=#REF!";

/// Replaces the longest formulas of a row that is too large for a chunk. This takes a row of about a
/// hundred formulas with a thousand references each to distant cells.
fn without_long_formulas(mut tile: Tile) -> Tile {
    for column in &mut tile.columns {
        let mut templates = TextLayer::default();
        for (row, template) in column.templates.iter() {
            let is_long = template.len() > MAX_CROWDED_TEMPLATE_BYTES;
            templates.push(row, if is_long { LOST_FORMULA } else { template });
        }
        column.templates = templates;
    }
    tile
}

fn encode_within_limit(tile: &Tile, encode_tile: TileEncoder<'_>) -> Option<PackedObject> {
    encode_tile(tile).filter(|object| object.stored.len() <= MAX_STORED_CHUNK_BYTES)
}
