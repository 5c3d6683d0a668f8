//! Finds the stored input tiles that overlap an output stripe, which is a range of columns.

use super::level_mapping::LevelMapping;
use super::placed_tile::TileSize;
use super::window::{OlderLevels, Window};
use crate::level::{ChunkRef, Region, StoredTile, Stripe, StripeTile};
use crate::tile_formulas::TileFormulas;
use cellar_base::limits::TARGET_CHUNK_BYTES;
use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::operation::{Span, Spans};

/// Minimum stored size in bytes at which a tile is reused unchanged. Smaller tiles are merged with
/// their neighbours, so that small tiles do not accumulate.
pub(super) const MIN_REUSED_BYTES: u64 = TARGET_CHUNK_BYTES as u64 / 2;

#[derive(Debug, Clone)]
pub(super) struct InputTile {
    pub(super) level_index: usize,
    /// Top row of the tile in its level.
    pub(super) first_row: u32,
    /// Left column of the tile in its level.
    pub(super) first_column: u32,
    pub(super) size: TileSize,
    /// Output rows in which the tile may have cells.
    pub(super) output_rows: Span,
    pub(super) cell_count: u32,
    pub(super) chunk: ChunkRef,
    /// The formulas of the tile, or `None` if they are not known.
    pub(super) formulas: Option<TileFormulas>,
    /// Whether the tile can be reused unchanged if no other input has cells in its rows and its
    /// formulas stay the same.
    pub(super) is_reusable: bool,
}

pub(super) struct ChunkLevel<'a> {
    pub(super) level_index: usize,
    pub(super) stripes: &'a [Stripe],
    pub(super) mapping: &'a LevelMapping,
}

pub(super) struct OutputStripe {
    pub(super) columns: Span,
    pub(super) older_levels: OlderLevels,
    pub(super) first_unfinished_row: u32,
}

impl OutputStripe {
    pub(super) fn unfinished_window(&self) -> Window {
        let columns = self.columns.first..self.columns.end();
        Window { rows: self.first_unfinished_row..u32::MAX, columns }
    }

    pub(super) fn input_tiles(&self, level: &ChunkLevel<'_>) -> Vec<InputTile> {
        let mut input_tiles = Vec::new();
        for stripe in level.stripes {
            let output_columns = map_span(&level.mapping.column_map, stripe.columns);
            if !output_columns.is_some_and(|columns| overlap(columns, self.columns)) {
                continue;
            }
            for tile in &stripe.tiles {
                input_tiles.extend(self.to_input_tile(level, stripe, tile));
            }
        }
        input_tiles
    }

    /// Returns `None` if the tile has no cells in the stripe's unfinished rows.
    fn to_input_tile(
        &self,
        level: &ChunkLevel<'_>,
        stripe: &Stripe,
        tile: &StripeTile,
    ) -> Option<InputTile> {
        let StoredTile::Chunk(chunk) = tile.stored else { return None };
        let output_rows = map_span(&level.mapping.row_map, tile.rows)?;
        if output_rows.end() <= self.first_unfinished_row {
            return None;
        }
        let is_large_enough = u64::from(chunk.bytes) >= MIN_REUSED_BYTES;
        Some(InputTile {
            level_index: level.level_index,
            first_row: tile.rows.first,
            first_column: stripe.columns.first,
            size: TileSize { rows: tile.rows.count, columns: stripe.columns.count },
            output_rows,
            cell_count: tile.cells,
            chunk,
            formulas: tile.formulas.clone(),
            is_reusable: is_large_enough && self.keeps_tile(level, stripe, tile, output_rows),
        })
    }

    /// Returns whether the cells of an input tile stay together and unchanged in the merge output.
    fn keeps_tile(
        &self,
        level: &ChunkLevel<'_>,
        stripe: &Stripe,
        tile: &StripeTile,
        output_rows: Span,
    ) -> bool {
        let mapping = level.mapping;
        let is_unfinished = output_rows.first >= self.first_unfinished_row;
        let keeps_rows = map_whole_span(&mapping.row_map, tile.rows) == Some(output_rows.first);
        let keeps_columns =
            map_whole_span(&mapping.column_map, stripe.columns) == Some(self.columns.first);
        let has_same_width = stripe.columns.count == self.columns.count;
        let is_visible = !overlaps_any(&mapping.hidden_values, output_rows, self.columns)
            && !overlaps_any(&mapping.hidden_formats, output_rows, self.columns);
        // A tile above the oldest merged level may contain blanks that hide older cells. If no
        // older level remains after the merge, these blanks must be dropped, so the tile cannot be
        // reused.
        let is_oldest_merged_level = level.level_index == 0;
        let may_keep_blanks = self.older_levels.are_present() || is_oldest_merged_level;
        is_unfinished
            && keeps_rows
            && keeps_columns
            && has_same_width
            && is_visible
            && may_keep_blanks
    }
}

fn overlap(span: Span, other: Span) -> bool {
    span.first < other.end() && other.first < span.end()
}

/// Returns the smallest output span that contains all remaining rows or columns of a span,
/// including those inserted between them. Returns `None` if none remain.
fn map_span(map: &AxisMap, span: Span) -> Option<Span> {
    let covered_lines = map.covering_spans(&Spans::one(span.first, span.count));
    covered_lines.iter().next()
}

/// Returns the first output row or column of a span if the whole span remains contiguous.
/// Otherwise, returns `None`.
fn map_whole_span(map: &AxisMap, span: Span) -> Option<u32> {
    let first_output_line = map.get(span.first)?;
    let kept_lines = map.kept_spans(&Spans::one(span.first, span.count));
    let whole_span = Spans::one(first_output_line, span.count.max(1));
    if kept_lines == whole_span { Some(first_output_line) } else { None }
}

fn overlaps_any(regions: &[Region], rows: Span, columns: Span) -> bool {
    let row_spans = Spans::one(rows.first, rows.count);
    let column_spans = Spans::one(columns.first, columns.count);
    regions.iter().any(|region| {
        !region.rows.intersection(&row_spans).is_empty()
            && !region.columns.intersection(&column_spans).is_empty()
    })
}
