//! Formulas of restored cells.

use super::UndoBuilder;
use crate::workbook::stored_formula::{FormulaReader, StoredFormula, changed_template, text_of};
use cellar_formula::changes::MovedLines;
use cellar_formula::reference::{Reference, ReferenceSheet};
use cellar_grid::SheetId;

impl UndoBuilder<'_> {
    /// Returns the text with which a formula of the state before the entry is set now, so that it
    /// refers to the same cells. `own_sheet` is the sheet that contained it, and `formulas` reads the
    /// formulas of that sheet. For the sheets in `moved`, its maps replace those of the undo.
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

    /// Returns the maps of the sheets in which rows or columns were replaced by as many. A redo that
    /// inserted deleted rows again is such a replacement.
    pub(super) fn replaced_until_now(&self) -> &MovedLines {
        self.replaced_until_now.get_or_init(|| {
            let lines_of = |sheet| self.lines_of_undo(self.before, sheet);
            self.before.moved_in_place_if_replaced(lines_of)
        })
    }

    fn restored_reference(
        &self,
        own_sheet: SheetId,
        reference: &Reference,
        moved: Option<&MovedLines>,
    ) -> Reference {
        let Some(sheet) = reference.sheet_number(own_sheet) else { return reference.clone() };
        let Some(new_sheet) = self.restored_sheet(sheet) else {
            let mut maps = moved.into_iter().chain([&self.moved_by_undo]);
            let of_sheet = maps.find(|moved| moved.sheet(sheet).is_some());
            return reference.moved(own_sheet, of_sheet.unwrap_or(&self.moved_until_now));
        };
        // A restored sheet has the rows and columns of the deleted one, and so has its replacement.
        match reference.sheet {
            ReferenceSheet::Numbered(_) => {
                let sheet = ReferenceSheet::Numbered(new_sheet);
                Reference { sheet, area: reference.area }
            }
            ReferenceSheet::Own | ReferenceSheet::Unknown(_) => reference.clone(),
        }
    }
}
