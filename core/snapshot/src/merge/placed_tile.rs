//! Tiles as merge inputs.

use std::collections::BTreeSet;
use std::ops::Range;

use super::formulas::{FormulaMapping, add_named_sheets};
use super::level_mapping::LevelMapping;
use super::window::Window;
use crate::tile::{TextLayer, Tile, TileColumn};
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_sheet::axis_map::Run;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::SheetId;

/// A tile, its place in its level, and the mapping from that level to the newest level.
#[derive(Debug, Clone, Copy)]
pub struct PlacedTile<'a> {
    /// Cells of the tile, relative to its top left corner.
    pub tile: &'a Tile,
    /// Top row of the tile in its level.
    pub first_row: u32,
    /// Left column of the tile in its level.
    pub first_column: u32,
    /// Declared size of the tile. If a malformed tile has cells outside this size, they are
    /// ignored.
    pub size: TileSize,
    /// Mapping from the tile's level to the newest level.
    pub mapping: &'a LevelMapping,
    /// Moves the tile's formulas to the newest level.
    pub formulas: &'a FormulaMapping,
}

/// Declared size of a tile in rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileSize {
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

impl TileSize {
    /// Size of an entire sheet, which in-memory tiles have.
    pub const SHEET: Self = Self { rows: MAX_ROWS, columns: MAX_COLUMNS };
}

impl<'a> PlacedTile<'a> {
    /// Returns an in-memory tile that covers the entire sheet.
    #[must_use]
    pub fn of_whole_sheet(
        tile: &'a Tile,
        mapping: &'a LevelMapping,
        formulas: &'a FormulaMapping,
    ) -> Self {
        Self { tile, first_row: 0, first_column: 0, size: TileSize::SHEET, mapping, formulas }
    }

    /// Adds the sheets that formulas of the tile in the window name. Returns whether there are
    /// formulas in the window.
    pub(crate) fn add_named_sheets(
        &self,
        window: &Window,
        (sheet, tabs): (SheetId, &Tabs),
        named_sheets: &mut BTreeSet<SheetId>,
    ) -> bool {
        if self.tile.formula_count() == 0 {
            return false;
        }
        let mut has_formulas = false;
        let row_runs = self.row_runs(window);
        for (_, column) in self.columns_by_output(window) {
            let rows_in_window = |layer: &TextLayer| {
                let rows = row_runs.iter().flat_map(|run| {
                    layer.rows().get(indices_in_run(layer.rows(), run)).unwrap_or_default()
                });
                rows.copied().collect::<Vec<u32>>()
            };
            has_formulas |= add_named_sheets(column, rows_in_window, (sheet, tabs), named_sheets);
        }
        has_formulas
    }

    /// The source rows of a run are relative to the tile's top row.
    pub(crate) fn row_runs(&self, window: &Window) -> Vec<Run> {
        let level_runs = self.mapping.row_map.runs();
        let tile_end_row = self.first_row.saturating_add(self.size.rows);
        let runs_above_tile = level_runs.partition_point(|run| source_end(run) <= self.first_row);
        let mut clipped_runs = Vec::new();
        for run in level_runs.iter().skip(runs_above_tile) {
            if run.src >= tile_end_row || run.dst >= window.rows.end {
                break;
            }
            clipped_runs.extend(self.clip_run(run, tile_end_row, window));
        }
        clipped_runs
    }

    /// Returns `None` if no rows remain.
    fn clip_run(&self, run: &Run, tile_end_row: u32, window: &Window) -> Option<Run> {
        let rows_before_tile = self.first_row.saturating_sub(run.src);
        let rows_before_window = window.rows.start.saturating_sub(run.dst);
        let clipped_start = rows_before_tile.max(rows_before_window);
        let rows_until_tile_end = tile_end_row.saturating_sub(run.src);
        let rows_until_window_end = window.rows.end.saturating_sub(run.dst);
        let clipped_end = run.len.min(rows_until_tile_end).min(rows_until_window_end);
        if clipped_end <= clipped_start {
            return None;
        }
        Some(Run {
            src: run.src + clipped_start - self.first_row,
            dst: run.dst + clipped_start,
            len: clipped_end - clipped_start,
        })
    }

    /// The rows are unsorted and may contain duplicates.
    pub(super) fn output_rows(&self, window: &Window) -> Vec<u32> {
        let row_runs = self.row_runs(window);
        let mut output_rows = Vec::new();
        for (_, column) in self.columns_by_output(window) {
            for layer_rows in [column.values.rows(), column.formats.rows()] {
                for run in &row_runs {
                    let rows_in_run = layer_rows.get(indices_in_run(layer_rows, run));
                    let rows_in_run = rows_in_run.unwrap_or_default().iter();
                    output_rows.extend(rows_in_run.map(|row| row - run.src + run.dst));
                }
            }
        }
        output_rows
    }

    pub(crate) fn columns_by_output(
        &self,
        window: &Window,
    ) -> impl Iterator<Item = (u32, &'a TileColumn)> {
        let placed_tile = *self;
        let window_columns = window.columns.clone();
        self.tile.columns.iter().filter_map(move |column| {
            let output_column = placed_tile.output_column(column)?;
            window_columns.contains(&output_column).then_some((output_column, column))
        })
    }

    /// Returns the output column of a tile column, or `None` if the column is deleted or outside
    /// the tile's declared size.
    fn output_column(&self, column: &TileColumn) -> Option<u32> {
        if column.index >= self.size.columns {
            return None;
        }
        let level_column = self.first_column.saturating_add(column.index);
        self.mapping.column_map.get(level_column)
    }
}

pub(crate) fn indices_in_run(layer_rows: &[u32], run: &Run) -> Range<usize> {
    let first_index = layer_rows.partition_point(|row| *row < run.src);
    let end_index = layer_rows.partition_point(|row| *row < source_end(run));
    first_index..end_index
}

fn source_end(run: &Run) -> u32 {
    run.src.saturating_add(run.len)
}
