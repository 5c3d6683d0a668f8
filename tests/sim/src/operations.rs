//! Draws random operations for clients.

use std::collections::BTreeMap;

use cellar_sheet::cell::Value;
use cellar_sheet::operation::random::FormulaScope;
use cellar_sheet::operation::{
    AddSheet, CellEdit, DeleteSheet, DeleteSpans, InsertBefore, Operation, RenameSheet, SetCells,
    SetName, SheetId, Spans,
};

use crate::random::{Rate, SimRandom};

/// Numbers of rows and columns in which edits take place. They are small, so that edits conflict.
pub(crate) const ROWS: u32 = 40;
const COLUMNS: u32 = 8;
/// Maximum number of cells per operation.
const CELLS: u32 = 4;

/// Probability that a cell gets a formula.
const FORMULA_RATE: Rate = Rate(2_000);
/// Names that clients give to sheets.
const SHEET_NAMES: &[&str] = &["Second", "Third"];
/// Formulas refer to few rows and columns, so that they often read each other.
const FORMULA_SCOPE: FormulaScope = FormulaScope {
    rows: 20,
    columns: COLUMNS,
    sheets: &["Sheet1", "Second", "Third"],
    names: &["Total", "Rate"],
    exceeds_limits: true,
};

/// Draws an operation that a client may send.
pub(crate) fn draw_operation(random: &SimRandom, text_bytes: u64) -> Operation {
    let sheet = draw_sheet(random);
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
        5 => {
            let sheet = SheetId(1 + random.draw_below(2));
            Operation::AddSheet(AddSheet { sheet, name: draw_sheet_name(random), before: None })
        }
        6 => match random.draw_below(8) {
            0 => Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) }),
            1 => Operation::RenameSheet(RenameSheet { sheet, name: draw_sheet_name(random) }),
            2 | 3 => Operation::SetName(draw_set_name(random, sheet)),
            _ => draw_set_cells(random, sheet, text_bytes),
        },
        _ => draw_set_cells(random, sheet, text_bytes),
    }
}

/// Draws a sheet, which may not exist. In most cases, it is the first.
fn draw_sheet(random: &SimRandom) -> SheetId {
    SheetId(random.draw_below(12).saturating_sub(9))
}

fn draw_sheet_name(random: &SimRandom) -> String {
    random.pick(SHEET_NAMES).copied().unwrap_or_default().to_owned()
}

/// Draws a definition of a name, or, rarely, its deletion.
fn draw_set_name(random: &SimRandom, sheet: SheetId) -> SetName {
    let name = random.pick(FORMULA_SCOPE.names).copied().unwrap_or_default().to_owned();
    let first = 1 + random.draw_below(ROWS);
    let formula = format!("=Target!$A${first}:$B${}", first + random.draw_below(4));
    let is_deletion = random.draw_below(6) == 0;
    let formula = (!is_deletion).then_some(formula);
    SetName { name, formula, sheets: BTreeMap::from([("Target".to_owned(), sheet)]) }
}

/// Draws an operation that may be uploaded as an external body.
pub(crate) fn draw_cells(random: &SimRandom, text_bytes: u64) -> Operation {
    draw_set_cells(random, SheetId::FIRST, text_bytes)
}

fn draw_set_cells(random: &SimRandom, sheet: SheetId, text_bytes: u64) -> Operation {
    let first = (random.draw_below(ROWS), random.draw_below(COLUMNS));
    let cells = (0..1 + random.draw_below(CELLS)).map(|offset| {
        let (row, column) = (first.0 + offset, first.1);
        let (value, formula) = if random.happens(FORMULA_RATE) {
            (draw_stored_value(random), Some(draw_formula(random)))
        } else {
            (draw_value(random, text_bytes), None)
        };
        CellEdit { row, column, value: Some(value), formula, format: None }
    });
    Operation::SetCells(SetCells { sheet, cells: cells.collect() })
}

fn draw_formula(random: &SimRandom) -> String {
    FORMULA_SCOPE.draw_formula(&mut |end| random.draw_below(end))
}

/// Draws the value beside a formula. Formulas of imported files have values, typed ones do not.
fn draw_stored_value(random: &SimRandom) -> Value {
    if random.draw_below(4) == 0 { Value::Number(-1.0) } else { Value::Empty }
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
