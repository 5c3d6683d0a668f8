//! Compares the transform with a reference model based on plain id lists.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use cellar_sheet::axis_map::{Axis, AxisMap, Run};
use cellar_sheet::cell::Value;
use cellar_sheet::metadata::Tabs;
use cellar_sheet::operation::random::{any_operation, any_operation_with_formulas};
use cellar_sheet::operation::{
    AddSheet, CellEdit, DeleteSheet, DeleteSpans, InsertBefore, Operation, Rejection,
    RejectionReason, RenameSheet, SetCells, SetName, SheetId, Spans, StoredOperation,
};
use cellar_sheet::oracle::PlainWorkbook;
use cellar_sheet::oracle::intent::{Intent, redirect_to_existing_sheet};
use cellar_sheet::workbook::Workbook;

/// Makes each operation valid, then applies it to an initially empty workbook. Returns the
/// resulting state and the valid operations.
fn state(operations: Vec<Operation>) -> (PlainWorkbook, Vec<Operation>) {
    after(&PlainWorkbook::new(), operations, 1)
}

/// Makes each operation valid in the current state, then applies it. Returns the new state and the
/// valid operations.
fn after(
    base: &PlainWorkbook,
    operations: Vec<Operation>,
    tag: u32,
) -> (PlainWorkbook, Vec<Operation>) {
    let mut plain = base.clone();
    let mut done = Vec::new();
    for (tag, operation) in (tag..).zip(operations) {
        let operation = redirect_to_existing_sheet(&plain, operation);
        plain.apply(&operation, tag);
        done.push(operation);
    }
    (plain, done)
}

fn tabs_after(tabs: &Tabs, operations: &[Operation]) -> Tabs {
    let mut tabs = tabs.clone();
    operations.iter().for_each(|operation| tabs.apply(operation));
    tabs
}

fn committed(operation: &Operation, map: &SpaceMap) -> Vec<Operation> {
    transform(operation, map).unwrap_or_else(|| vec![operation.clone()])
}

fn workbook(operations: &[Operation]) -> Workbook {
    let mut workbook = Workbook::default();
    workbook.apply_operations(operations).unwrap();
    workbook
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Each transformed operation has the effect that its author intended. The reference model
    /// tracks rows, columns and sheets by identity.
    #[test]
    fn a_transformed_operation_has_the_intended_effect(
        before in vec(any_operation_with_formulas(), 0..4),
        others in vec(any_operation_with_formulas(), 1..5),
        mine in any_operation_with_formulas(),
    ) {
        let (base, before) = state(before);
        let (mut head, others) = after(&base, others, 10);
        let base_tabs = tabs_after(&Tabs::default(), &before);
        let head_tabs = tabs_after(&base_tabs, &others);
        let mine = redirect_to_existing_sheet(&base, mine);
        let mut expected = head.clone();
        Intent::of(&base, &mine, 20).apply(&mut expected);
        let map = SpaceMap::from_operations(&others).with_tabs(&base_tabs, &head_tabs);
        for operation in committed(&mine, &map) {
            head.apply(&operation, 20);
        }
        prop_assert!(head == expected, "others {:?}, mine {:?}", others, mine);
    }

    /// Transforming an operation with a combined map of several operations is equivalent to
    /// transforming it against each of them in turn. Inserts, formats and names are exceptions: if
    /// the rows around their position were deleted, only the combined map still determines the
    /// position.
    #[test]
    fn a_composed_map_equals_successive_transforms(
        before in vec(any_operation(), 0..3),
        others in vec(any_operation(), 0..8),
        mine in any_operation(),
    ) {
        let (base, _) = state(before);
        let (_, others) = after(&base, others, 10);
        let mine = redirect_to_existing_sheet(&base, mine);
        let mut step_by_step = vec![mine.clone()];
        for operation in &others {
            let map = SpaceMap::from_operations(std::slice::from_ref(operation));
            step_by_step = step_by_step.iter().flat_map(|mine| committed(mine, &map)).collect();
        }
        let around_gaps = matches!(
            mine,
            Operation::SetFormat(_)
                | Operation::InsertRows(_)
                | Operation::InsertColumns(_)
                | Operation::SetName(_)
        );
        if !around_gaps {
            prop_assert_eq!(committed(&mine, &SpaceMap::from_operations(&others)), step_by_step);
        }
    }

    /// Two concurrent operations converge in either order, unless the result depends on the order
    /// by design.
    #[test]
    fn both_orders_give_the_same_state(
        before in vec(any_operation(), 0..4),
        one in any_operation(),
        two in any_operation(),
    ) {
        let (base, before) = state(before);
        let (one, two) = (redirect_to_existing_sheet(&base, one), redirect_to_existing_sheet(&base, two));
        prop_assume!(!depends_on_order(&one, &two));
        let in_order = |first: &Operation, second: &Operation| {
            let rest = committed(second, &SpaceMap::from_operations(std::slice::from_ref(first)));
            let all: Vec<_> = before.iter().chain([first]).chain(&rest).cloned().collect();
            workbook(&all)
        };
        let (left, right) = (in_order(&one, &two), in_order(&two, &one));
        if let Some(what) = cellar_sheet::oracle::display_difference(&left, &right) {
            return Err(TestCaseError::fail(format!("{what}: {one:?} and {two:?}")));
        }
    }
}

