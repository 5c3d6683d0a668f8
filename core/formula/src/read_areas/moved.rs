//! How rectangles follow rows and columns that move.

use cellar_grid::a1::{CellName, Rectangle, SheetArea};
use cellar_grid::{Axis, Spans};

use super::ReadAreas;
use crate::changes::{MovedLines, SheetLines};
use crate::expression::FormulaTraits;
use crate::line_map::LineMap;

impl ReadAreas {
    /// Returns the areas after rows and columns have moved. They contain all cells that the moved
    /// references name.
    #[must_use]
    pub fn moved(&self, moves: &MovedLines) -> Self {
        let mut moved = Self { areas: Vec::new(), traits: self.traits };
        for area in &self.areas {
            if let Some(area) = moves.moved_area(area) {
                moved.insert(area);
            }
        }
        moved
    }

    /// Returns whether all rows and columns of each area move by the same distance: none of them is
    /// deleted, and none is inserted between them.
    #[must_use]
    pub fn move_as_a_whole(&self, moves: &MovedLines) -> bool {
        self.areas.iter().all(|SheetArea { sheet, cells: Rectangle { first, last } }| {
            moves.sheet(*sheet).is_none_or(|SheetLines { rows, columns }| {
                shift(rows, first.row, last.row).is_some()
                    && shift(columns, first.column, last.column).is_some()
            })
        })
    }

    /// Returns whether all formulas have the same templates after their cells have moved from the
    /// tile at `from` to `to` and their references as `moves` says. `false` means that it is not
    /// known.
    #[must_use]
    pub fn keep_templates(&self, moves: &MovedLines, from: CellName, to: CellName) -> bool {
        let distance = |from: u32, to: u32| i64::from(to) - i64::from(from);
        let rows = distance(from.row, to.row);
        let columns = distance(from.column, to.column);
        // A reference with `$` moves although it does not follow the cell, and a reference to a
        // sheet that does not exist does not move.
        let has_fixed_references = (rows != 0 && self.traits.has_any(FormulaTraits::FIXED_ROWS))
            || (columns != 0 && self.traits.has_any(FormulaTraits::FIXED_COLUMNS))
            || (from != to && self.traits.has_any(FormulaTraits::UNKNOWN_SHEETS));
        if has_fixed_references || self.traits.has_any(FormulaTraits::UNLISTED_AREAS) {
            return false;
        }
        self.areas.iter().all(|SheetArea { sheet, cells: Rectangle { first, last } }| {
            let Some(lines) = moves.sheet(*sheet) else { return from == to };
            shift(&lines.rows, first.row, last.row) == Some(rows)
                && shift(&lines.columns, first.column, last.column) == Some(columns)
        })
    }
}

impl MovedLines {
    /// Returns the area after rows and columns have moved. It contains all of its cells that are
    /// left. Returns `None` if there are none.
    #[must_use]
    pub fn moved_area(&self, area: &SheetArea) -> Option<SheetArea> {
        let Some(SheetLines { rows, columns }) = self.sheet(area.sheet) else { return Some(*area) };
        let Rectangle { first, last } = area.cells;
        let (first_row, last_row) = moved_ends(rows, Axis::Rows, first.row, last.row)?;
        let (first_column, last_column) =
            moved_ends(columns, Axis::Columns, first.column, last.column)?;
        let cells = Rectangle {
            first: CellName { row: first_row, column: first_column },
            last: CellName { row: last_row, column: last_column },
        };
        Some(SheetArea { cells, ..*area })
    }
}

/// An area with all rows stays so, because references to whole columns do.
fn moved_ends(map: &LineMap, axis: Axis, first: u32, last: u32) -> Option<(u32, u32)> {
    if first == 0 && last >= axis.limit() - 1 {
        return Some((first, last));
    }
    map.range(first, last)
}

/// Returns the common offset by which the rows or columns move, or `None` if any of them are deleted
/// or if the offsets differ.
fn shift(map: &LineMap, first: u32, last: u32) -> Option<i64> {
    let count = last.saturating_sub(first).saturating_add(1);
    let moved_first = map.line(first)?;
    let moved = map.kept().kept_spans(&Spans::one(first, count));
    if moved != Spans::one(moved_first, count) {
        return None;
    }
    Some(i64::from(moved_first) - i64::from(first))
}
