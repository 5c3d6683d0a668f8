//! Finds the stored input tiles that overlap an output stripe (range of columns).

use super::part::PlaceSize;
use super::source::Source;
use super::window::Below;
use crate::level::{ChunkRef, Region, StoredTile, Stripe, TilePlace};
use cellar_base::limits::TARGET_CHUNK_BYTES;
use cellar_sheet::axis_map::AxisMap;
use cellar_sheet::operation::{Span, Spans};

/// Minimum stored size of a tile that is reused unchanged, in bytes. Smaller tiles are merged with
/// their neighbours, so that small fragments do not accumulate.
pub(super) const MIN_REUSED_BYTES: u64 = TARGET_CHUNK_BYTES as u64 / 2;

/// A stored tile of an input level.
#[derive(Debug, Clone)]
pub(super) struct InputTile {
    /// Index of the level.
    pub(super) level: usize,
    /// Top row of the tile in its level.
    pub(super) first_row: u32,
    /// Left column of the tile in its level.
    pub(super) first_column: u32,
    pub(super) place: PlaceSize,
    /// Output rows in which the tile may have cells.
    pub(super) rows: Span,
    pub(super) cells: u32,
    pub(super) chunk: ChunkRef,
    /// Whether the tile can be reused unchanged, provided that no other input has cells in its
    /// rows.
    pub(super) is_reusable: bool,
}

/// An output stripe for which input tiles are collected.
pub(super) struct OutputStripe {
    pub(super) columns: Span,
    pub(super) below: Below,
    /// First unfinished output row.
    pub(super) first_row: u32,
}

impl OutputStripe {
    /// Returns the tiles of an input stripe that overlap the unfinished rows of this output stripe.
    pub(super) fn input_tiles(
        &self,
        level: usize,
        stripe: &Stripe,
        source: &Source,
    ) -> Vec<InputTile> {
        let mut tiles = Vec::new();
        if !self.overlaps(map_span(&source.columns, stripe.columns)) {
            return tiles;
        }
        for tile in &stripe.tiles {
            let StoredTile::Chunk(chunk) = &tile.stored else { continue };
            let Some(rows) = map_span(&source.rows, tile.rows) else { continue };
            if rows.end() <= self.first_row {
                continue;
            }
            tiles.push(InputTile {
                level,
                first_row: tile.rows.first,
                first_column: stripe.columns.first,
                place: PlaceSize { rows: tile.rows.count, columns: stripe.columns.count },
                rows,
                cells: tile.cells,
                chunk: *chunk,
                is_reusable: self.can_reuse(level, stripe, tile, rows, *chunk, source),
            });
        }
        tiles
    }

    fn overlaps(&self, columns: Option<Span>) -> bool {
        let own = Spans::one(self.columns.first, self.columns.count);
        columns
            .is_some_and(|span| !own.intersection(&Spans::one(span.first, span.count)).is_empty())
    }

    fn can_reuse(
        &self,
        level: usize,
        stripe: &Stripe,
        tile: &TilePlace,
        rows: Span,
        chunk: ChunkRef,
        source: &Source,
    ) -> bool {
        let is_unfinished = rows.first >= self.first_row;
        let is_large = u64::from(chunk.bytes) >= MIN_REUSED_BYTES;
        let is_contiguous = map_whole_span(&source.rows, tile.rows) == Some(rows.first)
            && map_whole_span(&source.columns, stripe.columns) == Some(self.columns.first)
            && stripe.columns.count == self.columns.count;
        let is_visible = !hides_any(&source.hidden_values, rows, self.columns)
            && !hides_any(&source.hidden_formats, rows, self.columns);
        // Tiles may contain blanks that hide older cells. If no older level exists, blanks must be
        // dropped, so such tiles cannot be reused.
        let may_keep_blanks = !self.below.is_nothing() || level == 0;
        is_unfinished && is_large && is_contiguous && is_visible && may_keep_blanks
    }
}

/// Returns the smallest output span that contains all kept lines of a span, including lines
/// inserted between them, or `None` if no line is kept.
fn map_span(map: &AxisMap, span: Span) -> Option<Span> {
    let covered = map.covering_spans(&Spans::one(span.first, span.count));
    covered.iter().next()
}

/// Returns the first output line of a span if all its lines are kept and still contiguous, or
/// `None` otherwise.
fn map_whole_span(map: &AxisMap, span: Span) -> Option<u32> {
    let first = map.get(span.first)?;
    let kept = map.kept_spans(&Spans::one(span.first, span.count));
    (kept == Spans::one(first, span.count.max(1))).then_some(first)
}

/// Returns whether any region overlaps a rectangle.
fn hides_any(regions: &[Region], rows: Span, columns: Span) -> bool {
    let overlaps = |spans: &Spans, span: Span| {
        !spans.intersection(&Spans::one(span.first, span.count)).is_empty()
    };
    regions.iter().any(|region| overlaps(&region.rows, rows) && overlaps(&region.columns, columns))
}
