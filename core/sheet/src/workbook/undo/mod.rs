//! Undo: operations that reverse one entry, as far as its effects were not changed since.
//!
//! Computed from three states, by the ids of rows and columns: before the entry, after it, and now.
//! Later changes of others are kept: cells with other contents, inserted rows that are no longer
//! blank, range formats if any was set, sheets that were changed or renamed.
//!
//! Without later changes, cells, displayed formats and sheet names are restored. A deleted sheet
//! gets a new number and is added last.

mod sheet;

use super::{SheetChange, Workbook};
use crate::operation::{AddSheet, DeleteSheet, Operation, RenameSheet, SheetId};

/// Reason why there is nothing to undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UndoFault {
    /// The entry had no effect, or all its effects were changed since.
    #[error("nothing of what the entry did is still there to be taken back")]
    Nothing,
}

/// Returns the operations that reverse the change from `before` to `after`, in coordinates of
/// `now`.
///
/// # Errors
/// [`UndoFault::Nothing`] if no effect remains.
pub fn undo(
    before: &Workbook,
    after: &Workbook,
    now: &Workbook,
) -> Result<Vec<Operation>, UndoFault> {
    let mut work = Work { workbook: now.clone(), operations: Vec::new() };
    let diffs = before.diff(after).sheets;
    let with = |change| diffs.iter().filter(move |diff| diff.change == change);
    let mut names = Vec::new();
    with(SheetChange::Added).for_each(|diff| work.remove_sheet(diff.sheet, after));
    for diff in with(SheetChange::Deleted) {
        names.extend(work.restore_sheet(diff.sheet, before));
    }
    // A sheet that was the last one may be deleted now.
    with(SheetChange::Added).for_each(|diff| work.remove_sheet(diff.sheet, after));
    for diff in with(SheetChange::Renamed).chain(with(SheetChange::Kept)) {
        names.extend(old_name(diff.sheet, before, after, now));
        work.revert(diff, before, after);
    }
    // Exchanged names are free only after each sheet was renamed.
    for _ in 0..2 {
        names.iter().for_each(|(sheet, name)| work.rename(*sheet, name));
    }
    if work.operations.is_empty() { Err(UndoFault::Nothing) } else { Ok(work.operations) }
}

/// Returns the operations that make `now` display what `before` displays.
///
/// # Errors
/// [`UndoFault::Nothing`] if it already does: a repeated revert has no effect.
pub fn revert(before: &Workbook, now: &Workbook) -> Result<Vec<Operation>, UndoFault> {
    if before.looks_like(now) {
        return Err(UndoFault::Nothing);
    }
    undo(before, now, now)
}

/// Returns the previous name of a sheet that this entry renamed, if it has not been renamed since.
fn old_name(
    sheet: SheetId,
    before: &Workbook,
    after: &Workbook,
    now: &Workbook,
) -> Option<(SheetId, String)> {
    let name = |workbook: &Workbook| workbook.tabs().name(sheet).map(str::to_owned);
    let (old, new) = (name(before)?, name(after)?);
    (old != new && name(now)? == new).then_some((sheet, old))
}

/// The operations so far, and the state after them.
struct Work {
    workbook: Workbook,
    operations: Vec<Operation>,
}

impl Work {
    fn push(&mut self, operation: Operation) {
        self.workbook.apply_operation(&operation);
        self.operations.push(operation);
    }

    /// Deletes a sheet that the entry added, unless it was changed since or is the last one.
    fn remove_sheet(&mut self, sheet: SheetId, after: &Workbook) {
        let now = self.workbook.sheet(sheet);
        if now.is_some() && now == after.sheet(sheet) && self.workbook.tabs().order().len() > 1 {
            self.push(Operation::DeleteSheet(DeleteSheet { sheet }));
        }
    }

    /// Restores a deleted sheet under a new number, if there is capacity for it.
    fn restore_sheet(&mut self, sheet: SheetId, before: &Workbook) -> Option<(SheetId, String)> {
        let lost = before.sheet(sheet)?;
        let id = self.workbook.tabs().next_sheet();
        let name = before.tabs().name(sheet)?.to_owned();
        self.push(Operation::AddSheet(AddSheet { sheet: id, name: name.clone() }));
        if self.workbook.sheet(id).is_none() {
            // The maximum number of sheets is reached.
            self.operations.pop();
            return None;
        }
        self.fill(id, lost);
        Some((id, name))
    }

    fn rename(&mut self, sheet: SheetId, name: &str) {
        let free = self.workbook.tabs().free_name(name, Some(sheet));
        if self.workbook.tabs().name(sheet).is_some_and(|name| name != free) {
            let name = name.to_owned();
            self.push(Operation::RenameSheet(RenameSheet { sheet, name }));
        }
    }
}
