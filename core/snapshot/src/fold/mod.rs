//! Folds a range of log entries into one in-memory level and updated workbook metadata. The result
//! is equivalent to applying the entries to a `Workbook`, but the older cells are not needed.
//! Instead, the fold records everything that hides older cells: explicit blanks, cleared regions,
//! and cell formats that range formats override.

mod delta;
mod delta_cells;
mod level;
mod line_moves;

pub use level::{FoldedLevel, FoldedSheet, ImportedFormulas, LongTextObject};

use std::collections::BTreeMap;
use std::sync::Arc;

use self::delta::Delta;
use self::line_moves::{FoldedFormula, LineMoves, UnmovedFormula};
use crate::error::SnapshotError;
use crate::index::PackedSheet;
use cellar_base::limits::{FOLD_BYTES, MAX_LEVEL_CHANGES};
use cellar_sheet::axis_map::Axis;
use cellar_sheet::metadata::{SheetMetadata, WorkbookMetadata};
use cellar_sheet::operation::{
    DeleteSpans, ImportSheet, InsertBefore, LineMove, Operation, SetCells, SetFormat, SheetId,
    SheetsOfFile,
};

/// State of folding a range of log entries.
#[derive(Debug, Clone)]
pub struct Fold {
    metadata: WorkbookMetadata,
    deltas: BTreeMap<SheetId, Delta>,
    /// Imported sheets. Their cells are stored in chunks and are older than the changes in
    /// `deltas`.
    imported: BTreeMap<SheetId, Imported>,
    line_moves: LineMoves,
}

/// An imported sheet.
#[derive(Debug, Clone)]
struct Imported {
    sheet: PackedSheet,
    /// The sheets that the formulas name.
    file: Arc<SheetsOfFile>,
    /// Number of moves of rows and columns before the import.
    moves_before: usize,
}

impl Fold {
    /// Starts a fold from the state that `metadata` describes.
    #[must_use]
    pub fn new(metadata: WorkbookMetadata) -> Self {
        Self {
            metadata,
            deltas: BTreeMap::new(),
            imported: BTreeMap::new(),
            line_moves: LineMoves::default(),
        }
    }

    /// Returns the workbook metadata after the folded entries.
    #[must_use]
    pub fn metadata(&self) -> &WorkbookMetadata {
        &self.metadata
    }

    /// Returns the approximate memory use in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let delta_bytes: usize = self.deltas.values().map(Delta::memory_bytes).sum();
        delta_bytes + self.line_moves.memory_bytes()
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
        self.metadata.names.follow(operation, self.metadata.tabs.numbers());
        self.record_move(operation);
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
            // Defined names follow every operation above.
            Operation::SetName(_) => {}
        }
        Ok(())
    }

    fn set_cells(&mut self, set: &SetCells) {
        let WorkbookMetadata { tabs, sheets, .. } = &mut self.metadata;
        let Some(sheet) = sheets.get_mut(&set.sheet) else { return };
        let delta = self.deltas.entry(set.sheet).or_default();
        let moves_before = self.line_moves.len();
        for cell_edit in &set.cells {
            let parse = |text: &str| FoldedFormula::new(text, tabs, moves_before);
            delta.set_cell(&mut sheet.extent, cell_edit, parse);
        }
    }

    fn set_range_format(&mut self, set: &SetFormat) {
        self.edit_sheet(set.sheet, |sheet, delta| {
            if sheet.formats.try_set(set).is_ok() {
                delta.clear_formats(&set.rows, &set.columns);
            }
        });
    }

    fn insert_lines(&mut self, axis: Axis, insert: &InsertBefore) {
        let InsertBefore { sheet, before, count } = *insert;
        self.edit_sheet(sheet, |metadata, delta| delta.insert(metadata, axis, before, count));
    }

    fn delete_lines(&mut self, axis: Axis, delete: &DeleteSpans) {
        let DeleteSpans { sheet, spans } = delete;
        self.edit_sheet(*sheet, |metadata, delta| delta.delete(metadata, axis, spans));
    }

    fn record_move(&mut self, operation: &Operation) {
        let line_move = LineMove::of(operation);
        let exists = |line_move: &LineMove| self.metadata.sheets.contains_key(&line_move.sheet());
        if let Some(line_move) = line_move.filter(exists) {
            self.line_moves.push(line_move);
        }
    }

    fn import_sheet(&mut self, import: &ImportSheet) -> Result<(), SnapshotError> {
        let sheet = PackedSheet::of_import(import)?;
        let moves_before = self.line_moves.len();
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
        let file = Arc::new(SheetsOfFile::of(import));
        self.imported.insert(import.sheet, Imported { sheet, file, moves_before });
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
    pub fn finish(mut self) -> (WorkbookMetadata, FoldedLevel) {
        let mut level = FoldedLevel::default();
        for (sheet_id, Imported { sheet, file, moves_before }) in self.imported {
            let moves = Arc::new(self.line_moves.after(moves_before));
            level.imported_formulas.insert(sheet_id, ImportedFormulas { file, moves });
            level.imported.sheets.push(sheet);
        }
        let formulas = self.deltas.iter_mut().flat_map(|(sheet_id, delta)| {
            let sheet = *sheet_id;
            delta.cells.formulas_mut().filter_map(move |formula| formula.unmoved_mut(sheet))
        });
        let formulas: Vec<UnmovedFormula<'_>> = formulas.collect();
        let moves = self.line_moves.move_formulas(formulas);
        for (sheet_id, delta) in self.deltas {
            level.add_sheet(sheet_id, delta, moves.sheet(sheet_id));
        }
        (self.metadata, level)
    }
}
