//! Operations along one axis, which are the same for rows and for columns.

use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, ClearRange, DeleteSpans, InsertBefore, Operation, SetCells, SetFormat, Spans,
};

use crate::cells::SHEET;

/// First index and number of lines of the span on the other axis.
const ACROSS: (u32, u32) = (2, 3);
/// Index on the other axis of the cells that are set.
const ACROSS_SET: u32 = 3;

/// Inserts `count` lines before the given line.
#[must_use]
pub fn insert(axis: Axis, before: u32, count: u32) -> Operation {
    let insert = InsertBefore { sheet: SHEET, before, count };
    match axis {
        Axis::Rows => Operation::InsertRows(insert),
        Axis::Columns => Operation::InsertColumns(insert),
    }
}

/// Deletes lines.
#[must_use]
pub fn delete(axis: Axis, spans: &Spans) -> Operation {
    let delete = DeleteSpans { sheet: SHEET, spans: spans.clone() };
    match axis {
        Axis::Rows => Operation::DeleteRows(delete),
        Axis::Columns => Operation::DeleteColumns(delete),
    }
}

/// Returns the rows and columns of a part of the given lines.
fn area(axis: Axis, spans: &Spans) -> (Spans, Spans) {
    let across = Spans::one(ACROSS.0, ACROSS.1);
    match axis {
        Axis::Rows => (spans.clone(), across),
        Axis::Columns => (across, spans.clone()),
    }
}

/// Clears a part of the given lines.
#[must_use]
pub fn clear(axis: Axis, spans: &Spans) -> Operation {
    let (rows, columns) = area(axis, spans);
    Operation::ClearRange(ClearRange { sheet: SHEET, rows, columns })
}

/// Formats a part of the given lines.
#[must_use]
pub fn format(axis: Axis, spans: &Spans, format: &str) -> Operation {
    let (rows, columns) = area(axis, spans);
    Operation::SetFormat(SetFormat { sheet: SHEET, rows, columns, format: format.to_owned() })
}

/// Sets the text of one cell in each of the given lines.
#[must_use]
pub fn set(axis: Axis, lines: impl IntoIterator<Item = u32>, text: &str) -> Operation {
    let edit = |line| {
        let (row, column) = match axis {
            Axis::Rows => (line, ACROSS_SET),
            Axis::Columns => (ACROSS_SET, line),
        };
        let value = Some(Value::Text(format!("{text} {line}")));
        CellEdit { row, column, value, formula: None, format: None }
    };
    Operation::SetCells(SetCells { sheet: SHEET, cells: lines.into_iter().map(edit).collect() })
}

/// Inserts lines, then sets a text in each inserted line.
#[must_use]
pub fn filled_insert(axis: Axis, before: u32, count: u32) -> Vec<Operation> {
    vec![insert(axis, before, count), set(axis, before..before + count, "new")]
}
