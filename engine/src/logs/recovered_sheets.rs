//! Follows sheets that were deleted and recovered while entries are replayed, so that an undo of an
//! edit before the deletion changes the recovered sheet.

use std::collections::BTreeMap;

use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::workbook::{DeletedSheetState, RecoveredNumbers, Workbook};

/// Deleted sheets, and the sheets that recovered them.
#[derive(Debug, Default)]
pub(super) struct SheetRecoveries {
    /// From oldest to newest.
    deletions: Vec<SheetDeletion>,
    /// The oldest deletions are forgotten if all together are larger than `MAX_REPLAY_BYTES`.
    deletions_bytes: usize,
    recovered: BTreeMap<SheetId, RecoveredSheet>,
    /// Recoveries of the last visited entry, which the workbook does not contain yet.
    pending: Vec<Recovery>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecoveredSheet {
    /// The number that the sheet had before its deletion.
    earlier_number: SheetId,
    /// Position of the undo or revert.
    pub(super) position: Position,
    /// Whether the sheet was recovered from its import, without any edits of the import.
    pub(super) is_unedited_import: bool,
}

#[derive(Debug)]
struct SheetDeletion {
    position: Position,
    sheet: DeletedSheetState,
}

#[derive(Debug, Clone, PartialEq)]
struct Recovery {
    position: Position,
    /// The undo or revert.
    authored: Operation,
    new_number: SheetId,
    /// The name of the sheet in the recovered state.
    name: String,
    is_unedited_import: bool,
}

impl SheetRecoveries {
    /// Must be called for each entry before it is applied to the workbook.
    pub(super) fn visit_entry(&mut self, workbook: &mut Workbook, entry: &Entry) {
        self.complete(workbook);
        let Some(edits) = entry.edits() else { return };
        for mutation in &edits.mutations {
            for operation in mutation.committed_operations() {
                let deleted = match operation {
                    Operation::DeleteSheet(delete) => Some(delete.sheet),
                    Operation::ImportSheet(import) => import.replaces,
                    _ => None,
                };
                let deleted = deleted.and_then(|sheet| workbook.sheet_before_deletion(sheet));
                if let Some(sheet) = deleted {
                    self.add_deletion(SheetDeletion { position: entry.position, sheet });
                }
            }
            self.pending.extend(recoveries_in(entry.position, mutation));
        }
    }

    /// Must be called after the last visited entry was applied to the workbook.
    pub(super) fn complete(&mut self, workbook: &mut Workbook) {
        for recovery in std::mem::take(&mut self.pending) {
            if let Some(deletion) = self.find_deletion(workbook, &recovery) {
                workbook.continue_sheet(recovery.new_number, &deletion.sheet);
                let Recovery { position, new_number, is_unedited_import, .. } = recovery;
                let earlier_number = deletion.sheet.number();
                let sheet = RecoveredSheet { earlier_number, position, is_unedited_import };
                self.recovered.insert(new_number, sheet);
            }
        }
    }

    /// Returns the numbers that deleted sheets have now. If a sheet was recovered twice, it has the
    /// number of the newer one.
    pub(super) fn numbers_now(&self, now: &Workbook) -> RecoveredNumbers {
        let mut numbers = RecoveredNumbers::new();
        let mut newest_first: Vec<SheetId> = now.tabs().order().to_vec();
        newest_first.sort_unstable_by(|one, other| other.cmp(one));
        for sheet in newest_first {
            for number in self.numbers_of(sheet).skip(1) {
                numbers.entry(number).or_insert(sheet);
            }
        }
        numbers
    }

    /// Returns the number of a sheet and all numbers that it had before.
    pub(super) fn numbers_of(&self, sheet: SheetId) -> impl Iterator<Item = SheetId> {
        let earlier = |number: &SheetId| Some(self.recovered.get(number)?.earlier_number);
        std::iter::successors(Some(sheet), earlier)
    }

    /// Returns the name of a sheet and the position at which it was deleted.
    pub(super) fn deletion_of(&self, number: SheetId) -> Option<(&str, Position)> {
        let deletion = self.deletions.iter().rfind(|deletion| deletion.sheet.number() == number)?;
        Some((deletion.sheet.name(), deletion.position))
    }

    /// Returns how the sheet with this number was recovered, or `None` if it was not.
    pub(super) fn recovered(&self, number: SheetId) -> Option<RecoveredSheet> {
        self.recovered.get(&number).copied()
    }

    fn add_deletion(&mut self, deletion: SheetDeletion) {
        self.deletions_bytes += deletion.sheet.bytes();
        self.deletions.push(deletion);
        while self.deletions_bytes > MAX_REPLAY_BYTES {
            self.deletions_bytes -= self.deletions.remove(0).sheet.bytes();
        }
    }

    fn find_deletion(&self, workbook: &Workbook, recovery: &Recovery) -> Option<&SheetDeletion> {
        let mut same_name = self.deletions.iter().filter(|deletion| {
            let is_deleted = workbook.sheet(deletion.sheet.number()).is_none();
            is_deleted && deletion.sheet.name() == recovery.name
        });
        match recovery.authored {
            Operation::Undo(undo) => same_name.find(|deletion| deletion.position == undo.position),
            Operation::Revert(revert) => {
                let first = same_name.find(|deletion| deletion.position > revert.position);
                // The sheet may have been edited between the state that the revert recovered and its
                // deletion.
                first.filter(|first| workbook.has_cells_of(recovery.new_number, &first.sheet))
            }
            _ => None,
        }
    }
}

/// Returns the sheets that an undo or revert added. A sheet that it recovered from an import replaces a
/// blank one.
fn recoveries_in(position: Position, mutation: &Mutation) -> Vec<Recovery> {
    let authored = &mutation.authored;
    if !matches!(authored, Operation::Undo(_) | Operation::Revert(_)) {
        return Vec::new();
    }
    let mut recoveries = Vec::<Recovery>::new();
    for operation in mutation.committed_operations() {
        let (new_number, name) = match operation {
            Operation::AddSheet(add) => (add.sheet, &add.name),
            Operation::ImportSheet(import) => {
                recoveries.retain(|recovery| Some(recovery.new_number) != import.replaces);
                (import.sheet, &import.name)
            }
            Operation::RenameSheet(_) => continue,
            edit => {
                for recovery in &mut recoveries {
                    recovery.is_unedited_import &= edit.sheet() != Some(recovery.new_number);
                }
                continue;
            }
        };
        let (authored, name) = (authored.clone(), name.clone());
        let is_unedited_import = matches!(operation, Operation::ImportSheet(_));
        recoveries.push(Recovery { position, authored, new_number, name, is_unedited_import });
    }
    recoveries
}
