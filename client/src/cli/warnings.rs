//! Warnings that commands print in addition to their results.

use super::output::{Output, count};

/// Warning printed after rows or columns were inserted or deleted.
pub(super) const FORMULAS_NOT_SHIFTED: &str = "Formulas still refer to the same cells as before: Cellar does not shift or calculate formulas yet.";

/// Warning shown in the grid if a visible cell has a formula.
pub(super) const FORMULAS_NOT_CALCULATED: &str = "formulas are not calculated";

/// Warns about the formulas of an imported file.
pub(super) fn imported_formulas(formula_count: u64) -> Option<String> {
    (formula_count > 0).then(|| {
        let formula_count = count(formula_count, "formula keeps its value", "formulas keep their values");
        format!(
            "{formula_count} from the file. Cellar does not calculate formulas yet, and does not shift their \
             references when rows or columns are inserted, deleted or sorted."
        )
    })
}

/// Warns about the formulas of an exported file.
pub(super) fn exported_formulas(formula_count: u64) -> Option<String> {
    (formula_count > 0).then(|| {
        let formula_count = count(formula_count, "formula was", "formulas were");
        format!(
            "{formula_count} exported as imported: later edits have neither changed their values nor shifted \
             their references."
        )
    })
}

/// Warns about texts in a CSV file that other programs may interpret as formulas.
pub(super) fn formula_like_texts(text_count: u64) -> Option<String> {
    (text_count > 0).then(|| {
        let text_count = count(text_count, "text starts", "texts start");
        format!(
            "{text_count} with =, +, -, @, a tab or a line break, which some programs interpret as a formula; \
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
