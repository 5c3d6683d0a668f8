//! The sheet that is edited, and its cells by place, as both engines show them.

use std::collections::BTreeMap;

use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_sheet::workbook::Workbook;

/// Rows, and columns, that hold a text before anybody edits the sheet.
pub const FILLED: u32 = 8;
/// Rows, and columns, of the peer's sheet, which has an end: nothing that is done reaches it.
pub const SIDE: u32 = 28;
/// The sheet.
pub const SHEET: SheetId = SheetId::FIRST;

/// The cells that hold something: by row and column, the text and the number format, empty if none.
pub type Cells = BTreeMap<(u32, u32), (String, String)>;

/// The places that hold a text before anybody edits the sheet, and the text: row, column, text.
pub fn filled() -> impl Iterator<Item = (u32, u32, String)> {
    let places = (0..FILLED).flat_map(|row| (0..FILLED).map(move |column| (row, column)));
    places.map(|(row, column)| (row, column, format!("r{row}c{column}")))
}

/// The workbook that both users have seen.
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

/// What a workbook shows.
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

/// Whether a cell, its text and its format, is one that is compared.
#[must_use]
pub fn holds_something((text, format): &(String, String)) -> bool {
    !text.is_empty() || !format.is_empty()
}
