//! Merges one stripe (range of columns) from top to bottom, with only a few rows of tiles in memory
//! at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::input::{InputCells, LevelInput};
use super::merge_window::merge_window;
use super::part::Part;
use super::pending_tile::{DENSITY_CELLS, PendingTile, RowTooLarge, TileEncoder};
use super::source::Source;
use super::stripe_tiles::{InputTile, MIN_REUSED_BYTES, OutputStripe};
use super::window::{Below, Window};
use crate::level::{ChunkHash, ChunkRef, StoredTile, TilePlace};
use crate::packed::PackedObject;
use crate::tile::Tile;
use cellar_sheet::operation::Span;

/// Number of tiles prefetched together with the tiles that are needed next.
const TILES_AHEAD: usize = 4;

/// Loaded tiles, keyed by chunk name.
pub(super) type LoadedTiles = BTreeMap<ChunkHash, Arc<Tile>>;

/// A stripe being merged.
#[derive(Debug, Clone)]
pub(super) struct StripeMerge {
    columns: Span,
    below: Below,
    /// First row that is not merged yet. Cells above are in finished tiles or in `pending`.
    row: u32,
    /// Stored tiles, sorted by first output row.
    tiles: Vec<InputTile>,
    /// In-memory tiles with their level indices.
    memory_tiles: Vec<(usize, Arc<Tile>)>,
    /// Output rows in which in-memory tiles have cells, in ascending order.
    memory_rows: Vec<u32>,
    pending: PendingTile,
}

/// Next step of a stripe merge.
pub(super) enum StripeStep {
    /// Load these tiles first.
    Load(Vec<ChunkRef>),
    /// A finished output tile and its chunk, or no chunk if an input tile is reused unchanged.
    Tile(TilePlace, Option<PackedObject>),
    /// The stripe is merged.
    Done,
}

/// The sheet's levels with their mappings to the newest level.
pub(super) struct SheetLevels<'a> {
    pub(super) inputs: &'a [LevelInput],
    pub(super) sources: &'a [Source],
    pub(super) below: Below,
}

impl StripeMerge {
    /// Starts or resumes merging a stripe at `row`; all rows above must be finished.
    pub(super) fn open(
        columns: Span,
        row: u32,
        density: Option<u64>,
        levels: &SheetLevels<'_>,
    ) -> Self {
        let below = levels.below;
        let mut merge = Self {
            columns,
            below,
            row,
            tiles: Vec::new(),
            memory_tiles: Vec::new(),
            memory_rows: Vec::new(),
            pending: PendingTile::new(columns, density),
        };
        let output = OutputStripe { columns, below, first_row: row };
        for (level, (input, source)) in levels.inputs.iter().zip(levels.sources).enumerate() {
            match &input.cells {
                InputCells::Memory(tile) => merge.add_memory_tile(level, tile, source),
                InputCells::Chunks(stripes) => {
                    for stripe in stripes {
                        merge.tiles.extend(output.input_tiles(level, stripe, source));
                    }
                }
            }
        }
        merge.tiles.sort_by_key(|tile| (tile.rows.first, tile.level));
        merge.memory_rows.sort_unstable();
        merge.memory_rows.dedup();
        if density.is_none() {
            merge.pending = PendingTile::new(columns, merge.input_density());
        }
        merge
    }

    /// Returns the stored bytes per `DENSITY_CELLS` cells in the input tiles, as an estimate for
    /// the output tiles.
    fn input_density(&self) -> Option<u64> {
        let bytes = self.tiles.iter().map(|tile| u64::from(tile.chunk.bytes));
        let cells = self.tiles.iter().map(|tile| u64::from(tile.cells));
        let bytes = bytes.fold(0, u64::saturating_add);
        bytes.saturating_mul(DENSITY_CELLS).checked_div(cells.fold(0, u64::saturating_add))
    }

    fn add_memory_tile(&mut self, level: usize, tile: &Arc<Tile>, source: &Source) {
        let columns = self.columns.first..self.columns.end();
        let unfinished = Window { rows: self.row..u32::MAX, columns };
        let rows = Part::whole_sheet(tile, source).rows(&unfinished);
        if !rows.is_empty() {
            self.memory_rows.extend(rows);
            self.memory_tiles.push((level, Arc::clone(tile)));
        }
    }

    pub(super) fn density(&self) -> u64 {
        self.pending.density()
    }

    /// Returns whether a loaded tile is still needed for the rest of the stripe.
    pub(super) fn needs_tile(&self, hash: &ChunkHash) -> bool {
        self.unfinished_tiles().any(|tile| tile.chunk.hash == *hash)
    }

    pub(super) fn step(
        &mut self,
        sources: &[Source],
        loaded: &LoadedTiles,
        encode: TileEncoder<'_>,
    ) -> Result<StripeStep, RowTooLarge> {
        loop {
            if self.pending.is_full() {
                return self.cut_tile(encode);
            }
            let Some(row) = self.next_row() else { return self.cut_tile(encode) };
            self.row = row;
            if let Some(tile) = self.find_reusable_tile() {
                if self.pending.is_empty() {
                    self.row = tile.rows.end();
                    return Ok(reuse_tile(&tile));
                }
                if self.pending.expected_bytes() >= MIN_REUSED_BYTES {
                    return self.cut_tile(encode);
                }
            }
            let band_end = self.band_end();
            let missing = self.missing_tiles(band_end, loaded);
            if !missing.is_empty() {
                return Ok(StripeStep::Load(missing));
            }
            self.merge_band(band_end, sources, loaded);
        }
    }

