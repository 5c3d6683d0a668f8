//! Reads the changes that a range of entries made. The cost depends on the number of changed cells,
//! not on the sheet size.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_base::position::Position;
use cellar_log::entry::{Entry, Merged};
use cellar_sheet::a1::SheetArea;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::workbook::{RecoveredNumbers, Workbook, WorkbookDiff, WorkbookTooLarge};
use cellar_snapshot::fold::{Fold, FoldedLevel};
use cellar_snapshot::touched::{TouchedCells, deleted_areas, touched_cells};

use super::committed::{EntryCursor, ReadUntil};
use super::entry_history::mutations_of;
use super::recovered_sheets::{SheetRecoveries, VisitedMutation};
use super::reversals::ReversedEdits;
use super::view::StateCells;
use super::{LogError, LogHead, Logs, View};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImportedCells {
    Read,
    /// Imported sheets have no cells in the state after the changes.
    Omit,
}

pub(super) struct Changes {
    /// Contains only cells that the entries touched.
    pub(super) before: Workbook,
    /// The rows, columns and sheets that the entries deleted, in the coordinates of the state before.
    pub(super) deleted: Vec<SheetArea>,
    committed: CommittedOperations,
    /// Sheets that were deleted again are omitted. Empty if the cells were not read.
    imported: BTreeMap<SheetId, StateCells>,
}

/// The operations that entries committed, oldest first.
#[derive(Default)]
struct CommittedOperations {
    operations: Vec<Operation>,
    entries: Vec<CommittedEntry>,
}

struct CommittedEntry {
    position: Position,
    merged: Option<Merged>,
    mutations: Vec<CommittedMutation>,
}

struct CommittedMutation {
    reversed: Option<ReversedEdits>,
    operation_count: usize,
}

impl CommittedEntry {
    fn of(entry: &Entry, mutations: &[&[Operation]]) -> Self {
        let authored = mutations_of(entry);
        let reversed = |index| ReversedEdits::of(&authored.get::<usize>(index)?.authored);
        let mutations = mutations.iter().enumerate().map(|(index, operations)| CommittedMutation {
            reversed: reversed(index),
            operation_count: operations.len(),
        });
        let (position, merged) = (entry.position, entry.merged().cloned());
        Self { position, merged, mutations: mutations.collect() }
    }
}

impl Changes {
    /// Contains only cells that the entries touched.
    pub(super) fn state_after(&self) -> Result<Workbook, WorkbookTooLarge> {
        apply_with_imports(self.before.clone(), &self.committed.operations, &self.imported)
    }

    /// Like [`Changes::state_after`]. The rows and columns of recovered sheets have the ids of the
    /// deleted sheets. Also returns the numbers that these sheets have now.
    pub(super) fn state_with_recovered_sheets(
        &self,
    ) -> Result<(Workbook, RecoveredNumbers), WorkbookTooLarge> {
        let mut workbook = self.before.clone();
        let mut recoveries = SheetRecoveries::default();
        let mut remaining = self.committed.operations.as_slice();
        for CommittedEntry { position, merged, mutations } in &self.committed.entries {
            let (mut of_entry, count) = (remaining, operation_count(mutations));
            let visited = mutations.iter().map(|mutation| {
                let (committed, later) = of_entry.split_at(mutation.operation_count);
                of_entry = later;
                VisitedMutation { reversed: mutation.reversed, committed }
            });
            recoveries.visit(&mut workbook, *position, merged.as_ref(), visited);
            let (operations, later) = remaining.split_at(count);
            workbook = apply_with_imports(workbook, operations, &self.imported)?;
            remaining = later;
        }
        recoveries.complete(&mut workbook);
        let numbers = recoveries.numbers_now(&workbook);
        Ok((workbook, numbers))
    }
}

fn operation_count(mutations: &[CommittedMutation]) -> usize {
    mutations.iter().map(|mutation| mutation.operation_count).sum()
}

/// The changes of one of two logs that share a state.
struct BranchChanges {
    operations: Vec<Operation>,
    imported: BTreeMap<SheetId, StateCells>,
}

/// Returns the state after the operations.
fn apply_with_imports(
    mut workbook: Workbook,
    operations: &[Operation],
    imported: &BTreeMap<SheetId, StateCells>,
) -> Result<Workbook, WorkbookTooLarge> {
    for operation in operations {
        let new_import = match operation {
            Operation::ImportSheet(import) if workbook.sheet(import.sheet).is_none() => {
                Some(import)
            }
            _ => None,
        };
        workbook.apply_operations(std::slice::from_ref(operation))?;
        if let Some(import) = new_import
            && let Some(cells) = imported.get(&import.sheet)
        {
            workbook.fill_import(import, cells.iter().cloned())?;
        }
    }
    Ok(workbook)
}

impl Logs {
    /// Reads the changes made by the entries after `base_position`, up to and including
    /// `last_position`.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NoSuchPosition`] if a position does not exist, [`LogError::TooLarge`] if
    /// the entries touched too many cells, or another [`LogError`] if the log cannot be read.
    pub(super) async fn read_changes(
        &self,
        log_id: LogId,
        base_position: Position,
        last_position: Position,
    ) -> Result<Changes, LogError> {
        let imported_cells = ImportedCells::Read;
        self.read_changes_with(log_id, base_position, last_position, imported_cells).await
    }

