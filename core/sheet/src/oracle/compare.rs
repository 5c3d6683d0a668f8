//! Comparison of workbooks, and verification of diffs against the reference model.

use std::collections::BTreeSet;

use super::{LineId, PlainSheet, PlainWorkbook, sheet};
use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::operation::{SheetId, Spans};
use crate::workbook::{Sheet, SheetChange, SheetDiff, Workbook, WorkbookDiff};

/// Describes the first visible difference between two workbooks, in sheets, names, cells or
/// formats. Returns `None` if there is none. Used ranges are ignored, because they depend on the
/// order of operations.
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
        sheet::display_difference(left, right).map(|what| format!("{id:?}: {what}"))
    })
}

/// Describes the first error in a diff between two states, or returns `None` if the diff is
/// correct.
pub fn find_diff_error(
    from: &PlainWorkbook,
    to: &PlainWorkbook,
    diff: &WorkbookDiff,
) -> Option<String> {
    let find_sheet =
        |workbook: &PlainWorkbook, id| workbook.sheets.iter().find(|s| s.number == id).cloned();
    let ids: BTreeSet<SheetId> =
        from.sheets.iter().chain(&to.sheets).map(|sheet| sheet.number).collect();
    ids.into_iter().find_map(|id| {
        let sheet_diff = diff.sheets.iter().find(|sheet| sheet.sheet == id);
        let change = sheet_diff.map(|diff| diff.change);
        let error = match (find_sheet(from, id), find_sheet(to, id)) {
            (Some(from), Some(to)) => find_sheet_diff_error(&from, &to, sheet_diff)?,
            (None, _) if change == Some(SheetChange::Added) => return None,
            (_, None) if change == Some(SheetChange::Deleted) => return None,
            _ => format!("wrong change {change:?}"),
        };
        Some(format!("{id:?}: {error}"))
    })
}

/// Describes the first error in the diff of a sheet that exists in both states, or returns `None`
/// if the diff is correct. A sheet without changes must not appear in the diff.
fn find_sheet_diff_error(
    from: &PlainSheet,
    to: &PlainSheet,
    diff: Option<&SheetDiff>,
) -> Option<String> {
    let (rows, columns) =
        diff.map(|diff| (diff.rows.clone(), diff.columns.clone())).unwrap_or_default();
    for (axis, axis_diff) in [(Axis::Rows, rows), (Axis::Columns, columns)] {
        let inserted = missing_lines(to, from, axis);
        let deleted = missing_lines(from, to, axis);
        if (&axis_diff.inserted, &axis_diff.deleted) != (&inserted, &deleted) {
            return Some(format!("{axis:?}: inserted {inserted:?}, deleted {deleted:?}"));
        }
    }
    let cells = diff.map(|diff| diff.cells.as_slice()).unwrap_or_default();
    let reported: BTreeSet<_> = cells.iter().map(|cell| (cell.row, cell.column)).collect();
    let changed = changed_cells(from, to);
    (reported != changed).then(|| format!("expected changed cells {changed:?}"))
}

/// Returns the indices of the rows or columns that are in `of` but not in `other`. Ignores those
/// that a deletion added at the end of the axis.
fn missing_lines(of: &PlainSheet, other: &PlainSheet, axis: Axis) -> Spans {
    let other_ids: BTreeSet<LineId> = other.lines(axis).iter().map(|line| line.id).collect();
    let lines = (0_u32..).zip(of.lines(axis)).take(super::LINES / 2);
    let is_filler = |id: LineId| id.0 == 0 && id.1 as usize >= super::LINES;
    let missing = lines.filter(|(_, line)| !other_ids.contains(&line.id) && !is_filler(line.id));
    Spans::of(missing.map(|(place, _)| place))
}

/// Returns the coordinates in `to` of the cells that are displayed differently in `from` and `to`.
fn changed_cells(from: &PlainSheet, to: &PlainSheet) -> BTreeSet<(u32, u32)> {
    let populated = from.cells.iter().chain(&to.cells).filter(|(_, cell)| !cell.is_blank());
    let changed = populated.filter_map(|((row, column), _)| {
        let place = (to.place(Axis::Rows, *row)?, to.place(Axis::Columns, *column)?);
        let existed =
            from.place(Axis::Rows, *row).is_some() && from.place(Axis::Columns, *column).is_some();
        let before = if existed { from.displayed(*row, *column) } else { Cell::default() };
        (before != to.displayed(*row, *column)).then_some(place)
    });
    changed.collect()
}
