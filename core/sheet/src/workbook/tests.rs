//! Compares workbooks with a reference implementation that uses plain lists of ids.

mod branches;
mod formulas;
mod lost_references;
mod names;
mod reversals;
mod skeleton;

use proptest::collection::vec;
use proptest::prelude::*;

use super::sheet::StoredCell;
use super::*;
use crate::axis_map::{Axis, AxisMap};
use crate::operation::random::{SIDE, any_operation, any_operation_with_formulas, any_spans};
use crate::operation::{
    AddSheet, CellEdit, DeleteSheet, DeleteSpans, InsertBefore, Operation, RenameSheet, SetCells,
    SetFormat, Span, Spans,
};
use crate::oracle::PlainWorkbook;
use crate::oracle::intent::redirect_to_existing_sheet;
use cellar_base::limits::{
    MAX_RANGE_FORMAT_SPANS, MAX_RANGE_FORMATS, MAX_SHEET_NUMBER_STEP, MAX_SHEETS, MAX_SPANS,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_workbook_agrees_with_the_model(
        operations in vec(any_operation_with_formulas(), 1..12),
    ) {
        let (mut workbook, mut plain) = (Workbook::default(), PlainWorkbook::new());
        for (tag, operation) in (1..).zip(&operations) {
            workbook.apply_operation(operation);
            plain.apply(operation, tag);
        }
        if let Some(what) = plain.difference_from(&workbook) {
            return Err(TestCaseError::fail(format!("{what}: after {operations:?}")));
        }
    }
}

#[test]
fn a_new_workbook_has_one_sheet() {
    let workbook = Workbook::default();
    assert_eq!(workbook.tabs().named("sheet1"), Some(SheetId::FIRST));
    assert_eq!(workbook.tabs().next_sheet(), SheetId(1));
}

/// Applies operations after replacing their sheets with existing ones. Returns the initial state
/// and the state after each operation.
fn states(operations: Vec<Operation>) -> Vec<(Workbook, PlainWorkbook)> {
    states_after((Workbook::default(), PlainWorkbook::new()), operations)
}

fn states_after(
    first: (Workbook, PlainWorkbook),
    operations: Vec<Operation>,
) -> Vec<(Workbook, PlainWorkbook)> {
    let first_tag = if first.1 == PlainWorkbook::new() { 1 } else { 100 };
    let mut states = vec![first];
    for (tag, operation) in (first_tag..).zip(operations) {
        let (mut workbook, mut plain) = states[states.len() - 1].clone();
        let operation = redirect_to_existing_sheet(&plain, operation);
        workbook.apply_operation(&operation);
        plain.apply(&operation, tag);
        states.push((workbook, plain));
    }
    states
}

fn apply_undo(before: &Workbook, after: &Workbook, now: &Workbook) -> Workbook {
    apply_reversal(&undo(before, after, now), now)
}

fn apply_reversal(reversal: &Reversal, now: &Workbook) -> Workbook {
    let mut reversed = now.clone();
    for operation in &reversal.operations {
        let operation = operation.clone().validated().unwrap();
        reversed.apply_operation(&operation);
    }
    reversed
}

fn no_imports() -> DeletedSheets {
    DeletedSheets::default()
}

/// Returns whether operations are counted. Names and formats may be restored without an operation.
fn counts_agree(reversal: &Reversal) -> bool {
    let ReversalCounts { names, formats, .. } = reversal.report.restored;
    let of_contents = ReversalCounts { names: 0, formats: 0, ..reversal.report.restored };
    if reversal.operations.is_empty() {
        of_contents.is_zero()
    } else {
        !of_contents.is_zero() || names > 0 || formats > 0
    }
}

