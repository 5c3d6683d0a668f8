//! Nothing that was answered as appended is without an effect, unless the answer says so (I23).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{MutationId, Violation};
use crate::entry::Entry;
use cellar_sheet::cell::GENERAL;
use cellar_sheet::operation::{CellEdit, Operation, SheetId};
use cellar_sheet::workbook::{SheetDiff, Workbook};

/// I23: on a replay of `readable`, a mutation that was answered as appended leaves the state that its
/// operations ask for; one of which the answer said that it has no effect, leaves the state as it was.
/// `answered` says of each mutation whether the answer said so. Bodies in objects are not looked at.
///
/// # Errors
/// [`Violation::WithoutEffect`] or [`Violation::Effect`] with the first mutation that differs.
pub fn check_effects(
    readable: &[Arc<Entry>],
    answered: &BTreeMap<MutationId, bool>,
) -> Result<(), Violation> {
    let mut workbook = Workbook::default();
    for edits in readable.iter().filter_map(|entry| entry.edits()) {
        for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
            let before = workbook.clone();
            let has_effect = apply(&mut workbook, mutation.effective());
            let mutation = MutationId { client: edits.client, id };
            match answered.get(&mutation) {
                Some(false) if !has_effect => return Err(Violation::WithoutEffect { mutation }),
                Some(true) if workbook != before => return Err(Violation::Effect { mutation }),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Applies operations, one after the other; whether one of them left what it asks for.
fn apply(workbook: &mut Workbook, operations: &[Operation]) -> bool {
    let mut has_effect = false;
    for operation in operations {
        let before = workbook.clone();
        workbook.apply_operation(operation);
        has_effect |= is_done(&before, operation, workbook);
    }
    has_effect
}

/// Whether `after` is what an operation on `before` asks for.
fn is_done(before: &Workbook, operation: &Operation, after: &Workbook) -> bool {
    match operation {
        Operation::SetCells(set) => set.cells.iter().all(|edit| shows(after, set.sheet, edit)),
        Operation::ClearRange(clear) => after.sheet(clear.sheet).is_some(),
        Operation::SetFormat(set) => after.sheet(set.sheet).is_some_and(|sheet| {
            let corner = set.rows.iter().next().zip(set.columns.iter().next());
            let shown =
                corner.and_then(|(row, column)| sheet.formats().at(row.first, column.first));
            shown.unwrap_or(GENERAL) == set.format
        }),
        Operation::InsertRows(insert) => {
            differs(before, after, insert.sheet, |diff| !diff.rows.inserted.is_empty())
        }
        Operation::InsertColumns(insert) => {
            differs(before, after, insert.sheet, |diff| !diff.columns.inserted.is_empty())
        }
        Operation::DeleteRows(delete) => {
            differs(before, after, delete.sheet, |diff| !diff.rows.deleted.is_empty())
        }
        Operation::DeleteColumns(delete) => {
            differs(before, after, delete.sheet, |diff| !diff.columns.deleted.is_empty())
        }
        Operation::AddSheet(add) => is_new(before, after, add.sheet),
        Operation::ImportSheet(import) => is_new(before, after, import.sheet),
        Operation::RenameSheet(rename) => after.sheet(rename.sheet).is_some(),
        Operation::DeleteSheet(delete) => is_new(after, before, delete.sheet),
        Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => false,
    }
}

fn shows(after: &Workbook, sheet: SheetId, edit: &CellEdit) -> bool {
    let Some(sheet) = after.sheet(sheet) else { return false };
    let cell = sheet.cell(edit.row, edit.column);
    edit.value.as_ref().is_none_or(|value| *value == cell.value)
        && edit.format.as_deref().is_none_or(|set| cell.format.as_deref().unwrap_or(GENERAL) == set)
}

/// Whether rows or columns differ. A diff does not list blank rows and columns after the last that
/// holds anything: for them, any difference of the states is enough.
fn differs(
    before: &Workbook,
    after: &Workbook,
    id: SheetId,
    in_axis: impl Fn(&SheetDiff) -> bool,
) -> bool {
    let diff = before.diff(after).sheets.into_iter().find(|diff| diff.sheet == id);
    after.sheet(id).is_some() && (diff.is_some_and(|diff| in_axis(&diff)) || before != after)
}

fn is_new(before: &Workbook, after: &Workbook, sheet: SheetId) -> bool {
    before.sheet(sheet).is_none() && after.sheet(sheet).is_some()
}
