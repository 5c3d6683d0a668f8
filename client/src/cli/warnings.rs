//! Warnings that commands print in addition to their results.

use super::output::{Output, count};

pub(super) fn stale_formulas(stale_count: u64) -> Vec<String> {
    if stale_count == 0 {
        return Vec::new();
    }
    let formulas = count(stale_count, "formula was not calculated", "formulas were not calculated");
    vec![format!(
        "{formulas}: the value that is stored beside the formula was exported, or none. `cellar get` shows why."
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
