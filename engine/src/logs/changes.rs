//! What entries changed, from the nearest snapshot: of the older state only the cells that they touch
//! are read, however large its sheets are.

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
use cellar_snapshot::touched::{Touched, touched};

use super::committed::Reading;
use super::{LogError, Logs, View};

/// Cells with their rows and columns.
type PlacedCells = Vec<((u32, u32), Cell)>;

/// Entries, and the state before them as far as they touch it.
pub(super) struct Changes {
    /// The state before, with the cells that are touched.
    pub(super) before: Workbook,
    /// What the entries committed.
    operations: Vec<Operation>,
    /// The sheets that they imported and that are still there, with all their cells.
    imported: BTreeMap<SheetId, PlacedCells>,
}

impl Changes {
    /// The state behind the entries.
    pub(super) fn after(&self) -> Result<Workbook, WorkbookTooLarge> {
        let mut after = self.before.clone();
        for operation in &self.operations {
            let import = match operation {
                Operation::ImportSheet(import) if after.sheet(import.sheet).is_none() => {
                    Some(import.sheet)
                }
                _ => None,
            };
            after.apply_operations(std::slice::from_ref(operation))?;
            if let Some(sheet) = import
                && let Some(cells) = self.imported.get(&sheet)
            {
                after.fill(sheet, cells.iter().cloned())?;
            }
        }
        Ok(after)
    }
}

impl Logs {
    /// The entries behind `from` up to `to`, and the state at `from`.
    ///
    /// # Errors
    /// [`LogError::NoSuchPosition`], [`LogError::TooLarge`] if they touch too much; otherwise as
    /// [`Logs::view`].
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
        let touched = touched(&view.metadata, &metadata, &level);
        let before = view.touched(&touched).await?;
        let imported = self.imported(&view, &operations, (metadata, level)).await?;
        Ok(Changes { before, operations, imported })
    }

    /// What the entries behind `from` up to `to` committed.
    async fn operations(
        &self,
        log: LogId,
        from: Position,
        to: Position,
    ) -> Result<Vec<Operation>, LogError> {
        let mut reading = Reading::from(from);
        let (mut operations, mut bytes) = (Vec::new(), 0_usize);
        self.committed(log, &mut reading, Some(to), Some(to), |entry, committed| {
            if entry.position > from {
                let all = committed.iter().flat_map(|operations| operations.iter());
                for operation in all {
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
        let (newest, _) = reading.newest.ok_or(LogError::NotFound)?;
        match newest < to {
            true => Err(LogError::NoSuchPosition { at: to, newest }),
            false => Ok(operations),
        }
    }

    /// All cells of the sheets that entries imported and that are still there.
    async fn imported(
        &self,
        view: &View,
        operations: &[Operation],
        (metadata, level): (WorkbookMetadata, FoldedLevel),
    ) -> Result<BTreeMap<SheetId, PlacedCells>, LogError> {
        let imports = operations.iter().filter_map(|operation| match operation {
            Operation::ImportSheet(import) => Some(import),
            _ => None,
        });
        let (mut imported, mut all) = (BTreeMap::new(), Workbook::from_metadata(&metadata));
        // As if nothing else had happened to them: what did, is applied behind.
        let only = FoldedLevel { imported: level.imported, ..FoldedLevel::default() };
        let mut alone = view.of_level(only);
        for import in imports {
            let there = alone.has_imported(import.sheet) && !imported.contains_key(&import.sheet);
            let mut cells = PlacedCells::new();
            for part in Touched::all(import.extent).windows().iter().filter(|_| there) {
                let found = alone.held(import.sheet, &part.window).await?;
                all.fill(import.sheet, found.iter().cloned())?;
                cells.extend(found);
            }
            if there {
                imported.insert(import.sheet, cells);
            }
        }
        Ok(imported)
    }
}
