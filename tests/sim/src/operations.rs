//! Draws random operations for clients.

use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    AddSheet, CellEdit, DeleteSheet, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};

use crate::random::SimRandom;

/// Numbers of rows and columns in which edits take place. They are small, so that edits conflict.
pub(crate) const ROWS: u32 = 40;
const COLUMNS: u32 = 8;
/// Maximum number of cells per operation.
const CELLS: u32 = 4;

/// Draws an operation that a client may send.
pub(crate) fn draw_operation(random: &SimRandom, text_bytes: u64) -> Operation {
    let sheet = SheetId(if random.draw_below(8) == 0 { 1 } else { 0 });
    let before = random.draw_below(ROWS);
    match random.draw_below(20) {
        0..2 => {
            Operation::InsertRows(InsertBefore { sheet, before, count: 1 + random.draw_below(3) })
        }
        2 => Operation::InsertColumns(InsertBefore { sheet, before: before % COLUMNS, count: 1 }),
        3..5 => {
            let spans = Spans::one(before, 1 + random.draw_below(2));
            Operation::DeleteRows(DeleteSpans { sheet, spans })
        }
        5 => Operation::AddSheet(AddSheet {
            sheet: SheetId(1),
            name: "Second".to_owned(),
            before: None,
        }),
        6 if random.draw_below(8) == 0 => Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) }),
        _ => draw_set_cells(random, sheet, text_bytes),
    }
}

/// Draws an operation that may be uploaded as an external body.
pub(crate) fn draw_cells(random: &SimRandom, text_bytes: u64) -> Operation {
    draw_set_cells(random, SheetId::FIRST, text_bytes)
}

fn draw_set_cells(random: &SimRandom, sheet: SheetId, text_bytes: u64) -> Operation {
    let first = (random.draw_below(ROWS), random.draw_below(COLUMNS));
    let cells = (0..1 + random.draw_below(CELLS)).map(|offset| CellEdit {
        row: first.0 + offset,
        column: first.1,
        value: Some(draw_value(random, text_bytes)),
        formula: None,
        format: None,
    });
    Operation::SetCells(SetCells { sheet, cells: cells.collect() })
}

fn draw_value(random: &SimRandom, text_bytes: u64) -> Value {
    match random.draw_below(8) {
        0 => Value::Empty,
        1 => Value::Bool(random.draw_below(2) == 0),
        2..6 if text_bytes > 0 => Value::Text(draw_incompressible_text(random, text_bytes)),
        2..5 => Value::Number(f64::from(random.draw_below(1_000)) / 4.0),
        _ => Value::Text(format!("text {}", random.draw_below(100))),
    }
}

/// Draws a text that can hardly be compressed.
fn draw_incompressible_text(random: &SimRandom, bytes: u64) -> String {
    let letter = |_| char::from(b'!' + u8::try_from(random.draw_below(90)).unwrap_or(0));
    (0..random.draw_in(bytes / 2..=bytes)).map(letter).collect()
}
