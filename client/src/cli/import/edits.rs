//! `cellar import --sheet`: imports a file into an existing sheet.

use std::path::Path;

use cellar_base::identity::LogId;
use cellar_sheet::a1::CellName;

use super::{args, columns, delimiter_hint, read_options};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::output::{Output, count, grouped};
use crate::cli::warnings;
use crate::import::edits::{EditsProgress, JournalKey, Plan, Target, import_edits};

/// Step between progress lines without a terminal, as a percentage of the cells.
const PRINT_EVERY_PERCENT: usize = 10;

pub(super) async fn import_into_sheet(
    context: &Context,
    output: &Output,
    args: &args::Import,
    into: LogId,
    sheet: &str,
) -> Result<(), CliError> {
    let options = read_options(args)?;
    let target_cell = args.cell.unwrap_or(CellName { row: 0, column: 0 });
    let client = context.client()?;
    let plan = Plan::read(&args.file, &options, target_cell)?;
    let survey = plan.survey.as_ref();
    let hint = delimiter_hint(&args.file, survey, options.delimiter);
    // Print the hint before sending anything, so that the user can still interrupt the import.
    if let Some(hint) = &hint {
        output.note(hint);
    }
    let file = std::path::absolute(&args.file)?;
    let subject = context.subject();
    let fingerprint = plan.fingerprint();
    let key = JournalKey {
        cloud: client.identity(),
        subject: &subject,
        file: &file,
        plan: &fingerprint,
        into,
        sheet,
    };
    let journal = key.path(&context.directory);
    let (sheet, restart) = (sheet.to_owned(), args.restart);
    let target = Target { source: file.clone(), into, sheet, journal, restart };
    let mut reporter = ProgressReporter::new(*output, plan.cells);
    let imported = tokio::select! {
        imported = import_edits(&client, &plan, &target, |progress| reporter.report(progress)) => imported,
        // The journal is written before each request, so an interrupted import can be resumed.
        _ = tokio::signal::ctrl_c() => {
            reporter.end();
            let committed_cells = reporter.committed_cells;
            return Err(CliError::Interrupted { committed_cells, cells: plan.cells });
        }
    };
    reporter.end();
    let imported = imported?;
    let warnings: Vec<_> = warnings::imported_formulas(plan.formulas).into_iter().collect();
    output.result(&serde_json::json!({
        "spreadsheet": imported.spreadsheet,
        "position": imported.position,
        "rows": plan.rows,
        "columns": plan.columns,
        "cells": plan.cells,
        "resumed": imported.resumed_cells,
        "types": columns::types_as_json(survey),
        "hint": hint,
        "warnings": warnings,
    }))?;
    output.say(summary(&args.file, &plan, &target))?;
    if let Some(types) = columns::describe_types(survey) {
        output.note(types);
    }
    output.warn(&warnings);
    let sheet = columns::shell_quoted(&target.sheet);
    output.note(format!("Next: cellar get -s {into} --sheet {sheet}"));
    Ok(())
}

fn summary(file: &Path, plan: &Plan, target: &Target) -> String {
    format!(
        "{}: {}, {}, {} in sheet {} of {}",
        file.display(),
        count(plan.rows, "row", "rows"),
        count(plan.columns, "column", "columns"),
        count(plan.cells, "cell", "cells"),
        crate::text::escape(&target.sheet),
        target.into,
    )
}

/// Formats the rate in whole cells per second.
fn format_rate(state: &indicatif::ProgressState, text: &mut dyn std::fmt::Write) {
    let cells_per_second: u64 = format!("{:.0}", state.per_sec()).parse().unwrap_or(0);
    // Writing to a String cannot fail.
    let _ = text.write_str(&grouped(cells_per_second));
}

/// Shows progress as a bar on a terminal and as lines otherwise. No-op with `--json`.
struct ProgressReporter {
    output: Output,
    bar: Option<indicatif::ProgressBar>,
    committed_cells: usize,
    /// Percentage at which to print the next line.
    next_line_percent: usize,
}

impl ProgressReporter {
    fn new(output: Output, cells: usize) -> Self {
        let is_terminal = console::user_attended_stderr() && !output.json;
        let bar = is_terminal.then(|| {
            let bar = indicatif::ProgressBar::new(u64::try_from(cells).unwrap_or(u64::MAX));
            let template = "{bar:30} {human_pos} of {human_len} cells, {rate} a second, {eta} left";
            let style = indicatif::ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar());
            bar.with_style(style.with_key("rate", format_rate))
        });
        Self { output, bar, committed_cells: 0, next_line_percent: 0 }
    }

    fn report(&mut self, progress: EditsProgress) {
        self.committed_cells = progress.committed_cells;
        let position = u64::try_from(progress.committed_cells).unwrap_or(u64::MAX);
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        } else if self.is_line_due(progress) {
            let cells = count(progress.cells, "cell", "cells");
            self.output.note(format!("{} of {cells}", grouped(position)));
        }
    }

    /// Returns whether to print a line now. The final line is printed exactly once.
    fn is_line_due(&mut self, progress: EditsProgress) -> bool {
        let EditsProgress { committed_cells, cells } = progress;
        let percent = committed_cells.saturating_mul(100).checked_div(cells).unwrap_or(100);
        if committed_cells == 0 || percent < self.next_line_percent {
            return false;
        }
        self.next_line_percent = if percent >= 100 {
            usize::MAX
        } else {
            percent.saturating_add(PRINT_EVERY_PERCENT).min(100)
        };
        true
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_progress_periodically_and_at_the_end() {
        let output = Output::new(true);
        let mut reporter =
            ProgressReporter { output, bar: None, committed_cells: 0, next_line_percent: 0 };
        let mut due = |batch: usize, cells: usize| -> Vec<usize> {
            reporter.next_line_percent = 0;
            // Completion is reported twice: after the last batch, and when nothing is left to send.
            let reports = (0..cells).step_by(batch).chain([cells, cells]);
            reports
                .filter(|&committed_cells| {
                    reporter.is_line_due(EditsProgress { committed_cells, cells })
                })
                .collect()
        };
        assert_eq!(due(1, 100), [1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 100]);
        let of_many = due(5_375, 80_000);
        assert!(of_many.len() <= 11 && of_many.ends_with(&[80_000]), "{of_many:?}");
        assert_eq!(due(1, 1), [1]);
    }
}
