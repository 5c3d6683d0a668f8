//! Finds the deleted sheet that an undo or revert recovered, and its cells before it was deleted.

use std::ops::ControlFlow;
use std::sync::Arc;

use cellar_api::wire::{CellHistoryCursor, RecoveredCells, Recovery};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_CELL_HISTORY_SPANS;
use cellar_base::position::Position;
use cellar_log::entry::Entry;
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::tracked_cells::TrackedCells;

use super::super::{LogError, Logs};
use super::walk::ReadBudget;

impl Logs {
    /// Returns where the history of a recovered sheet continues: at the entry that deleted the sheet, or
    /// at the recovered state if this entry is too far from it. Returns `None` if the entry did not
    /// recover the sheet of these cells.
    pub(super) async fn recovered_cells(
        &self,
        log_id: LogId,
        entry: &Entry,
        cells: &TrackedCells,
    ) -> Result<Option<(Recovery, CellHistoryCursor)>, LogError> {
        let Some((recovery, name)) = recovery_of(entry, cells.sheet) else { return Ok(None) };
        let position = match recovery {
            Recovery::Undo(undone) => self.position_before(log_id, undone).await?,
            Recovery::Revert(position) => Some(position),
        };
        let Some(position) = position.filter(|earlier| *earlier < entry.position) else {
            return Ok(None);
        };
        let view = self.open_view(log_id, Some(position), None).await?;
        let Some(sheet) = view.metadata.tabs.named(name) else { return Ok(None) };
        let recovered_state = CellHistoryCursor {
            position,
            cells: TrackedCells { sheet, ..cells.clone() },
            recovered: None,
        };
        let deletion = self.find_deletion(log_id, &recovered_state, entry.position).await?;
        Ok(Some((recovery, deletion.unwrap_or(recovered_state))))
    }

    /// Moves the cells from a recovered state to the entry before `end` that deleted their sheet.
    /// Returns `None` if too much was changed between.
    async fn find_deletion(
        &self,
        log_id: LogId,
        recovered_state: &CellHistoryCursor,
        end: Position,
    ) -> Result<Option<CellHistoryCursor>, LogError> {
        let CellHistoryCursor { position: start, cells: recovered_cells, .. } = recovered_state;
        let mut cells = recovered_cells.clone();
        for entry in self.entries_between(log_id, *start, end).await? {
            let mutations = self.operations_of(&entry).await?;
            for operation in mutations.iter().flatten() {
                if is_deleted_by(cells.sheet, operation) {
                    let TrackedCells { rows, columns, .. } = recovered_cells.clone();
                    let recovered = Some(RecoveredCells { position: *start, rows, columns });
                    let position = entry.position;
                    return Ok(Some(CellHistoryCursor { position, cells, recovered }));
                }
                cells.step_forward(operation);
                if cells.rows.len().max(cells.columns.len()) > MAX_CELL_HISTORY_SPANS {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Returns the entries after `start` and before `end`, as many as one request may read.
    async fn entries_between(
        &self,
        log_id: LogId,
        start: Position,
        end: Position,
    ) -> Result<Vec<Arc<Entry>>, LogError> {
        let mut entries = Vec::new();
        let mut budget = ReadBudget::default();
        self.walk(log_id, start, Some(end), |entry| {
            if entry.position >= end || budget.is_spent() {
                return Ok(ControlFlow::Break(()));
            }
            if entry.position > start {
                budget.spend_on(entry);
                entries.push(Arc::clone(entry));
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        Ok(entries)
    }
}

fn is_deleted_by(sheet: SheetId, operation: &Operation) -> bool {
    match operation {
        Operation::DeleteSheet(delete) => delete.sheet == sheet,
        Operation::ImportSheet(import) => import.replaces == Some(sheet),
        _ => false,
    }
}

/// Returns how the entry recovered a sheet, and the name of the sheet. All sheets that an undo or
/// revert adds are recovered.
fn recovery_of(entry: &Entry, sheet: SheetId) -> Option<(Recovery, &str)> {
    entry.edits()?.mutations.iter().find_map(|mutation| {
        let recovery = match &mutation.authored {
            Operation::Undo(undo) => Recovery::Undo(undo.position),
            Operation::Revert(revert) => Recovery::Revert(revert.position),
            _ => return None,
        };
        let name = mutation.committed_operations().iter().find_map(|operation| match operation {
            Operation::AddSheet(add) if add.sheet == sheet => Some(add.name.as_str()),
            Operation::ImportSheet(import) if import.sheet == sheet => Some(import.name.as_str()),
            _ => None,
        });
        Some((recovery, name?))
    })
}