/// Returns the names of the sheets in tab order.
fn names_in_order(workbook: &Workbook) -> Vec<String> {
    let tabs = workbook.tabs();
    tabs.order().iter().map(|id| tabs.name(*id).unwrap().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// An undo restores cells, displayed formats, sheet names and the order of sheets, and leaves
    /// nothing. It does not restore used ranges, or the numbers of deleted sheets.
    #[test]
    fn an_immediate_undo_restores_the_state(
        before in vec(any_operation(), 0..8),
        entry in vec(any_operation(), 1..6),
    ) {
        let count = before.len();
        let states = states(before.into_iter().chain(entry).collect());
        let (before, after) = (&states[count].0, &states[states.len() - 1].0);
        let back = apply_undo(before, after, after);
        if let Some(what) = crate::oracle::display_difference_by_name(before, &back) {
            return Err(TestCaseError::fail(format!("{what}: {:?}", undo(before, after, after))));
        }
        prop_assert_eq!(names_in_order(before), names_in_order(&back));
        prop_assert!(before.names_display_same(&back), "{:?} {:?}", before.names(), back.names());
        let reversal = undo(before, after, after);
        prop_assert!(reversal.report.left.is_zero(), "{:?}", reversal.report);
        prop_assert!(counts_agree(&reversal), "{:?}", reversal);
    }

    /// A repeated revert has no effect.
    #[test]
    fn a_revert_restores_the_state(
        before in vec(any_operation(), 0..8),
        since in vec(any_operation(), 1..8),
    ) {
        let count = before.len();
        let states = states(before.into_iter().chain(since).collect());
        let (before, now) = (&states[count].0, &states[states.len() - 1].0);
        let differs = crate::oracle::display_difference_by_name(before, now);
        prop_assert!(!before.displays_same(now) || differs.is_none(), "{:?}", differs);
        prop_assert!(now.displays_same(now) && before.displays_same(before));
        let back = apply_undo(before, now, now);
        prop_assert_eq!(crate::oracle::display_difference_by_name(before, &back), None);
        prop_assert_eq!(names_in_order(before), names_in_order(&back));
        prop_assert!(before.names_display_same(&back), "{:?} {:?}", before.names(), back.names());
        prop_assert_eq!(revert(before, &back, &no_imports()), Reversal::default());
    }

    /// A revert of each sheet restores that sheet, changes no other sheet, and has no effect if it
    /// is repeated.
    #[test]
    fn a_revert_of_a_sheet_restores_only_that_sheet(
        before in vec(any_operation(), 0..8),
        since in vec(any_operation(), 1..8),
        chosen in 0..4_usize,
    ) {
        let count = before.len();
        let states = states(before.into_iter().chain(since).collect());
        let (before, now) = (&states[count].0, &states[states.len() - 1].0);
        let order = before.tabs().order();
        let sheet = order[chosen % order.len()];
        let in_place = sheet_in_place(before, now, sheet);
        let back = apply_reversal(&revert_sheet(before, now, sheet, &no_imports()).unwrap(), now);
        let restored = sheet_in_place(before, &back, sheet);
        let restored = restored.or_else(|| back.tabs().order().iter().copied().max()).unwrap();
        let (old, new) = (before.sheet(sheet).unwrap(), back.sheet(restored).unwrap());
        prop_assert_eq!(crate::oracle::display_difference_of_sheets(old, new), None);
        for (id, other) in now.sheets().filter(|(id, _)| Some(*id) != in_place) {
            prop_assert_eq!(Some(other.sheet), back.sheet(id).map(|sheet| sheet.sheet));
            prop_assert_eq!(now.tabs().name(id), back.tabs().name(id));
        }
        // A sheet whose name another sheet has taken is restored under another name.
        if sheet_in_place(before, &back, sheet).is_some() {
            prop_assert_eq!(revert_sheet(before, &back, sheet, &no_imports()).unwrap().operations, vec![]);
        }
    }

    /// A revert of a range restores the cells in the range whose rows and columns still exist or were
    /// replaced by as many, clears those in new rows and columns, changes no cell outside, and has no
    /// effect if it is repeated.
    #[test]
    fn a_revert_of_a_range_restores_only_that_range(
        before in vec(any_operation(), 0..8),
        since in vec(any_operation(), 1..8),
        rows in any_spans(),
        columns in any_spans(),
    ) {
        let count = before.len();
        let states = states(before.into_iter().chain(since).collect());
        let (before, now) = (&states[count].0, &states[states.len() - 1].0);
        let sheet = before.tabs().order()[0];
        let Some(in_place) = sheet_in_place(before, now, sheet) else {
            let fault = revert_range(before, now, sheet, &rows, &columns);
            prop_assert_eq!(fault, Err(PartFault::NotNow));
            return Ok(());
        };
        let reversal = revert_range(before, now, sheet, &rows, &columns).unwrap();
        let back = apply_reversal(&reversal, now);
        let (old, current) = (before.sheet(sheet).unwrap(), now.sheet(in_place).unwrap());
        let new = back.sheet(in_place).unwrap();
        let (old_rows, old_columns) = if in_place == sheet {
            current.sheet.with_replaced_ids(old.sheet).map_to(old.sheet)
        } else {
            (AxisMap::identity(Axis::Rows), AxisMap::identity(Axis::Columns))
        };
        for row in 0..3 * SIDE {
            for column in 0..3 * SIDE {
                let (then, is) = (current.cell(row, column), new.cell(row, column));
                if !rows.contains(row) || !columns.contains(column) {
                    prop_assert_eq!(then, is, "row {}, column {} is outside", row, column);
                    continue;
                }
                match (old_rows.get(row), old_columns.get(column)) {
                    (Some(old_row), Some(old_column)) => {
                        let expected = old.cell(old_row, old_column);
                        prop_assert!(expected.has_value_of(&is), "{:?} {:?}", expected, is);
                        prop_assert_eq!(&expected.formula, &is.formula);
                        if !is.is_blank() {
                            prop_assert_eq!(&expected.format, &is.format);
                        }
                    }
                    _ => prop_assert!(is.value == Value::Empty && is.formula.is_none()),
                }
            }
        }
        let again = revert_range(before, &back, sheet, &rows, &columns).unwrap();
        prop_assert_eq!(again, Reversal::default());
    }

    /// Cells that were changed after the entry are not restored.
    #[test]
    fn an_undo_keeps_later_changes(
        before in vec(any_operation(), 0..5),
        entry in vec(any_operation(), 1..4),
        since in vec(any_operation(), 1..5),
    ) {
        let (from, to) = (before.len(), before.len() + entry.len());
        let states = states(before.into_iter().chain(entry).chain(since).collect());
        let (before, after, now) = (&states[from].0, &states[to].0, &states[states.len() - 1].0);
        let reversal = undo(before, after, now);
        prop_assert!(counts_agree(&reversal), "{:?}", reversal);
        let back = apply_reversal(&reversal, now);
        let in_place = now.with_replaced_ids(after);
        for (id, sheet) in now.sheets() {
            let lookup = sheet.sheet.cell_lookup();
            for (cell, content) in &sheet.sheet.cells {
                let (row, column) = lookup.coordinates(*cell).unwrap();
                let id_in_place = in_place.sheets[&id].id(row, column).unwrap();
                if is_changed(after, &in_place, id, id_in_place) {
                    let kept = back.sheet(id).and_then(|sheet| sheet.sheet.cells.get(cell));
                    let same = |kept: &&StoredCell| has_same_content(kept, content);
                    let blank = content.value == Value::Empty && content.formula.is_none();
                    prop_assert!(blank || kept.is_some_and(|kept| same(&kept)), "{cell:?}");
                }
            }
        }
    }

    #[test]
    fn a_diff_agrees_with_the_model(
        before in vec(any_operation_with_formulas(), 0..6),
        entry in vec(any_operation_with_formulas(), 1..6),
    ) {
        let (from, mut plain_from) = states(before).pop().unwrap();
        plain_from.remember_formulas();
        let states = states_after((from, plain_from), entry);
        let ((from, plain_from), (to, plain_to)) = (&states[0], &states[states.len() - 1]);
        let diff = from.diff(to);
        if let Some(what) = crate::oracle::find_diff_error(plain_from, plain_to, &diff) {
            return Err(TestCaseError::fail(format!("{what}: {diff:?}")));
        }
    }
}

/// Returns whether cells have the same value or formula. All formulas of random operations are equal.
fn has_same_content(one: &StoredCell, other: &StoredCell) -> bool {
    one.has_value_of(other) && one.formula.is_some() == other.formula.is_some()
}

/// Returns whether a cell has another content, or another number format that is not only that of its
/// range.
fn is_changed(after: &Workbook, now: &Workbook, sheet: SheetId, id: sheet::CellId) -> bool {
    let cell = |workbook: &Workbook| {
        let sheet = &workbook.sheets.get(&sheet)?;
        let cell = sheet.cells.get(&id).cloned().unwrap_or_default();
        let (row, column) = sheet.cell_lookup().coordinates(id)?;
        let format = sheet.displayed_format(row, column, &cell).map(str::to_owned);
        Some((cell, format))
    };
    let (Some((then, format_then)), Some((now, format_now))) = (cell(after), cell(now)) else {
        return true;
    };
    let has_other_format = then.format != now.format && format_then != format_now;
    !has_same_content(&then, &now) || has_other_format
}

fn set_row(row: u32) -> Operation {
    let value = Some(Value::Bool(true));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

#[test]
fn an_undo_restores_rows_deleted_to_the_end_of_the_sheet() {
    let spans = Spans::from_sorted(vec![Span { first: 5, count: Axis::Rows.limit() - 5 }]);
    let delete = Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans });
    let mut before = Workbook::default();
    before.apply_operations(&[set_row(3), set_row(7)]).unwrap();
    let mut after = before.clone();
    after.apply_operation(&delete);
    assert_eq!(before.diff(&after).sheets[0].rows.deleted, Spans::one(5, 3));
    let back = apply_undo(&before, &after, &after);
    assert_eq!(crate::oracle::display_difference(&before, &back), None);
}

