//! Tests of conflicts, outcomes and split operations.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::entry::{Mutation, encoded_mutation_bytes};
use crate::testing::support::set_text;
use crate::transform::{SpaceMap, transform};
use cellar_base::limits::{MAX_CELLS_PER_OPERATION, MAX_MERGED_OPERATION_BYTES};
use cellar_base::position::Position;
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::random::any_operation;
use cellar_sheet::operation::{
    CellEdit, ClearRange, DeleteSpans, InsertBefore, Operation, Rejection, RejectionReason,
    SetCells, SheetId, Span, Spans,
};
use cellar_sheet::oracle::PlainWorkbook;

fn set(row: u32) -> Operation {
    set_text(row, "of the fork".to_owned())
}

fn set_by_others(row: u32) -> Operation {
    set_text(row, "of others".to_owned())
}

fn insert(before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count })
}

fn delete(first: u32, count: u32) -> Operation {
    let spans = Spans::from_sorted(vec![Span { first, count }]);
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans })
}

fn clear(first: u32, count: u32) -> Operation {
    let (rows, columns) = (Spans::one(first, count), Spans::one(0, 1));
    Operation::ClearRange(ClearRange { sheet: SheetId::FIRST, rows, columns })
}

/// Returns the rows in conflict for each merged edit.
fn conflicts(others: &[Operation], merged: &[Operation]) -> Vec<Vec<u32>> {
    let mut changes = OtherChanges::of(others.iter().map(|operation| (operation, true)));
    let rows = |operation: &Operation| {
        let found = changes.conflicts_of(std::slice::from_ref(operation), 100);
        assert_eq!(found.count, found.cells.len() as u64);
        found.cells.iter().map(|(_, cell)| cell.row).collect()
    };
    merged.iter().map(rows).collect()
}

#[test]
fn cells_that_both_changed_are_in_conflict_wherever_they_are() {
    let others = [set_by_others(3), insert(0, 2), set_by_others(9), delete(9, 1)];
    assert_eq!(conflicts(&others, &[set(3), set(5), set(9)]), [vec![], vec![5], vec![]]);
    let merged = [insert(0, 1), set(5), set(6), clear(0, 20), delete(6, 1), set(6)];
    let expected = [vec![], vec![], vec![5], vec![5], vec![5], vec![]];
    assert_eq!(conflicts(&others, &merged), expected);
    assert_eq!(
        conflicts(&[clear(2, 2)], &[set(1), set(2), clear(2, 1)]),
        [vec![], vec![2], vec![]]
    );
}

#[test]
fn the_same_edit_on_both_sides_is_no_conflict() {
    let none = [Vec::<u32>::new()];
    assert_eq!(conflicts(&[set(3)], &[set(3)]), none);
    assert_eq!(conflicts(&[set_by_others(3), set(3)], &[set(3)]), none, "the newest counts");
    assert_eq!(conflicts(&[set(3), set_by_others(3)], &[set(3)]), [vec![3]]);
    assert_eq!(conflicts(&[set(3), clear(3, 1)], &[set(3)]), [vec![3]], "it was cleared since");
}

#[test]
fn earlier_merged_edits_move_cells_and_are_no_conflict() {
    let (own, other) = (insert(0, 1), set_by_others(4));
    let mut changes =
        OtherChanges::of([(&other, true), (&own, false), (&set(1), false)].into_iter());
    let found = changes.conflicts_of(&[set(1), set(5)], 100);
    assert_eq!(found.cells, [(SheetId::FIRST, CellName { row: 5, column: 0 })]);
    assert_eq!(changes.conflicts_of(&[set(5)], 0), Conflicts { count: 1, cells: vec![] });
}

#[test]
fn the_outcome_of_an_edit_is_that_of_its_parts() {
    let unchanged = MutationResult {
        id: 1,
        position: None,
        duplicate: false,
        rejection: None,
        committed: None,
        no_effect: false,
        reversal: None,
    };
    let moved = MutationResult { committed: Some(vec![set(1)]), ..unchanged.clone() };
    let dropped = MutationResult { committed: Some(vec![]), no_effect: true, ..unchanged.clone() };
    let rejection = Some(Rejection::new(RejectionReason::NoSuchSheet, "why"));
    let rejected = MutationResult { rejection, ..unchanged.clone() };
    let outcome = |results: &[&MutationResult]| MergeOutcome::of(results.iter().copied());
    assert_eq!(outcome(&[&unchanged, &unchanged]), MergeOutcome::Unchanged);
    assert_eq!(outcome(&[&unchanged, &moved]), MergeOutcome::Moved);
    assert_eq!(outcome(&[&unchanged, &dropped]), MergeOutcome::Moved);
    assert_eq!(outcome(&[&dropped, &dropped]), MergeOutcome::Dropped);
    assert_eq!(outcome(&[&moved, &rejected]), MergeOutcome::Rejected);
}

fn encoded_bytes(operation: &Operation) -> usize {
    let (base, authored) = (Position::FIRST, operation.clone());
    encoded_mutation_bytes(&Mutation { base, authored, committed: None }).unwrap()
}