/// Whether the result of two concurrent operations depends on their order. This is the case if the
/// operations
///
/// - write the same cell, or one clears or formats cells that the other writes or formats,
/// - both insert into the same gap,
/// - insert into a gap and delete a neighbour of the gap: the order determines whether the new row
///   has the format of a surrounding range,
/// - both define or delete the same name,
/// - both change sheet names, the number of sheets or which sheets exist.
fn depends_on_order(one: &Operation, two: &Operation) -> bool {
    use Operation::{
        AddSheet, ClearRange, DeleteColumns, DeleteRows, DeleteSheet, ImportSheet, InsertColumns,
        InsertRows, RenameSheet, SetCells, SetFormat, SetName,
    };
    let of_sheets =
        |o: &Operation| matches!(o, AddSheet(_) | RenameSheet(_) | DeleteSheet(_) | ImportSheet(_));
    let (writes_one, writes_two) = (writes(one), writes(two));
    let formats = |o: &Operation| matches!(o, SetFormat(_));
    let beside = |insert: &InsertBefore, delete: &DeleteSpans| {
        let gap = [insert.before.checked_sub(1), Some(insert.before)];
        insert.sheet == delete.sheet && gap.iter().flatten().any(|at| delete.spans.contains(*at))
    };
    match (one, two) {
        (InsertRows(insert), DeleteRows(delete))
        | (DeleteRows(delete), InsertRows(insert))
        | (InsertColumns(insert), DeleteColumns(delete))
        | (DeleteColumns(delete), InsertColumns(insert)) => beside(insert, delete),
        (InsertRows(one), InsertRows(two)) | (InsertColumns(one), InsertColumns(two)) => {
            (one.sheet, one.before) == (two.sheet, two.before)
        }
        (SetName(one), SetName(two)) => one.name == two.name,
        (
            SetCells(_) | ClearRange(_) | SetFormat(_),
            SetCells(_) | ClearRange(_) | SetFormat(_),
        ) => {
            let meet = writes_one.iter().any(|cell| writes_two.contains(cell));
            // One operation changes only values; the other changes only formats.
            let apart = formats(one) && matches!(two, ClearRange(_))
                || formats(two) && matches!(one, ClearRange(_))
                || matches!((one, two), (ClearRange(_), ClearRange(_)));
            meet && !apart
        }
        _ => of_sheets(one) && of_sheets(two),
    }
}

/// Returns the cells written by an operation.
fn writes(operation: &Operation) -> Vec<(SheetId, u32, u32)> {
    let side = u32::try_from(cellar_sheet::oracle::LINES).unwrap();
    let range = |sheet: SheetId,
                 rows: &cellar_sheet::operation::Spans,
                 columns: &cellar_sheet::operation::Spans| {
        let rows: Vec<u32> = (0..side).filter(|row| rows.contains(*row)).collect();
        let columns: Vec<u32> = (0..side).filter(|column| columns.contains(*column)).collect();
        let cells = rows.iter().flat_map(|row| columns.iter().map(move |c| (sheet, *row, *c)));
        cells.collect()
    };
    match operation {
        Operation::SetCells(set) => {
            set.cells.iter().map(|edit| (set.sheet, edit.row, edit.column)).collect()
        }
        Operation::ClearRange(clear) => range(clear.sheet, &clear.rows, &clear.columns),
        Operation::SetFormat(set) => range(set.sheet, &set.rows, &set.columns),
        _ => vec![],
    }
}

fn rows(before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count })
}

fn add(sheet: u32) -> Operation {
    Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: "new".into(), before: None })
}

fn set(sheet: u32, row: u32) -> Operation {
    let value = Some(Value::Bool(true));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId(sheet), cells: vec![edit] })
}

fn set_formula(sheet: u32, text: &str) -> Operation {
    let formula = Some(text.to_owned());
    let edit = CellEdit { row: 0, column: 0, value: Some(Value::Empty), formula, format: None };
    Operation::SetCells(SetCells { sheet: SheetId(sheet), cells: vec![edit] })
}

