//! One tile of a level, as an input of a merge.

use super::Source;
use super::window::Window;
use crate::axis_map::Run;
use crate::snapshot::tile::Tile;

/// A tile, and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The cells.
    pub tile: &'a Tile,
    /// Its top row, in the space of its level.
    pub first_row: u32,
    /// Its left column.
    pub first_column: u32,
    /// Its level.
    pub source: &'a Source,
}

impl Part<'_> {
    /// The runs of the tile's rows that are in a window, the tile's top row being 0 in their source.
    pub(super) fn runs(&self, window: &Window) -> Vec<Run> {
        let runs = self.source.rows.runs();
        let start = runs.partition_point(|run| run.src.saturating_add(run.len) <= self.first_row);
        let inside = runs.iter().skip(start).take_while(|run| run.dst < window.rows.end);
        let cut = inside.filter_map(|run| {
            let behind = window.rows.start.saturating_sub(run.dst);
            let skipped = self.first_row.saturating_sub(run.src).max(behind);
            let room = window.rows.end.saturating_sub(run.dst).min(run.len);
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
        for column in &self.tile.columns {
            let at = self.source.columns.get(self.first_column.saturating_add(column.column));
            if !at.is_some_and(|at| window.columns.contains(&at)) {
                continue;
            }
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
}
