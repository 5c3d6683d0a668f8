//! Merges one stripe (a range of columns) from top to bottom. Only the tiles of a few rows are in
//! memory at a time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::formulas::FormulaMapping;
use super::inputs::{LevelCells, LevelInput};
use super::level_mapping::LevelMapping;
use super::pending_tile::{DENSITY_CELLS, PendingTile, RowTooLarge, TileEncoder};
use super::placed_tile::PlacedTile;
use super::stripe_tiles::{ChunkLevel, InputTile, MIN_REUSED_BYTES, OutputStripe};
use super::window::{OlderLevels, Window};
use crate::level::{ChunkHash, ChunkRef, StoredTile, StripeTile};
use crate::packed::PackedObject;
use crate::saturate::saturate_u32;
use crate::tile::Tile;
use crate::tile_formulas::TileFormulas;
use cellar_base::limits::MAX_BAND_FORMULA_BYTES;
use cellar_sheet::a1::CellName;
use cellar_sheet::operation::{SheetId, Span};

/// Number of tiles that are loaded in advance, together with the tiles that are needed next.
const PREFETCHED_TILES: usize = 4;

/// Loaded tiles, keyed by chunk name.
pub(super) type LoadedTiles = BTreeMap<ChunkHash, Arc<Tile>>;

#[derive(Debug, Clone)]
pub(super) struct StripeMerge {
    columns: Span,
    older_levels: OlderLevels,
    /// First row that is not merged yet. Cells above this row are in finished tiles or in
    /// `pending`.
    next_row: u32,
    inputs: StripeInputs,
    pending: PendingTile,
}

/// Mappings from each level of a sheet to the newest level.
#[derive(Debug, Clone)]
pub(super) struct SheetMappings {
    pub(super) cells: Vec<LevelMapping>,
    pub(super) formulas: Vec<FormulaMapping>,
}

/// Whether a tile that could be reused has the same formulas in the merged level.
enum FormulaCheck {
    /// The tile must be loaded first.
    NotLoaded,
    Changed,
    /// Contains the formulas in the merged level, or `None` if they are not known.
    Unchanged(Option<TileFormulas>),
}

#[derive(Debug, Clone, Default)]
struct StripeInputs {
    /// Stored tiles, sorted by first output row.
    chunk_tiles: Vec<InputTile>,
    memory_tiles: Vec<MemoryTile>,
    /// Output rows in which in-memory tiles have cells, in ascending order.
    memory_rows: Vec<u32>,
}

#[derive(Debug, Clone)]
struct MemoryTile {
    level_index: usize,
    tile: Arc<Tile>,
}

pub(super) enum StripeStep {
    Load(Vec<ChunkRef>),
    FinishedTile {
        tile: StripeTile,
        /// Chunk to store, or `None` if an input tile is reused unchanged.
        new_chunk: Option<PackedObject>,
    },
    Done,
}

pub(super) struct SheetLevels<'a> {
    pub(super) sheet: SheetId,
    pub(super) inputs: &'a [LevelInput],
    pub(super) mappings: &'a [LevelMapping],
    pub(super) older_levels: OlderLevels,
}

/// Returns how many rows of a tile have at most `MAX_BAND_FORMULA_BYTES` of formulas on average, at
/// least one.
fn light_row_count(rows: u32, formula_bytes: usize) -> u32 {
    let parts = saturate_u32(formula_bytes.div_ceil(MAX_BAND_FORMULA_BYTES)).max(1);
    rows.div_ceil(parts).max(1)
}

impl SheetMappings {
    fn get(&self, level_index: usize) -> Option<(&LevelMapping, &FormulaMapping)> {
        self.cells.get(level_index).zip(self.formulas.get(level_index))
    }
}

impl StripeInputs {
    fn collect(output: &OutputStripe, levels: &SheetLevels<'_>) -> Self {
        let mut inputs = Self::default();
        for (level_index, (input, mapping)) in levels.inputs.iter().zip(levels.mappings).enumerate()
        {
            match &input.cells {
                LevelCells::InMemory(tile) => {
                    let unmoved = FormulaMapping::unmoved();
                    let output_rows = PlacedTile::of_whole_sheet(tile, mapping, unmoved)
                        .output_rows(&output.unfinished_window());
                    inputs.add_memory_tile(level_index, tile, output_rows);
                }
                LevelCells::InChunks(stripes) => {
                    let level = ChunkLevel { level_index, stripes, mapping };
                    inputs.chunk_tiles.extend(output.input_tiles(&level));
                }
            }
        }
        inputs.chunk_tiles.sort_by_key(|tile| (tile.output_rows.first, tile.level_index));
        // The rows of each column are sorted already, which a stable sort makes use of.
        inputs.memory_rows.sort();
        inputs.memory_rows.dedup();
        inputs
    }

