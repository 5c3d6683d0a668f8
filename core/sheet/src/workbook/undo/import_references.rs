//! Lets references follow an import that replaces a sheet.

use super::{DeletedSheets, Reversal, UndoBuilder};
use crate::operation::{ImportSheet, Operation};
use crate::workbook::Workbook;

/// Returns the operations after an import that let formulas of other sheets, and names, refer to the
/// imported sheet instead of the sheet that it replaces. `before` is the state before the import. It
/// must contain the formulas that refer to the replaced sheet.
#[must_use]
pub fn references_to_import(before: &Workbook, import: &ImportSheet) -> Reversal {
    let Some(replaced) = import.replaces else { return Reversal::default() };
    let mut after = before.clone();
    after.apply_operation(&Operation::ImportSheet(import.clone()));
    let nothing_deleted = DeletedSheets::default();
    let mut builder = UndoBuilder::new(before, &after, &after, &[], &nothing_deleted);
    builder.restored.insert(replaced, import.sheet);
    builder.restore_defined_names(before, &after, &after);
    builder.restore_lost_references();
    builder.finish()
}
