//! Mappings from each level of a merge to the coordinates of the newest level.

use super::inputs::SheetInput;
use crate::level::{Region, SheetMoves};
use cellar_sheet::axis_map::{Axis, AxisMap};

/// Maps the cells of a level to the coordinates of the newest level, and records the cells that
/// newer levels hide.
#[derive(Debug, Clone)]
pub struct LevelMapping {
    /// Maps rows to the coordinates of the newest level.
    pub row_map: AxisMap,
    /// Maps columns to the coordinates of the newest level.
    pub column_map: AxisMap,
    /// Regions in which newer levels hide the level's values, in the coordinates of the newest
    /// level.
    pub hidden_values: Vec<Region>,
    /// Regions in which newer levels hide the level's formats, in the coordinates of the newest
    /// level.
    pub hidden_formats: Vec<Region>,
}

/// Returns the mapping of each level. Both `moves_by_level` and the result are ordered oldest
/// first.
#[must_use]
pub fn map_levels_to_newest(moves_by_level: &[&SheetMoves]) -> Vec<LevelMapping> {
    let mut newer_moves = SheetMoves::default();
    let mut mappings_newest_first = Vec::with_capacity(moves_by_level.len());
    for level_moves in moves_by_level.iter().rev() {
        let newer_and_level_moves = newer_moves.compose_over(level_moves);
        mappings_newest_first.push(LevelMapping {
            row_map: newer_moves.rows,
            column_map: newer_moves.columns,
            hidden_values: newer_moves.value_clears,
            hidden_formats: newer_moves.format_clears,
        });
        newer_moves = newer_and_level_moves;
    }
    let mut mappings = mappings_newest_first;
    mappings.reverse();
    mappings
}

/// Composes the axis maps and cleared regions of several levels, without ends of ranges.
/// `moves_by_level` is ordered from oldest to newest.
#[must_use]
pub fn compose_moves(moves_by_level: &[&SheetMoves]) -> SheetMoves {
    let mut composed_moves = SheetMoves::default();
    for level_moves in moves_by_level.iter().rev() {
        composed_moves = composed_moves.compose_over(level_moves);
    }
    composed_moves
}

impl SheetInput {
    /// Returns what the merged level must store for older levels: how older cells are moved and
    /// hidden, and how references of older formulas move.
    #[must_use]
    pub(crate) fn merged_moves(&self) -> SheetMoves {
        let moves_by_level = self.moves();
        if !self.needs_moves() {
            return SheetMoves::default();
        }
        let mut moves = compose_moves(&moves_by_level);
        if !self.older_levels.are_present() {
            moves.value_clears.clear();
            moves.format_clears.clear();
        }
        if self.has_older_formulas {
            let lines_by_level = moves_by_level.iter().map(|level_moves| level_moves.lines());
            let lines = lines_by_level.reduce(|older, newer| older.then(&newer));
            moves.set_ends(&lines.unwrap_or_default());
        }
        moves
    }

    /// Returns whether older cells or references of older formulas may exist. A sheet without older
    /// cells may be named by formulas of other sheets.
    pub(crate) fn needs_moves(&self) -> bool {
        self.older_levels.are_present() || self.has_older_formulas
    }
}

impl SheetMoves {
    /// Returns the combined effect of `older` followed by `self`.
    fn compose_over(&self, older: &Self) -> Self {
        Self {
            rows: older.rows.then(&self.rows),
            columns: older.columns.then(&self.columns),
            value_clears: self.merge_clears(&self.value_clears, &older.value_clears),
            format_clears: self.merge_clears(&self.format_clears, &older.format_clears),
            ..Self::default()
        }
    }

    /// Maps older cleared regions through these axis maps. Appends those that are not covered by
    /// another region.
    fn merge_clears(&self, newer_clears: &[Region], older_clears: &[Region]) -> Vec<Region> {
        let mut merged_clears = newer_clears.to_vec();
        for older_clear in older_clears {
            let mut mapped_clear = older_clear.clone();
            mapped_clear.map(Axis::Rows, &self.rows);
            mapped_clear.map(Axis::Columns, &self.columns);
            let is_covered = merged_clears.iter().any(|clear| clear.covers(&mapped_clear));
            if !mapped_clear.is_empty() && !is_covered {
                merged_clears.push(mapped_clear);
            }
        }
        merged_clears
    }
}