    fn add_memory_tile(&mut self, level_index: usize, tile: &Arc<Tile>, output_rows: Vec<u32>) {
        if !output_rows.is_empty() {
            self.memory_rows.extend(output_rows);
            self.memory_tiles.push(MemoryTile { level_index, tile: Arc::clone(tile) });
        }
    }

    fn unfinished_tiles(&self, next_row: u32) -> impl Iterator<Item = &InputTile> {
        self.chunk_tiles.iter().filter(move |tile| tile.output_rows.end() > next_row)
    }

    /// Returns the tiles with cells in the rows, ordered by level, oldest first.
    fn placed_tiles<'a>(
        &'a self,
        rows: &Range<u32>,
        mappings: &'a SheetMappings,
        loaded_tiles: &'a LoadedTiles,
    ) -> Vec<PlacedTile<'a>> {
        let mut tiles_with_level: Vec<(usize, PlacedTile<'_>)> = Vec::new();
        for MemoryTile { level_index, tile } in &self.memory_tiles {
            if let Some((mapping, formulas)) = mappings.get(*level_index) {
                let placed_tile = PlacedTile::of_whole_sheet(tile, mapping, formulas);
                tiles_with_level.push((*level_index, placed_tile));
            }
        }
        let chunk_tiles = self.unfinished_tiles(rows.start);
        for input in chunk_tiles.filter(|tile| tile.output_rows.first < rows.end) {
            if let (Some(tile), Some((mapping, formulas))) =
                (loaded_tiles.get(&input.chunk.hash), mappings.get(input.level_index))
            {
                let InputTile { first_row, first_column, size, .. } = *input;
                let placed_tile =
                    PlacedTile { tile, first_row, first_column, size, mapping, formulas };
                tiles_with_level.push((input.level_index, placed_tile));
            }
        }
        tiles_with_level.sort_by_key(|(level_index, _)| *level_index);
        tiles_with_level.into_iter().map(|(_, tile)| tile).collect()
    }

    /// Returns the number of stored bytes per `DENSITY_CELLS` cells of the stored tiles, as an
    /// estimate for the output tiles.
    fn density(&self) -> Option<u64> {
        let stored_bytes: u64 =
            self.chunk_tiles.iter().map(|tile| u64::from(tile.chunk.bytes)).sum();
        let cell_count: u64 = self.chunk_tiles.iter().map(|tile| u64::from(tile.cell_count)).sum();
        stored_bytes.saturating_mul(DENSITY_CELLS).checked_div(cell_count)
    }
}

impl StripeMerge {
    /// All rows above `first_row` must be finished.
    pub(super) fn new(
        columns: Span,
        first_row: u32,
        density: Option<u64>,
        levels: &SheetLevels<'_>,
    ) -> Self {
        let older_levels = levels.older_levels;
        let output = OutputStripe { columns, older_levels, first_unfinished_row: first_row };
        let inputs = StripeInputs::collect(&output, levels);
        let density = density.or_else(|| inputs.density());
        let pending = PendingTile::new(columns, density, Some(levels.sheet));
        Self { columns, older_levels, next_row: first_row, inputs, pending }
    }

    fn window_until(&self, end_row: u32) -> Window {
        Window { rows: self.next_row..end_row, columns: self.columns.first..self.columns.end() }
    }

    pub(super) fn density(&self) -> u64 {
        self.pending.density()
    }

    pub(super) fn needs_tile(&self, hash: &ChunkHash) -> bool {
        self.unfinished_tiles().any(|tile| tile.chunk.hash == *hash)
    }

    /// Merges rows until a tile is finished, tiles must be loaded, or the end of the stripe is
    /// reached.
    pub(super) fn next_step(
        &mut self,
        mappings: &SheetMappings,
        loaded_tiles: &LoadedTiles,
        encode_tile: TileEncoder<'_>,
    ) -> Result<StripeStep, RowTooLarge> {
        loop {
            if self.pending.is_full() {
                return self.finish_pending_tile(encode_tile);
            }
            let Some(row) = self.next_row_with_cells() else {
                return self.finish_pending_tile(encode_tile);
            };
            self.next_row = row;
            if let Some(tile) = self.find_reusable_tile() {
                match self.check_formulas(&tile, mappings, loaded_tiles) {
                    FormulaCheck::NotLoaded => {
                        let chunks = self.tiles_to_check(mappings, loaded_tiles);
                        return Ok(StripeStep::Load(chunks));
                    }
                    FormulaCheck::Changed => {}
                    FormulaCheck::Unchanged(formulas) if self.pending.is_empty() => {
                        return Ok(self.reuse_tile(&tile, formulas));
                    }
                    FormulaCheck::Unchanged(_) => {
                        if self.pending.expected_bytes() >= MIN_REUSED_BYTES {
                            return self.finish_pending_tile(encode_tile);
                        }
                    }
                }
            }
            let band_end = self.band_end();
            let missing_tiles = self.missing_tiles(band_end, loaded_tiles);
            if !missing_tiles.is_empty() {
                return Ok(StripeStep::Load(missing_tiles));
            }
            let band_end = self.end_of_light_rows(band_end, loaded_tiles);
            self.merge_band(band_end, mappings, loaded_tiles);
        }
    }

