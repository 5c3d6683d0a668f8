//! Merges the cells of one window across several levels.

use super::column::{ColumnPart, merge_column};
use super::part::Part;
use super::window::{Below, Window};
use crate::level::Region;
use crate::tile::{Tile, TileColumn};
use cellar_sheet::axis_map::Run;
use cellar_sheet::operation::Spans;

/// A tile column with its output column.
struct PlacedColumn<'a> {
    output_column: u32,
    part_index: usize,
    column: &'a TileColumn,
}

/// Merges the cells of a window from `parts`, ordered oldest first. Rows and columns of the result
/// are absolute, not relative to the window. Tiles of the same level must not overlap.
#[must_use]
pub fn merge_window(parts: &[Part<'_>], window: &Window, below: Below) -> Tile {
    let runs_by_part: Vec<Vec<Run>> = parts.iter().map(|part| part.runs(window)).collect();
    let mut placed: Vec<PlacedColumn<'_>> = Vec::new();
    for (part_index, (part, runs)) in parts.iter().zip(&runs_by_part).enumerate() {
        if !runs.is_empty() {
            placed.extend(part.columns(window).map(|(output_column, column)| PlacedColumn {
                output_column,
                part_index,
                column,
            }));
        }
    }
    placed.sort_unstable_by_key(|column| (column.output_column, column.part_index));
    let mut columns = Vec::new();
    for group in placed.chunk_by(|one, next| one.output_column == next.output_column) {
        let Some(output_column) = group.first().map(|first| first.output_column) else { continue };
        let column_parts: Vec<ColumnPart<'_>> =
            group.iter().filter_map(|placed| column_part(placed, parts, &runs_by_part)).collect();
        let merged = merge_column(output_column, &column_parts, below);
        if !merged.is_empty() {
            columns.push(merged);
        }
    }
    Tile { columns }
}

fn column_part<'a>(
    placed: &PlacedColumn<'a>,
    parts: &[Part<'_>],
    runs_by_part: &'a [Vec<Run>],
) -> Option<ColumnPart<'a>> {
    let source = parts.get(placed.part_index)?.source;
    Some(ColumnPart {
        column: placed.column,
        runs: runs_by_part.get(placed.part_index)?,
        hidden_values: hidden_rows(&source.hidden_values, placed.output_column),
        hidden_formats: hidden_rows(&source.hidden_formats, placed.output_column),
    })
}

/// Returns the rows of a column that are covered by at least one region.
fn hidden_rows(regions: &[Region], column: u32) -> Spans {
    let mut spans: Vec<_> = regions
        .iter()
        .filter(|region| region.columns.contains(column))
        .flat_map(|region| region.rows.iter())
        .collect();
    spans.sort_unstable_by_key(|span| span.first);
    Spans::from_sorted(spans)
}