#[test]
fn references_of_pending_formulas_follow_rows_and_names_of_sheets() {
    let rename = |name: &str| {
        let rename = RenameSheet { sheet: SheetId(1), name: name.into() };
        Operation::RenameSheet(rename)
    };
    let insert = InsertBefore { sheet: SheetId(1), before: 1, count: 2 };
    let others = [Operation::InsertRows(insert), rename("Facts"), rows(2, 1)];
    let base = tabs_after(&Tabs::default(), &[add(1)]);
    let map = SpaceMap::from_operations(&others).with_tabs(&base, &tabs_after(&base, &others));
    for (authored, expected) in [
        ("=new!B3+B3+Other!B3", "=Facts!B5+B4+Other!B3"),
        ("=SUM(Sheet1!2:3)+SUM($A:B)", "=SUM(Sheet1!2:4)+SUM($A:B)"),
        ("=sheet1!B1", "=sheet1!B1"),
        ("no formula", "no formula"),
    ] {
        let mine = set_formula(0, authored);
        assert_eq!(committed(&mine, &map), [set_formula(0, expected)], "{authored}");
    }
    assert_eq!(committed(&set_formula(1, "=B3"), &map), [set_formula(1, "=B5")]);
    // Only the name has changed.
    let others = [rename("Facts")];
    let map = SpaceMap::from_operations(&others).with_tabs(&base, &tabs_after(&base, &others));
    assert_eq!(committed(&set_formula(0, "=new!B3"), &map), [set_formula(0, "=Facts!B3")]);
    // Without names, only references to the own sheet are known.
    let map = SpaceMap::from_operations(&[rows(0, 1)]);
    let mut expected = set_formula(0, "=B4+new!B3");
    if let Operation::SetCells(set) = &mut expected {
        set.cells[0].row = 1;
    }
    assert_eq!(committed(&set_formula(0, "=B3+new!B3"), &map), [expected]);
}

#[test]
fn an_insert_into_the_same_gap_follows_the_earlier_insert() {
    let map = SpaceMap::from_operations(&[rows(3, 2)]);
    assert_eq!(transform(&rows(3, 2), &map), Some(vec![rows(5, 2)]));
    assert_eq!(transform(&rows(2, 2), &map), None);
}

#[test]
fn a_new_sheet_takes_the_next_free_number() {
    let map = SpaceMap::from_operations(&[add(1), add(2), add(9)]);
    assert_eq!(transform(&add(1), &map), Some(vec![add(3)]));
    assert_eq!(transform(&add(9), &map), Some(vec![add(10)]));
    assert_eq!(transform(&add(4), &map), None);
}

#[test]
fn own_sheets_stay_distinct_if_another_takes_the_first_number() {
    let mut map = SpaceMap::from_operations(&[add(1)]);
    for (mine, number) in [(add(1), 2), (add(2), 3)] {
        let done = committed(&mine, &map);
        assert_eq!(done, [add(number)]);
        map.add_own(&mine, &done);
    }
    assert_eq!(committed(&set(1, 0), &map), [set(2, 0)]);
    assert_eq!(committed(&set(2, 0), &map), [set(3, 0)]);
}

#[test]
fn edits_of_a_sheet_whose_deletion_was_rejected_are_kept() {
    let map =
        SpaceMap::from_operations(&[Operation::DeleteSheet(DeleteSheet { sheet: SheetId::FIRST })]);
    assert_eq!(committed(&set(0, 4), &map), [set(0, 4)]);
}

#[test]
fn a_sheet_keeps_its_identity_if_its_number_is_added_again() {
    let mut map = SpaceMap::from_operations(&[add(1)]);
    let insert = InsertBefore { sheet: SheetId(1), before: 0, count: 2 };
    map.add_foreign(&Operation::InsertRows(insert));
    for map in [&map, &map.without_added_sheets()] {
        assert_eq!(committed(&set(1, 4), map), [set(1, 6)], "the author had seen the sheet");
        assert_eq!(committed(&set(2, 4), map), [set(2, 4)]);
    }
}

