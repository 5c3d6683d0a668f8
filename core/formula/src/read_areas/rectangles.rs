//! Unions of rectangles.

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, Rectangle, SheetArea};

/// Returns the smallest rectangle that contains both rectangles.
pub(super) fn union(one: &Rectangle, other: &Rectangle) -> Rectangle {
    Rectangle {
        first: CellName {
            row: one.first.row.min(other.first.row),
            column: one.first.column.min(other.first.column),
        },
        last: CellName {
            row: one.last.row.max(other.last.row),
            column: one.last.column.max(other.last.column),
        },
    }
}

/// Returns the number of cells of the union of two rectangles that are in neither of them.
pub(super) fn added_cells(one: &Rectangle, other: &Rectangle) -> u64 {
    let common = common_cells(one, other).map_or(0, |common| common.area());
    let cells = one.area().saturating_add(other.area()).saturating_sub(common);
    union(one, other).area().saturating_sub(cells)
}

fn common_cells(one: &Rectangle, other: &Rectangle) -> Option<Rectangle> {
    let common = Rectangle {
        first: CellName {
            row: one.first.row.max(other.first.row),
            column: one.first.column.max(other.first.column),
        },
        last: CellName {
            row: one.last.row.min(other.last.row),
            column: one.last.column.min(other.last.column),
        },
    };
    one.overlaps(other).then_some(common)
}

/// Key by which areas are sorted.
pub(super) fn order(area: &SheetArea) -> (SheetId, CellName, CellName) {
    (area.sheet, area.cells.first, area.cells.last)
}

/// Returns `None` if the rectangle is empty or beyond the end of the largest possible sheet.
pub(super) fn from_numbers(
    [sheet, first_row, rows, first_column, columns]: &[u32; 5],
) -> Option<SheetArea> {
    let last = |first: u32, count: u32, limit: u32| {
        let end = first.checked_add(count).filter(|end| *end <= limit)?;
        end.checked_sub(1).filter(|last| *last >= first)
    };
    let last_row = last(*first_row, *rows, MAX_ROWS)?;
    let last_column = last(*first_column, *columns, MAX_COLUMNS)?;
    Some(SheetArea {
        sheet: SheetId(*sheet),
        cells: Rectangle {
            first: CellName { row: *first_row, column: *first_column },
            last: CellName { row: last_row, column: last_column },
        },
    })
}