#[test]
fn an_undo_restores_the_displayed_range_format() {
    let (sheet, rows, columns) = (SheetId::FIRST, Spans::one(0, 4), Spans::one(0, 4));
    let format = "0.0".to_owned();
    let mut before = Workbook::default();
    before.apply_operation(&Operation::SetFormat(SetFormat { sheet, rows, columns, format }));
    let mut after = before.clone();
    let format = Some("0.00".to_owned());
    let edit = CellEdit { row: 1, column: 1, value: None, formula: None, format };
    after.apply_operation(&Operation::SetCells(SetCells { sheet, cells: vec![edit] }));
    let back = apply_undo(&before, &after, &after);
    let shown = back.sheet(sheet).unwrap().cell(1, 1);
    assert_eq!(shown.format.as_deref(), Some("0.0"));
}

#[test]
fn an_undo_restores_exchanged_names() {
    let add = |sheet, name: &str| {
        Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: name.into(), before: None })
    };
    let rename = |sheet, name: &str| {
        Operation::RenameSheet(RenameSheet { sheet: SheetId(sheet), name: name.into() })
    };
    let mut before = Workbook::default();
    before.apply_operations(&[add(1, "a"), add(2, "b")]).unwrap();
    let mut after = before.clone();
    after.apply_operations(&[rename(1, "c"), rename(2, "a"), rename(1, "b")]).unwrap();
    let back = apply_undo(&before, &after, &after);
    assert_eq!(crate::oracle::display_difference(&before, &back), None);
    assert_eq!(undo(&before, &before, &after), Reversal::default());
}

