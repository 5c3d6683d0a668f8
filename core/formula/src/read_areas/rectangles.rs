//! The order and the stored form of areas.

use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS};
use cellar_grid::SheetId;
use cellar_grid::a1::{CellName, Rectangle, SheetArea};

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
