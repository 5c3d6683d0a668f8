//! Merges one sheet, one stripe at a time.

use super::input::{InputCells, SheetInput};
use super::source::{Source, compose_moves, level_sources};
use super::stripe_merge::{SheetLevels, StripeMerge};
use super::stripes::ColumnWeights;
use crate::level::{LevelSheet, StoredTile, Stripe, TilePlace};
use crate::tile::{Tile, TileColumn};
use cellar_sheet::operation::{Span, Spans};

/// A sheet being merged.
#[derive(Debug, Clone)]
pub(super) struct SheetMerge {
    pub(super) sources: Vec<Source>,
    /// Index of the current stripe.
    pub(super) stripe_index: usize,
    /// Current stripe, if its merge has started.
    pub(super) stripe: Option<StripeMerge>,
    /// Output stripes with the tiles finished so far.
    output: Vec<Stripe>,
}

impl SheetMerge {
    pub(super) fn open(input: &SheetInput) -> Self {
        let sources = level_sources(&input.moves());
        let stripes = divide_into_stripes(input, &sources).into_iter();
        let output = stripes.map(|columns| Stripe { columns, tiles: Vec::new() }).collect();
        Self { sources, stripe_index: 0, stripe: None, output }
    }

    /// Starts merging the current stripe at `row`; all rows above must be finished. Leaves `stripe`
    /// empty if no stripes are left.
    pub(super) fn open_stripe(&mut self, input: &SheetInput, row: u32, density: Option<u64>) {
        let levels =
            SheetLevels { inputs: &input.levels, sources: &self.sources, below: input.below };
        let stripe = self.output.get(self.stripe_index);
        self.stripe = stripe.map(|stripe| StripeMerge::open(stripe.columns, row, density, &levels));
    }

    pub(super) fn close_stripe(&mut self) {
        self.stripe = None;
        self.stripe_index = self.stripe_index.saturating_add(1);
    }

    /// Appends a finished tile to an output stripe. No-op if the index is out of range.
    pub(super) fn push_tile(&mut self, stripe_index: usize, place: TilePlace) {
        if let Some(stripe) = self.output.get_mut(stripe_index) {
            stripe.tiles.push(place);
        }
    }

    /// Returns the merged sheet, or `None` if it contains no changes.
    pub(super) fn finish(self, input: &SheetInput) -> Option<LevelSheet> {
        let sheet = LevelSheet {
            sheet: input.sheet,
            moves: compose_moves(&input.moves()).needed_above(input.below),
            stripes: self.output.into_iter().filter(|stripe| !stripe.tiles.is_empty()).collect(),
        };
        (!sheet.is_nothing()).then_some(sheet)
    }
}

/// Divides the merged sheet's columns into stripes based on input sizes.
fn divide_into_stripes(input: &SheetInput, sources: &[Source]) -> Vec<Span> {
    let mut weights = ColumnWeights::default();
    for (level, source) in input.levels.iter().zip(sources) {
        match &level.cells {
            InputCells::Memory(tile) => add_tile_weights(&mut weights, tile, source),
            InputCells::Chunks(stripes) => {
                add_stripe_weights(&mut weights, stripes, source, input.columns);
            }
        }
    }
    weights.stripes(input.stripe_columns)
}

fn add_tile_weights(weights: &mut ColumnWeights, tile: &Tile, source: &Source) {
    for column in &tile.columns {
        if let Some(output_column) = source.columns.get(column.column) {
            let columns = Span { first: output_column, count: 1 };
            weights.add(columns, estimate_stored_bytes(column));
        }
    }
}

fn add_stripe_weights(
    weights: &mut ColumnWeights,
    stripes: &[Stripe],
    source: &Source,
    written_columns: u32,
) {
    let written = Spans::one(0, written_columns);
    for stripe in stripes {
        let columns = Spans::one(stripe.columns.first, stripe.columns.count);
        let output_columns = source.columns.covering_spans(&columns).intersection(&written);
        if let Some(span) = output_columns.iter().next() {
            weights.add(span, stored_bytes(stripe));
        }
    }
}

fn estimate_stored_bytes(column: &TileColumn) -> u64 {
    const CELL_BYTES: u64 = 8;
    let text_bytes = column.values.texts().len().saturating_add(column.formulas.texts().len());
    let text_bytes = u64::try_from(text_bytes).unwrap_or(u64::MAX);
    let cells = u64::try_from(column.cells()).unwrap_or(u64::MAX);
    cells.saturating_mul(CELL_BYTES).saturating_add(text_bytes)
}

fn stored_bytes(stripe: &Stripe) -> u64 {
    let bytes = stripe.tiles.iter().map(|tile| match &tile.stored {
        StoredTile::Chunk(chunk) => u64::from(chunk.bytes),
        StoredTile::Inline(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
    });
    bytes.fold(0, u64::saturating_add)
}