#[test]
fn an_undo_restores_a_deleted_sheet_only_below_the_limit() {
    let add = |sheet| {
        Operation::AddSheet(AddSheet {
            sheet: SheetId(sheet),
            name: format!("s{sheet}"),
            before: None,
        })
    };
    let mut before = Workbook::default();
    before.apply_operation(&add(1));
    let mut after = before.clone();
    after.apply_operation(&Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) }));
    let mut now = after.clone();
    let most = u32::try_from(MAX_SHEETS).unwrap();
    (2..most).for_each(|sheet| now.apply_operation(&add(sheet)));
    assert_eq!(undo(&before, &after, &now).operations.len(), 1);
    now.apply_operation(&add(most));
    let refused = undo(&before, &after, &now);
    assert_eq!((refused.operations.len(), refused.report.left.sheets), (0, 1));
}

#[test]
fn rejects_a_sheet_number_far_above_the_next() {
    let add = |sheet| {
        Operation::AddSheet(AddSheet { sheet: SheetId(sheet), name: "s".into(), before: None })
    };
    let mut workbook = Workbook::default();
    for far in [MAX_SHEET_NUMBER_STEP + 2, u32::MAX - 1] {
        workbook.apply_operation(&add(far));
        assert_eq!(workbook.tabs().next_sheet(), SheetId(1));
    }
    workbook.apply_operation(&add(MAX_SHEET_NUMBER_STEP + 1));
    assert_eq!(workbook.tabs().next_sheet(), SheetId(MAX_SHEET_NUMBER_STEP + 2));
}

#[test]
fn limits_the_number_of_sheets() {
    let add = |sheet| {
        Operation::AddSheet(AddSheet {
            sheet: SheetId(sheet),
            name: format!("s{sheet}"),
            before: None,
        })
    };
    let mut workbook = Workbook::default();
    let most = u32::try_from(MAX_SHEETS).unwrap();
    (1..most).for_each(|sheet| workbook.apply_operation(&add(sheet)));
    assert_eq!(workbook.sheets().count(), MAX_SHEETS);
    workbook.apply_operation(&add(most));
    assert_eq!(workbook.sheets().count(), MAX_SHEETS);
}

