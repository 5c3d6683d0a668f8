//! Whether an entry changes anything in a range.

use cellar_api::{wire::EntryView, wire::MutationView};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::{Operation, SheetId, Span, Spans};

/// Whether an entry changes cells of a rectangle, or moves them. Of a large entry that cannot be told
/// without its object: it is taken for one that does.
pub(super) fn touches(entry: &EntryView, sheet: SheetId, rectangle: Rectangle) -> bool {
    let mut effective = entry.mutations.iter().flat_map(MutationView::effective);
    entry.external_body.is_some() || effective.any(|operation| changes(operation, sheet, rectangle))
}

fn changes(operation: &Operation, sheet: SheetId, rectangle: Rectangle) -> bool {
    let Rectangle { first, last } = rectangle;
    let meets = |spans: &Spans, first: u32, last: u32| {
        let wanted = Span { first, count: last.saturating_sub(first).saturating_add(1) };
        spans.iter().any(|span| span.intersection(wanted).is_some())
    };
    let rows = |spans: &Spans| meets(spans, first.row, last.row);
    let columns = |spans: &Spans| meets(spans, first.column, last.column);
    // What stands before the range, moves it.
    let before = |spans: &Spans, last: u32| spans.iter().any(|span| span.first <= last);
    match operation {
        Operation::SetCells(set) => {
            let inside = set.cells.iter().any(|cell| rectangle.contains(cell.row, cell.column));
            set.sheet == sheet && inside
        }
        Operation::ClearRange(clear) => {
            clear.sheet == sheet && rows(&clear.rows) && columns(&clear.columns)
        }
        Operation::SetFormat(set) => set.sheet == sheet && rows(&set.rows) && columns(&set.columns),
        Operation::InsertRows(insert) => insert.sheet == sheet && insert.before <= last.row,
        Operation::InsertColumns(insert) => insert.sheet == sheet && insert.before <= last.column,
        Operation::DeleteRows(delete) => delete.sheet == sheet && before(&delete.spans, last.row),
        Operation::DeleteColumns(delete) => {
            delete.sheet == sheet && before(&delete.spans, last.column)
        }
        Operation::RenameSheet(rename) => rename.sheet == sheet,
        Operation::DeleteSheet(delete) => delete.sheet == sheet,
        Operation::ImportSheet(import) => import.replaces == Some(sheet),
        Operation::AddSheet(_)
        | Operation::Undo(_)
        | Operation::Revert(_)
        | Operation::Rejected(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{
        CellEdit, ClearRange, DeleteSheet, DeleteSpans, InsertBefore, SetCells, SetFormat,
    };

    use super::*;

    const SHEET: SheetId = SheetId(2);

    fn is_shown(operation: &Operation) -> bool {
        let range: cellar_sheet::a1::Range = "B2:C4".parse().unwrap();
        changes(operation, SHEET, range.rectangle)
    }

    fn set(sheet: SheetId, row: u32, column: u32) -> Operation {
        let value = Some(Value::Number(1.0));
        let cell = CellEdit { row, column, value, formula: None, format: None };
        Operation::SetCells(SetCells { sheet, cells: vec![cell] })
    }

    #[test]
    fn what_is_in_the_range_or_moves_it_touches_it() {
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
            assert!(is_shown(&shown), "{shown:?}");
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
            assert!(!is_shown(&other), "{other:?}");
        }
    }
}
