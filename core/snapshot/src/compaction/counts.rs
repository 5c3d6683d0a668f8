//! What a level amounts to.

use crate::level::{Level, SheetMoves, StoredTile};

/// Cells and bytes of a level's tiles.
pub(super) fn level_totals(level: &Level) -> (u64, u64) {
    let tiles = level.sheets.iter().flat_map(|sheet| &sheet.stripes).flat_map(|s| &s.tiles);
    tiles.fold((0, 0), |(cells, bytes): (u64, u64), tile| {
        let stored = match &tile.stored {
            StoredTile::Chunk(chunk) => u64::from(chunk.bytes),
            StoredTile::Inline(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        };
        (cells.saturating_add(u64::from(tile.cells)), bytes.saturating_add(stored))
    })
}

/// Runs of the maps or spans of the clears of a sheet, whichever is more.
pub(super) fn changes(moves: &SheetMoves) -> usize {
    moves.clear_spans().max(moves.rows.runs().len()).max(moves.columns.runs().len())
}
