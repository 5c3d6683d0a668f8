//! Sizes of levels.

use crate::level::{Level, SheetMoves, StoredTile};
use crate::root::Totals;

/// Returns the total number of cells and stored bytes in a level's tiles.
pub(super) fn level_totals(level: &Level) -> Totals {
    let mut totals = Totals::default();
    let stripes = level.sheets.iter().flat_map(|sheet| &sheet.stripes);
    for tile in stripes.flat_map(|stripe| &stripe.tiles) {
        let stored_bytes = match &tile.stored {
            StoredTile::Chunk(chunk) => u64::from(chunk.bytes),
            StoredTile::Inline(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        };
        totals.cells = totals.cells.saturating_add(u64::from(tile.cells));
        totals.bytes = totals.bytes.saturating_add(stored_bytes);
    }
    totals
}

/// Returns the number of axis map runs or cleared spans, whichever is larger. Both are limited in a
/// level.
pub(super) fn count_changes(moves: &SheetMoves) -> usize {
    moves.clear_spans().max(moves.rows.runs().len()).max(moves.columns.runs().len())
}
