//! Formulas whose references follow edits.

use cellar_grid::testing::random_cases;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::a1::CellName;
use cellar_base::limits::MAX_UNRESOLVED_MOVES;
use cellar_formula::reference::NoSheets;
use cellar_formula::{Formula, Template};

pub(super) const DATA: SheetId = SheetId(1);

pub(super) fn set_on(sheet: SheetId, cell: &str, formula: &str) -> Operation {
    let name: crate::a1::Range = cell.parse().unwrap();
    let (value, formula) = (Some(Value::Empty), Some(formula.to_owned()));
    let crate::a1::CellName { row, column } = name.rectangle.first;
    let cells = vec![CellEdit { row, column, value, formula, format: None }];
    Operation::SetCells(SetCells { sheet, cells })
}

pub(super) fn set(cell: &str, formula: &str) -> Operation {
    set_on(SheetId::FIRST, cell, formula)
}

pub(super) fn insert(sheet: SheetId, before: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet, before, count: 1 })
}

pub(super) fn delete(sheet: SheetId, first: u32, count: u32) -> Operation {
    Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(first, count) })
}

pub(super) fn add(name: &str) -> Operation {
    Operation::AddSheet(AddSheet { sheet: DATA, name: name.into(), before: None })
}

pub(super) fn rename(name: &str) -> Operation {
    Operation::RenameSheet(RenameSheet { sheet: DATA, name: name.into() })
}

pub(super) fn after(mut workbook: Workbook, operations: &[Operation]) -> Workbook {
    workbook.apply_operations(operations).unwrap();
    workbook
}

pub(super) fn new(operations: &[Operation]) -> Workbook {
    after(Workbook::default(), operations)
}

pub(super) fn formula_on(workbook: &Workbook, sheet: SheetId, cell: &str) -> String {
    let name: crate::a1::Range = cell.parse().unwrap();
    let crate::a1::CellName { row, column } = name.rectangle.first;
    workbook.sheet(sheet).unwrap().cell(row, column).formula.unwrap_or_default()
}

pub(super) fn formula(workbook: &Workbook, cell: &str) -> String {
    formula_on(workbook, SheetId::FIRST, cell)
}

#[test]
fn references_of_all_sheets_follow_rows() {
    let workbook = new(&[
        add("Data"),
        set("A1", "=data!B3+B3"),
        set_on(DATA, "A1", "=Sheet1!$B$3+B3"),
        insert(DATA, 1),
        insert(SheetId::FIRST, 0),
    ]);
    assert_eq!(formula(&workbook, "A2"), "=Data!B4+B4");
    assert_eq!(formula_on(&workbook, DATA, "A1"), "=Sheet1!$B$4+B4");
}

#[test]
fn a_renamed_sheet_has_its_new_name_and_a_deleted_sheet_none() {
    let mut workbook = new(&[add("Data"), set("A1", "=SUM(Data!A:A)+1"), rename("My data")]);
    assert_eq!(formula(&workbook, "A1"), "=SUM('My data'!A:A)+1");
    workbook.apply_operation(&Operation::DeleteSheet(DeleteSheet { sheet: DATA }));
    assert_eq!(formula(&workbook, "A1"), "=SUM(#REF!)+1");
    // A name that no sheet had when the formula was set stays a name.
    let workbook = new(&[set("A1", "=Data!A1"), add("Data"), insert(DATA, 0)]);
    assert_eq!(formula(&workbook, "A1"), "=Data!A1");
}

#[test]
fn texts_of_older_logs_that_are_no_formulas_stay_texts() {
    let text = "A1+(";
    let workbook = new(&[set("A1", text), insert(SheetId::FIRST, 0)]);
    assert_eq!(formula(&workbook, "A2"), text);
    let (old, new) = (new(&[set("A1", text)]), workbook);
    assert_eq!(old.diff(&new).sheets[0].cells, []);
}

#[test]
fn a_filled_sheet_has_formulas_that_follow_moves() {
    let formula_cell = crate::cell::Cell { formula: Some("=B9".into()), ..Default::default() };
    let mut workbook = new(&[insert(SheetId::FIRST, 0)]);
    workbook.fill(SheetId::FIRST, [((0, 0), formula_cell)]).unwrap();
    workbook.apply_operation(&insert(SheetId::FIRST, 3));
    assert_eq!(formula(&workbook, "A1"), "=B10");
}