#[test]
fn limits_the_bytes_of_a_replay() {
    let bytes = |max_bytes| {
        let mut workbook = Workbook { max_bytes, ..Workbook::default() };
        workbook.apply_operations(&[set_row(1)])
    };
    let mut full = Workbook::default();
    full.apply_operation(&set_row(1));
    let needed = full.bytes;
    assert_eq!(full.max_bytes, MAX_REPLAY_BYTES);
    assert_eq!((bytes(needed), bytes(needed - 1)), (Ok(()), Err(WorkbookTooLarge)));
}

#[test]
fn repeated_inserts_at_the_top_keep_formats_readable() {
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 1, count: 1 };
    let mut workbook = Workbook::default();
    for row in 0..25_000 {
        workbook.apply_operations(&[Operation::InsertRows(insert), set_row(1)]).unwrap();
        assert_eq!(workbook.sheet(SheetId::FIRST).unwrap().extent().rows, row + 2);
    }
}

fn format_of(rows: Spans, format: &str) -> Operation {
    let (sheet, format) = (SheetId::FIRST, format.to_owned());
    Operation::SetFormat(SetFormat { sheet, rows, columns: Spans::one(0, 2), format })
}

fn shown_format(workbook: &Workbook, row: u32) -> Option<String> {
    workbook.sheet(SheetId::FIRST).unwrap().cell(row, 1).format
}

#[test]
fn limits_the_range_formats_of_a_sheet() {
    let set = |row, format: &str| format_of(Spans::one(row, 1), format);
    let mut workbook = Workbook::default();
    let most = u32::try_from(MAX_RANGE_FORMATS).unwrap();
    workbook.apply_operation(&set_row(most));
    (0..most).for_each(|row| workbook.apply_operation(&set(row, "0.0")));
    assert_eq!(
        shown_format(&workbook, most - 1).as_deref(),
        Some("0.0"),
        "the last format that fits"
    );
    let before = workbook.clone();
    workbook.apply_operations(&[set(most, "0.00")]).unwrap();
    assert_eq!(workbook, before);
    workbook.apply_operations(&[set(0, "0.000")]).unwrap();
    assert_eq!(shown_format(&workbook, 0).as_deref(), Some("0.000"), "replaces an existing format");
}

#[test]
fn limits_the_total_spans_of_range_formats() {
    let mut workbook = Workbook::default();
    // Each range format has this number of row spans and one column span.
    let rows = |record: u32| Spans::of((0..9_999).map(|row| row * 20 + 2 * record));
    (0..10).for_each(|record| workbook.apply_operation(&format_of(rows(record), "0.0")));
    assert_eq!(shown_format(&workbook, 8).as_deref(), Some("0.0"), "100,000 spans");
    workbook.apply_operation(&format_of(Spans::one(11, 1), "0.00"));
    assert_eq!(shown_format(&workbook, 11), None);
    // Replaces all records.
    workbook.apply_operation(&format_of(Spans::one(0, 1 << 20), "0.00"));
    assert_eq!(shown_format(&workbook, 11).as_deref(), Some("0.00"));
}

#[test]
fn format_spans_over_the_limit_change_nothing() {
    // Formats every other row of a column, so that no range format covers another.
    let set = |column: usize, spans: usize| {
        let (column, spans) = (u32::try_from(column).unwrap(), u32::try_from(spans).unwrap());
        Operation::SetFormat(SetFormat {
            sheet: SheetId::FIRST,
            rows: Spans::of((0..spans - 1).map(|row| 2 * row)),
            columns: Spans::one(column, 1),
            format: "0.0".to_owned(),
        })
    };
    let mut workbook = Workbook::default();
    let last = MAX_RANGE_FORMAT_SPANS / MAX_SPANS - 1;
    (0..last).for_each(|column| workbook.apply_operation(&set(column, MAX_SPANS)));
    let before = workbook.clone();
    workbook.apply_operation(&set(last, MAX_SPANS + 1));
    assert_eq!(workbook, before, "one span too many");
    workbook.apply_operation(&set(last, MAX_SPANS));
    assert_ne!(workbook, before, "exactly the limit");
    let full = workbook.clone();
    workbook.apply_operation(&set(last + 1, 2));
    assert_eq!(workbook, full);
}