fn texts(count: usize, bytes: usize) -> Operation {
    let text = |row: usize| CellEdit {
        row: u32::try_from(row).unwrap(),
        column: 0,
        value: Some(Value::Text("x".repeat(bytes))),
        formula: None,
        format: None,
    };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: (0..count).map(text).collect() })
}

#[test]
fn cells_are_split_only_above_the_limits_and_stay_in_order() {
    let mut fitting = texts(2, MAX_MERGED_OPERATION_BYTES / 2 - 100);
    let free = MAX_MERGED_OPERATION_BYTES - encoded_bytes(&fitting);
    let Operation::SetCells(set) = &mut fitting else { panic!("cells") };
    set.cells[1].value = Some(Value::Text("x".repeat(MAX_MERGED_OPERATION_BYTES / 2 - 100 + free)));
    assert_eq!(encoded_bytes(&fitting), MAX_MERGED_OPERATION_BYTES);
    assert_eq!(split_operation(fitting.clone()), [fitting.clone()]);
    let Operation::SetCells(set) = &mut fitting else { panic!("cells") };
    set.cells[1].value =
        Some(Value::Text("x".repeat(MAX_MERGED_OPERATION_BYTES / 2 - 100 + free + 1)));
    assert_eq!(split_operation(fitting).len(), 2);
    assert_eq!(split_operation(texts(MAX_CELLS_PER_OPERATION, 0)).len(), 1);
    let parts = split_operation(texts(MAX_CELLS_PER_OPERATION + 1, 0));
    assert_eq!(parts.len(), 2);
    let rows = parts.iter().flat_map(|part| match part {
        Operation::SetCells(set) => set.cells.iter().map(|cell| cell.row).collect::<Vec<_>>(),
        _ => panic!("cells"),
    });
    assert!(rows.eq(0..u32::try_from(MAX_CELLS_PER_OPERATION + 1).unwrap()));
}

proptest! {
    /// The edits of a fork are transformed like the edits of a single client. If the source has not
    /// changed, the merge produces the state of the fork.
    #[test]
    fn a_merge_into_an_unchanged_source_gives_the_fork(edits in vec(any_operation(), 1..8)) {
        let (mut fork, mut source) = (PlainWorkbook::new(), PlainWorkbook::new());
        let mut map = SpaceMap::default();
        for (tag, edit) in (1..).zip(&edits) {
            // A fork rejects an edit that adds an existing sheet.
            if added_sheet(edit).is_some_and(|sheet| fork.used_numbers.contains(&sheet)) {
                continue;
            }
            fork.apply(edit, tag);
            let committed = transform(edit, &map).unwrap_or_else(|| vec![edit.clone()]);
            for operation in &committed {
                source.apply(operation, tag);
            }
            map.add_own(edit, &committed);
        }
        prop_assert!(source == fork);
    }

    #[test]
    fn conflicts_agree_with_moving_every_cell(others in vec(any_operation(), 0..8)) {
        let changed = changed_cells(&others);
        for row in 0..16_u32 {
            let expected = if changed.contains(&(SheetId::FIRST, row, 0)) { vec![row] } else { vec![] };
            prop_assert_eq!(conflicts(&others, &[set(row)]), [expected.clone()]);
            // The cell is named as before the merge.
            prop_assert_eq!(
                conflicts(&others, &[insert(0, 1), set(row + 1)]),
                [Vec::<u32>::new(), expected]
            );
        }
    }
}

fn added_sheet(operation: &Operation) -> Option<SheetId> {
    match operation {
        Operation::AddSheet(add) => Some(add.sheet),
        Operation::ImportSheet(import) => Some(import.sheet),
        _ => None,
    }
}

/// Returns the changed cells as tuples of sheet, row and column in the state after all operations.
/// Each cell is moved through the operations that follow its change.
fn changed_cells(operations: &[Operation]) -> BTreeSet<(SheetId, u32, u32)> {
    const SIDE: u32 = 64;
    let mut cells = BTreeSet::new();
    for operation in operations {
        let map = SpaceMap::from_operations(std::slice::from_ref(operation));
        let moved = cells.iter().filter_map(|(sheet, row, column): &(SheetId, u32, u32)| {
            let sheet_map = map.sheet_map(*sheet);
            Some((*sheet, sheet_map.rows.get(*row)?, sheet_map.columns.get(*column)?))
        });
        cells = moved.collect();
        match operation {
            Operation::SetCells(set) => {
                cells.extend(set.cells.iter().map(|cell| (set.sheet, cell.row, cell.column)));
            }
            Operation::ClearRange(clear) => {
                for row in (0..SIDE).filter(|row| clear.rows.contains(*row)) {
                    let columns = (0..SIDE).filter(|column| clear.columns.contains(*column));
                    cells.extend(columns.map(|column| (clear.sheet, row, column)));
                }
            }
            _ => {}
        }
    }
    cells
}
