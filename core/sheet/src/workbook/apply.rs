//! Applies operations to a workbook.

use super::{Sheet, Workbook, WorkbookTooLarge};
use crate::axis_map::Axis;
use crate::cell::Cell;
use crate::operation::{AddSheet, ImportSheet, Operation, SheetId};

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
        match operation {
            Operation::SetCells(set) => self.change_sheet(set.sheet, |sheet| {
                set.cells.iter().for_each(|edit| sheet.set_cell(edit));
            }),
            Operation::ClearRange(clear) => {
                self.change_sheet(clear.sheet, |sheet| sheet.clear(&clear.rows, &clear.columns));
            }
            Operation::SetFormat(set_format) => {
                self.change_sheet(set_format.sheet, |sheet| sheet.set_format(set_format));
            }
            Operation::InsertRows(insert) => self.change_sheet(insert.sheet, |sheet| {
                sheet.insert(Axis::Rows, insert.before, insert.count);
            }),
            Operation::InsertColumns(insert) => self.change_sheet(insert.sheet, |sheet| {
                sheet.insert(Axis::Columns, insert.before, insert.count);
            }),
            Operation::DeleteRows(delete) => {
                self.change_sheet(delete.sheet, |sheet| sheet.delete(Axis::Rows, &delete.spans));
            }
            Operation::DeleteColumns(delete) => {
                self.change_sheet(delete.sheet, |sheet| sheet.delete(Axis::Columns, &delete.spans));
            }
            Operation::AddSheet(add) => self.add_sheet(add),
            Operation::RenameSheet(rename) => self.tabs.rename(rename.sheet, &rename.name),
            Operation::DeleteSheet(delete) => self.delete_sheet(delete.sheet),
            Operation::ImportSheet(import) => self.import_sheet(import),
            // An undo or revert has no effect itself, because the server commits the operations
            // that reverse the edits. A rejection has no effect either.
            Operation::Undo(_) | Operation::Revert(_) | Operation::Rejected(_) => {}
        }
    }

    fn change_sheet(&mut self, id: SheetId, change: impl FnOnce(&mut Sheet)) {
        if let Some(sheet) = self.sheets.get_mut(&id) {
            let bytes_before = sheet.bytes();
            change(sheet);
            self.bytes = self.bytes.saturating_sub(bytes_before).saturating_add(sheet.bytes());
        }
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

    /// Adds cells from an import or a snapshot to a sheet. The used range and the range formats of
    /// the sheet remain unchanged. No-op if the sheet does not exist.
    ///
    /// # Errors
    /// Returns [`WorkbookTooLarge`] if the workbook is then larger than `MAX_REPLAY_BYTES`.
    pub fn fill(
        &mut self,
        sheet: SheetId,
        cells: impl IntoIterator<Item = ((u32, u32), Cell)>,
    ) -> Result<(), WorkbookTooLarge> {
        self.change_sheet(sheet, |sheet| {
            cells.into_iter().for_each(|(coordinates, cell)| sheet.fill(coordinates, cell));
        });
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
