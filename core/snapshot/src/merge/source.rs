//! Maps each level of a merge to the coordinates of the newest level.

use super::window::Below;
use crate::level::{Region, SheetMoves};
use cellar_sheet::axis_map::{Axis, AxisMap};

/// Maps a level's cells to the coordinates of the newest level, and records which of them newer
/// levels hide.
#[derive(Debug, Clone)]
pub struct Source {
    /// Maps rows to the newest level.
    pub rows: AxisMap,
    /// Maps columns to the newest level.
    pub columns: AxisMap,
    /// Regions in which the level's values are hidden, in the coordinates of the newest level.
    pub hidden_values: Vec<Region>,
    /// Regions in which the level's formats are hidden, in the coordinates of the newest level.
    pub hidden_formats: Vec<Region>,
}

/// Returns the source of each level. `levels` are the moves of all levels, ordered oldest first.
#[must_use]
pub fn level_sources(levels: &[&SheetMoves]) -> Vec<Source> {
    let mut newer_moves = SheetMoves::default();
    let mut sources: Vec<Source> = Vec::with_capacity(levels.len());
    for level in levels.iter().rev() {
        sources.push(Source {
            rows: newer_moves.rows.clone(),
            columns: newer_moves.columns.clone(),
            hidden_values: newer_moves.value_clears.clone(),
            hidden_formats: newer_moves.format_clears.clone(),
        });
        newer_moves = newer_moves.compose_over(level);
    }
    sources.reverse();
    sources
}

/// Composes the moves of several levels, ordered oldest first, into one.
#[must_use]
pub fn compose_moves(levels: &[&SheetMoves]) -> SheetMoves {
    levels.iter().rev().fold(SheetMoves::default(), |newer, level| newer.compose_over(level))
}

impl SheetMoves {
    /// Returns the moves unchanged if there is an older level below, and empty moves otherwise.
    #[must_use]
    pub(crate) fn needed_above(self, below: Below) -> Self {
        if below.is_nothing() { Self::default() } else { self }
    }

    /// Returns the moves that apply `older` first, then `self`.
    fn compose_over(&self, older: &Self) -> Self {
        Self {
            rows: older.rows.then(&self.rows),
            columns: older.columns.then(&self.columns),
            value_clears: self.merge_clears(&self.value_clears, &older.value_clears),
            format_clears: self.merge_clears(&self.format_clears, &older.format_clears),
        }
    }

    /// Maps older cleared regions through these moves and appends those that are not yet covered by
    /// a region.
    fn merge_clears(&self, clears: &[Region], older_clears: &[Region]) -> Vec<Region> {
        let mut merged = clears.to_vec();
        for older in older_clears {
            let mut region = older.clone();
            region.map(Axis::Rows, &self.rows);
            region.map(Axis::Columns, &self.columns);
            let is_covered = merged.iter().any(|other| {
                other.rows.cover(&region.rows) && other.columns.cover(&region.columns)
            });
            if !region.is_empty() && !is_covered {
                merged.push(region);
            }
        }
        merged
    }
}
