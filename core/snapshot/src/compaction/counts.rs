//! Sizes of levels.

use crate::level::{Level, SheetMoves, StoredTile};
use crate::root::Totals;
use crate::saturate::to_u64;

pub(super) fn level_totals(level: &Level) -> Totals {
    let mut totals = Totals::default();
    let stripes = level.sheets.iter().flat_map(|sheet| &sheet.stripes);
    for tile in stripes.flat_map(|stripe| &stripe.tiles) {
        totals.cells += u64::from(tile.cells);
        totals.bytes += match &tile.stored {
            StoredTile::Chunk(chunk) => u64::from(chunk.bytes),
            StoredTile::Inline(bytes) => to_u64(bytes.len()),
        };
    }
    totals
}

/// Returns the largest of the numbers of runs in an axis map, of cleared spans, and of deleted spans
/// with stored ends. The same limit per sheet and level applies to all of them.
pub(super) fn count_changes(moves: &SheetMoves) -> usize {
    let run_count = moves.rows.runs().len().max(moves.columns.runs().len());
    let end_count = moves.row_ends.len().max(moves.column_ends.len());
    moves.clear_span_count().max(run_count).max(end_count)
}
