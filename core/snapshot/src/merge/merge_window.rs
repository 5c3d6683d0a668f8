//! Merges the cells of one window, which is a rectangle of a sheet, across several levels.

use super::column::{LevelColumn, append_merged_column};
use super::placed_tile::PlacedTile;
use super::window::{OlderLevels, Window};
use crate::level::Region;
use crate::tile::{Tile, TileColumn};
use cellar_sheet::a1::CellName;
use cellar_sheet::axis_map::Run;
use cellar_sheet::operation::{Span, Spans};

struct WindowColumn<'a> {
    output_column: u32,
    tile_index: usize,
    column: &'a TileColumn,
}

/// Merges the cells of a window. `tiles` is ordered by level, oldest first. Tiles of the same level
/// must not overlap. Rows and columns of the result are absolute, not relative to the window. Its
/// formulas are templates, and texts that are no formulas.
#[must_use]
pub fn merge_window(tiles: &[PlacedTile<'_>], window: &Window, older_levels: OlderLevels) -> Tile {
    let mut merged_cells = Tile::default();
    append_merged_window(&mut merged_cells, tiles, window, older_levels);
    merged_cells
}

/// Like [`merge_window`]. Appends the cells to a tile whose cells are all above the window.
pub(super) fn append_merged_window(
    output: &mut Tile,
    tiles: &[PlacedTile<'_>],
    window: &Window,
    older_levels: OlderLevels,
) {
    let row_runs_by_tile: Vec<Vec<Run>> = tiles.iter().map(|tile| tile.row_runs(window)).collect();
    let window_columns = columns_by_output_and_age(tiles, &row_runs_by_tile, window);
    for same_output in
        window_columns.chunk_by(|column, next| column.output_column == next.output_column)
    {
        let Some(output_column) = same_output.first().map(|column| column.output_column) else {
            continue;
        };
        let level_columns: Vec<LevelColumn<'_>> = same_output
            .iter()
            .filter_map(|column| to_level_column(column, tiles, &row_runs_by_tile))
            .collect();
        output.add_to_column(output_column, |column| {
            append_merged_column(column, &level_columns, older_levels);
        });
    }
}

/// Returns the tile columns that are mapped into the window, sorted by output column. Columns with
/// the same output column are ordered from oldest to newest.
fn columns_by_output_and_age<'a>(
    tiles: &[PlacedTile<'a>],
    row_runs_by_tile: &[Vec<Run>],
    window: &Window,
) -> Vec<WindowColumn<'a>> {
    let mut window_columns = Vec::new();
    for (tile_index, (tile, row_runs)) in tiles.iter().zip(row_runs_by_tile).enumerate() {
        if row_runs.is_empty() {
            continue;
        }
        for (output_column, column) in tile.columns_by_output(window) {
            window_columns.push(WindowColumn { output_column, tile_index, column });
        }
    }
    window_columns.sort_unstable_by_key(|column| (column.output_column, column.tile_index));
    window_columns
}

fn to_level_column<'a>(
    window_column: &WindowColumn<'a>,
    tiles: &[PlacedTile<'a>],
    row_runs_by_tile: &'a [Vec<Run>],
) -> Option<LevelColumn<'a>> {
    let tile = tiles.get(window_column.tile_index)?;
    let mapping = tile.mapping;
    Some(LevelColumn {
        column: window_column.column,
        first_cell: CellName {
            row: tile.first_row,
            column: tile.first_column.saturating_add(window_column.column.index),
        },
        formulas: tile.formulas,
        row_runs: row_runs_by_tile.get(window_column.tile_index)?,
        hidden_values: hidden_rows(&mapping.hidden_values, window_column.output_column),
        hidden_formats: hidden_rows(&mapping.hidden_formats, window_column.output_column),
    })
}

fn hidden_rows(hidden_regions: &[Region], column: u32) -> Spans {
    let mut row_spans: Vec<Span> = hidden_regions
        .iter()
        .filter(|region| region.columns.contains(column))
        .flat_map(|region| region.rows.iter())
        .collect();
    row_spans.sort_unstable_by_key(|span| span.first);
    Spans::from_sorted(row_spans)
}
