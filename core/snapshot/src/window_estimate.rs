//! Estimates how much reading a window takes, from the tile indexes alone. No tile is loaded.

use std::ops::Range;

use super::error::SnapshotError;
use super::fold::FoldedLevel;
use super::index::LocatedTile;
use super::level::{Region, SheetMoves};
use super::merge::{Window, map_levels_to_newest};
use super::objects::{Fetch, MissingObjects, ObjectKind, Objects, to_fetch};
use super::root::Root;
use super::tile::{Tile, TileColumn};
use super::view::{load_sheet_levels, visible_region};
use cellar_sheet::operation::{SheetId, Span, Spans};

/// Upper bounds of the cells and tiles of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowEstimate {
    /// Number of cells in all levels. If it is 0, the window is blank.
    pub cells: u64,
    /// Number of tiles that overlap the window.
    pub tiles: u64,
}

/// Returns upper bounds of the cells and tiles of a window, after the entries in `tail` are applied to
/// `root`. They are computed from the number of cells and the place of each tile, which the tile indexes
/// contain.
///
/// # Errors
/// Returns a [`SnapshotError`] if an object does not match the reference to it.
pub fn estimate_window(
    root: Option<&Root>,
    tail: &FoldedLevel,
    sheet_id: SheetId,
    window: &Window,
    objects: &Objects,
) -> Result<Fetch<WindowEstimate>, SnapshotError> {
    let mut missing = MissingObjects::default();
    let levels = load_sheet_levels(root, tail, sheet_id, objects, &mut missing)?;
    if !missing.is_empty() {
        return Ok(missing.into_fetch(WindowEstimate::default));
    }
    let tail_sheet = tail.sheets.iter().find(|folded| folded.sheet == sheet_id);
    let mut moves_by_level: Vec<&SheetMoves> = levels.iter().map(|level| level.moves).collect();
    moves_by_level.extend(tail_sheet.map(|folded| &folded.moves));
    let mappings = map_levels_to_newest(&moves_by_level);
    let mut estimate = WindowEstimate::default();
    for (level, mapping) in levels.iter().zip(&mappings) {
        let region = visible_region(mapping, window);
        let lookup =
            level.packed_level.tiles(sheet_id, &region, &|hash| objects.index.get(hash))?;
        let located = missing.ready_or_record_missing(to_fetch(lookup, ObjectKind::Index));
        for tile in located.iter().flatten() {
            estimate.add_tile(tile, &region);
        }
    }
    // The newest level has the coordinates of the window.
    if let Some(folded) = tail_sheet {
        estimate.cells = estimate.cells.saturating_add(count_cells(&folded.tile, window));
    }
    Ok(missing.into_fetch(|| estimate))
}

impl WindowEstimate {
    fn add_tile(&mut self, located: &LocatedTile, region: &Region) {
        let overlap = |span: Span, spans: &Spans| {
            spans.intersection(&Spans::one(span.first, span.count)).count()
        };
        let rows = overlap(located.tile.rows, &region.rows);
        let columns = overlap(located.columns, &region.columns);
        let cells = rows.saturating_mul(columns).min(located.tile.cells.into());
        self.cells = self.cells.saturating_add(cells);
        self.tiles = self.tiles.saturating_add(u64::from(cells > 0));
    }
}

fn count_cells(tile: &Tile, window: &Window) -> u64 {
    let columns = tile.columns.iter().filter(|column| window.columns.contains(&column.index));
    columns.map(|column| count_column_cells(column, &window.rows)).sum()
}

/// A cell with a value and a format counts twice.
fn count_column_cells(column: &TileColumn, rows: &Range<u32>) -> u64 {
    let count = |layer_rows: &[u32]| {
        let above = |row: u32| layer_rows.partition_point(|layer_row| *layer_row < row);
        above(rows.end).saturating_sub(above(rows.start))
    };
    let cells = count(column.values.rows()).saturating_add(count(column.formats.rows()));
    u64::try_from(cells).unwrap_or(u64::MAX)
}
