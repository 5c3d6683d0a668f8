//! The levels of a merge, as seen from the newest.

use super::Below;
use crate::axis_map::{Axis, AxisMap};
use crate::snapshot::level::Region;

/// What a level did to a sheet, but for its cells.
#[derive(Debug, Clone, Copy)]
pub struct LevelChanges<'a> {
    /// From the rows of the level below.
    pub rows: &'a AxisMap,
    /// From its columns.
    pub columns: &'a AxisMap,
    /// Where values below are hidden, in this level's space.
    pub value_clears: &'a [Region],
    /// Where formats of single cells below are hidden.
    pub format_clears: &'a [Region],
}

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

/// Changes of several levels as those of one.
#[derive(Debug, Clone, PartialEq)]
pub struct ComposedChanges {
    /// From the rows of the level below all of them.
    pub rows: AxisMap,
    /// From its columns.
    pub columns: AxisMap,
    /// Where values below are hidden.
    pub value_clears: Vec<Region>,
    /// Where formats of single cells below are hidden.
    pub format_clears: Vec<Region>,
}

/// The sources of a merge of levels, oldest first, and what all of them did together.
#[must_use]
pub fn sources(levels: &[LevelChanges<'_>]) -> Vec<Source> {
    let mut above = ComposedChanges::nothing();
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
pub fn composed(levels: &[LevelChanges<'_>]) -> ComposedChanges {
    levels.iter().rev().fold(ComposedChanges::nothing(), |above, level| above.below(level))
}

impl ComposedChanges {
    /// The changes as far as there is something below that they could move or hide.
    #[must_use]
    pub fn above(self, below: Below) -> Self {
        if below.is_nothing() { Self::nothing() } else { self }
    }

    fn nothing() -> Self {
        Self {
            rows: AxisMap::identity(Axis::Rows),
            columns: AxisMap::identity(Axis::Columns),
            value_clears: Vec::new(),
            format_clears: Vec::new(),
        }
    }

    /// These changes after those of the level below.
    fn below(&self, level: &LevelChanges<'_>) -> Self {
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
            value_clears: with(&self.value_clears, level.value_clears),
            format_clears: with(&self.format_clears, level.format_clears),
        }
    }
}
