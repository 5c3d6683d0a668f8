//! Restores deleted sheets at their place in the tab order.

use std::collections::BTreeMap;

use super::UndoBuilder;
use crate::metadata::{DeletedLinesOfSheets, SheetPlaces};
use crate::operation::{AddSheet, ImportSheet, Operation, SheetId};
use crate::workbook::Workbook;

/// Deleted sheets that were imported, by number.
pub type RestorableImports = BTreeMap<SheetId, RestorableImport>;

/// A deleted sheet that is restored from its import, however many cells it has.
#[derive(Debug, Clone, PartialEq)]
pub struct RestorableImport {
    /// The import.
    pub import: ImportSheet,
    /// Operations on the sheet that lead from the imported sheet to the deleted one.
    pub edits: Vec<Operation>,
}

/// Facts about deleted sheets, rows and columns that the states of an undo or revert do not contain.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeletedSheets {
    /// The sheets that are restored from their imports. The cells of the others are copied.
    pub imports: RestorableImports,
    /// The places of all sheets. Without them, a sheet is restored at its place among the sheets of
    /// the earlier state.
    pub places: Option<SheetPlaces>,
    /// Where the deleted rows and columns belong. Without them, rows are restored before the first of
    /// their successors that still exists.
    pub lines: DeletedLinesOfSheets,
}

impl UndoBuilder<'_> {
    /// Adds a deleted sheet again with a new number. Returns the number and the name, or `None` if
    /// the workbook has the maximum number of sheets.
    pub(super) fn restore_sheet(
        &mut self,
        sheet: SheetId,
        before: &Workbook,
    ) -> Option<(SheetId, String)> {
        let cell_count = before.sheet(sheet)?.cell_count();
        let name = before.tabs().name(sheet)?.to_owned();
        let next_sheet = self.places.next_sheet(sheet, self.workbook.tabs().order());
        let Some(added_id) = self.add_sheet(&name, next_sheet) else {
            self.report.left.add_sheet(cell_count);
            return None;
        };
        let new_id = match self.imports_of_deleted.get(&sheet) {
            Some(restorable) => self.import_again(restorable, added_id, &name),
            None => {
                self.without_contents.push((sheet, added_id));
                added_id
            }
        };
        self.restored.insert(sheet, new_id);
        self.places.restore(sheet, new_id);
        self.report.restored.add_sheet(cell_count);
        Some((new_id, name))
    }

    /// Fills the restored sheets. Formulas may refer to other restored sheets.
    pub(super) fn restore_contents_of_sheets(&mut self) {
        for operation in &mut self.operations {
            if let Operation::ImportSheet(import) = operation {
                let number_of = |sheet| Some(self.restored.get(&sheet).copied().unwrap_or(sheet));
                *import = import.clone().with_sheet_numbers(number_of);
            }
        }
        for (old_id, new_id) in std::mem::take(&mut self.without_contents) {
            if let Some(deleted_sheet) = self.before.sheet(old_id) {
                self.copy_contents(new_id, deleted_sheet);
            }
        }
    }

    /// Returns `None` if the workbook has the maximum number of sheets.
    fn add_sheet(&mut self, name: &str, before: Option<SheetId>) -> Option<SheetId> {
        let sheet = self.workbook.tabs().next_sheet();
        self.push(Operation::AddSheet(AddSheet { sheet, name: name.to_owned(), before }));
        if self.workbook.sheet(sheet).is_none() {
            self.operations.pop();
            return None;
        }
        Some(sheet)
    }

    /// Replaces a blank sheet with an import. An import without a sheet to replace would become the
    /// last sheet.
    fn import_again(
        &mut self,
        restorable: &RestorableImport,
        blank_sheet: SheetId,
        name: &str,
    ) -> SheetId {
        let sheet = self.workbook.tabs().next_sheet();
        let (name, replaces) = (name.to_owned(), Some(blank_sheet));
        let deleted_sheet = restorable.import.sheet;
        let number_of = |named| Some(if named == deleted_sheet { sheet } else { named });
        let restored = restorable.import.clone().with_sheet_numbers(number_of);
        let import = ImportSheet { sheet, name, replaces, ..restored };
        self.push(Operation::ImportSheet(import));
        for edit in &restorable.edits {
            self.push(on_sheet(edit.clone(), sheet));
        }
        sheet
    }
}

/// Returns the operation for another sheet. An operation that needs no sheet stays unchanged.
fn on_sheet(mut operation: Operation, new_sheet: SheetId) -> Operation {
    let sheet = match &mut operation {
        Operation::SetCells(set) => &mut set.sheet,
        Operation::ClearRange(clear) => &mut clear.sheet,
        Operation::SetFormat(set) => &mut set.sheet,
        Operation::InsertRows(insert) | Operation::InsertColumns(insert) => &mut insert.sheet,
        Operation::DeleteRows(delete) | Operation::DeleteColumns(delete) => &mut delete.sheet,
        Operation::RenameSheet(rename) => &mut rename.sheet,
        Operation::DeleteSheet(delete) => &mut delete.sheet,
        Operation::AddSheet(_)
        | Operation::ImportSheet(_)
        | Operation::Undo(_)
        | Operation::Revert(_)
        | Operation::Rejected(_)
        | Operation::SetName(_) => return operation,
    };
    *sheet = new_sheet;
    operation
}