#[test]
fn an_own_sheet_is_distinct_from_a_foreign_sheet_with_its_number() {
    let rejected = Operation::Rejected(Rejection::new(RejectionReason::TooLarge, ""));
    for (done, sheet) in [(vec![add(2)], Some(2)), (vec![], None), (vec![rejected], None)] {
        let mut map = SpaceMap::from_operations(&[add(1)]);
        let insert = |sheet| InsertBefore { sheet: SheetId(sheet), before: 0, count: 2 };
        map.add_foreign(&Operation::InsertRows(insert(1)));
        map.add_own(&add(1), &done);
        let expected: Vec<_> = sheet.map(|sheet| set(sheet, 4)).into_iter().collect();
        assert_eq!(committed(&set(1, 4), &map), expected);
        map.add_foreign(&Operation::InsertRows(insert(1)));
        assert_eq!(committed(&set(1, 4), &map), expected, "the operation is on the foreign sheet");
        assert_eq!(committed(&set(1, 4), &map.without_added_sheets()), expected);
        map.add_own(&add(1), &[add(5)]);
        assert_eq!(committed(&set(1, 4), &map), expected, "the first addition counts");
    }
}

#[test]
fn transformed_cells_are_sorted_and_round_trip() {
    // The author's new row was moved below a row that another client had inserted below it.
    let sheet = SheetId::FIRST;
    let mut both = set(0, 1);
    let Operation::SetCells(set) = &mut both else { panic!() };
    let other = CellEdit { row: 3, ..set.cells[0].clone() };
    set.cells.push(other);
    let strays = SpaceMap::from_sheets([(
        sheet,
        SheetMap {
            rows: AxisMap::empty(Axis::Rows)
                .with_run(Run { src: 1, dst: 2, len: 1 })
                .with_run(Run { src: 3, dst: 1, len: 1 }),
            ..SheetMap::identity(sheet)
        },
    )]);
    let committed = committed(&both, &strays);
    let [Operation::SetCells(set)] = &committed[..] else { panic!() };
    assert_eq!(set.cells.iter().map(|edit| edit.row).collect::<Vec<_>>(), [1, 2]);
    let stored = StoredOperation::from(&committed[0]);
    assert_eq!(Operation::try_from(stored).as_ref(), Ok(&committed[0]));
}

#[test]
fn clears_and_deletes_spare_rows_that_others_inserted_inside() {
    use cellar_sheet::operation::ClearRange;
    let sheet = SheetId::FIRST;
    let insert = InsertBefore { sheet, before: 3, count: 1 };
    let map = SpaceMap::from_operations(&[
        Operation::InsertRows(insert),
        Operation::InsertColumns(insert),
    ]);
    let (inside, spared) = (Spans::one(2, 3), Spans::of([2, 4, 5]));
    let clear = |spans: &Spans| {
        Operation::ClearRange(ClearRange { sheet, rows: spans.clone(), columns: spans.clone() })
    };
    let delete = |spans: &Spans| DeleteSpans { sheet, spans: spans.clone() };
    assert_eq!(committed(&clear(&inside), &map), [clear(&spared)]);
    for delete_of in [|d| Operation::DeleteRows(d), |d| Operation::DeleteColumns(d)] {
        assert_eq!(committed(&delete_of(delete(&inside)), &map), [delete_of(delete(&spared))]);
    }
}

#[test]
fn a_definition_moves_with_the_cells_that_it_names() {
    let sheets = [("Data".to_owned(), SheetId(1)), ("Mine".to_owned(), SheetId(2))];
    let set = |formula: &str, sheets: &[(String, SheetId)]| {
        let formula = Some(formula.to_owned());
        let sheets = sheets.iter().cloned().collect();
        Operation::SetName(SetName { name: "x".into(), formula, sheets })
    };
    let authored = set("=SUM(Data!$A$2:$A$10)+Mine!$B$1", &sheets);
    let insert = InsertBefore { sheet: SheetId(1), before: 4, count: 2 };
    let columns = DeleteSpans { sheet: SheetId(2), spans: Spans::one(0, 1) };
    let others = [
        Operation::InsertRows(insert),
        Operation::DeleteColumns(columns),
        Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) }),
    ];
    let moved = set("=SUM(Data!$A$2:$A$12)+Mine!$A$1", &sheets);
    assert_eq!(committed(&authored, &SpaceMap::from_operations(&others)), [moved]);
    // The author's own new sheet gets another number.
    let add = |sheet| {
        Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: "Mine".into(), before: None })
    };
    let mut map = SpaceMap::from_operations(&[add(2)]);
    map.add_own(&add(2), &[add(3)]);
    let renumbered = [sheets[0].clone(), ("Mine".to_owned(), SheetId(3))];
    let expected = set("=SUM(Data!$A$2:$A$10)+Mine!$B$1", &renumbered);
    assert_eq!(committed(&authored, &map), [expected]);
    let delete = Operation::SetName(SetName::delete("x"));
    assert_eq!(committed(&delete, &map), [delete]);
}
