//! Prints the effect of `cellar undo` and `cellar revert`.

use cellar_api::wire::ReversalReport;
use cellar_sheet::operation::Operation;

use super::error::CliError;
use super::output::Output;
use crate::editor::AppliedEdit;

const SHEET_RECOVERED: &str =
    "The recovered sheet has a new number; pending edits of the old sheet do not affect it.";

const FORMULAS_INCOMPLETE: &str =
    "Too many formulas refer to the recovered cells: some of them may still have lost references.";

/// Prints `summary`, followed by the numbers of cells, rows, columns and sheets that were restored
/// or left. The response to a repeated request may lack these numbers; then only `summary` is
/// printed.
pub(super) fn print_reversal(
    output: &Output,
    applied: &AppliedEdit,
    summary: String,
) -> Result<(), CliError> {
    output.print_line(summary)?;
    output.print_lines(applied.reversal.as_ref().map_or_else(Vec::new, report_lines))?;
    if recovers_a_sheet(applied) {
        output.print_note(SHEET_RECOVERED);
    }
    Ok(())
}

fn report_lines(report: &ReversalReport) -> Vec<String> {
    let mut lines = vec![format!("took back: {}", report.restored)];
    if !report.left.is_zero() {
        lines.push(format!("left, because they were changed since: {}", report.left));
    }
    if report.formulas_incomplete {
        lines.push(FORMULAS_INCOMPLETE.to_owned());
    }
    lines
}

fn recovers_a_sheet(applied: &AppliedEdit) -> bool {
    let mut operations = applied.committed.iter().flatten();
    operations.any(|operation| matches!(operation, Operation::AddSheet(_)))
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::ReversalCounts;

    use super::*;

    #[test]
    fn names_what_was_left_only_if_something_was_left() {
        let restored = ReversalCounts { cells: 2, ..ReversalCounts::default() };
        let mut report = ReversalReport { restored, ..ReversalReport::default() };
        assert_eq!(report_lines(&report), ["took back: 2 cells"]);
        report.left.rows = 1;
        let left = "left, because they were changed since: 1 row";
        assert_eq!(report_lines(&report), ["took back: 2 cells", left]);
        report.formulas_incomplete = true;
        assert_eq!(report_lines(&report), ["took back: 2 cells", left, FORMULAS_INCOMPLETE]);
    }
}
