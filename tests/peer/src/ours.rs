//! Cellar's result for a pair of operations, optionally with rules of the peer.

use cellar_log::transform::{SpaceMap, transform};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::cell::GENERAL;
use cellar_sheet::operation::{CellEdit, ClearRange, InsertBefore, Operation, SetCells};
use cellar_sheet::workbook::Workbook;

use crate::Pair;
use crate::cells::{Cells, SHEET, SIDE, base, shown};
use crate::rules::Rule;

/// Returns the cells after a pair of operations if Cellar followed the given rules of the peer.
#[must_use]
pub fn cells(pair: &Pair, rules: &[Rule]) -> Cells {
    after(pair.committed.iter().chain(&moved(pair, rules)), rules)
}

/// Returns the cells after a pair of operations if Cellar did not transform operations.
#[must_use]
pub fn cells_unmoved(pair: &Pair) -> Cells {
    after(pair.committed.iter().chain([&pair.mine]), &[])
}

fn after<'a>(log: impl Iterator<Item = &'a Operation>, rules: &[Rule]) -> Cells {
    let mut workbook = base();
    for operation in log {
        workbook.apply_operation(operation);
        let inserted = inserted(operation).filter(|_| rules.contains(&Rule::CopiesFormat));
        if let Some((axis, insert)) = inserted {
            workbook.apply_operation(&copied_formats(&workbook, axis, insert));
        }
    }
    shown(&workbook)
}

/// Transforms the second user's operation past the committed operations.
fn moved(pair: &Pair, rules: &[Rule]) -> Vec<Operation> {
    let steps = if rules.contains(&Rule::StepByStep) { 1 } else { pair.committed.len() };
    pair.committed.chunks(steps).fold(vec![pair.mine.clone()], |mine, committed| {
        let map = SpaceMap::from_operations(committed);
        mine.iter().flat_map(|operation| past(operation, &map, rules)).collect()
    })
}

fn past(operation: &Operation, map: &SpaceMap, rules: &[Rule]) -> Vec<Operation> {
    let sheet = map.sheet_map(SHEET);
    if let (Operation::ClearRange(clear), true) = (operation, rules.contains(&Rule::ClearGrows)) {
        let rows = sheet.rows.covering_spans(&clear.rows);
        let columns = sheet.columns.covering_spans(&clear.columns);
        return vec![Operation::ClearRange(ClearRange { rows, columns, ..clear.clone() })];
    }
    let is_lost = |(axis, insert): (Axis, InsertBefore)| {
        let lines = if axis == Axis::Rows { &sheet.rows } else { &sheet.columns };
        lines.get(insert.before).is_none()
    };
    if rules.contains(&Rule::LosesInsert) && inserted(operation).is_some_and(is_lost) {
        return vec![];
    }
    transform(operation, map).unwrap_or_else(|| vec![operation.clone()])
}

fn inserted(operation: &Operation) -> Option<(Axis, InsertBefore)> {
    match operation {
        Operation::InsertRows(insert) => Some((Axis::Rows, *insert)),
        Operation::InsertColumns(insert) => Some((Axis::Columns, *insert)),
        _ => None,
    }
}

/// Returns an edit that gives each inserted cell the format of the next line's cell. If that cell
/// has no format, the inserted cell gets the general format.
fn copied_formats(workbook: &Workbook, axis: Axis, insert: InsertBefore) -> Operation {
    let place = |line, across| match axis {
        Axis::Rows => (line, across),
        Axis::Columns => (across, line),
    };
    let sheet = workbook.sheet(SHEET).unwrap();
    let behind = insert.before + insert.count;
    let new = (insert.before..behind).flat_map(|line| (0..SIDE).map(move |across| (line, across)));
    let edits = new.map(|(line, across)| {
        let (row, column) = place(behind, across);
        let format = sheet.cell(row, column).format.or_else(|| Some(GENERAL.to_owned()));
        let (row, column) = place(line, across);
        CellEdit { row, column, value: None, formula: None, format }
    });
    Operation::SetCells(SetCells { sheet: SHEET, cells: edits.collect() })
}
