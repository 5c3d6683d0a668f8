//! Cells by place, as both engines show them.

use std::collections::BTreeMap;
use std::fmt::Write;

use cellar_core::cell::Value;
use cellar_core::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_core::workbook::Workbook;

/// Rows, and columns, that hold a text before anybody edits the sheet.
pub const FILLED: u32 = 8;
/// Rows, and columns, of the peer's sheet, which has an end: no operation reaches it.
pub const SIDE: u32 = 28;
/// Rows, and columns, that are compared: nothing reaches further.
pub const COMPARED: u32 = 28;

/// The sheet that is edited.
pub const SHEET: SheetId = SheetId::FIRST;

/// The cells that hold something: by row and column, the text and the number format, empty if none.
pub type Cells = BTreeMap<(u32, u32), (String, String)>;

/// The text of a cell before anybody edits the sheet.
#[must_use]
pub fn text_at(row: u32, column: u32) -> String {
    format!("r{row}c{column}")
}

/// The places that hold a text before anybody edits the sheet.
pub fn filled() -> impl Iterator<Item = (u32, u32)> {
    (0..FILLED).flat_map(|row| (0..FILLED).map(move |column| (row, column)))
}

/// The workbook that both users have seen.
#[must_use]
pub fn base() -> Workbook {
    let edit = |(row, column)| {
        let value = Some(Value::Text(text_at(row, column)));
        CellEdit { row, column, value, formula: None, format: None }
    };
    let mut workbook = Workbook::default();
    let cells = filled().map(edit).collect();
    workbook.apply_operation(&Operation::SetCells(SetCells { sheet: SHEET, cells }));
    workbook
}

/// What a workbook shows.
#[must_use]
pub fn shown(workbook: &Workbook) -> Cells {
    let sheet = workbook.sheet(SHEET).unwrap();
    let places = (0..COMPARED).flat_map(|row| (0..COMPARED).map(move |column| (row, column)));
    let cells = places.map(|(row, column)| {
        let cell = sheet.cell(row, column);
        let text = match cell.value {
            Value::Empty => String::new(),
            Value::Text(text) => text,
            other => panic!("{other:?} at {row}, {column}: only texts are compared"),
        };
        ((row, column), (text, cell.format.unwrap_or_default()))
    });
    cells.filter(|(_, (text, format))| !text.is_empty() || !format.is_empty()).collect()
}

/// Where two differ, one place a line.
#[must_use]
pub fn difference(ours: &Cells, theirs: &Cells) -> String {
    let mut places: Vec<_> = ours.keys().chain(theirs.keys()).collect();
    places.sort_unstable();
    places.dedup();
    let mut lines = String::new();
    for place in places.into_iter().filter(|place| ours.get(place) != theirs.get(place)) {
        let (row, column) = place;
        let (ours, theirs) = (ours.get(place), theirs.get(place));
        writeln!(lines, "    row {row}, column {column}: ours {ours:?}, theirs {theirs:?}").unwrap();
    }
    lines
}
