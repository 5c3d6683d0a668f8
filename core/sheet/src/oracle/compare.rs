//! Compares workbooks, and checks diffs against a reference implementation.

use std::collections::BTreeSet;

use super::{LineId, PlainSheet, PlainWorkbook, sheet};
use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::operation::{SheetId, Spans};
use crate::workbook::{SheetChange, SheetDiff, SheetReader, Workbook, WorkbookDiff};

/// Describes the first difference between two workbooks in sheets, names, cells or formats.
/// Returns `None` if there is none. Used ranges are not compared, because they depend on the order
/// of operations.
pub fn display_difference(left: &Workbook, right: &Workbook) -> Option<String> {
    let numbers = |workbook: &Workbook| workbook.sheets().map(|(id, _)| id).collect::<Vec<_>>();
    if numbers(left) != numbers(right) {
        return Some(format!("sheets {:?} and {:?}", numbers(left), numbers(right)));
    }
    if !left.names_display_same(right) {
        return Some(format!("defined names {:?} and {:?}", left.names(), right.names()));
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

/// Like [`display_difference`], for two sheets.
pub fn display_difference_of_sheets(
    left: SheetReader<'_>,
    right: SheetReader<'_>,
) -> Option<String> {
    sheet::display_difference(left, right)
}

type NamedSheet<'a> = (SheetId, &'a str, SheetReader<'a>);

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
        sheet::display_difference(*left, *right).map(|difference| format!("{id:?}: {difference}"))
    })
}

/// Describes the first error in a diff between two workbooks. Returns `None` if the diff is
/// correct. [`PlainWorkbook::remember_formulas`] must have been called on `from`, before `to` was
/// made of it.
pub fn find_diff_error(
    from: &PlainWorkbook,
    to: &PlainWorkbook,
    diff: &WorkbookDiff,
) -> Option<String> {
    let numbers: BTreeSet<SheetId> =
        from.sheets.iter().chain(&to.sheets).map(|sheet| sheet.number).collect();
    let replaced = replaced_numbers(from, to);
    for number in numbers {
        let sheet_diff = diff.sheets.iter().find(|sheet_diff| sheet_diff.sheet == number);
        if replaced.iter().any(|(old, _)| *old == number) {
            if sheet_diff.is_some() {
                return Some(format!("{number:?}: a replaced sheet is reported"));
            }
            continue;
        }
        let error = match replaced.iter().find(|(_, new)| *new == number) {
            Some((old, _)) => find_replacement_error((from, *old), (to, number), sheet_diff),
            None => find_sheet_error(from, to, number, sheet_diff),
        };
        if let Some(error) = error {
            return Some(format!("{number:?}: {error}"));
        }
    }
    find_order_error(from, to, diff, &replaced)
}

fn find_order_error(
    from: &PlainWorkbook,
    to: &PlainWorkbook,
    diff: &WorkbookDiff,
    replaced: &[(SheetId, SheetId)],
) -> Option<String> {
    let new_number = |old: SheetId| match replaced.iter().find(|(replaced, _)| *replaced == old) {
        Some((_, new)) => *new,
        None => old,
    };
    let places = from.sheets.iter().filter_map(|sheet| {
        let number = new_number(sheet.number);
        to.sheets.iter().position(|later| later.number == number)
    });
    match (&diff.order, places.is_sorted()) {
        (None, true) | (Some(_), false) => None,
        (order, _) => Some(format!("the order is {order:?}")),
    }
}

/// Returns the sheets that exist only in `from`, each with the sheet of the same name that exists
/// only in `to`.
fn replaced_numbers(from: &PlainWorkbook, to: &PlainWorkbook) -> Vec<(SheetId, SheetId)> {
    let only_in = |workbook: &PlainWorkbook, other: &PlainWorkbook| {
        let sheets = workbook.sheets.iter().filter(|sheet| other.sheet(sheet.number).is_none());
        sheets.map(|sheet| (sheet.number, sheet.name.to_lowercase())).collect::<Vec<_>>()
    };
    let new_sheets = only_in(to, from);
    let old_sheets = only_in(from, to).into_iter();
    old_sheets
        .filter_map(|(old, name)| {
            let (new, _) = new_sheets.iter().find(|(_, new_name)| *new_name == name)?;
            Some((old, *new))
        })
        .collect()
}

fn find_sheet_error(
    from: &PlainWorkbook,
    to: &PlainWorkbook,
    number: SheetId,
    sheet_diff: Option<&SheetDiff>,
) -> Option<String> {
    let change = sheet_diff.map(|diff| diff.change);
    let expected_change = match (from.sheet(number), to.sheet(number)) {
        (Some(old), Some(new)) => return find_content_error((from, old), (to, new), sheet_diff),
        (None, _) => SheetChange::Added,
        (_, None) => SheetChange::Deleted,
    };
    if change == Some(expected_change) { None } else { Some(format!("wrong change {change:?}")) }
}

