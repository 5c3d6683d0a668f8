//! Merges one sheet, stripe by stripe.

use super::inputs::{LevelCells, MovesToNewest, SheetInput};
use super::level_mapping::{LevelMapping, map_levels_to_newest};
use super::stripe_merge::{SheetLevels, SheetMappings, StripeMerge};
use super::stripes::ColumnWeights;
use crate::level::{LevelSheet, StoredTile, Stripe, StripeTile};
use crate::saturate::to_u64;
use crate::tile::{Tile, TileColumn};
use cellar_sheet::operation::{Span, Spans};

#[derive(Debug, Clone)]
pub(super) struct SheetMerge {
    pub(super) mappings: SheetMappings,
    pub(super) stripe_index: usize,
    /// State of the current stripe's merge, or `None` if it has not started.
    pub(super) stripe: Option<StripeMerge>,
    output_stripes: Vec<Stripe>,
}

impl SheetMerge {
    pub(super) fn new(input: &SheetInput, moves_to_newest: &MovesToNewest) -> Self {
        let cells = map_levels_to_newest(&input.moves());
        let formulas = moves_to_newest.formula_mappings(input);
        let mappings = SheetMappings { cells, formulas };
        let output_stripes = divide_into_stripes(input, &mappings.cells)
            .into_iter()
            .map(|columns| Stripe { columns, tiles: Vec::new() })
            .collect();
        Self { mappings, stripe_index: 0, stripe: None, output_stripes }
    }

    /// All rows above `first_row` must be finished. If no stripes are left, `self.stripe` becomes
    /// `None`.
    pub(super) fn start_stripe(
        &mut self,
        input: &SheetInput,
        first_row: u32,
        density: Option<u64>,
    ) {
        let levels = SheetLevels {
            sheet: input.sheet,
            inputs: &input.levels,
            mappings: &self.mappings.cells,
            older_levels: input.older_levels,
        };
        let output_stripe = self.output_stripes.get(self.stripe_index);
        self.stripe = output_stripe.map(|output_stripe| {
            StripeMerge::new(output_stripe.columns, first_row, density, &levels)
        });
    }

    pub(super) fn end_stripe(&mut self) {
        self.stripe = None;
        self.stripe_index += 1;
    }

    /// Does nothing if the index is out of range.
    pub(super) fn push_tile(&mut self, stripe_index: usize, tile: StripeTile) {
        if let Some(stripe) = self.output_stripes.get_mut(stripe_index) {
            stripe.tiles.push(tile);
        }
    }

    /// Returns `None` if the merged sheet contains no changes.
    pub(super) fn finish(self, input: &SheetInput) -> Option<LevelSheet> {
        let mut stripes = self.output_stripes;
        stripes.retain(|stripe| !stripe.tiles.is_empty());
        let merged_sheet = LevelSheet { sheet: input.sheet, moves: input.merged_moves(), stripes };
        if merged_sheet.has_no_changes() { None } else { Some(merged_sheet) }
    }
}

fn divide_into_stripes(input: &SheetInput, mappings: &[LevelMapping]) -> Vec<Span> {
    let mut weights = ColumnWeights::default();
    for (level, mapping) in input.levels.iter().zip(mappings) {
        match &level.cells {
            LevelCells::InMemory(tile) => add_tile_weights(&mut weights, tile, mapping),
            LevelCells::InChunks(stripes) => {
                add_stripe_weights(&mut weights, stripes, mapping, input.written_columns);
            }
        }
    }
    weights.divide_into_stripes(input.max_stripe_columns)
}

fn add_tile_weights(weights: &mut ColumnWeights, tile: &Tile, mapping: &LevelMapping) {
    for column in &tile.columns {
        if let Some(output_column) = mapping.column_map.get(column.index) {
            let output_columns = Span { first: output_column, count: 1 };
            weights.add(output_columns, estimate_stored_bytes(column));
        }
    }
}

fn add_stripe_weights(
    weights: &mut ColumnWeights,
    stripes: &[Stripe],
    mapping: &LevelMapping,
    written_columns: u32,
) {
    let written_span = Spans::one(0, written_columns);
    for stripe in stripes {
        let stripe_columns = Spans::one(stripe.columns.first, stripe.columns.count);
        let output_columns = mapping.column_map.covering_spans(&stripe_columns);
        if let Some(span) = output_columns.intersection(&written_span).iter().next() {
            weights.add(span, stored_bytes(stripe));
        }
    }
}

fn estimate_stored_bytes(column: &TileColumn) -> u64 {
    const CELL_BYTES: u64 = 8;
    let formula_bytes = column.formulas.texts().len() + column.templates.texts().len();
    let text_bytes = column.values.texts().len() + formula_bytes;
    to_u64(column.cell_count()) * CELL_BYTES + to_u64(text_bytes)
}

fn stored_bytes(stripe: &Stripe) -> u64 {
    let tile_bytes = stripe.tiles.iter().map(|tile| match &tile.stored {
        StoredTile::Chunk(chunk) => u64::from(chunk.bytes),
        StoredTile::Inline(bytes) => to_u64(bytes.len()),
    });
    tile_bytes.sum()
}
