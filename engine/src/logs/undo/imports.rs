//! Imports that an undo reverses or restores. The states of an undo do not contain their cells.

use std::collections::{BTreeMap, VecDeque};

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Mutation};
use cellar_sheet::metadata::DeletedLinesOfSheets;
use cellar_sheet::operation::{ImportSheet, Operation, SheetId};
use cellar_sheet::workbook::{ImportedSheet, RestorableImports, ReversalCounts, Workbook};

use super::super::changes::ImportedCells;
use super::super::recovered_sheets::SheetRecoveries;
use super::super::reversals::{AppliedReversal, is_reversed};
use super::super::{LogError, Logs};
use super::{UndoStates, UndoneRun};

/// Changes of imported sheets after the import. A sheet that displays what was imported is
/// not included. The counts are zero if the changes are too many to be read.
pub(super) type ChangedImports = BTreeMap<SheetId, ReversalCounts>;

/// The newest edits of imported sheets, from oldest to newest. Undos are not included.
#[derive(Default)]
pub(super) struct ImportEdits(VecDeque<(SheetId, Position)>);

impl ImportEdits {
    /// Errors name the newest edit that is in effect, which is almost always among so many.
    const MAX_EDITS: usize = 64;

    pub(super) fn add(&mut self, runs: &[UndoneRun], recoveries: &SheetRecoveries, entry: &Entry) {
        let Some(edits) = entry.edits() else { return };
        for mutation in &edits.mutations {
            if matches!(mutation.authored, Operation::Undo(_)) {
                continue;
            }
            let sheets = mutation.committed_operations().iter().filter_map(Operation::sheet);
            for edited in sheets.map(|sheet| (sheet, entry.position)) {
                let mut imports = runs.iter().flat_map(|run| &run.imports);
                let is_imported = imports.any(|import| {
                    recoveries.numbers_of(edited.0).any(|number| number == import.sheet)
                });
                if is_imported && self.0.back() != Some(&edited) {
                    self.0.push_back(edited);
                }
            }
        }
        while self.0.len() > Self::MAX_EDITS {
            self.0.pop_front();
        }
    }

    /// Returns the newest edit of a sheet, which may have had several numbers, that was not undone or
    /// reverted.
    pub(super) fn newest_in_effect(
        &self,
        numbers: &[SheetId],
        reversals: &[AppliedReversal],
    ) -> Option<Position> {
        let newest_first = self.0.iter().rev().filter(|(edited, _)| numbers.contains(edited));
        newest_first.map(|(_, position)| *position).find(|edit| !is_reversed(reversals, *edit))
    }
}

/// Facts that the states of a run do not contain, and on which its undo depends.
#[derive(Default)]
pub(super) struct RunFacts {
    /// Sheets that the run imported and that were changed since.
    pub(super) changed: ChangedImports,
    /// Imports of the sheets that the run deleted.
    pub(super) restorable: RestorableImports,
    /// Where the rows and columns belong that the run deleted.
    pub(super) lines: DeletedLinesOfSheets,
}

pub(super) fn imports_now(
    imports: Vec<ImportedSheet>,
    now: &Workbook,
    changed_imports: &ChangedImports,
) -> Vec<ImportedSheet> {
    let with_state = |import: ImportedSheet| {
        let is_changed = changed_imports.contains_key(&import.sheet);
        let exists = now.sheet(import.sheet).is_some();
        ImportedSheet { is_intact: exists && !is_changed, ..import }
    };
    imports.into_iter().map(with_state).collect()
}

impl Logs {
    /// Returns the imports of the sheets that the entries of a run deleted.
    pub(super) async fn imports_deleted_by(
        &self,
        log_id: LogId,
        states: &UndoStates,
        run: &UndoneRun,
    ) -> Result<RestorableImports, LogError> {
        let after = run.after.as_ref().unwrap_or(&states.latest.workbook);
        match self.position_before(log_id, run.first).await? {
            Some(position) => self.restorable_imports(log_id, position, &run.before, after).await,
            None => Ok(RestorableImports::new()),
        }
    }

    /// A replay does not contain the cells of imported sheets. The changes of these sheets are
    /// therefore read from the cells that were touched after the import.
    pub(super) async fn changed_imports(
        &self,
        log_id: LogId,
        states: &UndoStates,
        run: &UndoneRun,
        head: Position,
    ) -> Result<ChangedImports, LogError> {
        // If others edited the spreadsheet during a merge, later edits of the merge count as changes.
        let is_alone = states.runs.len() == 1;
        let last = states.entries.last().copied().filter(|_| is_alone).unwrap_or(run.first);
        let mut changed = ChangedImports::new();
        let mut compared_from = BTreeMap::<Position, Vec<SheetId>>::new();
        for import in states.imports_of(run).iter().filter(|import| states.exists_now(import)) {
            // A sheet that was recovered without edits of the import displays what was imported.
            let recovered = states.recoveries.recovered(import.sheet);
            let unedited = recovered.filter(|recovered| recovered.is_unedited_import);
            let position = unedited.map_or(last, |recovered| recovered.position);
            compared_from.entry(position).or_default().push(import.sheet);
        }
        for (position, sheets) in compared_from.into_iter().filter(|(from, _)| *from < head) {
            match self.changes_in_sheets(log_id, position, head, &sheets).await {
                Err(LogError::TooLarge(_)) => {
                    let uncounted = |sheet| (sheet, ReversalCounts::default());
                    changed.extend(sheets.into_iter().map(uncounted));
                }
                changes => changed.extend(changes?),
            }
        }
        Ok(changed)
    }

    async fn changes_in_sheets(
        &self,
        log_id: LogId,
        from: Position,
        to: Position,
        sheets: &[SheetId],
    ) -> Result<ChangedImports, LogError> {
        let changes = self.read_changes_with(log_id, from, to, ImportedCells::Omit).await?;
        let (state_after, numbers) = changes.state_with_recovered_sheets()?;
        let before = changes.before.with_recovered_numbers(&numbers);
        let changed = sheets
            .iter()
            .filter_map(|sheet| Some((*sheet, before.changes_in_sheet(&state_after, *sheet)?)));
        Ok(changed.collect())
    }
}

pub(super) fn imports_in(entry: &Entry) -> Vec<ImportedSheet> {
    let Some(edits) = entry.edits() else { return Vec::new() };
    let operations = edits.mutations.iter().flat_map(Mutation::committed_operations);
    operations
        .filter_map(|operation| match operation {
            Operation::ImportSheet(import) => Some(imported_sheet(import)),
            _ => None,
        })
        .collect()
}

fn imported_sheet(import: &ImportSheet) -> ImportedSheet {
    let ImportSheet { sheet, replaces, cells, .. } = import;
    ImportedSheet { sheet: *sheet, replaces: *replaces, cells: *cells, is_intact: true }
}