    /// If no cells are pending, the stripe is finished.
    fn finish_pending_tile(
        &mut self,
        encode_tile: TileEncoder<'_>,
    ) -> Result<StripeStep, RowTooLarge> {
        let Some(finished) = self.pending.cut_tile(encode_tile)? else {
            return Ok(StripeStep::Done);
        };
        let new_chunk = Some(finished.object);
        Ok(StripeStep::FinishedTile { tile: finished.tile, new_chunk })
    }

    fn check_formulas(
        &self,
        tile: &InputTile,
        mappings: &SheetMappings,
        loaded_tiles: &LoadedTiles,
    ) -> FormulaCheck {
        let Some(mapping) = mappings.formulas.get(tile.level_index) else {
            return FormulaCheck::Changed;
        };
        if self.index_keeps_formulas(tile, mapping) {
            let formulas = tile.formulas.as_ref();
            return FormulaCheck::Unchanged(
                formulas.map(|formulas| formulas.moved(&mapping.moves)),
            );
        }
        let Some(cells) = loaded_tiles.get(&tile.chunk.hash) else {
            return FormulaCheck::NotLoaded;
        };
        let (from, to) = self.corners(tile);
        if mapping.keeps_formulas(cells, from, to) {
            FormulaCheck::Unchanged(Some(TileFormulas::of_tile(cells, to, mapping.sheet)))
        } else {
            FormulaCheck::Changed
        }
    }

    /// Returns whether it follows from the index that the formulas of a reusable tile stay the same.
    fn index_keeps_formulas(&self, tile: &InputTile, mapping: &FormulaMapping) -> bool {
        let (from, to) = self.corners(tile);
        let keep = |formulas: &TileFormulas| {
            formulas.count == 0 || formulas.reads.keep_templates(&mapping.moves, from, to)
        };
        if mapping.file.is_some() {
            // The formulas may name sheets of the file, and the index does not say what they read.
            return tile.formulas.as_ref().is_some_and(|formulas| formulas.count == 0);
        }
        mapping.moves.is_identity() || tile.formulas.as_ref().is_some_and(keep)
    }

    /// Returns the top left corner of a tile in its level and in the merged level.
    fn corners(&self, tile: &InputTile) -> (CellName, CellName) {
        let from = CellName { row: tile.first_row, column: tile.first_column };
        let to = CellName { row: tile.output_rows.first, column: self.columns.first };
        (from, to)
    }

    /// Returns the next tiles that can be reused if their formulas stay the same. The first one is
    /// not loaded.
    fn tiles_to_check(
        &self,
        mappings: &SheetMappings,
        loaded_tiles: &LoadedTiles,
    ) -> Vec<ChunkRef> {
        let must_be_loaded = |tile: &&InputTile| {
            let is_missing = !loaded_tiles.contains_key(&tile.chunk.hash);
            let mapping = mappings.formulas.get(tile.level_index);
            let keeps_formulas =
                mapping.is_some_and(|mapping| self.index_keeps_formulas(tile, mapping));
            tile.is_reusable && is_missing && !keeps_formulas
        };
        let tiles = self.unfinished_tiles().filter(must_be_loaded);
        let mut chunks: Vec<ChunkRef> =
            tiles.take(1 + PREFETCHED_TILES).map(|tile| tile.chunk).collect();
        chunks.sort_unstable_by_key(|chunk| chunk.hash);
        chunks.dedup();
        chunks
    }

    fn reuse_tile(&mut self, input: &InputTile, formulas: Option<TileFormulas>) -> StripeStep {
        self.next_row = input.output_rows.end();
        let tile = StripeTile {
            rows: input.output_rows,
            cells: input.cell_count,
            stored: StoredTile::Chunk(input.chunk),
            formulas,
        };
        StripeStep::FinishedTile { tile, new_chunk: None }
    }

    fn unfinished_tiles(&self) -> impl Iterator<Item = &InputTile> {
        self.inputs.unfinished_tiles(self.next_row)
    }

