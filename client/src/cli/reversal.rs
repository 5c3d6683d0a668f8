//! Prints the effect of `cellar undo`, `cellar redo` and `cellar revert`.

use cellar_api::wire::{ReversalCounts, ReversalReport};
use cellar_sheet::operation::Operation;

use super::error::CliError;
use super::output::{Output, grouped};
use crate::editor::AppliedEdit;

const SHEET_RECOVERED: &str = "The sheet is recovered. Edits that others made in \
                               it and have not sent yet will have no effect.";

const FORMULAS_INCOMPLETE: &str =
    "Too many formulas refer to the recovered cells: some of them may still have lost references.";

/// Whether edits were undone, or an undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReversalVerb {
    Undid,
    Redid,
}

/// Prints `summary`, followed by the numbers of cells, rows, columns and sheets that were restored
/// or left. The response to a repeated request may lack these numbers; then only `summary` is
/// printed.
pub(super) fn print_reversal(
    output: &Output,
    applied: &AppliedEdit,
    verb: ReversalVerb,
    summary: String,
) -> Result<(), CliError> {
    output.print_line(summary)?;
    let operations = applied.committed.as_deref().unwrap_or_default();
    let lines = |report| report_lines(report, verb, operations);
    output.print_lines(applied.reversal.as_ref().map_or_else(Vec::new, lines))?;
    if recovers_a_sheet(applied) {
        output.print_note(SHEET_RECOVERED);
    }
    Ok(())
}

fn report_lines(
    report: &ReversalReport,
    verb: ReversalVerb,
    operations: &[Operation],
) -> Vec<String> {
    let restored = describe_restored(report.restored, operations);
    let mut lines = vec![match verb {
        ReversalVerb::Undid => format!("took back: {restored}"),
        ReversalVerb::Redid => format!("brought back: {restored}"),
    }];
    if !report.left.is_zero() {
        lines.push(format!("left, because they were changed since: {}", report.left));
    }
    if report.formulas_incomplete {
        lines.push(FORMULAS_INCOMPLETE.to_owned());
    }
    lines
}

/// An undo of an import that replaced a sheet removes one sheet and recovers another.
fn describe_restored(restored: ReversalCounts, operations: &[Operation]) -> String {
    let is_removal = |operation: &&Operation| matches!(operation, Operation::DeleteSheet(_));
    let removed = u64::try_from(operations.iter().filter(is_removal).count()).unwrap_or(u64::MAX);
    match restored.sheets.checked_sub(removed) {
        Some(recovered) if removed > 0 && recovered > 0 => {
            let others = ReversalCounts { sheets: 0, ..restored };
            let sheets =
                format!("sheets removed: {}, recovered: {}", grouped(removed), grouped(recovered));
            if others.is_zero() { sheets } else { format!("{others}; {sheets}") }
        }
        _ => restored.to_string(),
    }
}

fn recovers_a_sheet(applied: &AppliedEdit) -> bool {
    let mut operations = applied.committed.iter().flatten();
    operations.any(|operation| matches!(operation, Operation::AddSheet(_)))
}

#[cfg(test)]
mod tests {
    use cellar_sheet::operation::{DeleteSheet, SheetId};

    use super::*;

    #[test]
    fn removed_and_recovered_sheets_are_distinguished() {
        let delete = Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) });
        let restored = ReversalCounts { sheets: 2, formulas: 1, ..ReversalCounts::default() };
        let report = ReversalReport { restored, ..ReversalReport::default() };
        let lines = report_lines(&report, ReversalVerb::Undid, std::slice::from_ref(&delete));
        assert_eq!(lines, ["took back: 1 formula; sheets removed: 1, recovered: 1"]);
        assert_eq!(
            report_lines(&report, ReversalVerb::Undid, &[delete.clone(), delete]),
            ["took back: 2 sheets, 1 formula"]
        );
    }

    #[test]
    fn names_what_was_left_only_if_something_was_left() {
        let restored = ReversalCounts { cells: 2, ..ReversalCounts::default() };
        let mut report = ReversalReport { restored, ..ReversalReport::default() };
        assert_eq!(report_lines(&report, ReversalVerb::Undid, &[]), ["took back: 2 cells"]);
        assert_eq!(report_lines(&report, ReversalVerb::Redid, &[]), ["brought back: 2 cells"]);
        report.left.rows = 1;
        let left = "left, because they were changed since: 1 row";
        assert_eq!(report_lines(&report, ReversalVerb::Undid, &[]), ["took back: 2 cells", left]);
        report.formulas_incomplete = true;
        assert_eq!(
            report_lines(&report, ReversalVerb::Undid, &[]),
            ["took back: 2 cells", left, FORMULAS_INCOMPLETE]
        );
    }
}
