//! Formulas that lost references to deleted cells, and undos that restore them.

use proptest::collection::vec;
use proptest::prelude::*;

use super::formulas::{
    DATA, add, after, delete, formula, formula_on, insert, new, rename, set, set_on,
};
use super::*;
use crate::oracle::display_difference_by_name;

fn delete_sheet(sheet: SheetId) -> Operation {
    Operation::DeleteSheet(DeleteSheet { sheet })
}

fn delete_columns(first: u32, count: u32) -> Operation {
    let spans = Spans::one(first, count);
    Operation::DeleteColumns(DeleteSpans { sheet: SheetId::FIRST, spans })
}

fn formula_counts(report: ReversalReport) -> (u64, u64) {
    (report.restored.formulas, report.left.formulas)
}

/// Undoes an entry directly after it.
fn undone(before: &Workbook, entry: &[Operation]) -> (Workbook, Workbook, Reversal) {
    let after = after(before.clone(), entry);
    let reversal = undo(before, &after, &after);
    let back = apply_reversal(&reversal, &after);
    (after, back, reversal)
}

#[test]
fn an_undo_restores_references_to_deleted_rows() {
    let before = new(&[
        add("Data"),
        set("C1", "=A5*2"),
        set("C2", "=SUM(A1:A5)+SUM(A5:A9)+SUM(A1:A9)"),
        set("C3", "=A1"),
        set_on(DATA, "A1", "=SUM(Sheet1!A4:A5)+SUM(Sheet1!4:5)"),
    ]);
    let (deleted, back, reversal) = undone(&before, &[delete(SheetId::FIRST, 4, 1)]);
    assert_eq!(formula(&deleted, "C1"), "=#REF!*2");
    assert_eq!(formula(&deleted, "C2"), "=SUM(A1:A4)+SUM(A5:A8)+SUM(A1:A8)");
    assert_eq!(display_difference_by_name(&before, &back), None);
    assert_eq!(formula_counts(reversal.report), (3, 0));
    assert_eq!(reversal.formula_operations, 2);
    assert_eq!(reversal.operations.len(), 3);
}

#[test]
fn an_undo_restores_references_to_deleted_columns() {
    let before = new(&[set("A1", "=D1+SUM(C:D)+SUM(B2:D3)"), set("A2", "=SUM(B:E)")]);
    let (deleted, back, reversal) = undone(&before, &[delete_columns(3, 1)]);
    assert_eq!(formula(&deleted, "A1"), "=#REF!+SUM(C:C)+SUM(B2:C3)");
    assert_eq!(display_difference_by_name(&before, &back), None);
    assert_eq!(formula_counts(reversal.report), (1, 0));
}

#[test]
fn an_undo_restores_references_to_a_deleted_sheet() {
    let before = new(&[add("Data"), set("A1", "=Data!A1+Data!A2"), set_on(DATA, "A2", "=A1")]);
    let entry = [delete(DATA, 1, 1), delete_sheet(DATA)];
    let (deleted, back, reversal) = undone(&before, &entry);
    assert_eq!(formula(&deleted, "A1"), "=#REF!+#REF!");
    assert_eq!(display_difference_by_name(&before, &back), None);
    assert_eq!(formula_counts(reversal.report), (1, 0));
    assert_eq!(revert(&before, &back, &no_imports()), Reversal::default());
}

#[test]
fn a_reference_that_was_lost_before_is_not_restored() {
    let before = after(new(&[add("Data"), set("C1", "=Data!A5*2")]), &[delete(DATA, 4, 1)]);
    assert_eq!(formula(&before, "C1"), "=Data!#REF!*2");
    let (_, back, reversal) = undone(&before, &[delete_sheet(DATA)]);
    assert_eq!(formula(&back, "C1"), "=#REF!*2");
    assert_eq!(formula_counts(reversal.report), (0, 0));
}

