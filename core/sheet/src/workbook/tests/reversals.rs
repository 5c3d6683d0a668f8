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
    let imports =
        RestorableImports::from([(SheetId(1), RestorableImport { import, edits: vec![set(1)] })]);
    let restorable = DeletedSheets { imports, ..DeletedSheets::default() };
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

/// Returns the states after each entry, first without entries.
fn states_of(entries: &[Vec<Operation>]) -> Vec<Workbook> {
    let mut states = vec![Workbook::default()];
    for entry in entries {
        let mut next = states[states.len() - 1].clone();
        next.apply_operations(entry).unwrap();
        states.push(next);
    }
    states
}

#[test]
fn an_added_sheet_is_removed_after_its_edits_were_undone() {
    let in_new = |operation: Operation| match operation {
        Operation::SetCells(set) => Operation::SetCells(SetCells { sheet: SheetId(1), ..set }),
        other => panic!("{other:?}"),
    };
    let (sheet, rows, columns) = (SheetId(1), Spans::one(0, 2), Spans::one(0, 1));
    let format = Operation::SetFormat(SetFormat { sheet, rows, columns, format: "0.0".to_owned() });
    let insert = Operation::InsertRows(InsertBefore { sheet, before: 0, count: 1 });
    let delete = Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(0, 1) });
    for edit in [in_new(set_row(3)), format, insert, delete] {
        let states = states_of(&[vec![sheet_named(1, "X")], vec![edit.clone()]]);
        let kept = undo(&states[0], &states[1], &states[2]);
        let is_blank = matches!(edit, Operation::InsertRows(_) | Operation::DeleteRows(_));
        assert_eq!(kept.operations.is_empty(), !is_blank, "{edit:?}");
        let edit_undone = apply_undo(&states[1], &states[2], &states[2]);
        let reversal = undo(&states[0], &states[1], &edit_undone);
        assert_eq!(
            names_in_order(&apply_reversal(&reversal, &edit_undone)),
            ["Sheet1"],
            "{edit:?}"
        );
        assert!(reversal.report.left.is_zero(), "{edit:?}");
    }
}

#[test]
fn cells_of_a_deleted_row_that_an_undo_restored_were_not_changed_since() {
    let delete =
        Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(3, 1) });
    let insert = Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before: 2, count: 3 });
    let entry = vec![insert, set_row(3), format_of(Spans::one(0, 9), "0.0")];
    let states = states_of(&[vec![set_row(2)], entry, vec![delete]]);
    let restored = apply_undo(&states[2], &states[3], &states[3]);
    let reversal = undo(&states[1], &states[2], &restored);
    let back = apply_reversal(&reversal, &restored);
    assert_eq!(crate::oracle::display_difference(&states[1], &back), None);
    assert!(reversal.report.left.is_zero(), "{:?}", reversal.report);
    assert_eq!(states[2].changes_in_sheet(&restored, SheetId::FIRST), None);
    let mut edited = restored;
    edited.apply_operation(&set_row(8));
    let changes = states[2].changes_in_sheet(&edited, SheetId::FIRST);
    let one_cell = ReversalCounts { cells: 1, ..Default::default() };
    assert_eq!(changes, Some(one_cell), "the restored row does not count");
}

#[test]
fn a_diff_omits_rows_and_columns_that_an_undo_restored() {
    let (sheet, spans) = (SheetId::FIRST, Spans::one(3, 2));
    let formats = format_of(Spans::one(3, 1), "0.0");
    let content = vec![set_row(2), set_row(3), set_row(4), set_row(5), formats];
    let delete = DeleteSpans { sheet, spans };
    let states = states_of(&[content, vec![Operation::DeleteRows(delete)]]);
    let mut restored = apply_undo(&states[1], &states[2], &states[2]);
    assert_eq!(states[1].diff(&restored).sheets, []);
    assert_eq!(restored.diff(&states[1]).sheets, []);
    restored.apply_operation(&set_row(9));
    let diff = states[1].diff(&restored);
    let cells: Vec<u32> = diff.sheets[0].cells.iter().map(|cell| cell.row).collect();
    assert_eq!(cells, [9]);
    // Other rows than those before are not the same.
    let other = apply_reversal(
        &Reversal {
            operations: vec![Operation::InsertRows(InsertBefore { sheet, before: 3, count: 1 })],
            ..Default::default()
        },
        &states[2],
    );
    let diff = &states[1].diff(&other).sheets[0];
    assert_eq!((&diff.rows.inserted, &diff.rows.deleted), (&Spans::one(3, 1), &Spans::one(3, 2)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Later edits that were reverted are no changes, although rows and columns have new ids.
    #[test]
    fn an_undo_after_reverted_edits_restores_the_state(
        before in vec(any_operation(), 0..6),
        entry in vec(any_operation(), 1..5),
        since in vec(any_operation(), 1..5),
    ) {
        let (from, to) = (before.len(), before.len() + entry.len());
        let operations = before.into_iter().chain(entry).chain(since).map(without_formats);
        let states = states(operations.collect());
        let (before, after, edited) = (&states[from].0, &states[to].0, &states[states.len() - 1].0);
        // A revert keeps rows and columns if no cell shows that they moved.
        if after.displays_same(edited) {
            return Ok(());
        }
        let now = apply_reversal(&revert(after, edited, &no_imports()), edited);
        let is_unchanged = |sheet| after.changes_in_sheet(&now, sheet).is_none();
        let mut sheets = after.tabs().order().iter();
        // Deleted sheets are restored under another number.
        if after.tabs().order() == now.tabs().order() && sheets.all(|sheet| is_unchanged(*sheet)) {
            let reversal = undo(before, after, &now);
            let back = apply_reversal(&reversal, &now);
            if let Some(what) = crate::oracle::display_difference_by_name(before, &back) {
                return Err(TestCaseError::fail(format!("{what}: {reversal:?}")));
            }
        }
    }
}

/// Formats are restored in other ways: a revert does not remove the number format of a cell.
fn without_formats(operation: Operation) -> Operation {
    match operation {
        Operation::SetFormat(SetFormat { sheet, .. }) => {
            Operation::SetCells(SetCells { sheet, cells: vec![] })
        }
        Operation::SetCells(SetCells { sheet, mut cells }) => {
            cells.iter_mut().for_each(|edit| edit.format = None);
            Operation::SetCells(SetCells { sheet, cells })
        }
        operation => operation,
    }
}
