//! Warnings of a command beside its result: a line each for people, `warnings` for programs.

use super::output::{Output, count};

/// Rows or columns were inserted or deleted.
pub(super) const LINES_MOVED: &str = "Formulas, if there are any, name the same cells as before: Cellar does not shift or calculate \
     them yet.";

/// The grid shows a formula.
pub(super) const IN_VIEW: &str = "formulas are not calculated";

/// Formulas of a file that was imported.
pub(super) fn imported_formulas(formulas: u64) -> Option<String> {
    (formulas > 0).then(|| {
        let formulas = count(formulas, "formula keeps its value", "formulas keep their values");
        format!(
            "{formulas} from the file: Cellar does not calculate yet, and does not shift what formulas \
             name when rows or columns are inserted, deleted or sorted."
        )
    })
}

/// Formulas in a file that was exported.
pub(super) fn exported_formulas(formulas: u64) -> Option<String> {
    (formulas > 0).then(|| {
        let formulas = count(formulas, "formula is", "formulas are");
        format!(
            "{formulas} in the file as imported: edits since then neither changed their values nor \
             shifted the cells that they name."
        )
    })
}

/// Texts in a csv file that other programs may run.
pub(super) fn formula_like_texts(texts: u64) -> Option<String> {
    (texts > 0).then(|| {
        let texts = count(texts, "text begins", "texts begin");
        format!(
            "{texts} with =, +, -, @, a tab or a line end: some programs take such a text for a formula; \
             --escape-formulas writes ' before it."
        )
    })
}

impl Output {
    /// Says each warning to people; programs find them in the result.
    pub(super) fn warn(self, warnings: &[String]) {
        warnings.iter().for_each(|warning| self.note(warning));
    }
}