#[test]
fn a_filled_formula_keeps_a_name_that_no_sheet_had_when_it_was_set() {
    let parsed = Formula::parse("=Data!B9+B9", &NoSheets).unwrap();
    let template = Template::of(&parsed, CellName { row: 4, column: 2 });
    let formula_cell =
        StateCell { formula: Some(StateFormula::Template(template)), ..Default::default() };
    let mut workbook = new(&[add("Data")]);
    workbook.fill(SheetId::FIRST, [((4, 2), formula_cell)]).unwrap();
    workbook.apply_operations(&[insert(DATA, 0), insert(SheetId::FIRST, 6)]).unwrap();
    assert_eq!(formula(&workbook, "C5"), "=Data!B9+B10");
}

#[test]
fn formulas_are_moved_after_the_maximum_number_of_moves() {
    for (count, is_moved) in [(MAX_UNRESOLVED_MOVES - 1, false), (MAX_UNRESOLVED_MOVES, true)] {
        let mut workbook = new(&[set("A1", "=B2")]);
        let operations = vec![insert(SheetId::FIRST, 1); count];
        workbook.apply_operations(&operations).unwrap();
        let sheet = workbook.sheet(SheetId::FIRST).unwrap().sheet;
        let stored = sheet.stored_cell(0, 0).unwrap().formula.clone().unwrap();
        let stored_formula::StoredFormula::Parsed { moves_before, .. } = stored else { panic!() };
        assert_eq!(moves_before == count, is_moved);
        assert_eq!(formula(&workbook, "A1"), format!("=B{}", 2 + count));
        assert_eq!(workbook.bytes, recounted_bytes(&workbook));
    }
}

fn recounted_bytes(workbook: &Workbook) -> usize {
    let sheets: usize = workbook.sheets.values().map(Sheet::bytes).sum();
    sheets + workbook.moves.bytes()
}

#[test]
fn moves_are_only_kept_for_formulas() {
    let mut workbook = new(&[insert(SheetId::FIRST, 0), set_row(1), insert(SheetId::FIRST, 0)]);
    assert_eq!(workbook.moves.len(), 0);
    workbook.apply_operations(&[set("A1", "=1"), insert(SheetId::FIRST, 0)]).unwrap();
    assert_eq!(workbook.moves.len(), 1);
    assert_eq!(workbook.bytes, recounted_bytes(&workbook));
}

#[test]
fn a_diff_contains_no_formulas_that_only_moved() {
    let before = new(&[add("Data"), set("A1", "=Data!B2:B3"), set("A2", "=Data!B3")]);
    // An axis map alone does not show that the range ends with the inserted row.
    let now = after(before.clone(), &[insert(DATA, 2), delete(DATA, 3, 1)]);
    assert_eq!(formula(&now, "A1"), "=Data!B2:B3");
    assert_eq!(formula(&now, "A2"), "=Data!#REF!");
    let rows = |diff: &WorkbookDiff| -> Vec<u32> {
        diff.sheets.iter().flat_map(|sheet| &sheet.cells).map(|cell| cell.row).collect()
    };
    let forth_and_back = [before.diff(&now), now.diff_to_earlier(&before)];
    assert_eq!(forth_and_back.map(|diff| rows(&diff)), [[1], [1]], "only A2 lost a reference");
    let now = after(now, &[insert(DATA, 0), set("A1", "=Data!B4:B5"), set("A2", "=B1")]);
    assert_eq!(rows(&before.diff(&now)), [0, 1]);
}

#[test]
fn an_undo_restores_a_formula_with_its_references_now() {
    let before = new(&[add("Data"), set("A1", "=Data!B3+B3")]);
    let entry = after(before.clone(), &[set("A1", "=1")]);
    let now = after(entry.clone(), &[insert(DATA, 0), insert(SheetId::FIRST, 1), rename("Facts")]);
    assert_eq!(formula(&apply_undo(&before, &entry, &now), "A1"), "=Facts!B4+B4");
    // The formula moved and was not changed since the entry.
    let entry = after(new(&[set_row(0)]), &[add("Data"), set("A1", "=Data!B3+B3")]);
    let now = after(entry.clone(), &[insert(DATA, 0), insert(SheetId::FIRST, 1)]);
    let back = apply_undo(&new(&[set_row(0)]), &entry, &now);
    assert_eq!(back.value(SheetId::FIRST, 0, 0), Value::Bool(true));
    assert_eq!(formula(&back, "A1"), "");
}

