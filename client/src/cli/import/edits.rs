//! Cells of a file as edits of a sheet that is there.

use std::path::Path;

use cellar_base::identity::LogId;
use cellar_sheet::a1::CellName;

use super::{args, columns, read_options};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::output::{Output, count, grouped};
use crate::cli::warnings;
use crate::import::delimiter_hint;
use crate::import::edits::{EditsProgress, JournalKey, Plan, Target, run as send};

/// Without a terminal, a line each time this share of the cells is done, percent.
const LINE_EVERY_PERCENT: usize = 10;

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: &args::Import,
    into: LogId,
    sheet: &str,
) -> Result<(), CliError> {
    let options = read_options(args)?;
    let at = args.cell.unwrap_or(CellName { row: 0, column: 0 });
    let client = context.client()?;
    let plan = Plan::read(&args.file, &options, at)?;
    // Before anything is sent: there is time to think again.
    let survey = plan.survey.as_ref();
    let hint = survey.and_then(|it| delimiter_hint(&args.file, it, options.delimiter));
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
    let mut reporter = Reporter::new(*output, plan.cells);
    let imported = tokio::select! {
        imported = send(&client, &plan, &target, |progress| reporter.report(progress)) => imported,
        // The journal is always ahead of what is sent: stopping anywhere is safe.
        _ = tokio::signal::ctrl_c() => {
            reporter.end();
            return Err(CliError::Stopped { done: reporter.done, cells: plan.cells });
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
        "resumed": imported.resumed,
        "types": columns::for_programs(survey),
        "hint": hint,
        "warnings": warnings,
    }))?;
    output.say(summary(&args.file, &plan, &target))?;
    if let Some(types) = columns::for_people(survey) {
        output.note(types);
    }
    output.warn(&warnings);
    let sheet = columns::quoted(&target.sheet);
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
        crate::table::escape(&target.sheet),
        target.into,
    )
}

/// Whole cells a second: fractions would only flicker.
fn rate(state: &indicatif::ProgressState, text: &mut dyn std::fmt::Write) {
    let whole: u64 = format!("{:.0}", state.per_sec()).parse().unwrap_or(0);
    // Writing to a String cannot fail.
    let _ = text.write_str(&grouped(whole));
}

/// Shows progress: a bar on a terminal, lines elsewhere, nothing for programs.
struct Reporter {
    output: Output,
    bar: Option<indicatif::ProgressBar>,
    done: usize,
    next_line: usize,
}

impl Reporter {
    fn new(output: Output, cells: usize) -> Self {
        let on_terminal = console::user_attended_stderr() && !output.json;
        let bar = on_terminal.then(|| {
            let bar = indicatif::ProgressBar::new(u64::try_from(cells).unwrap_or(u64::MAX));
            let template = "{bar:30} {human_pos} of {human_len} cells, {rate} a second, {eta} left";
            let style = indicatif::ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar());
            bar.with_style(style.with_key("rate", rate))
        });
        Self { output, bar, done: 0, next_line: 0 }
    }

    fn report(&mut self, progress: EditsProgress) {
        self.done = progress.done;
        let position = u64::try_from(progress.done).unwrap_or(u64::MAX);
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        } else if self.is_line_due(progress) {
            let cells = count(progress.cells, "cell", "cells");
            self.output.note(format!("{} of {cells}", grouped(position)));
        }
    }

    fn is_line_due(&mut self, progress: EditsProgress) -> bool {
        let percent = progress.done.saturating_mul(100).checked_div(progress.cells).unwrap_or(100);
        let due = progress.done > 0 && percent >= self.next_line;
        if due {
            // The end always has its line, and only one.
            let next = percent.saturating_add(LINE_EVERY_PERCENT).min(100);
            self.next_line = if percent >= 100 { usize::MAX } else { next };
        }
        due
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
    fn lines_come_now_and_then_and_at_the_end() {
        let mut reporter = Reporter { output: Output::new(true), bar: None, done: 0, next_line: 0 };
        let mut due = |batch: usize, cells: usize| -> Vec<usize> {
            reporter.next_line = 0;
            // The end is reported twice: with the last batch, and when everything is found sent.
            let reports = (0..cells).step_by(batch).chain([cells, cells]);
            reports
                .filter(|done| reporter.is_line_due(EditsProgress { done: *done, cells }))
                .collect()
        };
        assert_eq!(due(1, 100), [1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 100]);
        let of_many = due(5_375, 80_000);
        assert!(of_many.len() <= 11 && of_many.ends_with(&[80_000]), "{of_many:?}");
        assert_eq!(due(1, 1), [1]);
    }
}
