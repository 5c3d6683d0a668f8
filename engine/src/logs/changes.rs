//! Reads the changes made by a range of entries. Of the state before them, only the touched cells
//! are read, so the cost does not depend on the sheet size.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::limits::MAX_REPLAY_BYTES;
use cellar_base::position::Position;
use cellar_sheet::cell::Cell;
use cellar_sheet::metadata::WorkbookMetadata;
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::workbook::{Workbook, WorkbookTooLarge};
use cellar_snapshot::fold::{Fold, FoldedLevel};
use cellar_snapshot::touched::{TouchedCells, touched_cells};

use super::committed::EntryCursor;
use super::{LogError, Logs, View};

/// Cells with their row and column indexes.
type PlacedCells = Vec<((u32, u32), Cell)>;

/// The operations of a range of committed entries, with the previous values of the touched cells.
pub(super) struct Changes {
    /// State before the entries, limited to the touched cells.
    pub(super) before: Workbook,
    /// Operations committed by the entries.
    operations: Vec<Operation>,
    /// All cells of the imported sheets, except for sheets that were deleted since.
    imported: BTreeMap<SheetId, PlacedCells>,
}

impl Changes {
    /// Returns the state after the entries, limited to the touched cells.
    pub(super) fn after(&self) -> Result<Workbook, WorkbookTooLarge> {
        let mut after = self.before.clone();
        for operation in &self.operations {
            let new_sheet = match operation {
                Operation::ImportSheet(import) if after.sheet(import.sheet).is_none() => {
                    Some(import.sheet)
                }
                _ => None,
            };
            after.apply_operations(std::slice::from_ref(operation))?;
            if let Some(sheet) = new_sheet
                && let Some(cells) = self.imported.get(&sheet)
            {
                after.fill(sheet, cells.iter().cloned())?;
            }
        }
        Ok(after)
    }
}

impl Logs {
    /// Reads the entries after `from` up to and including `to`, and the state at `from`.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::NoSuchPosition`] if a position does not exist, [`LogError::TooLarge`] if
    /// the entries touch too many cells, and the same errors as [`Logs::view`].
    pub(super) async fn changes(
        &self,
        log: LogId,
        from: Position,
        to: Position,
    ) -> Result<Changes, LogError> {
        let mut view = self.view(log, Some(from), None).await?;
        let operations = self.operations(log, from, to).await?;
        let mut fold = Fold::new(view.metadata.clone());
        fold.apply_operations(&operations).map_err(|_| LogError::Corrupt { at: to })?;
        let (metadata, level) = fold.finish();
        let touched = touched_cells(&view.metadata, &metadata, &level);
        let before = view.touched_state(&touched).await?;
        let imported = self.imported_cells(&view, &operations, (metadata, level)).await?;
        Ok(Changes { before, operations, imported })
    }

    /// Returns the operations committed by the entries after `from` up to and including `to`.
    async fn operations(
        &self,
        log: LogId,
        from: Position,
        to: Position,
    ) -> Result<Vec<Operation>, LogError> {
        let mut cursor = EntryCursor::from(from);
        let (mut operations, mut bytes) = (Vec::new(), 0_usize);
        self.visit_committed(log, &mut cursor, Some(to), Some(to), |entry, committed| {
            if entry.position > from {
                for operation in committed.iter().flat_map(|operations| operations.iter()) {
                    bytes = bytes.saturating_add(operation.weight_bytes());
                    operations.push(operation.clone());
                }
            }
            if bytes > MAX_REPLAY_BYTES {
                return Err(LogError::TooLarge(WorkbookTooLarge));
            }
            Ok(ControlFlow::Continue(()))
        })
        .await?;
        let (newest, _) = cursor.newest.ok_or(LogError::NotFound)?;
        if newest < to {
            return Err(LogError::NoSuchPosition { at: to, newest });
        }
        Ok(operations)
    }

    /// Reads all cells of the imported sheets that still exist. Later edits are not included, since
    /// the caller applies the operations afterwards.
    async fn imported_cells(
        &self,
        view: &View,
        operations: &[Operation],
        (metadata, level): (WorkbookMetadata, FoldedLevel),
    ) -> Result<BTreeMap<SheetId, PlacedCells>, LogError> {
        let (mut imported, mut all) = (BTreeMap::new(), Workbook::from_metadata(&metadata));
        let only_imports = FoldedLevel { imported: level.imported, ..FoldedLevel::default() };
        let mut import_view = view.with_only_level(only_imports);
        for operation in operations {
            let Operation::ImportSheet(import) = operation else { continue };
            if !import_view.has_imported(import.sheet) || imported.contains_key(&import.sheet) {
                continue;
            }
            let mut cells = PlacedCells::new();
            for part in TouchedCells::whole_sheet(import.extent).windows() {
                let found = import_view.stored_cells(import.sheet, &part.window).await?;
                all.fill(import.sheet, found.iter().cloned())?;
                cells.extend(found);
            }
            imported.insert(import.sheet, cells);
        }
        Ok(imported)
    }
}
