//! `cellar import`

use std::path::Path;

use super::args::{self, Delimiter, Ragged};
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count, grouped};
use crate::import::{ImportOptions, JournalKey, Plan, Progress, Target, read_file, run as send};

/// Without a terminal, a line each time this share of the cells is done, percent.
const LINE_EVERY_PERCENT: usize = 10;

pub(super) async fn run(
    context: &mut Context,
    output: &Output,
    args: args::Import,
) -> Result<(), CliError> {
    if args.file == Path::new("-") {
        return Err(CliError::usage(
            "standard input cannot be imported: an interrupted import reads its file again",
            "write it to a file first, then: cellar import FILE.csv (a file called - is ./-)",
        ));
    }
    let into = args.into.or(context.given_spreadsheet());
    let options = options(&args, into.is_some())?;
    let sheet = args.sheet.clone();
    let client = context.client()?;
    let content = read_file(&args.file)?;
    let plan = Plan::new(&content, &options)?;
    // Before anything is sent: there is time to think again.
    let hint = plan.delimiter_hint(&content, options.delimiter);
    if let Some(hint) = &hint {
        output.note(hint);
    }
    let file = std::path::absolute(&args.file)?;
    let subject = context.subject();
    let key = JournalKey {
        cloud: client.identity(),
        subject: &subject,
        file: &file,
        content: &content,
        options: &options,
        into,
        sheet: sheet.as_deref(),
    };
    let journal = key.path(&context.directory);
    let target = Target { source: file.clone(), into, sheet, journal, restart: args.restart };
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
    if into.is_none() {
        context.remember(imported.spreadsheet, output)?;
    }
    output.result(&serde_json::json!({
        "spreadsheet": imported.spreadsheet,
        "position": imported.position,
        "rows": plan.rows,
        "columns": plan.columns,
        "cells": plan.cells,
        "resumed": imported.resumed,
        "hint": hint,
    }))?;
    output.say(summary(&args.file, &plan, imported.spreadsheet.to_string().as_str()))?;
    output.note("Next: cellar get");
    Ok(())
}

fn options(args: &args::Import, into_existing: bool) -> Result<ImportOptions, CliError> {
    let first = cellar_core::a1::CellName { row: 0, column: 0 };
    if args.at != first && !into_existing {
        return Err(CliError::usage(
            "--at is a place in an existing spreadsheet",
            "give the spreadsheet with --into ID or -s ID",
        ));
    }
    if args.sheet.is_some() && !into_existing {
        return Err(CliError::usage(
            "--sheet is a sheet of an existing spreadsheet",
            "give the spreadsheet with --into ID or -s ID",
        ));
    }
    Ok(ImportOptions {
        delimiter: delimiter(args.delimiter, &args.file),
        text: args.text,
        pad: args.ragged == Ragged::Pad,
        at: args.at,
        into_existing,
    })
}

fn delimiter(given: Option<Delimiter>, file: &Path) -> u8 {
    let extension = file.extension().unwrap_or_default();
    let is_tsv = ["tsv", "tab"].iter().any(|name| extension.eq_ignore_ascii_case(name));
    match given {
        Some(Delimiter::Comma) => b',',
        Some(Delimiter::Tab) => b'\t',
        Some(Delimiter::Semicolon) => b';',
        None if is_tsv => b'\t',
        None => b',',
    }
}

fn summary(file: &Path, plan: &Plan, spreadsheet: &str) -> String {
    let cells = u64::try_from(plan.cells).unwrap_or(u64::MAX);
    format!(
        "{}: {}, {}, {} in {spreadsheet}",
        file.display(),
        count(plan.rows, "row", "rows"),
        count(plan.columns, "column", "columns"),
        count(cells, "cell", "cells"),
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

    fn report(&mut self, progress: Progress) {
        self.done = progress.done;
        let position = u64::try_from(progress.done).unwrap_or(u64::MAX);
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        } else if self.is_line_due(progress) {
            let cells = u64::try_from(progress.cells).unwrap_or(u64::MAX);
            let cells = count(cells, "cell", "cells");
            self.output.note(format!("{} of {cells}", grouped(position)));
        }
    }

    fn is_line_due(&mut self, progress: Progress) -> bool {
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
    fn the_delimiter_is_guessed_from_the_name_unless_given() {
        for (given, file, expected) in [
            (None, "a.csv", b','),
            (None, "a.TSV", b'\t'),
            (None, "a", b','),
            (Some(Delimiter::Comma), "a.tsv", b','),
            (Some(Delimiter::Semicolon), "a.csv", b';'),
        ] {
            assert_eq!(delimiter(given, Path::new(file)), expected, "{file}");
        }
    }

    #[test]
    fn lines_come_now_and_then_and_at_the_end() {
        let mut reporter = Reporter { output: Output::new(true), bar: None, done: 0, next_line: 0 };
        let mut due = |batch: usize, cells: usize| -> Vec<usize> {
            reporter.next_line = 0;
            // The end is reported twice: with the last batch, and when everything is found sent.
            let reports = (0..cells).step_by(batch).chain([cells, cells]);
            reports.filter(|done| reporter.is_line_due(Progress { done: *done, cells })).collect()
        };
        assert_eq!(due(1, 100), [1, 11, 21, 31, 41, 51, 61, 71, 81, 91, 100]);
        let of_many = due(5_375, 80_000);
        assert!(of_many.len() <= 11 && of_many.ends_with(&[80_000]), "{of_many:?}");
        assert_eq!(due(1, 1), [1]);
    }
}
