//! Warnings that commands print in addition to their results.

use super::output::{Output, count};
use crate::cli::table::mark_stale;

pub(super) fn stale_formulas(stale_count: u64) -> Vec<String> {
    if stale_count == 0 {
        return Vec::new();
    }
    let formulas = count(stale_count, "formula was not calculated", "formulas were not calculated");
    vec![format!(
        "{formulas}: the value that is stored beside the formula was exported, or none. `cellar get` shows why."
    )]
}

/// Marks a result that depends on stale cells, as the value of a stale cell is marked.
pub(super) fn mark_if_stale(text: String, stale_cells: u64) -> String {
    if stale_cells == 0 { text } else { mark_stale(&text) }
}

/// Says how many of the cells on which a result depends are stale.
pub(super) fn print_stale_cells(output: &Output, stale_cells: u64) {
    if stale_cells > 0 {
        output.print_note(stale_cells_line(stale_cells));
    }
}

fn stale_cells_line(stale_cells: u64) -> String {
    let values = count(
        stale_cells,
        "value is older than its formula",
        "values are older than their formulas",
    );
    format!(
        "* {values}, so the result may be wrong; a smaller --range may be within the limits, and `cellar get` shows why."
    )
}

/// Leaves a count out of JSON.
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_stale_cells_are_marked_and_counted() {
        assert_eq!(mark_if_stale("2 rows".to_owned(), 0), "2 rows");
        assert_eq!(mark_if_stale("2 rows".to_owned(), 1), "2 rows *");
        assert!(stale_cells_line(1).starts_with("* 1 value is older than its formula, so"));
        assert!(stale_cells_line(12).starts_with("* 12 values are older than their formulas, so"));
    }
}
