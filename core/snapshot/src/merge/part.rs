//! Tiles as merge inputs.

use super::source::Source;
use super::window::Window;
use crate::tile::{Tile, TileColumn};
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_sheet::axis_map::Run;

/// A tile placed in the coordinates of its level.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// Cells of the tile, relative to its top left corner.
    pub tile: &'a Tile,
    /// Top row of the tile in its level.
    pub first_row: u32,
    /// Left column of the tile in its level.
    pub first_column: u32,
    /// Declared size of the tile. Cells of a malformed tile that lie outside are ignored.
    pub place: PlaceSize,
    /// Mapping from the tile's level to the newest level.
    pub source: &'a Source,
}

/// Declared size of a tile in rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceSize {
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

impl PlaceSize {
    /// Size of a whole sheet, used for in-memory tiles.
    pub const SHEET: Self = Self { rows: MAX_ROWS, columns: MAX_COLUMNS };
}

impl<'a> Part<'a> {
    /// Returns an in-memory tile that covers the whole sheet.
    #[must_use]
    pub fn whole_sheet(tile: &'a Tile, source: &'a Source) -> Self {
        Self { tile, first_row: 0, first_column: 0, place: PlaceSize::SHEET, source }
    }

    /// Returns the runs of tile rows that map into the window. Source rows are relative to the
    /// tile's top row.
    pub(super) fn runs(&self, window: &Window) -> Vec<Run> {
        let runs = self.source.rows.runs();
        let row_end = self.first_row.saturating_add(self.place.rows);
        let start = runs.partition_point(|run| run.src.saturating_add(run.len) <= self.first_row);
        let mut clipped = Vec::new();
        for run in runs.iter().skip(start) {
            if run.src >= row_end || run.dst >= window.rows.end {
                break;
            }
            clipped.extend(self.clip_run(*run, row_end, window));
        }
        clipped
    }

    /// Clips a run to the tile's rows and the window. Returns `None` if no rows remain.
    fn clip_run(&self, run: Run, row_end: u32, window: &Window) -> Option<Run> {
        let before_tile = self.first_row.saturating_sub(run.src);
        let before_window = window.rows.start.saturating_sub(run.dst);
        let skipped = before_tile.max(before_window);
        let until_tile_end = row_end.saturating_sub(run.src);
        let until_window_end = window.rows.end.saturating_sub(run.dst);
        let end = run.len.min(until_tile_end).min(until_window_end);
        if end <= skipped {
            return None;
        }
        Some(Run {
            src: run.src.saturating_add(skipped).saturating_sub(self.first_row),
            dst: run.dst.saturating_add(skipped),
            len: end.saturating_sub(skipped),
        })
    }

    /// Returns the output rows of the window in which the tile has a cell, unsorted and possibly
    /// with duplicates.
    pub(super) fn rows(&self, window: &Window) -> Vec<u32> {
        let runs = self.runs(window);
        let mut output_rows = Vec::new();
        for (_, column) in self.columns(window) {
            for layer_rows in [column.values.rows(), column.formats.rows()] {
                for run in &runs {
                    let run_end = run.src.saturating_add(run.len);
                    let first = layer_rows.partition_point(|row| *row < run.src);
                    let end = layer_rows.partition_point(|row| *row < run_end);
                    let rows = layer_rows.get(first..end).unwrap_or_default();
                    let to_output = |row: &u32| row.saturating_sub(run.src).saturating_add(run.dst);
                    output_rows.extend(rows.iter().map(to_output));
                }
            }
        }
        output_rows
    }

    /// Iterates over the tile columns that map into the window, with their output columns.
    pub(super) fn columns(&self, window: &Window) -> impl Iterator<Item = (u32, &'a TileColumn)> {
        let (source, first_column, place) = (self.source, self.first_column, self.place);
        let window_columns = window.columns.clone();
        self.tile.columns.iter().filter_map(move |column| {
            if column.column >= place.columns {
                return None;
            }
            let output_column = source.columns.get(first_column.saturating_add(column.column))?;
            window_columns.contains(&output_column).then_some((output_column, column))
        })
    }
}
