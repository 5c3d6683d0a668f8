//! Warnings that commands print in addition to their results.

use super::output::{Output, count};

/// Warning after an insertion or deletion of rows or columns.
pub(super) const FORMULAS_NOT_SHIFTED: &str = "Formulas still refer to the same cells as before: Cellar does not shift or calculate formulas yet.";

/// Warning in the grid if a visible cell has a formula.
pub(super) const FORMULAS_NOT_CALCULATED: &str = "formulas are not calculated";

/// Returns a warning about the formulas of an imported file, or `None` if it has none.
pub(super) fn imported_formulas(formula_count: u64) -> Option<String> {
    (formula_count > 0).then(|| {
        let formulas = count(formula_count, "formula keeps its value", "formulas keep their values");
        format!(
            "{formulas} from the file. Cellar does not calculate formulas yet, and does not shift their \
             references when rows or columns are inserted, deleted or sorted."
        )
    })
}

/// Returns a warning about the formulas of an exported file, or `None` if it has none.
pub(super) fn exported_formulas(formula_count: u64) -> Option<String> {
    (formula_count > 0).then(|| {
        let formulas = count(formula_count, "formula was", "formulas were");
        format!(
            "{formulas} exported as imported: later edits have neither changed their values nor shifted \
             their references."
        )
    })
}

/// Returns a warning about texts of a CSV file that other programs may interpret as formulas, or
/// `None` if the file has none.
pub(super) fn formula_like_texts(text_count: u64) -> Option<String> {
    (text_count > 0).then(|| {
        let texts = count(text_count, "text starts", "texts start");
        format!(
            "{texts} with =, +, -, @, a tab or a line break, which some programs interpret as a formula; \
             --escape-formulas writes ' before such texts."
        )
    })
}

impl Output {
    /// Prints warnings. No-op with `--json`, because the JSON result contains the warnings.
    pub(super) fn print_warnings(self, warnings: &[String]) {
        for warning in warnings {
            self.print_note(warning);
        }
    }
}
