//! Folds a range of log entries into one in-memory level and updated workbook metadata.
//!
//! The result is equivalent to applying the entries to a `Workbook`, but does not require the older
//! cells. Instead, the fold records everything that hides older cells: explicit blanks, cleared
//! regions, and cell formats overridden by range formats.

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
use cellar_sheet::operation::{ImportSheet, Operation, SheetId};

/// A range of entries that is being folded.
#[derive(Debug, Clone)]
pub struct Fold {
    metadata: WorkbookMetadata,
    deltas: BTreeMap<SheetId, Delta>,
    /// Imported sheets. Their cells are stored in chunks and are older than the changes in
    /// `deltas`.
    imported: BTreeMap<SheetId, PackedSheet>,
}

impl Fold {
    /// Starts a fold from the state described by `metadata`.
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
        self.deltas.values().map(Delta::memory_bytes).fold(0, usize::saturating_add)
    }

    /// Returns whether the fold must be turned into a level before further entries are folded.
    /// Checked between mutations; the result depends only on the log.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.memory_bytes() >= FOLD_BYTES
            || self.deltas.values().any(|delta| delta.count_changes() >= MAX_LEVEL_CHANGES)
    }

    /// Applies committed operations in log order.
    ///
    /// # Errors
    /// [`SnapshotError`] if an import has an invalid tile index, which means that the log entry is
    /// damaged, because the server never appends such an import. Earlier operations remain applied.
    pub fn apply_operations(&mut self, operations: &[Operation]) -> Result<(), SnapshotError> {
        operations.iter().try_for_each(|operation| self.apply(operation))
    }

    fn apply(&mut self, operation: &Operation) -> Result<(), SnapshotError> {
        match operation {
            Operation::SetCells(set) => self.change(set.sheet, |sheet, delta| {
                set.cells.iter().for_each(|edit| delta.set_cell(&mut sheet.extent, edit));
            }),
            Operation::ClearRange(clear) => {
                self.change(clear.sheet, |_, delta| delta.clear(&clear.rows, &clear.columns));
            }
            Operation::SetFormat(set) => self.change(set.sheet, |sheet, delta| {
                if sheet.formats.set_if_room(set) {
                    delta.clear_formats(&set.rows, &set.columns);
                }
            }),
            Operation::InsertRows(insert) => self.change(insert.sheet, |sheet, delta| {
                delta.insert(sheet, Axis::Rows, insert.before, insert.count);
            }),
            Operation::InsertColumns(insert) => self.change(insert.sheet, |sheet, delta| {
                delta.insert(sheet, Axis::Columns, insert.before, insert.count);
            }),
            Operation::DeleteRows(delete) => self.change(delete.sheet, |sheet, delta| {
                delta.delete(sheet, Axis::Rows, &delete.spans);
            }),
            Operation::DeleteColumns(delete) => self.change(delete.sheet, |sheet, delta| {
                delta.delete(sheet, Axis::Columns, &delete.spans);
            }),
            Operation::AddSheet(add) => {
                if self.metadata.tabs.add(add) {
                    self.metadata.sheets.insert(add.sheet, SheetMetadata::default());
                }
            }
            Operation::RenameSheet(rename) => self.metadata.tabs.rename(rename.sheet, &rename.name),
            Operation::DeleteSheet(delete) => {
                if self.metadata.tabs.delete(delete.sheet) {
                    self.remove_sheet(delete.sheet);
                }
            }
            Operation::ImportSheet(import) => self.import(import)?,
            Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => {}
        }
        Ok(())
    }

    fn import(&mut self, import: &ImportSheet) -> Result<(), SnapshotError> {
        let sheet = PackedSheet::of_import(import)?;
        let replaced = import.replaces.filter(|sheet| self.metadata.sheets.contains_key(sheet));
        if !self.metadata.tabs.import(import) {
            return Ok(());
        }
        if let Some(replaced) = replaced {
            self.remove_sheet(replaced);
        }
        let metadata = SheetMetadata { extent: import.extent, ..SheetMetadata::default() };
        self.metadata.sheets.insert(import.sheet, metadata);
        self.imported.insert(import.sheet, sheet);
        Ok(())
    }

    fn remove_sheet(&mut self, sheet: SheetId) {
        self.metadata.sheets.remove(&sheet);
        self.deltas.remove(&sheet);
        self.imported.remove(&sheet);
    }

    fn change(&mut self, id: SheetId, change: impl FnOnce(&mut SheetMetadata, &mut Delta)) {
        if let Some(sheet) = self.metadata.sheets.get_mut(&id) {
            change(sheet, self.deltas.entry(id).or_default());
        }
    }

    /// Returns the new metadata and the level to add above the existing levels.
    #[must_use]
    pub fn finish(self) -> (WorkbookMetadata, FoldedLevel) {
        let imported = PackedLevel { sheets: self.imported.into_values().collect() };
        let mut level = FoldedLevel { imported, ..FoldedLevel::default() };
        for (sheet, delta) in self.deltas {
            level.add_sheet(sheet, delta);
        }
        (self.metadata, level)
    }
}
