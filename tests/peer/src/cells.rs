//! The sheet that both engines edit. Cells are represented by row and column in the same form for
//! both engines.

use std::collections::BTreeMap;

use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_sheet::workbook::Workbook;

/// Number of rows and of columns that contain texts before the edits.
pub const FILLED: u32 = 8;
/// Number of rows and of columns of the peer's sheet, whose size is fixed. No edit reaches the end
/// of the sheet.
pub const SIDE: u32 = 28;
/// The id of the sheet.
pub const SHEET: SheetId = SheetId::FIRST;

/// The non-empty cells by row and column. Each has a text and a number format, either of which may
/// be empty.
pub type Cells = BTreeMap<(u32, u32), (String, String)>;

/// Returns the row, column and text of each cell that is filled before the edits.
pub fn filled() -> impl Iterator<Item = (u32, u32, String)> {
    let places = (0..FILLED).flat_map(|row| (0..FILLED).map(move |column| (row, column)));
    places.map(|(row, column)| (row, column, format!("r{row}c{column}")))
}

/// Returns the workbook with which both users start.
#[must_use]
pub fn base() -> Workbook {
    let cells = filled().map(|(row, column, text)| {
        let value = Some(Value::Text(text));
        CellEdit { row, column, value, formula: None, format: None }
    });
    let mut workbook = Workbook::default();
    let set = SetCells { sheet: SHEET, cells: cells.collect() };
    workbook.apply_operation(&Operation::SetCells(set));
    workbook
}

/// Returns the cells that a workbook shows.
#[must_use]
pub fn shown(workbook: &Workbook) -> Cells {
    let sheet = workbook.sheet(SHEET).unwrap();
    let places = (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (row, column)));
    let cells = places.map(|(row, column)| {
        let cell = sheet.cell(row, column);
        let text = match cell.value {
            Value::Empty => String::new(),
            Value::Text(text) => text,
            other => panic!("{other:?} at {row}, {column}: only texts are compared"),
        };
        ((row, column), (text, cell.format.unwrap_or_default()))
    });
    cells.filter(|(_, cell)| holds_something(cell)).collect()
}

/// Returns whether a cell has a text or a format. Only such cells are compared.
#[must_use]
pub fn holds_something((text, format): &(String, String)) -> bool {
    !text.is_empty() || !format.is_empty()
}
