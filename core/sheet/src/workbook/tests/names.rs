//! Differences, undos and reverts of defined names.

use super::*;
use crate::operation::SetName;

fn define(workbook: &Workbook, name: &str, formula: &str) -> Operation {
    Operation::SetName(SetName::define(name, formula, workbook.tabs()).unwrap())
}

fn with(workbook: &Workbook, operations: &[Operation]) -> Workbook {
    let mut after = workbook.clone();
    after.apply_operations(operations).unwrap();
    after
}

/// Returns a workbook with the sheet `Data` and a name for `A2:A10` of it.
fn named() -> Workbook {
    let sheet = AddSheet { sheet: SheetId(1), name: "Data".into(), before: None };
    let workbook = with(&Workbook::default(), &[Operation::AddSheet(sheet)]);
    with(
        &workbook,
        &[define(&workbook, "Range", "=Data!$A$2:$A$10"), define(&workbook, "TAX", "=0.19")],
    )
}

fn text(workbook: &Workbook, name: &str) -> Option<String> {
    workbook.names().get(name).map(|name| name.formula(workbook.tabs()))
}

fn insert(before: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId(1), before, count: 2 })
}

fn delete(first: u32, count: u32) -> Operation {
    Operation::DeleteRows(DeleteSpans { sheet: SheetId(1), spans: Spans::one(first, count) })
}

fn undone(before: &Workbook, after: &Workbook, now: &Workbook) -> (Workbook, ReversalReport) {
    let reversal = undo(before, after, now);
    (with(now, &reversal.operations), reversal.report)
}

#[test]
fn a_diff_lists_names_that_were_set_or_lost_cells_but_not_those_that_moved() {
    let before = named();
    let after = with(&before, &[insert(0), insert(5), define(&before, "tax", "=0.2")]);
    let change = |name: &str, before: Option<&str>, after: Option<&str>| NameDiff {
        name: name.into(),
        before: before.map(Into::into),
        after: after.map(Into::into),
    };
    assert_eq!(before.diff(&after).names, [change("tax", Some("=0.19"), Some("=0.2"))]);
    let lost = with(&before, &[delete(1, 9), Operation::SetName(SetName::delete("TAX"))]);
    let range = change("Range", Some("=Data!$A$2:$A$10"), Some("=Data!#REF!"));
    assert_eq!(before.diff(&lost).names, [range, change("TAX", Some("=0.19"), None)]);
    let no_sheet = with(&before, &[Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) })]);
    let range = change("Range", Some("=Data!$A$2:$A$10"), Some("=#REF!"));
    assert_eq!(before.diff(&no_sheet).names, [range]);
    let renamed = RenameSheet { sheet: SheetId(1), name: "Costs".into() };
    let renamed = with(&before, &[Operation::RenameSheet(renamed)]);
    assert_eq!(before.diff(&renamed).names, []);
    assert_eq!(text(&renamed, "range").as_deref(), Some("=Costs!$A$2:$A$10"));
}

#[test]
fn an_undo_restores_definitions_unless_they_changed_again() {
    let before = named();
    let after = with(
        &before,
        &[
            define(&before, "TAX", "=0.2"),
            define(&before, "new", "=Data!$B$1"),
            Operation::SetName(SetName::delete("Range")),
        ],
    );
    let (back, report) = undone(&before, &after, &after);
    assert!(back.names_display_same(&before));
    assert_eq!(report.restored.defined_names, 3);
    let now = with(&after, &[define(&after, "TAX", "=0.3"), insert(0)]);
    let (back, report) = undone(&before, &after, &now);
    assert_eq!(text(&back, "TAX").as_deref(), Some("=0.3"));
    assert_eq!(text(&back, "Range").as_deref(), Some("=Data!$A$4:$A$12"));
    assert_eq!(text(&back, "new"), None);
    assert_eq!((report.restored.defined_names, report.left.defined_names), (2, 1));
}

#[test]
fn an_undo_of_deleted_rows_and_sheets_restores_the_references() {
    let before = named();
    for (first, count) in [(9, 1), (1, 1), (1, 9), (0, 20), (4, 2)] {
        let after = with(&before, &[delete(first, count)]);
        let (back, _) = undone(&before, &after, &after);
        assert!(back.names_display_same(&before), "{first} {count} {:?}", text(&back, "Range"));
        let now = with(&after, &[insert(0)]);
        let (back, _) = undone(&before, &after, &now);
        assert_eq!(text(&back, "Range").as_deref(), Some("=Data!$A$4:$A$12"), "{first} {count}");
    }
    let after = with(&before, &[Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) })]);
    assert_eq!(text(&after, "Range").as_deref(), Some("=#REF!"));
    let (back, report) = undone(&before, &after, &after);
    assert_eq!(text(&back, "Range").as_deref(), Some("=Data!$A$2:$A$10"));
    assert_eq!(report.restored.defined_names, 1);
}

#[test]
fn a_revert_restores_names_even_if_nothing_else_changed() {
    let before = named();
    let now = with(&before, &[define(&before, "TAX", "=0.2"), define(&before, "x", "=1")]);
    let reversal = revert(&before, &now, &no_imports());
    assert!(with(&now, &reversal.operations).names_display_same(&before));
    assert_eq!(reversal.report.restored.defined_names, 2);
    assert_eq!(reversal.report.restored.to_string(), "2 names");
    let unchanged = revert(&before, &before, &no_imports());
    assert_eq!(unchanged, Reversal::default());
}
