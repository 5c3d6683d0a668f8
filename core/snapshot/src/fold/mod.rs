//! Folds a range of log entries into one in-memory level and updated workbook metadata. The result
//! is equivalent to applying the entries to a `Workbook`, but the older cells are not needed.
//! Instead, the fold records everything that hides older cells: explicit blanks, cleared regions,
//! and cell formats that range formats override.

mod delta;
mod level;

pub use level::{FoldedLevel, FoldedSheet, LongTextObject};

use std::collections::BTreeMap;

use self::delta::Delta;
use crate::error::SnapshotError;
use crate::index::{PackedLevel, PackedSheet};
use cellar_base::limits::{FOLD_BYTES, MAX_LEVEL_CHANGES};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{SheetMetadata, WorkbookMetadata};
use cellar_sheet::operation::{
    DeleteSpans, ImportSheet, InsertBefore, Operation, SetCells, SetFormat, SheetId,
};

/// State of folding a range of log entries.
#[derive(Debug, Clone)]
pub struct Fold {
    metadata: WorkbookMetadata,
    deltas: BTreeMap<SheetId, Delta>,
    /// Imported sheets. Their cells are stored in chunks and are older than the changes in
    /// `deltas`.
    imported: BTreeMap<SheetId, PackedSheet>,
}

impl Fold {
    /// Starts a fold from the state that `metadata` describes.
    #[must_use]
    pub fn new(metadata: WorkbookMetadata) -> Self {
        Self { metadata, deltas: BTreeMap::new(), imported: BTreeMap::new() }
    }

    /// Returns the workbook metadata after the folded entries.
    #[must_use]
    pub fn metadata(&self) -> &WorkbookMetadata {
        &self.metadata
    }

    /// Returns the approximate memory use in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.deltas.values().map(Delta::memory_bytes).sum()
    }

    /// Returns whether the fold is so large that it must be written as a level before more entries
    /// are folded. This is checked between mutations and depends only on the log.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.memory_bytes() >= FOLD_BYTES
            || self.deltas.values().any(|delta| delta.count_changes() >= MAX_LEVEL_CHANGES)
    }

    /// Applies committed operations in log order.
    ///
    /// # Errors
    /// Returns a [`SnapshotError`] if an import has an invalid tile index. The server never appends
    /// such an import, so the log entry is damaged. The operations before the import remain
    /// applied.
    pub fn apply_operations(&mut self, operations: &[Operation]) -> Result<(), SnapshotError> {
        operations.iter().try_for_each(|operation| self.apply(operation))
    }

    fn apply(&mut self, operation: &Operation) -> Result<(), SnapshotError> {
        match operation {
            Operation::SetCells(set) => self.set_cells(set),
            Operation::ClearRange(clear) => self.edit_sheet(clear.sheet, |_, delta| {
                delta.clear_values(&clear.rows, &clear.columns);
            }),
            Operation::SetFormat(set) => self.set_range_format(set),
            Operation::InsertRows(insert) => self.insert_lines(Axis::Rows, insert),
            Operation::InsertColumns(insert) => self.insert_lines(Axis::Columns, insert),
            Operation::DeleteRows(delete) => self.delete_lines(Axis::Rows, delete),
            Operation::DeleteColumns(delete) => self.delete_lines(Axis::Columns, delete),
            Operation::AddSheet(add) => {
                if self.metadata.tabs.add(add).is_ok() {
                    self.metadata.sheets.insert(add.sheet, SheetMetadata::default());
                }
            }
            Operation::RenameSheet(rename) => self.metadata.tabs.rename(rename.sheet, &rename.name),
            Operation::DeleteSheet(delete) => {
                if self.metadata.tabs.delete(delete.sheet).is_ok() {
                    self.remove_sheet(delete.sheet);
                }
            }
            Operation::ImportSheet(import) => self.import_sheet(import)?,
            Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => {}
        }
        Ok(())
    }

    fn set_cells(&mut self, set: &SetCells) {
        self.edit_sheet(set.sheet, |sheet, delta| {
            for cell_edit in &set.cells {
                delta.set_cell(&mut sheet.extent, cell_edit);
            }
        });
    }

    fn set_range_format(&mut self, set: &SetFormat) {
        self.edit_sheet(set.sheet, |sheet, delta| {
            if sheet.formats.try_set(set).is_ok() {
                delta.clear_formats(&set.rows, &set.columns);
            }
        });
    }

    fn insert_lines(&mut self, axis: Axis, insert: &InsertBefore) {
        self.edit_sheet(insert.sheet, |sheet, delta| {
            delta.insert(sheet, axis, insert.before, insert.count);
        });
    }

    fn delete_lines(&mut self, axis: Axis, delete: &DeleteSpans) {
        self.edit_sheet(delete.sheet, |sheet, delta| delta.delete(sheet, axis, &delete.spans));
    }

    fn import_sheet(&mut self, import: &ImportSheet) -> Result<(), SnapshotError> {
        let packed_sheet = PackedSheet::of_import(import)?;
        let replaced_sheet =
            import.replaces.filter(|replaced| self.metadata.sheets.contains_key(replaced));
        if self.metadata.tabs.import(import).is_err() {
            return Ok(());
        }
        if let Some(replaced_sheet) = replaced_sheet {
            self.remove_sheet(replaced_sheet);
        }
        let metadata = SheetMetadata { extent: import.extent, ..SheetMetadata::default() };
        self.metadata.sheets.insert(import.sheet, metadata);
        self.imported.insert(import.sheet, packed_sheet);
        Ok(())
    }

    fn remove_sheet(&mut self, sheet_id: SheetId) {
        self.metadata.sheets.remove(&sheet_id);
        self.deltas.remove(&sheet_id);
        self.imported.remove(&sheet_id);
    }

    /// Does nothing if the sheet does not exist.
    fn edit_sheet(&mut self, sheet_id: SheetId, edit: impl FnOnce(&mut SheetMetadata, &mut Delta)) {
        if let Some(sheet) = self.metadata.sheets.get_mut(&sheet_id) {
            edit(sheet, self.deltas.entry(sheet_id).or_default());
        }
    }

    /// Returns the new metadata, and the level to add above the existing levels.
    #[must_use]
    pub fn finish(self) -> (WorkbookMetadata, FoldedLevel) {
        let imported = PackedLevel { sheets: self.imported.into_values().collect() };
        let mut level = FoldedLevel { imported, ..FoldedLevel::default() };
        for (sheet_id, delta) in self.deltas {
            level.add_sheet(sheet_id, delta);
        }
        (self.metadata, level)
    }
}
