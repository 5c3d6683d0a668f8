//! Unique edits of clients.

use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};

/// Numbers of rows and columns in which edits take place. They are small, so that edits conflict.
pub(super) const ROWS: u32 = 200;
pub(super) const COLUMNS: u32 = 20;
/// One of this number of edits inserts a row, and one deletes a row.
const STEP: u64 = 16;
/// Values of the edit id modulo [`STEP`] for edits that insert or delete a row.
const INSERT_REMAINDER: u64 = 7;
const DELETE_REMAINDER: u64 = 15;
/// Upper bound of the numbers that are written, in hundredths.
const MAX_CENTS: u32 = 1_000_000;

/// Returns a client's edit with the given id. The edit usually sets two cells; sometimes it inserts
/// or deletes a row.
pub(super) fn unique_operation(author: &str, id: u64, random: &mut fastrand::Rng) -> Operation {
    let sheet = SheetId::FIRST;
    let row = random.u32(..ROWS);
    match id % STEP {
        INSERT_REMAINDER => {
            return Operation::InsertRows(InsertBefore { sheet, before: row, count: 1 });
        }
        DELETE_REMAINDER => {
            return Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(row, 1) });
        }
        _ => {}
    }
    let text_column = random.u32(..COLUMNS / 2);
    let number_column = random.u32(COLUMNS / 2..COLUMNS);
    let unique_text = Value::Text(format!("edit {id} of {author}"));
    let number = Value::Number(f64::from(random.u32(..MAX_CENTS)) / 100.0);
    let cells =
        vec![cell_edit(row, text_column, unique_text), cell_edit(row, number_column, number)];
    Operation::SetCells(SetCells { sheet, cells })
}

fn cell_edit(row: u32, column: u32, value: Value) -> CellEdit {
    CellEdit { row, column, value: Some(value), formula: None, format: None }
}
