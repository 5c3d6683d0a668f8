//! Invariant I23: every mutation that was reported as appended has an effect, and every mutation
//! that was reported as without effect has none.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{MutationId, Violation};
use crate::entry::Entry;
use cellar_sheet::cell::GENERAL;
use cellar_sheet::operation::{CellEdit, Operation, SetFormat, SheetId};
use cellar_sheet::workbook::{SheetDiff, Workbook};

/// Effect of a mutation, as reported to its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportedEffect {
    /// Reported as appended.
    Appended,
    /// Reported as having no effect.
    NoEffect,
}

/// Checks I23 by replaying the `readable` entries. A mutation that was reported as appended must
/// produce the state that its operations request. A mutation that was reported as without effect
/// must change nothing. Edits in external bodies are ignored.
///
/// # Errors
/// Returns [`Violation::WithoutEffect`] or [`Violation::Effect`] for the first violation.
pub fn check_effects(
    readable: &[Arc<Entry>],
    reported: &BTreeMap<MutationId, ReportedEffect>,
) -> Result<(), Violation> {
    let mut workbook = Workbook::default();
    for edits in readable.iter().filter_map(|entry| entry.edits()) {
        for (id, mutation) in (edits.first_id..).zip(&edits.mutations) {
            let workbook_before = workbook.clone();
            let has_effect = apply_operations(&mut workbook, mutation.committed_operations());
            let mutation_id = MutationId { client: edits.client, id };
            match reported.get(&mutation_id) {
                Some(ReportedEffect::Appended) if !has_effect => {
                    return Err(Violation::WithoutEffect { mutation: mutation_id });
                }
                Some(ReportedEffect::NoEffect) if workbook != workbook_before => {
                    return Err(Violation::Effect { mutation: mutation_id });
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Applies operations in order. Returns whether at least one of them produced the requested state.
fn apply_operations(workbook: &mut Workbook, operations: &[Operation]) -> bool {
    let mut has_effect = false;
    for operation in operations {
        let workbook_before = workbook.clone();
        workbook.apply_operation(operation);
        if took_effect(&workbook_before, operation, workbook) {
            has_effect = true;
        }
    }
    has_effect
}

fn took_effect(before: &Workbook, operation: &Operation, after: &Workbook) -> bool {
    match operation {
        Operation::SetCells(set) => {
            set.cells.iter().all(|edit| contains_edit(after, set.sheet, edit))
        }
        Operation::ClearRange(clear) => after.sheet(clear.sheet).is_some(),
        Operation::SetFormat(set_format) => first_cell_has_format(after, set_format),
        Operation::InsertRows(insert) => {
            axis_changed(before, after, insert.sheet, |diff| !diff.rows.inserted.is_empty())
        }
        Operation::InsertColumns(insert) => {
            axis_changed(before, after, insert.sheet, |diff| !diff.columns.inserted.is_empty())
        }
        Operation::DeleteRows(delete) => {
            axis_changed(before, after, delete.sheet, |diff| !diff.rows.deleted.is_empty())
        }
        Operation::DeleteColumns(delete) => {
            axis_changed(before, after, delete.sheet, |diff| !diff.columns.deleted.is_empty())
        }
        Operation::AddSheet(add) => sheet_was_added(before, after, add.sheet),
        Operation::ImportSheet(import) => sheet_was_added(before, after, import.sheet),
        Operation::RenameSheet(rename) => after.sheet(rename.sheet).is_some(),
        Operation::DeleteSheet(delete) => {
            before.sheet(delete.sheet).is_some() && after.sheet(delete.sheet).is_none()
        }
        Operation::SetName(set) => {
            let name = after.names().get(&set.name);
            name.map(|name| name.template()) == set.template().as_ref()
        }
        Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => false,
    }
}

fn first_cell_has_format(workbook: &Workbook, set_format: &SetFormat) -> bool {
    let Some(sheet) = workbook.sheet(set_format.sheet) else { return false };
    let first_row = set_format.rows.iter().next();
    let first_column = set_format.columns.iter().next();
    let format = match (first_row, first_column) {
        (Some(row), Some(column)) => sheet.formats().format_at(row.first, column.first),
        _ => None,
    };
    format.unwrap_or(GENERAL) == set_format.format
}

fn contains_edit(workbook: &Workbook, sheet: SheetId, edit: &CellEdit) -> bool {
    let Some(sheet) = workbook.sheet(sheet) else { return false };
    let cell = sheet.cell(edit.row, edit.column);
    edit.value.as_ref().is_none_or(|value| *value == cell.value)
        && edit.format.as_deref().is_none_or(|set| cell.format.as_deref().unwrap_or(GENERAL) == set)
}

/// `diff_has_change` returns whether the diff of the two states contains the change. The diff omits
/// blank rows and columns after the last used one, so any other difference between the states also
/// counts.
fn axis_changed(
    before: &Workbook,
    after: &Workbook,
    sheet: SheetId,
    diff_has_change: impl Fn(&SheetDiff) -> bool,
) -> bool {
    if after.sheet(sheet).is_none() {
        return false;
    }
    let sheet_diff = before.diff(after).sheets.into_iter().find(|diff| diff.sheet == sheet);
    sheet_diff.is_some_and(|diff| diff_has_change(&diff)) || before != after
}

fn sheet_was_added(before: &Workbook, after: &Workbook, sheet: SheetId) -> bool {
    before.sheet(sheet).is_none() && after.sheet(sheet).is_some()
}