#[test]
fn restored_references_follow_later_edits() {
    let before = new(&[add("Data"), set("A1", "=SUM(Data!A3:A5)"), set("A2", "=Data!A5")]);
    let entry = after(before.clone(), &[delete(DATA, 4, 1)]);
    let later = [insert(DATA, 0), insert(DATA, 4), insert(SheetId::FIRST, 0), rename("Facts")];
    let now = after(entry.clone(), &later);
    assert_eq!(formula(&now, "A2"), "=SUM(Facts!A4:A6)");
    let back = apply_undo(&before, &entry, &now);
    assert_eq!(formula(&back, "A2"), "=SUM(Facts!A4:A7)");
    assert_eq!(formula(&back, "A3"), "=Facts!A7");
}

#[test]
fn formulas_that_were_changed_later_are_left_and_counted() {
    let before = new(&[set("A1", "=B5"), set("A2", "=B5*2"), set("A3", "=B5*3"), set("A4", "=B5")]);
    let entry = after(before.clone(), &[delete(SheetId::FIRST, 4, 1)]);
    let now = after(entry.clone(), &[set("A1", "=7"), delete(SheetId::FIRST, 1, 1)]);
    let reversal = undo(&before, &entry, &now);
    assert_eq!(formula_counts(reversal.report), (2, 2));
    let back = apply_reversal(&reversal, &now);
    let formulas = ["A1", "A2", "A3"].map(|cell| formula(&back, cell));
    assert_eq!(formulas, ["=7", "=B4*3", "=B4"]);
    // The author of the later edit has already restored the formula.
    let now = after(entry.clone(), &[insert(SheetId::FIRST, 4), set("A1", "=B6")]);
    let now = after(now, &[delete(SheetId::FIRST, 4, 1), set("A1", "=B5")]);
    assert_eq!(formula_counts(undo(&before, &entry, &now).report), (3, 1));
}

#[test]
fn formulas_of_a_sheet_that_was_deleted_later_are_left_and_counted() {
    let before = new(&[add("Data"), set_on(DATA, "A1", "=Sheet1!A5"), set("B5", "=1")]);
    let entry = after(before.clone(), &[delete(SheetId::FIRST, 4, 1)]);
    let now = after(entry.clone(), &[delete_sheet(DATA)]);
    let reversal = undo(&before, &entry, &now);
    assert_eq!(formula_counts(reversal.report), (0, 1));
    assert_eq!(formula(&apply_reversal(&reversal, &now), "B5"), "=1");
}

#[test]
fn a_redo_deletes_the_references_again() {
    let before = new(&[set("A1", "=B5*2"), set("A2", "=SUM(B1:B5)")]);
    let (deleted, restored, _) = undone(&before, &[delete(SheetId::FIRST, 4, 1)]);
    let redone = apply_undo(&deleted, &restored, &restored);
    assert_eq!(display_difference_by_name(&deleted, &redone), None);
    let restored_again = apply_undo(&restored, &redone, &redone);
    assert_eq!(display_difference_by_name(&before, &restored_again), None);
}

#[test]
fn deletions_are_undone_one_after_the_other() {
    let before = new(&[set("C1", "=SUM(A1:A5)+SUM(A4:A5)+A5"), set("C2", "=A4")]);
    let first = after(before.clone(), &[delete(SheetId::FIRST, 4, 1)]);
    let second = after(first.clone(), &[delete(SheetId::FIRST, 3, 1)]);
    assert_eq!(formula(&second, "C1"), "=SUM(A1:A3)+SUM(#REF!)+#REF!");
    let newest_undone = apply_undo(&first, &second, &second);
    assert_eq!(display_difference_by_name(&first, &newest_undone), None);
    let reversal = undo(&before, &first, &newest_undone);
    let both_undone = apply_reversal(&reversal, &newest_undone);
    assert_eq!(display_difference_by_name(&before, &both_undone), None);
    assert_eq!(formula_counts(reversal.report), (1, 0));
    // The older deletion is undone first: row 4 is still deleted.
    let oldest_undone = apply_undo(&before, &first, &second);
    assert_eq!(formula(&oldest_undone, "C1"), "=SUM(A1:A4)+SUM(A4:A4)+A4");
}