/// Describes the first error in the diff of a sheet and its replacement, which are compared row by
/// row and column by column.
fn find_replacement_error(
    (from, old): (&PlainWorkbook, SheetId),
    (to, new): (&PlainWorkbook, SheetId),
    sheet_diff: Option<&SheetDiff>,
) -> Option<String> {
    let (old, new) = (from.sheet(old)?, to.sheet(new)?);
    let mut stored = BTreeSet::new();
    for sheet in [old, new] {
        let not_blank = sheet.cells.keys().filter(|id| sheet.is_stored(**id));
        stored.extend(not_blank.filter_map(|(row, column)| sheet.coordinates_of(*row, *column)));
    }
    let displayed = |workbook: &PlainWorkbook, sheet: &PlainSheet, (row, column): (u32, u32)| {
        workbook.displayed_cell(sheet, sheet.cell_id(row, column))
    };
    let is_changed = |at: &(u32, u32)| displayed(from, old, *at) != displayed(to, new, *at);
    let expected: BTreeSet<(u32, u32)> = stored.into_iter().filter(is_changed).collect();
    let cells = sheet_diff.map(|diff| diff.cells.as_slice()).unwrap_or_default();
    let reported: BTreeSet<(u32, u32)> = cells.iter().map(|cell| (cell.row, cell.column)).collect();
    let is_other = sheet_diff
        .is_some_and(|diff| diff.change != SheetChange::Kept || !diff.deleted_cells.is_empty());
    if is_other || reported != expected {
        return Some(format!("expected changed cells {expected:?} of a replaced sheet"));
    }
    None
}

/// Describes the first error in the diff of a sheet that exists in both workbooks. Returns `None`
/// if the diff is correct. A sheet without changes must not have a diff. If rows or columns were
/// replaced by as many, it is not checked which formulas only moved.
fn find_content_error(
    (from_workbook, from): (&PlainWorkbook, &PlainSheet),
    (to_workbook, to): (&PlainWorkbook, &PlainSheet),
    sheet_diff: Option<&SheetDiff>,
) -> Option<String> {
    let (to, has_replaced_lines) = &to.with_replaced_ids(from);
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
    let ChangedCells { certain, only_formulas } =
        coordinates_of_changed_cells((from_workbook, from), (to_workbook, to));
    let expected: BTreeSet<(u32, u32)> = certain.union(&only_formulas).copied().collect();
    let is_correct = if *has_replaced_lines {
        reported_coordinates.is_superset(&certain) && reported_coordinates.is_subset(&expected)
    } else {
        reported_coordinates == expected
    };
    if is_correct { None } else { Some(format!("expected changed cells {expected:?}")) }
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

fn lost_count(cell: &Cell) -> usize {
    cell.formula.as_deref().map_or(0, |formula| formula.matches("#REF!").count())
}

/// Coordinates of cells that are displayed differently.
#[derive(Default)]
struct ChangedCells {
    /// Cells with another value or number format.
    certain: BTreeSet<(u32, u32)>,
    /// Cells that only have another formula.
    only_formulas: BTreeSet<(u32, u32)>,
}

/// Returns the coordinates in `to` of the cells that are displayed differently in `from` and `to`,
/// without those whose formula only follows moved rows and columns and loses no reference.
fn coordinates_of_changed_cells(
    (from_workbook, from): (&PlainWorkbook, &PlainSheet),
    (to_workbook, to): (&PlainWorkbook, &PlainSheet),
) -> ChangedCells {
    let mut changed = ChangedCells::default();
    let stored = |sheet: &PlainSheet| {
        let ids = sheet.cells.keys().copied();
        ids.filter(|id| sheet.is_stored(*id)).collect::<Vec<_>>()
    };
    for (row, column) in stored(from).into_iter().chain(stored(to)) {
        let Some(coordinates) = to.coordinates_of(row, column) else { continue };
        let existed_before = from.coordinates_of(row, column).is_some();
        let before = match existed_before {
            true => from_workbook.displayed_cell(from, (row, column)),
            false => Cell::default(),
        };
        let after = to_workbook.displayed_cell(to, (row, column));
        let differs_otherwise = !before.has_value_of(&after) || before.format != after.format;
        let has_other_formula = before.formula != after.formula
            && (!to_workbook.formula_only_moved(to, (row, column))
                || lost_count(&before) != lost_count(&after));
        if differs_otherwise {
            changed.certain.insert(coordinates);
        } else if has_other_formula {
            changed.only_formulas.insert(coordinates);
        }
    }
    changed
}
