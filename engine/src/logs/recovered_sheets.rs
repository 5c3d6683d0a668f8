//! Follows sheets that were deleted and recovered while entries are replayed, so that an undo of an
//! edit before the deletion changes the recovered sheet.

use std::collections::BTreeMap;

use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Merged};
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::workbook::{DeletedSheetState, RecoveredNumbers, Workbook};

use super::entry_history::mutations_of;
use super::reversals::ReversedEdits;

/// Deleted sheets, and the sheets that recovered them.
#[derive(Debug, Default)]
pub(super) struct SheetRecoveries {
    /// From oldest to newest.
    deletions: Vec<SheetDeletion>,
    /// The oldest deletions are forgotten if all together are larger than `MAX_REPLAY_BYTES`.
    deletions_bytes: usize,
    recovered: BTreeMap<SheetId, RecoveredSheet>,
    /// The visited entries of merges, which are undone together.
    merged: BTreeMap<Position, Merged>,
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
    reversed: ReversedEdits,
    new_number: SheetId,
    /// The name of the sheet in the recovered state.
    name: String,
    /// Whether the sheet was recovered from its import, whose cells the workbook may lack.
    is_import: bool,
    is_edited: bool,
}

/// A mutation of a visited entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct VisitedMutation<'a> {
    /// `None` if the mutation is neither an undo nor a revert.
    pub(super) reversed: Option<ReversedEdits>,
    pub(super) committed: &'a [Operation],
}

impl SheetRecoveries {
    /// Must be called for each entry before it is applied to the workbook.
    pub(super) fn visit_entry(&mut self, workbook: &mut Workbook, entry: &Entry) {
        let mutations = mutations_of(entry).iter().map(|mutation| VisitedMutation {
            reversed: ReversedEdits::of(&mutation.authored),
            committed: mutation.committed_operations(),
        });
        self.visit(workbook, entry.position, entry.merged(), mutations);
    }

    /// Same for the mutations of the entry at a position.
    pub(super) fn visit<'a>(
        &mut self,
        workbook: &mut Workbook,
        position: Position,
        merged: Option<&Merged>,
        mutations: impl Iterator<Item = VisitedMutation<'a>>,
    ) {
        self.complete(workbook);
        self.merged.extend(merged.map(|merged| (position, merged.clone())));
        for VisitedMutation { reversed, committed } in mutations {
            for operation in committed {
                let deleted = match operation {
                    Operation::DeleteSheet(delete) => Some(delete.sheet),
                    Operation::ImportSheet(import) => import.replaces,
                    _ => None,
                };
                let deleted = deleted.and_then(|sheet| workbook.sheet_before_deletion(sheet));
                if let Some(sheet) = deleted {
                    self.add_deletion(SheetDeletion { position, sheet }, MAX_REPLAY_BYTES);
                }
            }
            if let Some(reversed) = reversed {
                self.pending.extend(recoveries_in(position, reversed, committed));
            }
        }
    }

    /// Must be called after the last visited entry was applied to the workbook.
    pub(super) fn complete(&mut self, workbook: &mut Workbook) {
        for recovery in std::mem::take(&mut self.pending) {
            if let Some(deletion) = self.find_deletion(workbook, &recovery) {
                let Recovery { position, new_number, is_import, is_edited, .. } = recovery;
                workbook.continue_sheet(new_number, &deletion.sheet, is_import);
                let earlier_number = deletion.sheet.number();
                let is_unedited_import = is_import && !is_edited;
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

    fn add_deletion(&mut self, deletion: SheetDeletion, max_bytes: usize) {
        self.deletions_bytes += deletion.sheet.bytes();
        self.deletions.push(deletion);
        while self.deletions_bytes > max_bytes {
            self.deletions_bytes -= self.deletions.remove(0).sheet.bytes();
        }
    }

    fn find_deletion(&self, workbook: &Workbook, recovery: &Recovery) -> Option<&SheetDeletion> {
        let same_name = || {
            self.deletions.iter().filter(|deletion| {
                let is_deleted = workbook.sheet(deletion.sheet.number()).is_none();
                is_deleted && deletion.sheet.name() == recovery.name
            })
        };
        // The sheet may have been edited between the recovered state and its deletion.
        let has_its_cells =
            |deletion: &&SheetDeletion| workbook.has_cells_of(recovery.new_number, &deletion.sheet);
        match recovery.reversed {
            ReversedEdits::Entry(undone) => {
                let is_in_merge =
                    |deletion: &&SheetDeletion| self.are_of_one_merge(deletion.position, undone);
                let of_entry = same_name().find(|deletion| deletion.position == undone);
                of_entry.or_else(|| same_name().find(is_in_merge).filter(has_its_cells))
            }
            ReversedEdits::After(position) | ReversedEdits::PartAfter(position) => {
                let first = same_name().find(|deletion| deletion.position > position);
                first.filter(has_its_cells)
            }
        }
    }

    fn are_of_one_merge(&self, one: Position, other: Position) -> bool {
        let merges = self.merged.get(&one).zip(self.merged.get(&other));
        merges.is_some_and(|(one, other)| one.is_same_merge(other))
    }
}

/// Returns the number that a sheet has now.
pub(super) fn number_now(numbers: &RecoveredNumbers, sheet: SheetId) -> SheetId {
    numbers.get(&sheet).copied().unwrap_or(sheet)
}

/// Returns the sheets that an undo or revert added. A sheet that it recovered from an import replaces a
/// blank one.
fn recoveries_in(
    position: Position,
    reversed: ReversedEdits,
    committed: &[Operation],
) -> Vec<Recovery> {
    let mut recoveries = Vec::<Recovery>::new();
    for operation in committed {
        let (new_number, name) = match operation {
            Operation::AddSheet(add) => (add.sheet, add.name.clone()),
            Operation::ImportSheet(import) => {
                recoveries.retain(|recovery| Some(recovery.new_number) != import.replaces);
                (import.sheet, import.name.clone())
            }
            Operation::RenameSheet(_) => continue,
            edit => {
                for recovery in &mut recoveries {
                    recovery.is_edited |= edit.sheet() == Some(recovery.new_number);
                }
                continue;
            }
        };
        let is_import = matches!(operation, Operation::ImportSheet(_));
        let recovery =
            Recovery { position, reversed, new_number, name, is_import, is_edited: false };
        recoveries.push(recovery);
    }
    recoveries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::tests::{at, set};

    #[test]
    fn the_oldest_deletions_are_forgotten_if_all_are_too_large() {
        let mut workbook = Workbook::default();
        workbook.apply_operation(&set(0, "x"));
        let sheet = workbook.sheet_before_deletion(SheetId::FIRST).unwrap();
        let bytes = sheet.bytes();
        for (max_bytes, kept) in [(2 * bytes, 2), (2 * bytes - 1, 1), (bytes - 1, 0)] {
            let mut recoveries = SheetRecoveries::default();
            for number in 1..=2 {
                let deletion = SheetDeletion { position: at(0, number), sheet: sheet.clone() };
                recoveries.add_deletion(deletion, max_bytes);
            }
            assert_eq!(recoveries.deletions.len(), kept, "{max_bytes}");
            assert_eq!(recoveries.deletions_bytes, kept * bytes);
            let newest = recoveries.deletions.last().map(|deletion| deletion.position);
            assert_eq!(newest, (kept > 0).then_some(at(0, 2)), "the newest is kept");
        }
    }
}