#[test]
fn rows_that_are_undone_one_after_the_other_keep_their_order() {
    let before = new(&(0..6).map(set_number).collect::<Vec<_>>());
    let first = after(before.clone(), &[delete(SheetId::FIRST, 3, 1)]);
    let second = after(first.clone(), &[delete(SheetId::FIRST, 2, 2)]);
    let newest_undone = apply_undo(&first, &second, &second);
    let both_undone = apply_undo(&before, &first, &newest_undone);
    assert_eq!(display_difference_by_name(&before, &both_undone), None);
}

fn set_number(row: u32) -> Operation {
    let value = Some(Value::Number(f64::from(row)));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

#[test]
fn a_row_that_replaced_a_deleted_row_is_not_referred_to() {
    let before = new(&[set("C1", "=SUM(A4:A5)")]);
    let entry = after(before.clone(), &[delete(SheetId::FIRST, 4, 1)]);
    let now = after(entry.clone(), &[delete(SheetId::FIRST, 3, 1), insert(SheetId::FIRST, 3)]);
    assert_eq!(formula(&now, "C1"), "=SUM(#REF!)");
    assert_eq!(formula(&apply_undo(&before, &entry, &now), "C1"), "=SUM(A5:A5)");
}

#[test]
fn a_revert_restores_references_to_the_reverted_sheets() {
    let formulas = [set("A1", "=B50"), set("A2", "=Data!B50"), set_on(DATA, "A1", "=Sheet1!B50")];
    let before = new(&[vec![add("Data")], formulas.to_vec()].concat());
    // The deleted rows are beyond the used range.
    let now = after(before.clone(), &[delete(SheetId::FIRST, 49, 1), delete(DATA, 49, 1)]);
    assert!(!before.displays_same(&now));
    let back = apply_reversal(&revert(&before, &now, &no_imports()), &now);
    assert_eq!(display_difference_by_name(&before, &back), None);
    let of_sheet =
        |state: &Workbook| revert_sheet(&before, state, SheetId::FIRST, &no_imports()).unwrap();
    let reversal = of_sheet(&now);
    assert_eq!(formula_counts(reversal.report), (2, 0));
    let back = apply_reversal(&reversal, &now);
    assert_eq!((formula(&back, "A1"), formula(&back, "A2")), ("=B50".into(), "=Data!#REF!".into()));
    assert_eq!(formula_on(&back, DATA, "A1"), "=Sheet1!B50");
    assert_eq!(of_sheet(&back), Reversal::default());
}

#[test]
fn a_revert_keeps_rows_that_an_undo_has_restored() {
    let before = new(&[
        add("Data"),
        set_number(2),
        set_on(DATA, "A1", "=Sheet1!A3"),
        set_on(DATA, "A2", "=SUM(Sheet1!A1:A3)"),
    ]);
    let deleted = after(before.clone(), &[delete(SheetId::FIRST, 2, 1)]);
    let undone = apply_undo(&before, &deleted, &deleted);
    let now = after(undone, &[set_number(0)]);
    let of_sheet = revert_sheet(&before, &now, SheetId::FIRST, &no_imports()).unwrap();
    let (rows, columns) = (Spans::one(0, 9), Spans::one(0, 9));
    let of_range = revert_range(&before, &now, SheetId::FIRST, &rows, &columns).unwrap();
    for reversal in [revert(&before, &now, &no_imports()), of_sheet, of_range] {
        assert_eq!(reversal.operations.len(), 1, "only A1 differs: {reversal:?}");
        let back = apply_reversal(&reversal, &now);
        assert_eq!(display_difference_by_name(&before, &back), None);
    }
}

/// Formulas of the first sheet that refer to `Data`.
fn formulas_over_data() -> impl Strategy<Value = Vec<Operation>> {
    let end = || (1..=SIDE, 0..SIDE);
    let text = (end(), end(), 1..=SIDE, 1..=SIDE).prop_map(
        |((row, column), (last_row, last_column), first, last)| {
            let letter = |column: u32| char::from(b'A' + u8::try_from(column).unwrap());
            let (from, to) = (letter(column), letter(last_column));
            format!(
                "=SUM(Data!{from}{row}:{to}{last_row})+Data!{from}{row}+SUM(Data!{first}:{last})"
            )
        },
    );
    vec(text, 1..4).prop_map(|texts| {
        let cells = (1..).zip(texts).map(|(row, text)| set(&format!("A{row}"), &text));
        [add("Data")].into_iter().chain(cells).collect()
    })
}

fn any_deletion_in_data() -> impl Strategy<Value = Operation> {
    let spans = || any_spans().prop_map(|spans| DeleteSpans { sheet: DATA, spans });
    prop_oneof![spans().prop_map(Operation::DeleteRows), spans().prop_map(Operation::DeleteColumns)]
}

fn any_move_of_data() -> impl Strategy<Value = Operation> {
    let place = || (0..SIDE, 1..3_u32);
    let insert = |(before, count)| InsertBefore { sheet: DATA, before, count };
    prop_oneof![
        any_deletion_in_data(),
        place().prop_map(move |place| Operation::InsertRows(insert(place))),
        place().prop_map(move |place| Operation::InsertColumns(insert(place))),
    ]
}

/// Returns whether the rows that are now directly before and after `before` were neighbors, or the
/// first row is still the first.
fn is_beside_kept_rows(deleted: &Spans, before: u32) -> bool {
    let source = |row| AxisMap::delete(Axis::Rows, deleted).source(row).unwrap();
    match before.checked_sub(1) {
        Some(previous) => source(previous) + 1 == source(before),
        None => source(0) == 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn deletions_undone_from_the_newest_to_the_oldest_restore_references(
        formulas in formulas_over_data(),
        entries in vec(vec(any_deletion_in_data(), 1..3), 1..5),
    ) {
        let mut states = vec![new(&formulas)];
        for entry in &entries {
            states.push(after(states[states.len() - 1].clone(), entry));
        }
        let mut now = states[entries.len()].clone();
        for index in (0..entries.len()).rev() {
            let reversal = undo(&states[index], &states[index + 1], &now);
            prop_assert_eq!(reversal.report.left.formulas, 0);
            now = apply_reversal(&reversal, &now);
            prop_assert_eq!(display_difference_by_name(&states[index], &now), None);
        }
    }

    /// The undo of a deletion and a later insertion are as the insertion alone, in the model.
    #[test]
    fn an_undo_restores_references_beside_a_later_insertion(
        formulas in formulas_over_data(),
        deleted in any_spans(),
        place in 0..SIDE,
    ) {
        prop_assume!(is_beside_kept_rows(&deleted, place));
        let (before, mut plain) = states(formulas).pop().unwrap();
        let entry = Operation::DeleteRows(DeleteSpans { sheet: DATA, spans: deleted.clone() });
        let after_entry = after(before.clone(), &[entry]);
        let now = after(after_entry.clone(), &[insert(DATA, place)]);
        let original = AxisMap::delete(Axis::Rows, &deleted).source(place).unwrap();
        plain.apply(&insert(DATA, original), 100);
        let back = apply_undo(&before, &after_entry, &now);
        prop_assert_eq!(plain.difference_from(&back), None);
    }

    /// A formula that was set after the entry is not changed.
    #[test]
    fn an_undo_keeps_formulas_that_were_set_later(
        formulas in formulas_over_data(),
        entry in vec(any_move_of_data(), 1..4),
        moves in vec(any_move_of_data(), 0..3),
        row in 1..4_u32,
    ) {
        let before = new(&formulas);
        let after_entry = after(before.clone(), &entry);
        let cell = format!("A{row}");
        let now = after(after_entry.clone(), &[set(&cell, "=Data!A2+17")]);
        let now = after(now, &moves);
        let reversal = undo(&before, &after_entry, &now);
        let kept = reversal.operations.len() - reversal.formula_operations;
        let without_formulas = after(now.clone(), &reversal.operations[..kept]);
        let back = apply_reversal(&reversal, &now);
        prop_assert_eq!(formula(&back, &cell), formula(&without_formulas, &cell));
    }
}
