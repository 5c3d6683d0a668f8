//! Builds the next level 0 from the current level 0 and the folded entries.

use super::base::{CompactionBase, LevelZeroSheet};
use super::counts::count_changes;
use super::entries::FoldedEntries;
use super::inputs::{MergeContext, build_sheet_input, memory_inputs};
use super::merge_plan::MergePlan;
use crate::chunk;
use crate::level::{Level, LevelSheet, StoredTile, Stripe, StripeTile};
use crate::merge::{
    LevelCells, MovesToNewest, PlacedTile, SheetInput, Window, map_levels_to_newest, merge_window,
};
use crate::tile::Tile;
use crate::tile_formulas::TileFormulas;
use cellar_base::limits::{
    LEVEL_0_BYTES, MAX_COLUMNS, MAX_LEVEL_0_CELLS, MAX_LEVEL_CHANGES, MAX_ROWS,
};
use cellar_sheet::a1::CellName;
use cellar_sheet::operation::{SheetId, Span};

/// Returns `None` if the level is too large for the root.
pub(super) fn build_level_0(base: &CompactionBase, folded: &FoldedEntries) -> Option<Level> {
    let has_imported_sheets = !folded.level.imported.sheets.is_empty();
    if has_imported_sheets || estimate_level_0_bytes(base, folded) > LEVEL_0_BYTES {
        return None;
    }
    let sheet_inputs = level_0_inputs(base, folded);
    if count_cells_in_memory(&sheet_inputs) > MAX_LEVEL_0_CELLS {
        return None;
    }
    merge_level_0(&sheet_inputs)
}

/// Estimates the size of the next level 0, which is not built if the estimate is too large. New
/// cells are assumed to have the same average size as the cells in the current level 0.
fn estimate_level_0_bytes(base: &CompactionBase, folded: &FoldedEntries) -> usize {
    let level_0_cells: usize = base.level_0.values().map(LevelZeroSheet::cell_count).sum();
    let level_0_bytes: usize = base.level_0.values().map(LevelZeroSheet::tile_bytes).sum();
    let new_cells: usize = folded.level.sheets.iter().map(|sheet| sheet.tile.cell_count()).sum();
    let new_bytes = level_0_bytes.saturating_mul(new_cells).checked_div(level_0_cells);
    level_0_bytes.saturating_add(new_bytes.unwrap_or(0))
}

fn level_0_inputs(base: &CompactionBase, folded: &FoldedEntries) -> Vec<SheetInput> {
    let plan = MergePlan::keep_all_levels(base);
    let context = MergeContext::new(base, folded, &plan);
    let mut sheet_inputs = Vec::new();
    for &sheet_id in folded.metadata.sheets.keys() {
        let level_inputs = memory_inputs(base, folded, sheet_id);
        if !level_inputs.is_empty() {
            sheet_inputs.push(build_sheet_input(&context, sheet_id, level_inputs));
        }
    }
    sheet_inputs
}

fn count_cells_in_memory(sheet_inputs: &[SheetInput]) -> usize {
    let level_inputs = sheet_inputs.iter().flat_map(|input| &input.levels);
    level_inputs
        .map(|level| match &level.cells {
            LevelCells::InMemory(tile) => tile.cell_count(),
            LevelCells::InChunks(_) => 0,
        })
        .sum()
}

/// Returns `None` if the merged level is too large for the root.
fn merge_level_0(sheet_inputs: &[SheetInput]) -> Option<Level> {
    let mut level = Level::default();
    let mut level_bytes = 0_usize;
    let moves_to_newest = MovesToNewest::of_inputs(sheet_inputs);
    for input in sheet_inputs {
        let merged = merge_level_0_sheet(input, &moves_to_newest)?;
        level_bytes += merged.tile_bytes;
        if level_bytes > LEVEL_0_BYTES || count_changes(&merged.sheet.moves) > MAX_LEVEL_CHANGES {
            return None;
        }
        if !merged.sheet.has_no_changes() {
            level.sheets.push(merged.sheet);
        }
    }
    Some(level)
}

struct MergedLevelZeroSheet {
    sheet: LevelSheet,
    tile_bytes: usize,
}

/// Returns `None` if the tile is too large for a chunk.
fn merge_level_0_sheet(
    input: &SheetInput,
    moves_to_newest: &MovesToNewest,
) -> Option<MergedLevelZeroSheet> {
    let tile = merge_memory_tiles(input, moves_to_newest);
    let moves = input.merged_moves();
    let mut stripes = Vec::new();
    let mut tile_bytes = 0;
    if !tile.is_empty() {
        let encoded_tile = chunk::encode(&tile).ok()?;
        tile_bytes = encoded_tile.len();
        stripes.push(to_inline_stripe(&tile, encoded_tile, input.sheet)?);
    }
    Some(MergedLevelZeroSheet {
        sheet: LevelSheet { sheet: input.sheet, moves, stripes },
        tile_bytes,
    })
}

fn merge_memory_tiles(input: &SheetInput, moves_to_newest: &MovesToNewest) -> Tile {
    let mappings = map_levels_to_newest(&input.moves());
    let formula_mappings = moves_to_newest.formula_mappings(input);
    let mut placed_tiles = Vec::new();
    for ((level, mapping), formulas) in input.levels.iter().zip(&mappings).zip(&formula_mappings) {
        if let LevelCells::InMemory(tile) = &level.cells {
            placed_tiles.push(PlacedTile::of_whole_sheet(tile, mapping, formulas));
        }
    }
    let whole_sheet = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };
    merge_window(&placed_tiles, &whole_sheet, input.older_levels)
}

fn to_inline_stripe(tile: &Tile, encoded_tile: Vec<u8>, sheet: SheetId) -> Option<Stripe> {
    let last_column = tile.columns.last()?.index;
    let stripe_tile = StripeTile {
        rows: Span { first: 0, count: tile.end() },
        cells: u32::try_from(tile.cell_count()).ok()?,
        stored: StoredTile::Inline(encoded_tile),
        formulas: Some(TileFormulas::of_tile(tile, CellName { row: 0, column: 0 }, sheet)),
    };
    Some(Stripe { columns: Span { first: 0, count: last_column + 1 }, tiles: vec![stripe_tile] })
}
