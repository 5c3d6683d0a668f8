//! Applies operations to a workbook.

use super::sheet::Sheet;
use super::state_cell::StateCell;
use super::stored_formula::{MovesAfter, StoredFormula};
use super::{Workbook, WorkbookTooLarge};
use crate::a1::CellName;
use crate::axis_map::Axis;
use crate::operation::{
    AddSheet, CellEdit, ImportSheet, LineMove, NamesInFile, Operation, SetCells, SheetId,
    SheetsOfFile,
};

impl Workbook {
    /// Applies committed operations in order.
    ///
    /// # Errors
    /// Returns [`WorkbookTooLarge`] as soon as the workbook is larger than `MAX_REPLAY_BYTES`. The
    /// remaining operations are not applied.
    pub fn apply_operations(&mut self, operations: &[Operation]) -> Result<(), WorkbookTooLarge> {
        for operation in operations {
            self.apply_operation(operation);
            if self.bytes > self.max_bytes {
                return Err(WorkbookTooLarge);
            }
        }
        Ok(())
    }

    /// Applies an operation to the current state, without checking the size of the workbook. An
    /// operation on a missing sheet has no effect.
    pub fn apply_operation(&mut self, operation: &Operation) {
        self.names.follow(operation, self.tabs.numbers());
        match operation {
            Operation::SetCells(set) => self.set_cells(set),
            Operation::ClearRange(clear) => {
                self.change_sheet(clear.sheet, |sheet| sheet.clear(&clear.rows, &clear.columns));
            }
            Operation::SetFormat(set_format) => {
                self.change_sheet(set_format.sheet, |sheet| sheet.set_format(set_format));
            }
            Operation::InsertRows(insert) => {
                self.move_lines(operation, |sheet| {
                    sheet.insert(Axis::Rows, insert.before, insert.count);
                });
            }
            Operation::InsertColumns(insert) => {
                self.move_lines(operation, |sheet| {
                    sheet.insert(Axis::Columns, insert.before, insert.count);
                });
            }
            Operation::DeleteRows(delete) => {
                self.move_lines(operation, |sheet| sheet.delete(Axis::Rows, &delete.spans));
            }
            Operation::DeleteColumns(delete) => {
                self.move_lines(operation, |sheet| sheet.delete(Axis::Columns, &delete.spans));
            }
            Operation::AddSheet(add) => self.add_sheet(add),
            Operation::RenameSheet(rename) => self.tabs.rename(rename.sheet, &rename.name),
            Operation::DeleteSheet(delete) => self.delete_sheet(delete.sheet),
            Operation::ImportSheet(import) => self.import_sheet(import),
            // An undo or revert has no effect itself, because the server commits the operations
            // that reverse the edits. A rejection has no effect either.
            Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => {}
            // Defined names follow every operation above.
            Operation::SetName(_) => {}
        }
    }

    fn change_sheet(&mut self, id: SheetId, change: impl FnOnce(&mut Sheet)) {
        if let Some(sheet) = self.sheets.get_mut(&id) {
            let bytes_before = sheet.bytes();
            change(sheet);
            self.bytes = self.bytes.saturating_sub(bytes_before).saturating_add(sheet.bytes());
        }
    }

    fn set_cells(&mut self, set: &SetCells) {
        let Self { sheets, tabs, moves, .. } = self;
        if !sheets.contains_key(&set.sheet) {
            return;
        }
        let parse = |edit: &CellEdit| {
            let text = edit.formula.as_deref()?;
            Some(StoredFormula::parse(text, tabs, moves))
        };
        let formulas: Vec<Option<StoredFormula>> = set.cells.iter().map(parse).collect();
        self.change_sheet(set.sheet, |sheet| {
            for (edit, formula) in set.cells.iter().zip(formulas) {
                sheet.set_cell(edit, formula);
            }
        });
    }