    fn next_memory_row(&self) -> Option<u32> {
        let index = self.inputs.memory_rows.partition_point(|row| *row < self.next_row);
        self.inputs.memory_rows.get(index).copied()
    }

    fn next_row_with_cells(&self) -> Option<u32> {
        let tile_rows =
            self.unfinished_tiles().map(|tile| tile.output_rows.first.max(self.next_row));
        tile_rows.chain(self.next_memory_row()).min()
    }

    /// A reusable tile starts at the next row, and no other input has cells in its rows.
    fn find_reusable_tile(&self) -> Option<InputTile> {
        let reusable_tile = self
            .unfinished_tiles()
            .find(|tile| tile.is_reusable && tile.output_rows.first == self.next_row)?;
        let end_row = reusable_tile.output_rows.end();
        let tiles_in_its_rows =
            self.unfinished_tiles().filter(|tile| tile.output_rows.first < end_row).count();
        let is_only_tile = tiles_in_its_rows == 1;
        let overlaps_memory = self.next_memory_row().is_some_and(|row| row < end_row);
        if is_only_tile && !overlaps_memory { Some(reusable_tile.clone()) } else { None }
    }

    /// Returns the next row at which a tile starts or ends. The unfinished rows before it form a
    /// band, in which all rows overlap the same tiles.
    fn band_end(&self) -> u32 {
        let next_edge = |tile: &InputTile| {
            let starts_later = tile.output_rows.first > self.next_row;
            if starts_later { tile.output_rows.first } else { tile.output_rows.end() }
        };
        self.unfinished_tiles().map(next_edge).min().unwrap_or(u32::MAX)
    }

    /// Returns the end of the rows from the next row on that can be merged at once. It depends on the
    /// tiles and not on the row at which the merge has started, so that an interrupted merge writes
    /// the same tiles.
    fn end_of_light_rows(&self, band_end: u32, loaded_tiles: &LoadedTiles) -> u32 {
        let tiles = self.unfinished_tiles().filter(|tile| tile.output_rows.first < band_end);
        let ends = tiles.filter_map(|tile| {
            let formula_bytes = loaded_tiles.get(&tile.chunk.hash)?.formula_bytes();
            let rows = light_row_count(tile.output_rows.count, formula_bytes);
            let rows_before = self.next_row.checked_sub(tile.output_rows.first)?;
            let rows_until_end = (rows_before / rows).saturating_add(1).saturating_mul(rows);
            Some(tile.output_rows.first.saturating_add(rows_until_end))
        });
        ends.min().map_or(band_end, |end| end.min(band_end))
    }

    /// Returns the tiles that must be loaded before the rows up to `band_end` can be merged, plus a
    /// few tiles below them. Returns no tiles if these rows can already be merged.
    fn missing_tiles(&self, band_end: u32, loaded_tiles: &LoadedTiles) -> Vec<ChunkRef> {
        let is_missing = |tile: &InputTile| !loaded_tiles.contains_key(&tile.chunk.hash);
        let mut missing_chunks: Vec<ChunkRef> = self
            .unfinished_tiles()
            .filter(|tile| tile.output_rows.first < band_end && is_missing(tile))
            .map(|tile| tile.chunk)
            .collect();
        if missing_chunks.is_empty() {
            return missing_chunks;
        }
        let tiles_after_band =
            self.unfinished_tiles().filter(|tile| tile.output_rows.first >= band_end);
        for tile in tiles_after_band.take(PREFETCHED_TILES) {
            if !tile.is_reusable && is_missing(tile) {
                missing_chunks.push(tile.chunk);
            }
        }
        missing_chunks.sort_unstable_by_key(|chunk| chunk.hash);
        missing_chunks.dedup();
        missing_chunks
    }

    fn merge_band(&mut self, band_end: u32, mappings: &SheetMappings, loaded_tiles: &LoadedTiles) {
        let window = self.window_until(band_end);
        let tiles = self.inputs.placed_tiles(&window.rows, mappings, loaded_tiles);
        self.pending.append_merged(&tiles, &window, self.older_levels);
        self.next_row = band_end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_many_formulas_are_divided() {
        assert_eq!(light_row_count(1_000, 0), 1_000);
        assert_eq!(light_row_count(1_000, MAX_BAND_FORMULA_BYTES), 1_000);
        assert_eq!(light_row_count(1_000, MAX_BAND_FORMULA_BYTES + 1), 500);
        assert_eq!(light_row_count(1_000, 64 * MAX_BAND_FORMULA_BYTES), 16);
        assert_eq!(light_row_count(1, usize::MAX), 1);
        assert_eq!(light_row_count(0, 1), 1);
    }
}
