//! Computes the operations that undo the effects of one entry, except those that were changed
//! later.
//!
//! The operations are computed from three states: before the entry, after the entry, and now. Rows
//! and columns are matched by id. The undo leaves the following unchanged: cells that were edited
//! later, inserted rows that are no longer blank, a sheet's range formats if any of them was set
//! later, and sheets that were changed or renamed later.
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
    Nothing,
}

/// Returns the operations that reverse the change from `before` to `after`. Their coordinates refer
/// to `now`.
///
/// # Errors
/// Returns [`UndoFault::Nothing`] if there is no effect to reverse.
pub fn undo(
    before: &Workbook,
    after: &Workbook,
    now: &Workbook,
) -> Result<Vec<Operation>, UndoFault> {
    let mut builder = UndoBuilder { workbook: now.clone(), operations: Vec::new() };
    let diffs = before.diff(after).sheets;
    let diffs_with = |change| diffs.iter().filter(move |diff| diff.change == change);
    let mut old_names = Vec::new();
    for diff in diffs_with(SheetChange::Added) {
        builder.delete_added_sheet(diff.sheet, after);
    }
    for diff in diffs_with(SheetChange::Deleted) {
        old_names.extend(builder.restore_sheet(diff.sheet, before));
    }
    // Retries the deletion: an added sheet that was the only sheet can be deleted once other sheets
    // are restored.
    for diff in diffs_with(SheetChange::Added) {
        builder.delete_added_sheet(diff.sheet, after);
    }
    for diff in diffs_with(SheetChange::Renamed).chain(diffs_with(SheetChange::Kept)) {
        old_names.extend(old_name(diff.sheet, before, after, now));
        builder.undo_in_sheet(diff, before, after);
    }
    // Renames every sheet twice. If two sheets exchanged their names, the old names become free
    // only after the first pass.
    for _ in 0..2 {
        for (sheet, name) in &old_names {
            builder.rename_sheet(*sheet, name);
        }
    }
    if builder.operations.is_empty() { Err(UndoFault::Nothing) } else { Ok(builder.operations) }
}

/// Returns the operations that make `now` display the same as `before`.
///
/// # Errors
/// Returns [`UndoFault::Nothing`] if both states already display the same, for example after a
/// repeated revert.
pub fn revert(before: &Workbook, now: &Workbook) -> Result<Vec<Operation>, UndoFault> {
    if before.displays_same(now) {
        return Err(UndoFault::Nothing);
    }
    undo(before, now, now)
}

/// Returns the sheet and its name before the entry, if the entry renamed the sheet and it was not
/// renamed later.
fn old_name(
    sheet: SheetId,
    before: &Workbook,
    after: &Workbook,
    now: &Workbook,
) -> Option<(SheetId, String)> {
    let name = |workbook: &Workbook| workbook.tabs().name(sheet).map(str::to_owned);
    let (old, new) = (name(before)?, name(after)?);
    let is_unchanged_since = name(now)? == new;
    (old != new && is_unchanged_since).then_some((sheet, old))
}

/// Collects the operations of an undo and tracks the resulting state.
struct UndoBuilder {
    workbook: Workbook,
    operations: Vec<Operation>,
}

impl UndoBuilder {
    /// Appends an operation and applies it to the state.
    fn push(&mut self, operation: Operation) {
        self.workbook.apply_operation(&operation);
        self.operations.push(operation);
    }

    /// Deletes a sheet that the entry added, unless the sheet was changed later or is the only
    /// sheet.
    fn delete_added_sheet(&mut self, sheet: SheetId, after: &Workbook) {
        let now = self.workbook.sheet(sheet);
        let is_unchanged = now.is_some() && now == after.sheet(sheet);
        let is_last = self.workbook.tabs().order().len() <= 1;
        if is_unchanged && !is_last {
            self.push(Operation::DeleteSheet(DeleteSheet { sheet }));
        }
    }

    /// Adds a deleted sheet again with a new number. Returns the new number and the name, or `None`
    /// if the workbook already has the maximum number of sheets.
    fn restore_sheet(&mut self, sheet: SheetId, before: &Workbook) -> Option<(SheetId, String)> {
        let deleted = before.sheet(sheet)?;
        let new_id = self.workbook.tabs().next_sheet();
        let name = before.tabs().name(sheet)?.to_owned();
        self.push(Operation::AddSheet(AddSheet { sheet: new_id, name: name.clone() }));
        if self.workbook.sheet(new_id).is_none() {
            // The operation had no effect.
            self.operations.pop();
            return None;
        }
        self.copy_contents(new_id, deleted);
        Some((new_id, name))
    }

    fn rename_sheet(&mut self, sheet: SheetId, name: &str) {
        let tabs = self.workbook.tabs();
        let free_name = tabs.free_name(name, Some(sheet));
        if tabs.name(sheet).is_some_and(|current_name| current_name != free_name) {
            let name = name.to_owned();
            self.push(Operation::RenameSheet(RenameSheet { sheet, name }));
        }
    }
}
