//! Unique edits of clients.

use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};

/// Numbers of rows and columns that are edited. They are small, so that edits conflict.
pub(super) const ROWS: u32 = 200;
pub(super) const COLUMNS: u32 = 20;
/// Of this number of edits, one inserts a row and one deletes a row.
const STEP: u64 = 16;

/// Returns a client's edit with this id: two cells, or sometimes an inserted or deleted row.
pub(super) fn operation(author: &str, id: u64, random: &mut fastrand::Rng) -> Operation {
    let (sheet, row) = (SheetId::FIRST, random.u32(..ROWS));
    match id % STEP {
        7 => return Operation::InsertRows(InsertBefore { sheet, before: row, count: 1 }),
        15 => return Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(row, 1) }),
        _ => {}
    }
    let edit = |row, column, value| {
        let (formula, format) = (None, None);
        CellEdit { row, column, value: Some(value), formula, format }
    };
    let (left, right) = (random.u32(..COLUMNS / 2), random.u32(COLUMNS / 2..COLUMNS));
    let own = Value::Text(format!("edit {id} of {author}"));
    let number = Value::Number(f64::from(random.u32(..1_000_000)) / 100.0);
    Operation::SetCells(SetCells {
        sheet,
        cells: vec![edit(row, left, own), edit(row, right, number)],
    })
}
