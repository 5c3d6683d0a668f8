//! Builds the next level 0 from the current level 0 and the folded entries.

use super::base::{CompactionBase, LevelZeroSheet};
use super::counts::count_changes;
use super::entries::FoldedEntries;
use super::inputs::{memory_inputs, sheet_input};
use crate::chunk;
use crate::level::{Level, LevelSheet, StoredTile, Stripe, TilePlace};
use crate::merge::{
    InputCells, Part, SheetInput, Window, compose_moves, level_sources, merge_window,
};
use crate::tile::Tile;
use cellar_base::limits::{
    LEVEL_0_BYTES, MAX_COLUMNS, MAX_LEVEL_0_CELLS, MAX_LEVEL_CHANGES, MAX_ROWS, MAX_STRIPE_COLUMNS,
};
use cellar_sheet::operation::Span;

/// Builds the next level 0. Returns `None` if the level is too large for the root.
pub(super) fn build_level_0(base: &CompactionBase, folded: &FoldedEntries) -> Option<Level> {
    let has_imported_sheets = !folded.level.imported.sheets.is_empty();
    if has_imported_sheets || estimate_level_0_bytes(base, folded) > LEVEL_0_BYTES {
        return None;
    }
    let inputs = level_0_inputs(base, folded);
    if count_cells(&inputs) > MAX_LEVEL_0_CELLS {
        return None;
    }
    merge_level_0(&inputs)
}

/// Estimates the size of the next level 0, to avoid building a level that is clearly too large.
/// Assumes that new cells are on average as large as the current level 0 cells.
fn estimate_level_0_bytes(base: &CompactionBase, folded: &FoldedEntries) -> usize {
    let cells = sum(base.level_0.values().map(LevelZeroSheet::cells));
    let bytes = sum(base.level_0.values().map(LevelZeroSheet::tile_bytes));
    let new_cells = sum(folded.level.sheets.iter().map(|sheet| sheet.tile.cells()));
    let new_bytes = bytes.saturating_mul(new_cells).checked_div(cells).unwrap_or(0);
    bytes.saturating_add(new_bytes)
}

fn sum(numbers: impl Iterator<Item = usize>) -> usize {
    numbers.fold(0, usize::saturating_add)
}

fn level_0_inputs(base: &CompactionBase, folded: &FoldedEntries) -> Vec<SheetInput> {
    let mut inputs = Vec::new();
    for &sheet in folded.metadata.sheets.keys() {
        let levels = memory_inputs(base, folded, sheet);
        if !levels.is_empty() {
            let kept_levels = base.levels.len();
            let stripe_columns = MAX_STRIPE_COLUMNS;
            inputs.push(sheet_input(base, folded, sheet, kept_levels, stripe_columns, levels));
        }
    }
    inputs
}

fn count_cells(inputs: &[SheetInput]) -> usize {
    let levels = inputs.iter().flat_map(|input| &input.levels);
    sum(levels.map(|level| match &level.cells {
        InputCells::Memory(tile) => tile.cells(),
        InputCells::Chunks(_) => usize::MAX,
    }))
}

fn merge_level_0(inputs: &[SheetInput]) -> Option<Level> {
    let mut level = Level::default();
    let mut level_bytes = 0_usize;
    for input in inputs {
        let (sheet, sheet_bytes) = merge_level_0_sheet(input)?;
        level_bytes = level_bytes.saturating_add(sheet_bytes);
        if level_bytes > LEVEL_0_BYTES || count_changes(&sheet.moves) > MAX_LEVEL_CHANGES {
            return None;
        }
        if !sheet.is_nothing() {
            level.sheets.push(sheet);
        }
    }
    Some(level)
}

/// Merges a sheet's inputs into one inline tile. Returns the sheet and the encoded length of the
/// tile.
fn merge_level_0_sheet(input: &SheetInput) -> Option<(LevelSheet, usize)> {
    let input_moves = input.moves();
    let sources = level_sources(&input_moves);
    let mut parts = Vec::new();
    for (level, source) in input.levels.iter().zip(&sources) {
        if let InputCells::Memory(tile) = &level.cells {
            parts.push(Part::whole_sheet(tile, source));
        }
    }
    let whole_sheet = Window { rows: 0..MAX_ROWS, columns: 0..MAX_COLUMNS };
    let tile = merge_window(&parts, &whole_sheet, input.below);
    let moves = compose_moves(&input_moves).needed_above(input.below);
    if tile.is_empty() {
        return Some((LevelSheet { sheet: input.sheet, moves, stripes: Vec::new() }, 0));
    }
    let (stripe, bytes) = encode_inline_stripe(&tile)?;
    Some((LevelSheet { sheet: input.sheet, moves, stripes: vec![stripe] }, bytes))
}

/// Encodes all cells of a sheet as one inline tile. Returns the stripe that contains the tile, and
/// the tile's encoded length.
fn encode_inline_stripe(tile: &Tile) -> Option<(Stripe, usize)> {
    let encoded = chunk::encode(tile).ok()?;
    let bytes = encoded.len();
    let rows = Span { first: 0, count: tile.end() };
    let columns = Span { first: 0, count: tile.columns.last()?.column.saturating_add(1) };
    let cells = u32::try_from(tile.cells()).ok()?;
    let place = TilePlace { rows, cells, stored: StoredTile::Inline(encoded) };
    Some((Stripe { columns, tiles: vec![place] }, bytes))
}
