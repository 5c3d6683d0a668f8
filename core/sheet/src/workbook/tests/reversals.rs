//! Effects of undos and reverts, and their numbers.

use super::*;

fn sheet_named(sheet: u32, name: &str) -> Operation {
    Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: name.into(), before: None })
}

fn import(sheet: u32, replaces: SheetId) -> Operation {
    let import = crate::operation::random::import_of(crate::metadata::Extent::default());
    let (sheet, replaces) = (SheetId(sheet), Some(replaces));
    Operation::ImportSheet(crate::operation::ImportSheet { sheet, replaces, ..import })
}

#[test]
fn an_undo_counts_what_it_takes_back_and_what_it_leaves() {
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 8, count: 3 };
    let delete = DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(5, 2) };
    let mut before = Workbook::default();
    before.apply_operations(&[set_row(5), sheet_named(1, "Costs")]).unwrap();
    let mut after = before.clone();
    let entry = [
        Operation::InsertRows(insert),
        Operation::DeleteRows(delete),
        set_row(0),
        set_row(1),
        sheet_named(2, "New"),
        Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) }),
        format_of(Spans::one(20, 1), "0.0"),
    ];
    after.apply_operations(&entry).unwrap();
    let report = undo(&before, &after, &after).report;
    let expected =
        ReversalCounts { cells: 3, rows: 5, sheets: 2, formats: 1, ..Default::default() };
    assert_eq!((report.restored, report.left), (expected, ReversalCounts::default()));

    // Others change a cell, one of the inserted rows and the formats, and delete the new sheet.
    let mut now = after.clone();
    let clear = |row| {
        let value = Some(Value::Number(7.0));
        let edit = CellEdit { row, column: 0, value, formula: None, format: None };
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
    };
    let delete_new = Operation::DeleteSheet(DeleteSheet { sheet: SheetId(2) });
    let later = [clear(1), clear(7), format_of(Spans::one(30, 1), "0.0"), delete_new];
    now.apply_operations(&later).unwrap();
    let report = undo(&before, &after, &now).report;
    let restored = ReversalCounts { cells: 2, rows: 4, sheets: 1, ..Default::default() };
    let left = ReversalCounts { cells: 1, rows: 1, formats: 1, ..Default::default() };
    assert_eq!((report.restored, report.left), (restored, left));
}

#[test]
fn an_import_is_undone_as_a_whole_or_not_at_all() {
    let mut before = Workbook::default();
    before.apply_operations(&[sheet_named(1, "Costs"), sheet_named(2, "Last")]).unwrap();
    let mut after = before.clone();
    after.apply_operation(&import(3, SheetId(1)));
    let imported = |is_intact| {
        let (sheet, replaces) = (SheetId(3), Some(SheetId(1)));
        [ImportedSheet { sheet, replaces, cells: 27, is_intact }]
    };
    let undone = undo_with_imports(&before, &after, &after, &imported(true), &no_imports());
    let back = apply_reversal(&undone, &after);
    assert_eq!(names_in_order(&back), ["Sheet1", "Costs", "Last"]);
    let both = ReversalCounts { cells: 27, sheets: 2, ..Default::default() };
    assert_eq!(undone.report, ReversalReport { restored: both, ..Default::default() });
    let kept = undo_with_imports(&before, &after, &after, &imported(false), &no_imports());
    assert_eq!(kept.operations, []);
    assert_eq!(kept.report, ReversalReport { left: both, ..Default::default() });
}

#[test]
fn a_replaced_sheet_is_compared_with_its_replacement() {
    let mut before = Workbook::default();
    before.apply_operations(&[sheet_named(1, "a"), sheet_named(2, "z")]).unwrap();
    let set = |sheet| match set_row(3) {
        Operation::SetCells(set) => Operation::SetCells(SetCells { sheet: SheetId(sheet), ..set }),
        other => panic!("{other:?}"),
    };
    before.apply_operation(&set(1));
    // The imported sheet has the name `a`.
    let mut after = before.clone();
    after.apply_operation(&import(3, SheetId(1)));
    let diff = before.diff(&after);
    let [sheet] = diff.sheets.as_slice() else { panic!("{diff:?}") };
    assert_eq!((sheet.sheet, sheet.change, sheet.cells.len()), (SheetId(3), SheetChange::Kept, 1));
    let reverted = revert_sheet(&before, &after, SheetId(1), &no_imports()).unwrap();
    let back = apply_reversal(&reverted, &after);
    assert_eq!(before.diff(&back).sheets, []);
    assert_eq!(names_in_order(&back), ["Sheet1", "a", "z"]);
    assert_eq!(revert_sheet(&before, &after, SheetId(3), &no_imports()), Err(PartFault::NotThen));
}

#[test]
fn a_deleted_import_is_restored_from_its_import() {
    let import = crate::operation::random::import_of(crate::metadata::Extent::default());
    let import = crate::operation::ImportSheet { replaces: None, ..import };
    let set = |sheet| match set_row(3) {
        Operation::SetCells(set) => Operation::SetCells(SetCells { sheet: SheetId(sheet), ..set }),
        other => panic!("{other:?}"),
    };
    let mut before = Workbook::default();
    let imported = Operation::ImportSheet(import.clone());
    before.apply_operations(&[imported, set(1), sheet_named(2, "Last")]).unwrap();
    let mut after = before.clone();
    after.apply_operation(&Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) }));
    let restorable =
        RestorableImports::from([(SheetId(1), RestorableImport { import, edits: vec![set(1)] })]);
    for undone in [
        undo_with_imports(&before, &after, &after, &[], &restorable),
        revert(&before, &after, &restorable),
        revert_sheet(&before, &after, SheetId(1), &restorable).unwrap(),
    ] {
        let [_, Operation::ImportSheet(again), edit] = undone.operations.as_slice() else {
            panic!("{undone:?}");
        };
        assert_eq!((again.sheet, again.replaces, again.cells), (SheetId(4), Some(SheetId(3)), 27));
        assert_eq!(*edit, set(4));
        let back = apply_reversal(&undone, &after);
        assert_eq!(names_in_order(&back), ["Sheet1", "a", "Last"]);
        let restored = ReversalCounts { cells: 1, sheets: 1, ..Default::default() };
        assert_eq!(undone.report.restored, restored);
    }
}

#[test]
fn a_sheet_whose_name_was_taken_is_reverted_once() {
    let rename = |name: &str| {
        Operation::RenameSheet(RenameSheet { sheet: SheetId::FIRST, name: name.into() })
    };
    let mut before = Workbook::default();
    before.apply_operations(&[rename("b"), set_row(0)]).unwrap();
    let mut after = before.clone();
    let delete = DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(0, 1) };
    after
        .apply_operations(&[rename("a"), Operation::DeleteColumns(delete), sheet_named(1, "b")])
        .unwrap();
    let reverted = revert_sheet(&before, &after, SheetId::FIRST, &no_imports()).unwrap();
    assert!(!reverted.operations.is_empty());
    let back = apply_reversal(&reverted, &after);
    assert_eq!(revert_sheet(&before, &back, SheetId::FIRST, &no_imports()).unwrap().operations, []);
}
