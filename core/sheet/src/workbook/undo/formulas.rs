//! Formulas of restored cells.

use super::UndoBuilder;
use crate::workbook::stored_formula::{FormulaReader, StoredFormula, changed_template, text_of};
use cellar_formula::changes::MovedLines;
use cellar_formula::reference::{Reference, ReferenceSheet};
use cellar_grid::SheetId;

impl UndoBuilder<'_> {
    /// Returns the text with which a formula of the state before the entry is set now, so that it
    /// refers to the same cells. `own_sheet` is the sheet that contained it, and `formulas` reads the
    /// formulas of that sheet. `moved` replaces the maps of the undo.
    pub(super) fn restored_formula(
        &self,
        own_sheet: SheetId,
        formula: &StoredFormula,
        formulas: &mut FormulaReader<'_>,
        moved: Option<&MovedLines>,
    ) -> String {
        let Some(template) = formulas.template(formula) else { return formulas.text(formula) };
        let restored = changed_template(&template, |reference| {
            self.restored_reference(own_sheet, reference, moved)
        });
        text_of(&restored, self.workbook.tabs())
    }

    fn restored_reference(
        &self,
        own_sheet: SheetId,
        reference: &Reference,
        moved: Option<&MovedLines>,
    ) -> Reference {
        let Some(sheet) = reference.sheet_number(own_sheet) else { return reference.clone() };
        let Some(new_sheet) = self.restored.get(&sheet) else {
            let by_undo = || self.moved_by_undo.sheet(sheet).map(|_| &self.moved_by_undo);
            let moved = moved.or_else(by_undo).unwrap_or(&self.moved_until_now);
            return reference.moved(own_sheet, moved);
        };
        // A restored sheet has the rows and columns of the deleted one.
        match reference.sheet {
            ReferenceSheet::Numbered(_) => {
                let sheet = ReferenceSheet::Numbered(*new_sheet);
                Reference { sheet, area: reference.area }
            }
            ReferenceSheet::Own | ReferenceSheet::Unknown(_) => reference.clone(),
        }
    }
}
