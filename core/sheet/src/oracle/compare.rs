//! Compares workbooks, and checks diffs against a reference implementation.

use std::collections::BTreeSet;

use super::{LineId, PlainSheet, PlainWorkbook, sheet};
use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::operation::{SheetId, Spans};
use crate::workbook::{Sheet, SheetChange, SheetDiff, Workbook, WorkbookDiff};

/// Describes the first difference between two workbooks in sheets, sheet names, cells or formats.
/// Returns `None` if there is none. Used ranges are not compared, because they depend on the order
/// of operations.
pub fn display_difference(left: &Workbook, right: &Workbook) -> Option<String> {
    let numbers = |workbook: &Workbook| workbook.sheets().map(|(id, _)| id).collect::<Vec<_>>();
    if numbers(left) != numbers(right) {
        return Some(format!("sheets {:?} and {:?}", numbers(left), numbers(right)));
    }
    first_difference(&sheets_with_names(left), &sheets_with_names(right))
}

/// Like [`display_difference`], but matches sheets by name and ignores their numbers and order.
pub fn display_difference_by_name(left: &Workbook, right: &Workbook) -> Option<String> {
    let by_name = |workbook| {
        let mut sheets = sheets_with_names(workbook);
        sheets.sort_by_key(|(_, name, _)| *name);
        sheets
    };
    first_difference(&by_name(left), &by_name(right))
}

type NamedSheet<'a> = (SheetId, &'a str, &'a Sheet);

fn sheets_with_names(workbook: &Workbook) -> Vec<NamedSheet<'_>> {
    let name = |id| workbook.tabs().name(id).unwrap_or_default();
    workbook.sheets().map(|(id, sheet)| (id, name(id), sheet)).collect()
}

fn first_difference(left: &[NamedSheet<'_>], right: &[NamedSheet<'_>]) -> Option<String> {
    let names = |list: &[NamedSheet<'_>]| {
        list.iter().map(|(_, name, _)| (*name).to_owned()).collect::<Vec<_>>()
    };
    if names(left) != names(right) {
        return Some(format!("names {:?} and {:?}", names(left), names(right)));
    }
    left.iter().zip(right).find_map(|((id, _, left), (_, _, right))| {
        sheet::display_difference(left, right).map(|difference| format!("{id:?}: {difference}"))
    })
}

/// Describes the first error in a diff between two workbooks. Returns `None` if the diff is
/// correct.
pub fn find_diff_error(
    from: &PlainWorkbook,
    to: &PlainWorkbook,
    diff: &WorkbookDiff,
) -> Option<String> {
    let numbers: BTreeSet<SheetId> =
        from.sheets.iter().chain(&to.sheets).map(|sheet| sheet.number).collect();
    for number in numbers {
        let sheet_diff = diff.sheets.iter().find(|sheet_diff| sheet_diff.sheet == number);
        let error = find_sheet_error(from.sheet(number), to.sheet(number), sheet_diff);
        if let Some(error) = error {
            return Some(format!("{number:?}: {error}"));
        }
    }
    None
}

fn find_sheet_error(
    from: Option<&PlainSheet>,
    to: Option<&PlainSheet>,
    sheet_diff: Option<&SheetDiff>,
) -> Option<String> {
    let change = sheet_diff.map(|diff| diff.change);
    let expected_change = match (from, to) {
        (Some(from), Some(to)) => return find_content_error(from, to, sheet_diff),
        (None, _) => SheetChange::Added,
        (_, None) => SheetChange::Deleted,
    };
    if change == Some(expected_change) { None } else { Some(format!("wrong change {change:?}")) }
}

/// Describes the first error in the diff of a sheet that exists in both workbooks. Returns `None`
/// if the diff is correct. A sheet without changes must not have a diff.
fn find_content_error(
    from: &PlainSheet,
    to: &PlainSheet,
    sheet_diff: Option<&SheetDiff>,
) -> Option<String> {
    let (row_diff, column_diff) =
        sheet_diff.map(|diff| (diff.rows.clone(), diff.columns.clone())).unwrap_or_default();
    for (axis, axis_diff) in [(Axis::Rows, row_diff), (Axis::Columns, column_diff)] {
        let inserted = lines_only_in(to, from, axis);
        let deleted = lines_only_in(from, to, axis);
        if axis_diff.inserted != inserted || axis_diff.deleted != deleted {
            return Some(format!("{axis:?}: inserted {inserted:?}, deleted {deleted:?}"));
        }
    }
    let reported_cells = sheet_diff.map(|diff| diff.cells.as_slice()).unwrap_or_default();
    let reported_coordinates: BTreeSet<(u32, u32)> =
        reported_cells.iter().map(|cell| (cell.row, cell.column)).collect();
    let changed_coordinates = coordinates_of_changed_cells(from, to);
    if reported_coordinates != changed_coordinates {
        return Some(format!("expected changed cells {changed_coordinates:?}"));
    }
    None
}

/// Returns the indices of the rows or columns that are in `sheet` but not in `other`. Rows and
/// columns that deletions added at the end of the axis are ignored.
fn lines_only_in(sheet: &PlainSheet, other: &PlainSheet, axis: Axis) -> Spans {
    let other_ids: BTreeSet<LineId> = other.lines(axis).iter().map(|line| line.id).collect();
    let mut indices = Vec::new();
    for (index, line) in (0_u32..).zip(sheet.lines(axis)).take(super::LINES / 2) {
        let was_added_at_end = line.id.0 == 0 && line.id.1 as usize >= super::LINES;
        if !other_ids.contains(&line.id) && !was_added_at_end {
            indices.push(index);
        }
    }
    Spans::of(indices)
}

/// Returns the coordinates in `to` of the cells that are displayed differently in `from` and `to`.
fn coordinates_of_changed_cells(from: &PlainSheet, to: &PlainSheet) -> BTreeSet<(u32, u32)> {
    let mut changed_coordinates = BTreeSet::new();
    for ((row, column), cell) in from.cells.iter().chain(&to.cells) {
        let Some(coordinates) = to.coordinates_of(*row, *column) else { continue };
        let existed_before = from.coordinates_of(*row, *column).is_some();
        let before =
            if existed_before { from.displayed_cell(*row, *column) } else { Cell::default() };
        if !cell.is_blank() && before != to.displayed_cell(*row, *column) {
            changed_coordinates.insert(coordinates);
        }
    }
    changed_coordinates
}
