//! Finds cells by their displayed text and filters the rows of a sheet. Each request reads a
//! bounded number of cells and returns a cursor for the next request, so sheets can have any size.

mod budget;
mod evaluate;
mod filter;
mod find;
mod windows;

pub use filter::{FilterQuery, Filtered};
pub use find::{FindQuery, Found};

#[cfg(test)]
pub(super) use budget::Budget;

use cellar_sheet::a1::{CellName, Rectangle};
use cellar_sheet::cell::{Cell, json_text_bytes};
use cellar_sheet::metadata::Extent;
use cellar_snapshot::merge::Window;

/// Approximate size in bytes of a cell in a JSON response, excluding its texts.
const CELL_FRAME_BYTES: usize = 128;

fn json_bytes(cell: &Cell) -> usize {
    let text_bytes = |text: &Option<String>| text.as_deref().map_or(0, json_text_bytes);
    CELL_FRAME_BYTES
        + cell.value.json_bytes()
        + text_bytes(&cell.formula)
        + text_bytes(&cell.format)
}

/// Returns the part of a rectangle that is in the used range of a sheet.
fn used_window(rectangle: Rectangle, extent: Extent) -> Window {
    let Rectangle { first, last } = rectangle;
    let range = |first: u32, last: u32, used: u32| {
        let end = last.saturating_add(1).min(used);
        first.min(end)..end
    };
    Window {
        rows: range(first.row, last.row, extent.rows),
        columns: range(first.column, last.column, extent.columns),
    }
}

/// Returns the top-left cell of a window.
fn first_cell(window: &Window) -> CellName {
    CellName { row: window.rows.start, column: window.columns.start }
}