#[test]
fn an_undo_restores_formulas_in_deleted_rows_and_sheets() {
    let before = new(&[
        add("Data"),
        set("A1", "=SUM(B2:B4)"),
        set("A3", "=B3*2+Data!A2"),
        set_on(DATA, "A1", "=Sheet1!B3+A5+Data!A6"),
        set_on(DATA, "A2", "=A1"),
    ]);
    let entry = [
        delete(SheetId::FIRST, 2, 1),
        delete(DATA, 0, 2),
        Operation::DeleteSheet(DeleteSheet { sheet: DATA }),
    ];
    let now = after(before.clone(), &entry);
    assert_eq!(formula(&now, "A1"), "=SUM(B2:B3)");
    let back = apply_undo(&before, &now, &now);
    let restored = back.tabs().named("Data").unwrap();
    assert_ne!(restored, DATA);
    assert_eq!(formula(&back, "A1"), "=SUM(B2:B4)");
    assert_eq!(formula(&back, "A3"), "=B3*2+Data!A2");
    assert_eq!(formula_on(&back, restored, "A1"), "=Sheet1!B3+A5+Data!A6");
    assert_eq!(formula_on(&back, restored, "A2"), "=A1");
    assert!(before.displays_same(&back));
    assert_eq!(revert(&before, &back, &no_imports()), Reversal::default());
}

#[test]
fn a_revert_of_a_range_restores_formulas_with_their_references_now() {
    let before = new(&[set("A1", "=B3"), set("A2", "=B3")]);
    let now = after(before.clone(), &[insert(SheetId::FIRST, 2), set("A1", "=1"), set("A2", "=2")]);
    let (rows, columns) = (Spans::one(0, 1), Spans::all(Axis::Columns));
    let reversal = revert_range(&before, &now, SheetId::FIRST, &rows, &columns).unwrap();
    let back = apply_reversal(&reversal, &now);
    assert_eq!((formula(&back, "A1"), formula(&back, "A2")), ("=B4".into(), "=2".into()));
}

#[test]
fn a_formula_that_only_follows_edits_of_one_branch_is_no_difference() {
    let shared = new(&[add("Data"), set("A1", "=SUM(Data!B1:B3)"), set("A2", "=Data!B3")]);
    let edits = [delete(DATA, 2, 1), insert(SheetId::FIRST, 0)];
    let fork = after(shared.clone(), &edits);
    let source = after(shared.branch(), &[insert(DATA, 0)]);
    assert_eq!(formula(&fork, "A2"), "=SUM(Data!B1:B2)");
    for diff in [source.diff_from_branch(&fork, &shared), fork.diff_from_branch(&source, &shared)] {
        assert!(diff.sheets.iter().all(|sheet| sheet.cells.is_empty()), "{diff:?}");
    }
    let fork = after(fork, &[set("A2", "=SUM(Data!B1:B2)+1")]);
    let diff = source.diff_from_branch(&fork, &shared);
    assert_eq!(diff.sheets[0].cells.len(), 1);
}

/// Returns insertions and deletions of one row in turn, so that the number of rows stays the same.
fn many_moves() -> impl Strategy<Value = Vec<Operation>> {
    let index = || 0..SIDE;
    let pair = (index(), index()).prop_map(|(before, first)| {
        [insert(SheetId::FIRST, before), delete(SheetId::FIRST, first, 1)]
    });
    vec(pair, 20..60).prop_map(|pairs| pairs.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(random_cases(2_000)))]

    /// An undo restores all formulas.
    #[test]
    fn an_immediate_undo_restores_formulas(
        before in vec(any_operation_with_formulas(), 0..8),
        entry in vec(any_operation_with_formulas(), 1..6),
    ) {
        let count = before.len();
        let states = states(before.into_iter().chain(entry).collect());
        let (before, after) = (&states[count].0, &states[states.len() - 1].0);
        let back = apply_undo(before, after, after);
        let difference = crate::oracle::display_difference_by_name(before, &back);
        prop_assert_eq!(difference, None, "{:?}", undo(before, after, after));
        prop_assert!(before.displays_same(&back));
        let reversal = undo(before, after, after);
        prop_assert!(reversal.report.left.is_zero() && counts_agree(&reversal), "{:?}", reversal);
    }

    #[test]
    fn a_revert_that_is_repeated_changes_nothing(
        before in vec(any_operation_with_formulas(), 0..8),
        since in vec(any_operation_with_formulas(), 1..6),
    ) {
        let count = before.len();
        let states = states(before.into_iter().chain(since).collect());
        let (before, now) = (&states[count].0, &states[states.len() - 1].0);
        let back = apply_reversal(&revert(before, now, &no_imports()), now);
        prop_assert_eq!(revert(before, &back, &no_imports()), Reversal::default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(random_cases(200)))]

    #[test]
    fn formulas_follow_many_moves(
        operations in vec(any_operation_with_formulas(), 0..6),
        moves in many_moves(),
        more in vec(any_operation_with_formulas(), 0..4),
    ) {
        let all = [operations, moves, more].concat();
        let (workbook, plain) = states(all).pop().unwrap();
        prop_assert_eq!(plain.difference_from(&workbook), None);
    }
}
