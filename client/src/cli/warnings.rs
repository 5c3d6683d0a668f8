//! Warnings that commands print in addition to their results.

use super::output::{Output, count};

pub(super) const FORMULAS_NOT_SHIFTED: &str = "Formulas still refer to the same cells as before: Cellar does not shift or calculate formulas yet.";

pub(super) const FORMULAS_NOT_CALCULATED: &str = "formulas are not calculated";

pub(super) fn imported_formulas(formula_count: u64) -> Vec<String> {
    if formula_count == 0 {
        return Vec::new();
    }
    let formulas = count(formula_count, "formula keeps its value", "formulas keep their values");
    vec![format!(
        "{formulas} from the file. Cellar does not calculate formulas yet, and does not shift their \
         references when rows or columns are inserted, deleted or sorted."
    )]
}

pub(super) fn exported_formulas(formula_count: u64) -> Vec<String> {
    if formula_count == 0 {
        return Vec::new();
    }
    let formulas = count(formula_count, "formula was", "formulas were");
    vec![format!(
        "{formulas} exported as imported: later edits have neither changed their values nor shifted \
         their references."
    )]
}

pub(super) fn formula_like_texts(text_count: u64) -> Vec<String> {
    if text_count == 0 {
        return Vec::new();
    }
    let texts = count(text_count, "text starts", "texts start");
    vec![format!(
        "{texts} with =, +, -, @, a tab or a line break, which some programs interpret as a formula; \
         --escape-formulas writes ' before such texts."
    )]
}

impl Output {
    /// No-op with `--json`, because the JSON result contains the warnings.
    pub(super) fn print_warnings(self, warnings: &[String]) {
        for warning in warnings {
            self.print_note(warning);
        }
    }
}
