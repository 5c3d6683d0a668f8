//! A rectangle of several levels.

use std::ops::Range;

use super::Part;
use super::column::{ColumnPart, merge_column};
use crate::level::Region;
use crate::tile::{Tile, TileColumn};
use cellar_sheet::axis_map::Run;
use cellar_sheet::operation::Spans;

/// The rows and columns of the output that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its rows.
    pub rows: Range<u32>,
    /// Its columns.
    pub columns: Range<u32>,
}

/// What stands below the levels that are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// Other levels: what hides them is kept.
    Levels,
    /// No level: blanks need not be kept.
    Nothing,
    /// No level, and no range has a format that a cell's own `General` could hide.
    NothingFormatted,
}

impl Below {
    /// Whether there is no level.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self != Self::Levels
    }
}

/// Merges what parts, oldest first, have in a window. Rows and columns of the result are the
/// output's own, not counted from the window. The tiles of one level must not overlap.
#[must_use]
pub fn merge_window(parts: &[Part<'_>], window: &Window, below: Below) -> Tile {
    let runs: Vec<Vec<Run>> = parts.iter().map(|part| part.runs(window)).collect();
    let mut found: Vec<(u32, usize, &TileColumn)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        if runs.get(number).is_some_and(|runs| !runs.is_empty()) {
            found.extend(part.columns(window).map(|(at, column)| (at, number, column)));
        }
    }
    found.sort_unstable_by_key(|(column, number, _)| (*column, *number));
    let same_column = found.chunk_by(|one, next| one.0 == next.0);
    let columns = same_column.filter_map(|group| {
        let number = group.first()?.0;
        let column_parts = group.iter().filter_map(|(_, part, column)| {
            let source = parts.get(*part)?.source;
            Some(ColumnPart {
                column,
                runs: runs.get(*part)?,
                hidden_values: hidden(&source.hidden_values, number),
                hidden_formats: hidden(&source.hidden_formats, number),
            })
        });
        let column_parts: Vec<ColumnPart<'_>> = column_parts.collect();
        let merged = merge_column(number, &column_parts, below);
        (!merged.is_empty()).then_some(merged)
    });
    Tile { columns: columns.collect() }
}

/// The rows in which regions hide a column.
fn hidden(regions: &[Region], column: u32) -> Spans {
    let mut spans: Vec<_> = regions
        .iter()
        .filter(|region| region.columns.contains(column))
        .flat_map(|region| region.rows.iter())
        .collect();
    spans.sort_unstable_by_key(|span| span.first);
    Spans::from_sorted(spans)
}
