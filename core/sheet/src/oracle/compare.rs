//! What two states have in common.

use std::collections::BTreeSet;

use super::{LineId, Plain, PlainSheet, sheet};
use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::operation::{SheetId, Spans};
use crate::workbook::{Sheet, SheetChange, Workbook, WorkbookDiff};

/// What looks different in two workbooks, if anything does: names, cells, formats by their place.
/// Not how far a sheet was once written, which the order of operations decides.
pub fn looks_different(left: &Workbook, right: &Workbook) -> Option<String> {
    let numbers = |workbook: &Workbook| workbook.sheets().map(|(id, _)| id).collect::<Vec<_>>();
    if numbers(left) != numbers(right) {
        return Some(format!("sheets {:?} and {:?}", numbers(left), numbers(right)));
    }
    pairs_differ(&named(left), &named(right))
}

/// As [`looks_different`], whatever the numbers and the order of the sheets.
pub fn looks_different_by_name(left: &Workbook, right: &Workbook) -> Option<String> {
    let by_name = |workbook| {
        let mut sheets = named(workbook);
        sheets.sort_by_key(|(_, name, _)| *name);
        sheets
    };
    pairs_differ(&by_name(left), &by_name(right))
}

type NamedSheet<'a> = (SheetId, &'a str, &'a Sheet);

fn named(workbook: &Workbook) -> Vec<NamedSheet<'_>> {
    let name = |id| workbook.tabs().name(id).unwrap_or_default();
    workbook.sheets().map(|(id, sheet)| (id, name(id), sheet)).collect()
}

fn pairs_differ(left: &[NamedSheet<'_>], right: &[NamedSheet<'_>]) -> Option<String> {
    let names = |list: &[NamedSheet<'_>]| {
        list.iter().map(|(_, name, _)| (*name).to_owned()).collect::<Vec<_>>()
    };
    if names(left) != names(right) {
        return Some(format!("names {:?} and {:?}", names(left), names(right)));
    }
    left.iter().zip(right).find_map(|((id, _, left), (_, _, right))| {
        sheet::looks_different(left, right).map(|what| format!("{id:?}: {what}"))
    })
}

/// What a diff says of two states that is not so.
pub fn wrong_diff(from: &Plain, to: &Plain, diff: &WorkbookDiff) -> Option<String> {
    let find = |plain: &Plain, id: SheetId| plain.sheets.iter().find(|s| s.number == id).cloned();
    let numbers: BTreeSet<SheetId> =
        from.sheets.iter().chain(&to.sheets).map(|sheet| sheet.number).collect();
    numbers.into_iter().find_map(|id| {
        let said = diff.sheets.iter().find(|sheet| sheet.sheet == id);
        let fault = |what: String| Some(format!("{id:?}: {what}"));
        let (from, to) = match (find(from, id), find(to, id)) {
            (Some(from), Some(to)) => (from, to),
            (None, _) if said?.change == SheetChange::Added => return None,
            (_, None) if said?.change == SheetChange::Deleted => return None,
            _ => return fault("came or went".into()),
        };
        let said = said.cloned();
        let (rows, columns) =
            said.as_ref().map(|s| (s.rows.clone(), s.columns.clone())).unwrap_or_default();
        for (axis, said) in [(Axis::Rows, rows), (Axis::Columns, columns)] {
            let (inserted, deleted) = (lost(&to, &from, axis), lost(&from, &to, axis));
            if (&said.inserted, &said.deleted) != (&inserted, &deleted) {
                return fault(format!("{axis:?}: inserted {inserted:?}, deleted {deleted:?}"));
            }
        }
        let cells = said.map(|said| said.cells).unwrap_or_default();
        let said: BTreeSet<_> = cells.iter().map(|cell| (cell.row, cell.column)).collect();
        let changed = changed(&from, &to);
        (said != changed).then(|| format!("{id:?}: cells {changed:?}"))
    })
}

/// Lines of the one that the other has not, but for what is pushed over the end or fills it up.
fn lost(of: &PlainSheet, other: &PlainSheet, axis: Axis) -> Spans {
    let there: BTreeSet<LineId> =
        other.lines(axis == Axis::Rows).iter().map(|line| line.id).collect();
    let lines = (0_u32..).zip(of.lines(axis == Axis::Rows)).take(super::LINES / 2);
    let fills_up = |id: LineId| id.0 == 0 && id.1 as usize >= super::LINES;
    let gone = lines.filter(|(_, line)| !there.contains(&line.id) && !fills_up(line.id));
    Spans::of(gone.map(|(at, _)| at))
}

/// The cells that hold, or held, something and look different, where they are now.
fn changed(from: &PlainSheet, to: &PlainSheet) -> BTreeSet<(u32, u32)> {
    let held = from.cells.iter().chain(&to.cells).filter(|(_, cell)| !cell.is_blank());
    let changed = held.filter_map(|((row, column), _)| {
        let place = (to.place(true, *row)?, to.place(false, *column)?);
        let there = from.place(true, *row).is_some() && from.place(false, *column).is_some();
        let before = if there { from.shown(*row, *column) } else { Cell::default() };
        (before != to.shown(*row, *column)).then_some(place)
    });
    changed.collect()
}
