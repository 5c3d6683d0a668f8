//! One tile of a level, as an input of a merge.

use super::Source;
use super::window::Window;
use crate::tile::{Tile, TileColumn};
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_sheet::axis_map::Run;

/// A tile, and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The cells.
    pub tile: &'a Tile,
    /// Its top row, in the space of its level.
    pub first_row: u32,
    /// Its left column.
    pub first_column: u32,
    /// The rows and columns of its place. What a tile has beyond them, which none has that Cellar
    /// wrote, is no part of the sheet.
    pub place: Place,
    /// Its level.
    pub source: &'a Source,
}

/// How large the place of a tile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

impl Place {
    /// The whole sheet: of a tile in memory.
    pub const SHEET: Self = Self { rows: MAX_ROWS, columns: MAX_COLUMNS };
}

impl<'a> Part<'a> {
    /// The runs of the tile's rows that are in a window, the tile's top row being 0 in their source.
    pub(super) fn runs(&self, window: &Window) -> Vec<Run> {
        let runs = self.source.rows.runs();
        let row_end = self.first_row.saturating_add(self.place.rows);
        let start = runs.partition_point(|run| run.src.saturating_add(run.len) <= self.first_row);
        let inside = runs.iter().skip(start);
        let inside = inside.take_while(|run| run.src < row_end && run.dst < window.rows.end);
        let cut = inside.filter_map(|run| {
            let behind = window.rows.start.saturating_sub(run.dst);
            let skipped = self.first_row.saturating_sub(run.src).max(behind);
            let room = window.rows.end.saturating_sub(run.dst).min(run.len);
            let room = room.min(row_end.saturating_sub(run.src));
            let len = room.checked_sub(skipped).filter(|len| *len > 0)?;
            let src = run.src.saturating_add(skipped).saturating_sub(self.first_row);
            Some(Run { src, dst: run.dst.saturating_add(skipped), len })
        });
        cut.collect()
    }

    /// The rows of a window in which the tile has something, in no order, perhaps repeated.
    pub(super) fn rows(&self, window: &Window) -> Vec<u32> {
        let runs = self.runs(window);
        let mut rows = Vec::new();
        for (_, column) in self.columns(window) {
            for layer in [column.values.rows(), column.formats.rows()] {
                for run in &runs {
                    let first = layer.partition_point(|row| *row < run.src);
                    let end = layer.partition_point(|row| *row < run.src.saturating_add(run.len));
                    let inside = layer.get(first..end).unwrap_or_default();
                    let moved = |row: &u32| row.saturating_sub(run.src).saturating_add(run.dst);
                    rows.extend(inside.iter().map(moved));
                }
            }
        }
        rows
    }

    /// The columns of the tile that are in a window, with their numbers there.
    pub(super) fn columns(&self, window: &Window) -> impl Iterator<Item = (u32, &'a TileColumn)> {
        let (source, first, place) = (self.source, self.first_column, self.place);
        let wanted = window.columns.clone();
        let inside = self.tile.columns.iter().filter(move |column| column.column < place.columns);
        inside.filter_map(move |column| {
            let at = source.columns.get(first.saturating_add(column.column))?;
            wanted.contains(&at).then_some((at, column))
        })
    }
}
