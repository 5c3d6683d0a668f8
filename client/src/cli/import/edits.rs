//! The command `cellar import --sheet` imports a file into an existing sheet.

use std::path::Path;

use cellar_sheet::a1::CellName;

use super::{
    args, columns, delimiter_as_json, delimiter_hint, describe_detected, encoding_as_json,
    new_progress_bar, not_imported_as_json, not_imported_note, read_options,
};
use crate::Client;
use crate::cli::context::Context;
use crate::cli::destination::Destination;
use crate::cli::error::CliError;
use crate::cli::output::{Output, count, grouped};
use crate::cli::resolve::NamedSpreadsheet;
use crate::import::edits::{EditsProgress, Imported, JournalKey, Plan, Target, import_edits};
use crate::text::shell_quoted;

/// How often to print a progress line if stderr is not a terminal, as a percentage of the cells.
const PRINT_EVERY_PERCENT: usize = 10;
const BAR_TEMPLATE: &str = "{bar:30} {human_pos} of {human_len} cells, {rate} a second, {eta} left";

pub(super) async fn import_into_sheet(
    context: &Context,
    output: &Output,
    args: &args::Import,
    named_target: &NamedSpreadsheet,
    sheet_name: &str,
) -> Result<(), CliError> {
    let into = named_target.id;
    let options = read_options(args)?;
    let target_cell = args.cell.unwrap_or(CellName { row: 0, column: 0 });
    let client = context.client()?;
    let plan = Plan::read(&args.file, &options, target_cell)?;
    if args.strict {
        plan.require_all_imported()?;
    }
    let hint = delimiter_hint(&args.file, plan.survey.as_ref());
    let detected = describe_detected(plan.survey.as_ref(), &options);
    // Print the notes before sending anything, so that the user can still cancel the import.
    let not_imported = not_imported_note(&plan.not_imported);
    for note in detected.iter().chain(&not_imported).chain(&hint) {
        output.print_note(note);
    }
    let source = std::path::absolute(&args.file)?;
    let key = JournalKey {
        cloud: client.identity(),
        subject: client.subject(),
        file: &source,
        plan: &plan.fingerprint(),
        into,
        sheet: sheet_name,
    };
    let journal = key.path(&context.directory);
    let sheet = sheet_name.to_owned();
    let target = Target { source, into, sheet, journal, restart: args.restart };
    let imported = import_unless_interrupted(&client, output, &plan, &target).await?;
    let summary_line = summary(&args.file, &plan, &target);
    let destination = context.destination(named_target.clone())?;
    print_import(output, &plan, &imported, hint.as_deref(), &summary_line, &destination)?;
    let quoted_name = shell_quoted(sheet_name);
    output.print_note(format!("Next: cellar get -s {into} --sheet {quoted_name}"));
    destination.print(*output);
    Ok(())
}

fn print_import(
    output: &Output,
    plan: &Plan,
    imported: &Imported,
    hint: Option<&str>,
    summary_line: &str,
    destination: &Destination,
) -> Result<(), CliError> {
    let survey = plan.survey.as_ref();
    output.print_json(&destination.add_to(&serde_json::json!({
        "spreadsheet": imported.spreadsheet,
        "position": imported.position,
        "rows": plan.rows,
        "columns": plan.columns,
        "cells": plan.cells,
        "resumed": imported.resumed_cells,
        "delimiter": delimiter_as_json(survey),
        "encoding": encoding_as_json(survey),
        "types": columns::types_as_json(survey),
        "notImported": not_imported_as_json(&plan.not_imported),
        "hint": hint,
    })))?;
    output.print_line(summary_line)?;
    if let Some(types) = columns::describe_types(survey) {
        output.print_note(types);
    }
    Ok(())
}

/// Returns [`CliError::Interrupted`] on Ctrl-C.
async fn import_unless_interrupted(
    client: &Client,
    output: &Output,
    plan: &Plan,
    target: &Target,
) -> Result<Imported, CliError> {
    let mut reporter = ProgressReporter::new(*output);
    let import = import_edits(client, plan, target, |progress| reporter.report(progress));
    let import_result = tokio::select! {
        result = import => Some(result),
        // An import can be cancelled at any point: the journal is written before each request, so
        // that the import can be resumed.
        _ = tokio::signal::ctrl_c() => None,
    };
    reporter.end();
    let Some(import_result) = import_result else {
        let committed_cells = reporter.committed_cells;
        return Err(CliError::Interrupted { committed_cells, cells: plan.cells });
    };
    Ok(import_result?)
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

/// Shows an import's progress as a bar on a terminal, or else as periodic lines. Shows nothing with
/// `--json`.
struct ProgressReporter {
    output: Output,
    bar: Option<indicatif::ProgressBar>,
    committed_cells: usize,
    /// Percentage at which the next progress line is printed, or `None` after the last line.
    next_line_percent: Option<usize>,
}

impl ProgressReporter {
    fn new(output: Output) -> Self {
        let bar = new_progress_bar(output, BAR_TEMPLATE);
        Self { output, bar, committed_cells: 0, next_line_percent: Some(0) }
    }

    fn report(&mut self, progress: EditsProgress) {
        self.committed_cells = progress.committed_cells;
        if let Some(bar) = &self.bar {
            bar.set_length(u64::try_from(progress.cells).unwrap_or(u64::MAX));
            bar.set_position(u64::try_from(progress.committed_cells).unwrap_or(u64::MAX));
        } else if self.take_due_line(progress) {
            let cells = count(progress.cells, "cell", "cells");
            self.output.print_note(format!("{} of {cells}", grouped(progress.committed_cells)));
        }
    }

    /// Returns whether a progress line must be printed now. If so, schedules the next line.
    fn take_due_line(&mut self, progress: EditsProgress) -> bool {
        let EditsProgress { committed_cells, cells } = progress;
        let percent = committed_cells.saturating_mul(100).checked_div(cells).unwrap_or(100);
        let is_due = self.next_line_percent.is_some_and(|due_percent| percent >= due_percent);
        if committed_cells == 0 || !is_due {
            return false;
        }
        self.next_line_percent = match percent {
            0..100 => Some((percent + PRINT_EVERY_PERCENT).min(100)),
            // The final line is printed only once.
            _ => None,
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
            ProgressReporter { output, bar: None, committed_cells: 0, next_line_percent: Some(0) };
        let mut due = |batch: usize, cells: usize| -> Vec<usize> {
            reporter.next_line_percent = Some(0);
            // The import reports completion twice: after the last batch, and again when nothing is
            // left to send.
            let reports = (0..cells).step_by(batch).chain([cells, cells]);
            reports
                .filter(|&committed_cells| {
                    reporter.take_due_line(EditsProgress { committed_cells, cells })
                })
                .collect()
        };
        assert_eq!(due(1, 100), [1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 100]);
        let of_many = due(5_375, 80_000);
        assert!(of_many.len() <= 11 && of_many.ends_with(&[80_000]), "{of_many:?}");
        assert_eq!(due(1, 1), [1]);
    }
}