    /// Applies an insertion or deletion of rows or columns.
    fn move_lines(&mut self, operation: &Operation, change: impl FnOnce(&mut Sheet)) {
        let Some(line_move) = LineMove::of(operation) else { return };
        let sheet = line_move.sheet();
        if !self.sheets.contains_key(&sheet) {
            return;
        }
        self.change_sheet(sheet, change);
        let move_bytes = self.moves.push(line_move);
        self.bytes = self.bytes.saturating_add(move_bytes);
        if self.moves.must_be_resolved() {
            self.resolve_formulas();
        }
    }

    pub(super) fn resolve_formulas(&mut self) {
        let Self { sheets, moves, bytes, .. } = self;
        let mut maps = MovesAfter::new(moves);
        for (id, sheet) in sheets {
            let bytes_before = sheet.bytes();
            sheet.resolve_formulas(*id, &mut maps);
            *bytes = bytes.saturating_sub(bytes_before).saturating_add(sheet.bytes());
        }
        moves.mark_as_resolved();
    }

    fn add_sheet(&mut self, add: &AddSheet) {
        if self.tabs.add(add).is_ok() {
            let sheet = Sheet::default();
            self.bytes = self.bytes.saturating_add(sheet.bytes());
            self.sheets.insert(add.sheet, sheet);
        }
    }

    /// Adds an imported sheet without cells. [`Workbook::fill`] adds the cells.
    fn import_sheet(&mut self, import: &ImportSheet) {
        if self.tabs.import(import).is_err() {
            return;
        }
        if let Some(replaced_id) = import.replaces
            && let Some(replaced_sheet) = self.sheets.remove(&replaced_id)
        {
            self.bytes = self.bytes.saturating_sub(replaced_sheet.bytes());
        }
        let imported_sheet = Sheet::imported(import.extent);
        self.bytes = self.bytes.saturating_add(imported_sheet.bytes());
        self.sheets.insert(import.sheet, imported_sheet);
    }

    /// Adds cells of a stored state to a sheet. The used range and the range formats of the sheet remain
    /// unchanged. No-op if the sheet does not exist.
    ///
    /// # Errors
    /// Returns [`WorkbookTooLarge`] if the workbook is then larger than `MAX_REPLAY_BYTES`.
    pub fn fill(
        &mut self,
        sheet: SheetId,
        cells: impl IntoIterator<Item = ((u32, u32), impl Into<StateCell>)>,
    ) -> Result<(), WorkbookTooLarge> {
        self.fill_from(sheet, None, cells)
    }

    /// Same for the cells of an import, whose formulas contain the names of sheets in the file.
    ///
    /// # Errors
    /// Returns [`WorkbookTooLarge`] if the workbook is then larger than `MAX_REPLAY_BYTES`.
    pub fn fill_import(
        &mut self,
        import: &ImportSheet,
        cells: impl IntoIterator<Item = ((u32, u32), impl Into<StateCell>)>,
    ) -> Result<(), WorkbookTooLarge> {
        self.fill_from(import.sheet, Some(&SheetsOfFile::of(import)), cells)
    }

    fn fill_from(
        &mut self,
        sheet: SheetId,
        file: Option<&SheetsOfFile>,
        cells: impl IntoIterator<Item = ((u32, u32), impl Into<StateCell>)>,
    ) -> Result<(), WorkbookTooLarge> {
        let Self { sheets, tabs, moves, bytes, .. } = self;
        let names = NamesInFile { file, tabs };
        if let Some(sheet) = sheets.get_mut(&sheet) {
            let bytes_before = sheet.bytes();
            for ((row, column), cell) in cells {
                let cell: StateCell = cell.into();
                let stored = cell.into_stored(CellName { row, column }, &names, moves);
                sheet.fill((row, column), stored);
            }
            *bytes = bytes.saturating_sub(bytes_before).saturating_add(sheet.bytes());
        }
        if self.bytes > self.max_bytes { Err(WorkbookTooLarge) } else { Ok(()) }
    }

    fn delete_sheet(&mut self, id: SheetId) {
        if self.tabs.delete(id).is_ok()
            && let Some(sheet) = self.sheets.remove(&id)
        {
            self.bytes = self.bytes.saturating_sub(sheet.bytes());
        }
    }
}
