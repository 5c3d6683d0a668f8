//! Determines whether a log entry affects the cells of a range.

use cellar_api::wire::{EntryView, MutationView};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::{Operation, SheetId, Span, Spans};

/// Returns `true` for every entry with an external body, because external bodies are not read.
pub(super) fn affects_range(entry: &EntryView, sheet: SheetId, rectangle: Rectangle) -> bool {
    if entry.external_body.is_some() {
        return true;
    }
    let mut operations = entry.mutations.iter().flat_map(MutationView::committed_operations);
    operations.any(|operation| operation_affects(operation, sheet, rectangle))
}

fn operation_affects(operation: &Operation, sheet: SheetId, rectangle: Rectangle) -> bool {
    let last = rectangle.last;
    match operation {
        Operation::SetCells(set) => {
            let mut cells = set.cells.iter();
            set.sheet == sheet && cells.any(|cell| rectangle.contains(cell.row, cell.column))
        }
        Operation::ClearRange(clear) => {
            clear.sheet == sheet && overlaps(rectangle, &clear.rows, &clear.columns)
        }
        Operation::SetFormat(set) => {
            set.sheet == sheet && overlaps(rectangle, &set.rows, &set.columns)
        }
        Operation::InsertRows(insert) => insert.sheet == sheet && insert.before <= last.row,
        Operation::InsertColumns(insert) => insert.sheet == sheet && insert.before <= last.column,
        // Deleting rows or columns before the range moves the cells of the range.
        Operation::DeleteRows(delete) => {
            delete.sheet == sheet && starts_up_to(&delete.spans, last.row)
        }
        Operation::DeleteColumns(delete) => {
            delete.sheet == sheet && starts_up_to(&delete.spans, last.column)
        }
        Operation::RenameSheet(rename) => rename.sheet == sheet,
        Operation::DeleteSheet(delete) => delete.sheet == sheet,
        Operation::ImportSheet(import) => import.replaces == Some(sheet),
        Operation::AddSheet(_)
        | Operation::Undo(_)
        | Operation::Revert(_)
        | Operation::SetName(_)
        | Operation::Rejected(_) => false,
    }
}

fn overlaps(rectangle: Rectangle, rows: &Spans, columns: &Spans) -> bool {
    let Rectangle { first, last } = rectangle;
    intersects(rows, first.row, last.row) && intersects(columns, first.column, last.column)
}

fn intersects(spans: &Spans, first: u32, last: u32) -> bool {
    let range = Span { first, count: last - first + 1 };
    spans.iter().any(|span| span.intersection(range).is_some())
}

fn starts_up_to(spans: &Spans, last: u32) -> bool {
    spans.iter().any(|span| span.first <= last)
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{
        CellEdit, ClearRange, DeleteSheet, DeleteSpans, InsertBefore, SetCells, SetFormat,
    };

    use super::*;

    const SHEET: SheetId = SheetId(2);

    fn affects(operation: &Operation) -> bool {
        let range: cellar_sheet::a1::Range = "B2:C4".parse().unwrap();
        operation_affects(operation, SHEET, range.rectangle)
    }

    fn set(sheet: SheetId, row: u32, column: u32) -> Operation {
        let value = Some(Value::Number(1.0));
        let cell = CellEdit { row, column, value, formula: None, format: None };
        Operation::SetCells(SetCells { sheet, cells: vec![cell] })
    }

    #[test]
    fn operations_in_or_before_the_range_affect_it() {
        let clear = |row, column| {
            let (rows, columns) = (Spans::one(row, 2), Spans::one(column, 1));
            Operation::ClearRange(ClearRange { sheet: SHEET, rows, columns })
        };
        let format = |row, column| {
            let (rows, columns) = (Spans::one(row, 2), Spans::one(column, 1));
            let format = "0.0".to_owned();
            Operation::SetFormat(SetFormat { sheet: SHEET, rows, columns, format })
        };
        let insert = |before| InsertBefore { sheet: SHEET, before, count: 1 };
        let delete = |first| DeleteSpans { sheet: SHEET, spans: Spans::one(first, 1) };
        for shown in [
            set(SHEET, 1, 1),
            set(SHEET, 3, 2),
            clear(0, 1),
            format(3, 2),
            Operation::InsertRows(insert(0)),
            Operation::InsertRows(insert(3)),
            Operation::InsertColumns(insert(2)),
            Operation::DeleteRows(delete(3)),
            Operation::DeleteColumns(delete(0)),
            Operation::DeleteSheet(DeleteSheet { sheet: SHEET }),
        ] {
            assert!(affects(&shown), "{shown:?}");
        }
        for other in [
            set(SHEET, 0, 1),
            set(SHEET, 4, 1),
            set(SHEET, 1, 3),
            set(SheetId::FIRST, 1, 1),
            clear(4, 1),
            clear(1, 3),
            format(4, 1),
            Operation::InsertRows(insert(4)),
            Operation::InsertColumns(insert(3)),
            Operation::DeleteRows(delete(4)),
            Operation::DeleteColumns(delete(3)),
            Operation::DeleteSheet(DeleteSheet { sheet: SheetId::FIRST }),
        ] {
            assert!(!affects(&other), "{other:?}");
        }
    }
}
