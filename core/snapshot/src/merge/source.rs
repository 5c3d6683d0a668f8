//! The levels of a merge, as seen from the newest.

use super::Below;
use crate::level::{Region, SheetMoves};
use cellar_sheet::axis_map::{Axis, AxisMap};

/// Where a level's cells stand in the space of the newest, and which of them newer levels hide.
#[derive(Debug, Clone)]
pub struct Source {
    /// From the level's rows.
    pub rows: AxisMap,
    /// From its columns.
    pub columns: AxisMap,
    /// Where its values are hidden, in the space of the newest.
    pub hidden_values: Vec<Region>,
    /// Where its formats are hidden.
    pub hidden_formats: Vec<Region>,
}

/// The sources of a merge of levels, oldest first, and what all of them did together.
#[must_use]
pub fn sources(levels: &[&SheetMoves]) -> Vec<Source> {
    let mut above = SheetMoves::default();
    let mut sources: Vec<Source> = Vec::with_capacity(levels.len());
    for level in levels.iter().rev() {
        sources.push(Source {
            rows: above.rows.clone(),
            columns: above.columns.clone(),
            hidden_values: above.value_clears.clone(),
            hidden_formats: above.format_clears.clone(),
        });
        above = above.below(level);
    }
    sources.reverse();
    sources
}

/// What levels, oldest first, did together.
#[must_use]
pub fn composed(levels: &[&SheetMoves]) -> SheetMoves {
    levels.iter().rev().fold(SheetMoves::default(), |above, level| above.below(level))
}

impl SheetMoves {
    /// The moves as far as there is something below that they could move or hide.
    #[must_use]
    pub(crate) fn above(self, below: Below) -> Self {
        if below.is_nothing() { Self::default() } else { self }
    }

    /// These moves after those of the level below.
    fn below(&self, level: &Self) -> Self {
        let with = |own: &[Region], clears: &[Region]| {
            let mut all = own.to_vec();
            for clear in clears {
                let mut region = clear.clone();
                region.map(Axis::Rows, &self.rows);
                region.map(Axis::Columns, &self.columns);
                let covered = |other: &Region| {
                    other.rows.cover(&region.rows) && other.columns.cover(&region.columns)
                };
                if !region.is_empty() && !all.iter().any(covered) {
                    all.push(region);
                }
            }
            all
        };
        Self {
            rows: level.rows.then(&self.rows),
            columns: level.columns.then(&self.columns),
            value_clears: with(&self.value_clears, &level.value_clears),
            format_clears: with(&self.format_clears, &level.format_clears),
        }
    }
}
