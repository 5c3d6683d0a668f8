//! Computes the operations that undo the effects of one entry, except those that were changed
//! later.
//!
//! The operations are computed from three states: before the entry, after the entry, and now. Rows
//! and columns are matched by id. The following effects of the entry are kept:
//!
//! - Cells that were edited later.
//! - Inserted rows and columns that are no longer blank.
//! - Range formats of a sheet, if any of them was set later.
//! - Added sheets that were changed later, and names of sheets that were renamed later.
//!
//! If nothing was changed later, an undo restores all cells, displayed formats and sheet names. A
//! deleted sheet is added again after the last sheet, with a new number.

mod sheet;

use super::{SheetChange, Workbook};
use crate::operation::{AddSheet, DeleteSheet, Operation, RenameSheet, SheetId};

/// Reason why an undo has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UndoFault {
    /// The entry had no effect, or all its effects were changed later.
    #[error("the entry has no effects that can be undone")]
    NothingToUndo,
}

/// Returns the operations that, applied to `now`, reverse the change from `before` to `after`.
///
/// # Errors
/// Returns [`UndoFault::NothingToUndo`] if there is no effect to reverse.
pub fn undo(
    before: &Workbook,
    after: &Workbook,
    now: &Workbook,
) -> Result<Vec<Operation>, UndoFault> {
    let sheet_diffs = before.diff(after).sheets;
    let diffs_with = |change| sheet_diffs.iter().filter(move |diff| diff.change == change);
    let mut builder = UndoBuilder { workbook: now.clone(), operations: Vec::new() };
    let mut names_to_restore = Vec::new();
    for diff in diffs_with(SheetChange::Added) {
        builder.delete_added_sheet(diff.sheet, after);
    }
    for diff in diffs_with(SheetChange::Deleted) {
        names_to_restore.extend(builder.restore_sheet(diff.sheet, before));
    }
    // An added sheet can be deleted only if there are other sheets. Try again after deleted sheets
    // have been restored.
    for diff in diffs_with(SheetChange::Added) {
        builder.delete_added_sheet(diff.sheet, after);
    }
    for diff in diffs_with(SheetChange::Renamed).chain(diffs_with(SheetChange::Kept)) {
        names_to_restore.extend(name_before_rename(diff.sheet, before, after, now));
        builder.undo_in_sheet(diff, before, after);
    }
    builder.restore_names(&names_to_restore);
    if builder.operations.is_empty() {
        Err(UndoFault::NothingToUndo)
    } else {
        Ok(builder.operations)
    }
}

/// Returns the operations that, applied to `now`, result in a state that displays the same as
/// `before`.
///
/// # Errors
/// Returns [`UndoFault::NothingToUndo`] if both states already display the same.
pub fn revert(before: &Workbook, now: &Workbook) -> Result<Vec<Operation>, UndoFault> {
    if before.displays_same(now) {
        return Err(UndoFault::NothingToUndo);
    }
    undo(before, now, now)
}

/// Returns a sheet and its name before the entry. Returns `None` if the entry did not rename the
/// sheet, or if the sheet was renamed again later.
fn name_before_rename(
    sheet: SheetId,
    before: &Workbook,
    after: &Workbook,
    now: &Workbook,
) -> Option<(SheetId, String)> {
    let old_name = before.tabs().name(sheet)?;
    let new_name = after.tabs().name(sheet)?;
    let was_renamed = old_name != new_name;
    let was_renamed_later = now.tabs().name(sheet)? != new_name;
    if was_renamed && !was_renamed_later { Some((sheet, old_name.to_owned())) } else { None }
}

struct UndoBuilder {
    workbook: Workbook,
    operations: Vec<Operation>,
}

impl UndoBuilder {
    fn push(&mut self, operation: Operation) {
        self.workbook.apply_operation(&operation);
        self.operations.push(operation);
    }

    /// Deletes a sheet that the entry added, unless the sheet was changed later or is the only
    /// sheet.
    fn delete_added_sheet(&mut self, sheet: SheetId, after: &Workbook) {
        let current_sheet = self.workbook.sheet(sheet);
        let is_unchanged = current_sheet.is_some() && current_sheet == after.sheet(sheet);
        let is_only_sheet = self.workbook.tabs().order().len() <= 1;
        if is_unchanged && !is_only_sheet {
            self.push(Operation::DeleteSheet(DeleteSheet { sheet }));
        }
    }

    /// Adds a deleted sheet again with a new number. Returns the number and the name, or `None` if
    /// the workbook has the maximum number of sheets.
    fn restore_sheet(&mut self, sheet: SheetId, before: &Workbook) -> Option<(SheetId, String)> {
        let deleted_sheet = before.sheet(sheet)?;
        let new_id = self.workbook.tabs().next_sheet();
        let name = before.tabs().name(sheet)?.to_owned();
        self.push(Operation::AddSheet(AddSheet { sheet: new_id, name: name.clone() }));
        if self.workbook.sheet(new_id).is_none() {
            // The sheet was not added because the workbook has the maximum number of sheets.
            self.operations.pop();
            return None;
        }
        self.copy_contents(new_id, deleted_sheet);
        Some((new_id, name))
    }

    fn restore_names(&mut self, names: &[(SheetId, String)]) {
        // If two sheets have exchanged their names, neither name is free until both sheets were
        // renamed once. Two passes restore all names.
        const PASSES: u32 = 2;
        for _ in 0..PASSES {
            for (sheet, name) in names {
                self.rename_sheet(*sheet, name);
            }
        }
    }

    fn rename_sheet(&mut self, sheet: SheetId, name: &str) {
        let tabs = self.workbook.tabs();
        let unique_name = tabs.unique_name(name, Some(sheet));
        if tabs.name(sheet).is_some_and(|current_name| current_name != unique_name) {
            let name = name.to_owned();
            self.push(Operation::RenameSheet(RenameSheet { sheet, name }));
        }
    }
}
