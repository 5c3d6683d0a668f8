//! What clients write: no two the same.

use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};

/// Rows and columns in which they meet.
pub(super) const ROWS: u32 = 200;
pub(super) const COLUMNS: u32 = 20;
/// Of so many edits of a client, one inserts a row and one deletes one.
const STEP: u64 = 16;

/// The edit with this number of somebody: two cells, at times a row more or less.
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