    /// Like [`Logs::read_changes`], but may omit the cells of imported sheets, however many they are.
    pub(super) async fn read_changes_with(
        &self,
        log_id: LogId,
        base_position: Position,
        last_position: Position,
        imported_cells: ImportedCells,
    ) -> Result<Changes, LogError> {
        let mut view_before = self.open_view(log_id, Some(base_position), None).await?;
        let committed = self.committed_operations(log_id, base_position, last_position).await?;
        let operations = &committed.operations;
        let mut fold = Fold::new(view_before.metadata.clone());
        fold.apply_operations(operations).map_err(|_| LogError::Corrupt { at: last_position })?;
        let (metadata_after, level) = fold.finish();
        let touched_cells = touched_cells(&view_before.metadata, &metadata_after, &level);
        let deleted = deleted_areas(&view_before.metadata, &metadata_after, &level);
        let before = view_before.read_touched_cells(&touched_cells).await?;
        let imported = match imported_cells {
            ImportedCells::Omit => BTreeMap::new(),
            ImportedCells::Read => {
                let import_view = view_before.with_only_level(only_imported_sheets(level));
                read_imported_cells(import_view, operations, &metadata_after).await?
            }
        };
        Ok(Changes { before, deleted, committed, imported })
    }

    /// Returns the differences between two logs that have the same state at `shared_position`. Reads
    /// only the cells that either log touched since.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Logs::read_changes`].
    pub(super) async fn diff_branches(
        &self,
        shared_position: Position,
        (from_log, from): (LogId, Position),
        (to_log, to): (LogId, Position),
    ) -> Result<WorkbookDiff, LogError> {
        let mut view = self.open_view(from_log, Some(shared_position), None).await?;
        let mut shared = Workbook::from_metadata(&view.metadata);
        let from_changes =
            self.read_branch(&mut view, &mut shared, from_log, (shared_position, from)).await?;
        let to_changes =
            self.read_branch(&mut view, &mut shared, to_log, (shared_position, to)).await?;
        let state_after = |state, changes: &BranchChanges| {
            apply_with_imports(state, &changes.operations, &changes.imported)
        };
        let from_state = state_after(shared.clone(), &from_changes)?;
        let to_state = state_after(shared.branch(), &to_changes)?;
        Ok(to_state.diff_from_branch(&from_state, &shared))
    }

    /// Adds the cells that the log touched after the shared position to `shared`.
    async fn read_branch(
        &self,
        shared_view: &mut View,
        shared: &mut Workbook,
        log_id: LogId,
        (shared_position, last_position): (Position, Position),
    ) -> Result<BranchChanges, LogError> {
        let committed = self.committed_operations(log_id, shared_position, last_position).await?;
        let operations = committed.operations;
        let mut fold = Fold::new(shared_view.metadata.clone());
        fold.apply_operations(&operations).map_err(|_| LogError::Corrupt { at: last_position })?;
        let (metadata_after, level) = fold.finish();
        let touched_cells = touched_cells(&shared_view.metadata, &metadata_after, &level);
        shared_view.add_touched_cells(&touched_cells, shared).await?;
        let import_view = shared_view.with_only_level(only_imported_sheets(level));
        let imported = read_imported_cells(import_view, &operations, &metadata_after).await?;
        Ok(BranchChanges { operations, imported })
    }

    /// Returns the operations committed by the entries after `base_position`, up to and including
    /// `last_position`.
    async fn committed_operations(
        &self,
        log_id: LogId,
        base_position: Position,
        last_position: Position,
    ) -> Result<CommittedOperations, LogError> {
        let mut cursor = EntryCursor::from(base_position);
        let mut committed = CommittedOperations::default();
        let mut operation_bytes = 0_usize;
        let until = ReadUntil::Position(last_position);
        self.visit_committed(log_id, &mut cursor, until, |entry, mutations| {
            if entry.position > base_position {
                committed.entries.push(CommittedEntry::of(entry, mutations));
                for operation in mutations.iter().copied().flatten() {
                    operation_bytes = operation_bytes.saturating_add(operation.weight_bytes());
                    committed.operations.push(operation.clone());
                }
            }
            if operation_bytes > MAX_REPLAY_BYTES {
                return Err(LogError::TooLarge(WorkbookTooLarge));
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        let LogHead { head: newest, .. } = cursor.newest.ok_or(LogError::NotFound)?;
        if newest < last_position {
            return Err(LogError::NoSuchPosition { at: last_position, newest });
        }
        Ok(committed)
    }
}

fn only_imported_sheets(level: FoldedLevel) -> FoldedLevel {
    FoldedLevel { imported: level.imported, ..FoldedLevel::default() }
}

/// Later edits of the imported sheets are not included, since the caller applies them afterwards. The
/// formulas contain the names of sheets in the file.
async fn read_imported_cells(
    mut import_view: View,
    operations: &[Operation],
    metadata: &WorkbookMetadata,
) -> Result<BTreeMap<SheetId, StateCells>, LogError> {
    let mut imported_cells = BTreeMap::new();
    // The memory limit applies to all imported sheets together.
    let mut all_imports = Workbook::from_metadata(metadata);
    for operation in operations {
        let Operation::ImportSheet(import) = operation else { continue };
        let sheet = import.sheet;
        if !import_view.has_imported(sheet) || imported_cells.contains_key(&sheet) {
            continue;
        }
        let mut sheet_cells = StateCells::new();
        for part in TouchedCells::whole_sheet(import.extent).windows() {
            let window_cells = import_view.read_stored_cells(sheet, &part.window).await?;
            all_imports.fill(sheet, window_cells.iter().cloned())?;
            sheet_cells.extend(window_cells);
        }
        imported_cells.insert(sheet, sheet_cells);
    }
    Ok(imported_cells)
}