    fn cut_tile(&mut self, encode: TileEncoder<'_>) -> Result<StripeStep, RowTooLarge> {
        let cut = self.pending.cut_tile(encode)?;
        Ok(cut.map_or(StripeStep::Done, |cut| StripeStep::Tile(cut.place, Some(cut.object))))
    }

    fn unfinished_tiles(&self) -> impl Iterator<Item = &InputTile> {
        self.tiles.iter().filter(|tile| tile.rows.end() > self.row)
    }

    /// Returns the next unfinished row in which an in-memory tile has a cell.
    fn next_memory_row(&self) -> Option<u32> {
        let index = self.memory_rows.partition_point(|row| *row < self.row);
        self.memory_rows.get(index).copied()
    }

    /// Returns the next unfinished row in which any input may have a cell.
    fn next_row(&self) -> Option<u32> {
        let tile_row = self.unfinished_tiles().map(|tile| tile.rows.first.max(self.row)).min();
        tile_row.into_iter().chain(self.next_memory_row()).min()
    }

    /// Returns a tile that can be reused unchanged: one that starts at the current row and shares
    /// no row with other inputs.
    fn find_reusable_tile(&self) -> Option<InputTile> {
        let starts_here = |tile: &&InputTile| tile.is_reusable && tile.rows.first == self.row;
        let tile = self.unfinished_tiles().find(starts_here)?;
        let end = tile.rows.end();
        let overlapping_tiles =
            self.unfinished_tiles().filter(|other| other.rows.first < end).count();
        let overlaps_memory = self.next_memory_row().is_some_and(|row| row < end);
        (overlapping_tiles == 1 && !overlaps_memory).then(|| tile.clone())
    }

    /// Returns the next row at which a tile starts or ends. All rows before it overlap the same
    /// tiles.
    fn band_end(&self) -> u32 {
        let next_edge = |tile: &InputTile| {
            if tile.rows.first > self.row { tile.rows.first } else { tile.rows.end() }
        };
        self.unfinished_tiles().map(next_edge).min().unwrap_or(u32::MAX)
    }

    /// Returns the tiles to load before the band can be merged, plus a few tiles after the band.
    /// Returns no tiles if the band can be merged now.
    fn missing_tiles(&self, band_end: u32, loaded: &LoadedTiles) -> Vec<ChunkRef> {
        let is_missing = |tile: &&InputTile| !loaded.contains_key(&tile.chunk.hash);
        let (in_band, after_band): (Vec<&InputTile>, Vec<&InputTile>) =
            self.unfinished_tiles().partition(|tile| tile.rows.first < band_end);
        let mut missing: Vec<ChunkRef> =
            in_band.into_iter().filter(is_missing).map(|tile| tile.chunk).collect();
        if missing.is_empty() {
            return missing;
        }
        let ahead = after_band.into_iter().take(TILES_AHEAD);
        let ahead = ahead.filter(|tile| !tile.is_reusable).filter(is_missing);
        missing.extend(ahead.map(|tile| tile.chunk));
        missing.sort_unstable_by_key(|chunk| chunk.hash);
        missing.dedup();
        missing
    }

    /// Merges the rows before `band_end` into `pending`.
    fn merge_band(&mut self, band_end: u32, sources: &[Source], loaded: &LoadedTiles) {
        let memory_parts = self.memory_tiles.iter().filter_map(|(level, tile)| {
            Some((*level, Part::whole_sheet(tile, sources.get(*level)?)))
        });
        let band_tiles = self.unfinished_tiles().filter(|tile| tile.rows.first < band_end);
        let chunk_parts = band_tiles.filter_map(|input| {
            let part = Part {
                tile: loaded.get(&input.chunk.hash)?,
                first_row: input.first_row,
                first_column: input.first_column,
                place: input.place,
                source: sources.get(input.level)?,
            };
            Some((input.level, part))
        });
        let mut parts_by_level: Vec<(usize, Part<'_>)> = memory_parts.chain(chunk_parts).collect();
        parts_by_level.sort_by_key(|(level, _)| *level);
        let parts: Vec<Part<'_>> = parts_by_level.into_iter().map(|(_, part)| part).collect();
        let columns = self.columns.first..self.columns.end();
        let band = Window { rows: self.row..band_end, columns };
        let merged = merge_window(&parts, &band, self.below);
        self.pending.append(merged);
        self.row = band_end;
    }
}

/// Returns a step that reuses an input tile unchanged.
fn reuse_tile(tile: &InputTile) -> StripeStep {
    let stored = StoredTile::Chunk(tile.chunk);
    StripeStep::Tile(TilePlace { rows: tile.rows, cells: tile.cells, stored }, None)
}
