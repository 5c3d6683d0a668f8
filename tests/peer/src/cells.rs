//! The sheet that is edited, and its cells by row and column in the form of both engines.

use std::collections::BTreeMap;

use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_sheet::workbook::Workbook;

/// Number of rows, and of columns, that are filled with texts before the edits.
pub const FILLED: u32 = 8;
/// Number of rows, and of columns, of the peer's fixed-size sheet. No edit reaches its end.
pub const SIDE: u32 = 28;
/// The id of the sheet.
pub const SHEET: SheetId = SheetId::FIRST;

/// The non-empty cells by row and column: the text and the number format, each of which may be
/// empty.
pub type Cells = BTreeMap<(u32, u32), (String, String)>;

/// Returns row, column and text of the cells that are filled before the edits.
pub fn filled() -> impl Iterator<Item = (u32, u32, String)> {
    let places = (0..FILLED).flat_map(|row| (0..FILLED).map(move |column| (row, column)));
    places.map(|(row, column)| (row, column, format!("r{row}c{column}")))
}

/// Returns the workbook that both users start with.
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

/// Returns whether a cell has a text or a format, so that it is compared.
#[must_use]
pub fn holds_something((text, format): &(String, String)) -> bool {
    !text.is_empty() || !format.is_empty()
}
