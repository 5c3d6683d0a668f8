//! Operations along one axis: those on rows and those on columns are the same, turned.

use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, ClearRange, DeleteSpans, InsertBefore, Operation, SetCells, SetFormat, Spans,
};

use crate::cells::SHEET;

/// What an operation of these is for on the other axis.
const ACROSS: (u32, u32) = (2, 3);
/// Where cells are set on the other axis.
const ACROSS_SET: u32 = 3;

/// An insert of so many lines in front of one.
#[must_use]
pub fn insert(axis: Axis, before: u32, count: u32) -> Operation {
    let insert = InsertBefore { sheet: SHEET, before, count };
    match axis {
        Axis::Rows => Operation::InsertRows(insert),
        Axis::Columns => Operation::InsertColumns(insert),
    }
}

/// A delete of lines.
#[must_use]
pub fn delete(axis: Axis, spans: &Spans) -> Operation {
    let delete = DeleteSpans { sheet: SHEET, spans: spans.clone() };
    match axis {
        Axis::Rows => Operation::DeleteRows(delete),
        Axis::Columns => Operation::DeleteColumns(delete),
    }
}

/// Lines of one axis and, of each, a part: as rows and columns.
fn area(axis: Axis, spans: &Spans) -> (Spans, Spans) {
    let across = Spans::one(ACROSS.0, ACROSS.1);
    match axis {
        Axis::Rows => (spans.clone(), across),
        Axis::Columns => (across, spans.clone()),
    }
}

/// A clear of a part of some lines.
#[must_use]
pub fn clear(axis: Axis, spans: &Spans) -> Operation {
    let (rows, columns) = area(axis, spans);
    Operation::ClearRange(ClearRange { sheet: SHEET, rows, columns })
}

/// A format for a part of some lines.
#[must_use]
pub fn format(axis: Axis, spans: &Spans, format: &str) -> Operation {
    let (rows, columns) = area(axis, spans);
    Operation::SetFormat(SetFormat { sheet: SHEET, rows, columns, format: format.to_owned() })
}

/// A text for one cell of each of these lines.
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

/// An insert and, behind it, a text in each of the new lines.
#[must_use]
pub fn filled_insert(axis: Axis, before: u32, count: u32) -> Vec<Operation> {
    vec![insert(axis, before, count), set(axis, before..before + count, "new")]
}
