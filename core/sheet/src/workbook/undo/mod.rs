//! Undo: the operations that take back what one entry did, as far as nobody has changed it since.
//!
//! Resolved from three states, by the ids of rows and columns: before the entry, after it, and now.
//! What others changed since stays as they left it: cells with other contents, inserted rows that
//! somebody filled, formats of ranges if any was set, sheets that somebody changed or renamed.
//!
//! If nobody changed anything since, cells, the formats that show and the names of sheets are what
//! they were. A deleted sheet comes back under a new number, behind the others.

mod sheet;

use super::{SheetChange, Workbook};
use crate::operation::{AddSheet, DeleteSheet, Operation, RenameSheet, SheetId};

/// Why there is nothing to take back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UndoFault {
    /// The entry changed nothing, or all of it was changed again since.
    #[error("nothing of what the entry did is still there to be taken back")]
    Nothing,
}

/// The operations that take back, in the coordinates of `now`, what led from `before` to `after`.
///
/// # Errors
/// [`UndoFault::Nothing`] if nothing of it is left.
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
    // One that was the last sheet can go now.
    with(SheetChange::Added).for_each(|diff| work.remove_sheet(diff.sheet, after));
    for diff in with(SheetChange::Renamed).chain(with(SheetChange::Kept)) {
        names.extend(old_name(diff.sheet, before, after, now));
        work.revert(diff, before, after);
    }
    // Names that were exchanged are free only once each sheet has left its own.
    for _ in 0..2 {
        names.iter().for_each(|(sheet, name)| work.rename(*sheet, name));
    }
    if work.operations.is_empty() { Err(UndoFault::Nothing) } else { Ok(work.operations) }
}

/// The operations that lead from `now` back to what `before` shows, whoever changed what between them.
///
/// # Errors
/// [`UndoFault::Nothing`] if it shows the same already: a revert that is repeated does nothing.
pub fn revert(before: &Workbook, now: &Workbook) -> Result<Vec<Operation>, UndoFault> {
    if before.looks_like(now) {
        return Err(UndoFault::Nothing);
    }
    undo(before, now, now)
}

/// The name to give back to a sheet that the entry renamed, and nobody since.
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

/// Operations so far, and the state that they lead to.
struct Work {
    workbook: Workbook,
    operations: Vec<Operation>,
}

impl Work {
    fn push(&mut self, operation: Operation) {
        self.workbook.apply_operation(&operation);
        self.operations.push(operation);
    }

    /// A sheet that was added goes, unless somebody has changed it since or it is the last.
    fn remove_sheet(&mut self, sheet: SheetId, after: &Workbook) {
        let now = self.workbook.sheet(sheet);
        if now.is_some() && now == after.sheet(sheet) && self.workbook.tabs().order().len() > 1 {
            self.push(Operation::DeleteSheet(DeleteSheet { sheet }));
        }
    }

    /// A sheet that was deleted comes back under a new number, if there is room for it.
    fn restore_sheet(&mut self, sheet: SheetId, before: &Workbook) -> Option<(SheetId, String)> {
        let lost = before.sheet(sheet)?;
        let id = self.workbook.tabs().next_sheet();
        let name = before.tabs().name(sheet)?.to_owned();
        self.push(Operation::AddSheet(AddSheet { sheet: id, name: name.clone() }));
        if self.workbook.sheet(id).is_none() {
            // There are as many as there may be.
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
