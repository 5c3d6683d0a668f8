//! Differences between a fork and its source.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn apply(mut workbook: Workbook, operations: &[Operation]) -> Workbook {
    for operation in operations {
        workbook.apply_operation(operation);
    }
    workbook
}

fn set(sheet: u32, row: u32, number: f64) -> Operation {
    let value = Some(Value::Number(number));
    let cell = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId(sheet), cells: vec![cell] })
}

fn insert(before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count })
}

fn add(sheet: u32, name: &str) -> Operation {
    Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: name.into(), before: None })
}

/// Returns the differences from a fork to its source.
fn diff(shared: &[Operation], fork: &[Operation], source: &[Operation]) -> Vec<SheetDiff> {
    let shared = apply(Workbook::default(), shared);
    let (fork, source) = (apply(shared.clone(), fork), apply(shared.branch(), source));
    source.diff_from_branch(&fork, &shared).sheets
}

proptest! {
    #[test]
    fn equal_edits_on_both_sides_make_no_difference(
        shared in vec(any_operation(), 0..6),
        edits in vec(any_operation(), 0..6),
    ) {
        prop_assert_eq!(diff(&shared, &edits, &edits), []);
    }

    #[test]
    fn an_unchanged_source_differs_like_the_shared_state(
        shared in vec(any_operation(), 0..6),
        edits in vec(any_operation(), 0..6),
    ) {
        let before = apply(Workbook::default(), &shared);
        let fork = apply(before.clone(), &edits);
        prop_assert_eq!(before.branch().diff_from_branch(&fork, &before), fork.diff(&before));
        let source = apply(before.branch(), &edits);
        prop_assert_eq!(source.diff_from_branch(&before, &before), before.diff(&source));
    }
}

#[test]
fn rows_that_only_one_side_inserted_are_not_compared() {
    let shared = [set(0, 0, 1.0), set(0, 1, 2.0)];
    let fork = [insert(1, 1), set(0, 1, 7.0), set(0, 2, 3.0)];
    let source = [insert(0, 1), set(0, 0, 8.0)];
    let [sheet] = &diff(&shared, &fork, &source)[..] else { panic!("one sheet") };
    assert_eq!((&sheet.rows.inserted, &sheet.rows.deleted), (&Spans::one(0, 1), &Spans::one(1, 1)));
    let values: Vec<_> =
        sheet.cells.iter().map(|cell| (cell.row, cell.before.text(), cell.after.text())).collect();
    assert_eq!(values, [(0, String::new(), "8".into()), (2, "3".into(), "2".into())]);
    let deleted: Vec<_> = sheet.deleted_cells.iter().map(|cell| (cell.row, cell.text())).collect();
    assert_eq!(deleted, [(1, "7".to_owned())]);
}

#[test]
fn rows_that_both_sides_inserted_at_one_place_are_compared_one_by_one() {
    let shared = [set(0, 0, 1.0), set(0, 1, 2.0)];
    let fork = [insert(1, 2), set(0, 1, 7.0)];
    let source = [insert(1, 1), insert(2, 1), set(0, 1, 9.0)];
    let [sheet] = &diff(&shared, &fork, &source)[..] else { panic!("one sheet") };
    assert!(sheet.rows.inserted.is_empty() && sheet.rows.deleted.is_empty());
    let [cell] = &sheet.cells[..] else { panic!("one cell") };
    assert_eq!((cell.row, cell.before.text(), cell.after.text()), (1, "7".into(), "9".into()));
}

#[test]
fn new_sheets_are_compared_by_name_and_not_by_number() {
    let fork = [add(1, "A"), set(1, 0, 1.0), add(2, "Both"), set(2, 0, 2.0)];
    let source = [add(1, "Both"), set(1, 0, 3.0), add(2, "B"), set(2, 0, 4.0)];
    let sheets = diff(&[], &fork, &source);
    let changes: Vec<_> = sheets.iter().map(|sheet| (sheet.name.as_str(), sheet.change)).collect();
    let expected =
        [("A", SheetChange::Deleted), ("Both", SheetChange::Kept), ("B", SheetChange::Added)];
    assert_eq!(changes, expected);
    assert_eq!((sheets[1].sheet, sheets[1].cells.len()), (SheetId(1), 1));
}

fn formula(text: &str) -> Operation {
    let value = Some(Value::Number(1.0));
    let cell = CellEdit { row: 0, column: 0, value, formula: Some(text.into()), format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![cell] })
}

#[test]
fn references_to_new_sheets_are_compared_by_name_and_not_by_number() {
    let changed = |shared: &[Operation], fork: &[Operation], source: &[Operation]| {
        let sheets = diff(shared, fork, source);
        let cells = |sheet: &SheetDiff| sheet.cells.len();
        sheets.iter().filter(|sheet| sheet.sheet == SheetId::FIRST).map(cells).sum::<usize>()
    };
    let (fork, source) = ([add(1, "A"), formula("=A!B2")], [add(1, "B"), formula("=B!B2")]);
    assert_eq!(changed(&[], &fork, &source), 1);
    let (fork, source) = ([add(2, "C"), formula("=c!B2")], [formula("=C!B2")]);
    assert_eq!(changed(&[], &fork, &source), 0);
    // The formula follows a row that one side deleted, and names a sheet that only that side has.
    let spans = Spans::one(4, 1);
    let deleted = Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans });
    let shared = [formula("=New!B2+B9")];
    assert_eq!(changed(&shared, &[add(1, "new"), deleted], &[]), 0);
}
