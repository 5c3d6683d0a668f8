//! A file as sheets of its own.

use std::path::Path;
use std::time::{Duration, Instant};

use cellar_base::identity::LogId;
use cellar_catalog::spreadsheet::Name;
use serde_json::json;

use super::{args, columns, read_options};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::output::{Output, count, grouped};
use crate::cli::warnings;
use crate::import::sheets::{
    self, Imported, ImportedSheet, JournalKey, Looked, Target, UploadProgress, Watch,
};
use crate::import::{ImportError, ReadOptions, delimiter_hint};
use crate::table::escape;

/// How often progress is looked at, milliseconds.
const TICK_MS: u64 = 100;
/// Without a terminal, seconds between two lines.
const LINE_EVERY_S: u64 = 10;
/// Sheets that a summary lists.
const SHOWN_SHEETS: usize = 10;

/// Reads the file, and says what an import would do.
pub(super) async fn look(output: &Output, args: &args::Import) -> Result<(), CliError> {
    let options = read_options(args)?;
    let begun = Instant::now();
    let watch = Watch::default();
    let looked = sheets::look(&args.file, &options, &watch);
    let looked = watched(*output, &watch, looked).await?;
    let hint = hint(args, &options, &looked);
    let warnings = warnings_of(&watch);
    output.result(&json!({
        "dryRun": true,
        "sheets": for_programs(&looked.sheets),
        "cells": cells(&looked.sheets),
        "hidden": looked.hidden,
        "types": columns::for_programs(looked.survey.as_ref()),
        "seconds": begun.elapsed().as_secs_f64(),
        "hint": hint,
        "warnings": warnings,
    }))?;
    output.say(format!("{}; nothing was sent", contents(&args.file, &looked.sheets)))?;
    list(output, &looked.sheets)?;
    notes(output, &looked, hint.as_deref());
    output.warn(&warnings);
    Ok(())
}

/// Warnings about formulas: Cellar cannot calculate them yet.
fn warnings_of(watch: &Watch) -> Vec<String> {
    warnings::imported_formulas(watch.now().formulas).into_iter().collect()
}

/// What a new spreadsheet is called: as they say, or as the file.
fn name(args: &args::Import) -> Option<Name> {
    let of_file = || Name::new(args.file.file_stem()?.to_str()?).ok();
    args.name.clone().or_else(of_file)
}

pub(super) async fn run(
    context: &mut Context,
    output: &Output,
    args: &args::Import,
    into: Option<LogId>,
) -> Result<(), CliError> {
    let options = read_options(args)?;
    let client = context.client()?;
    let file = std::path::absolute(&args.file)?;
    let subject = context.subject();
    let key = JournalKey {
        cloud: client.identity(),
        subject: &subject,
        file: &file,
        options: &options,
        into,
        replace: args.replace.as_deref(),
    };
    let (journal, restart) = (key.path(&context.directory), args.restart);
    let (name, replace) = (name(args), args.replace.clone());
    let target = Target { into, name, replace, journal, restart };
    let begun = Instant::now();
    let watch = Watch::default();
    let imported = sheets::run(&client, &file, &options, &target, &watch);
    let imported = watched(*output, &watch, imported).await?;
    if into.is_none() {
        context.remember(imported.spreadsheet, output)?;
    }
    if let Some(incarnation) = imported.incarnation {
        let at = (imported.position, incarnation);
        context.saw(&client, imported.spreadsheet, at, imported.first_sheet);
    }
    let looked = imported.looked.as_ref();
    let hint = looked.and_then(|looked| hint(args, &options, looked));
    let warnings = warnings_of(&watch);
    let (progress, seconds) = (watch.now(), begun.elapsed().as_secs_f64());
    output.result(&json!({
        "spreadsheet": imported.spreadsheet,
        "position": imported.position,
        "sheets": for_programs(&imported.sheets),
        "cells": cells(&imported.sheets),
        "hidden": looked.map(|looked| looked.hidden),
        "types": columns::for_programs(looked.and_then(|looked| looked.survey.as_ref())),
        "objects": progress.objects,
        "objectBytes": progress.object_bytes,
        "seconds": seconds,
        "resumed": looked.is_none(),
        "hint": hint,
        "warnings": warnings,
    }))?;
    output.say(summary(&args.file, &imported, progress, seconds))?;
    list(output, &imported.sheets)?;
    match looked {
        Some(looked) => notes(output, looked, hint.as_deref()),
        None => output.note("An interrupted run had sent all of it: this one only made sure."),
    }
    output.warn(&warnings);
    output.note(next(&imported, into));
    Ok(())
}

/// Waits for an import, and shows how far it is.
async fn watched<T>(
    output: Output,
    watch: &Watch,
    import: impl Future<Output = Result<T, ImportError>>,
) -> Result<T, CliError> {
    let mut import = std::pin::pin!(import);
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    let mut ticks = tokio::time::interval(Duration::from_millis(TICK_MS));
    let mut reporter = Reporter::new(output);
    loop {
        tokio::select! {
            done = &mut import => {
                reporter.end();
                return Ok(done?);
            }
            _ = ticks.tick() => reporter.report(watch.now()),
            // The journal is always ahead of what is sent: stopping anywhere is safe.
            _ = &mut interrupt => {
                reporter.end();
                let at_the_end = watch.now().is_appending;
                return Err(match at_the_end {
                    true => CliError::StoppedAtTheEnd,
                    false => CliError::StoppedBefore,
                });
            }
        }
    }
}

fn hint(args: &args::Import, options: &ReadOptions, looked: &Looked) -> Option<String> {
    delimiter_hint(&args.file, looked.survey.as_ref()?, options.delimiter)
}

fn cells(sheets: &[ImportedSheet]) -> u64 {
    sheets.iter().map(|sheet| sheet.cells).sum()
}

fn for_programs(sheets: &[ImportedSheet]) -> serde_json::Value {
    let sheet = |sheet: &ImportedSheet| {
        let extent = sheet.extent;
        json!({
            "name": sheet.name,
            "rows": extent.rows,
            "columns": extent.columns,
            "cells": sheet.cells,
        })
    };
    sheets.iter().map(sheet).collect()
}

/// `airports.csv: 3,377 rows, 7 columns, 23,639 cells`, or `budget.xlsx: 3 sheets, 40 cells`.
fn contents(file: &Path, sheets: &[ImportedSheet]) -> String {
    let cells = count(cells(sheets), "cell", "cells");
    let file = file.display();
    match sheets {
        [sheet] => {
            let rows = count(sheet.extent.rows, "row", "rows");
            let columns = count(sheet.extent.columns, "column", "columns");
            format!("{file}: {rows}, {columns}, {cells}")
        }
        sheets => {
            let sheets = count(sheets.len(), "sheet", "sheets");
            format!("{file}: {sheets}, {cells}")
        }
    }
}

fn summary(file: &Path, imported: &Imported, progress: UploadProgress, seconds: f64) -> String {
    let sheet = match imported.sheets.as_slice() {
        [sheet] => format!("sheet {} of ", escape(&sheet.name)),
        _ => String::new(),
    };
    let sent = match progress.objects {
        0 => String::new(),
        objects => format!(
            ", sent as {} bytes in {}",
            grouped(progress.object_bytes),
            count(objects, "object", "objects")
        ),
    };
    let contents = contents(file, &imported.sheets);
    format!("{contents} in {sheet}{}{sent}, {seconds:.1} s", imported.spreadsheet)
}

/// The sheets, if there are several.
fn list(output: &Output, sheets: &[ImportedSheet]) -> Result<(), CliError> {
    if sheets.len() < 2 {
        return Ok(());
    }
    for sheet in sheets.iter().take(SHOWN_SHEETS) {
        let extent = sheet.extent;
        output.say(format!(
            "  {}: {}, {}, {}",
            escape(&sheet.name),
            count(extent.rows, "row", "rows"),
            count(extent.columns, "column", "columns"),
            count(sheet.cells, "cell", "cells"),
        ))?;
    }
    let more = sheets.len().saturating_sub(SHOWN_SHEETS);
    if more > 0 {
        output.say(format!("  and {} more: cellar sheets", grouped(more)))?;
    }
    Ok(())
}

fn notes(output: &Output, looked: &Looked, hint: Option<&str>) {
    if let Some(types) = columns::for_people(looked.survey.as_ref()) {
        output.note(types);
    }
    if looked.hidden > 0 {
        let sheets = count(looked.hidden, "sheet of the file is", "sheets of the file are");
        output.note(format!("{sheets} hidden there, and shown here."));
    }
    if let Some(hint) = hint {
        output.note(hint);
    }
}

fn next(imported: &Imported, into: Option<LogId>) -> String {
    match (into, imported.sheets.first()) {
        (Some(into), Some(sheet)) => {
            format!("Next: cellar get -s {into} --sheet {}", columns::quoted(&sheet.name))
        }
        _ => "Next: cellar get".to_owned(),
    }
}

/// Shows progress: a bar on a terminal, a line now and then elsewhere, nothing for programs.
struct Reporter {
    output: Output,
    bar: Option<indicatif::ProgressBar>,
    last_line: Instant,
}

impl Reporter {
    fn new(output: Output) -> Self {
        let on_terminal = console::user_attended_stderr() && !output.json;
        let bar = on_terminal.then(|| {
            let template = "{bar:30} {percent} %, {msg}, {eta} left";
            let style = indicatif::ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar());
            indicatif::ProgressBar::new(1).with_style(style)
        });
        Self { output, bar, last_line: Instant::now() }
    }

    fn report(&mut self, progress: UploadProgress) {
        if let Some(bar) = &self.bar {
            bar.set_length(progress.read.total.max(1));
            bar.set_position(progress.read.done);
            bar.set_message(line(progress));
        } else if self.last_line.elapsed() >= Duration::from_secs(LINE_EVERY_S) {
            self.last_line = Instant::now();
            let percent = percent(progress);
            self.output.note(format!("{percent} % read, {}", line(progress)));
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn percent(progress: UploadProgress) -> u64 {
    let read = progress.read;
    read.done.saturating_mul(100).checked_div(read.total).unwrap_or(0).min(100)
}

fn line(progress: UploadProgress) -> String {
    let cells = count(progress.cells, "cell", "cells");
    let megabytes = progress.object_bytes / 1_000_000;
    let objects = count(progress.objects, "object", "objects");
    format!("{cells}, {} MB sent in {objects}", grouped(megabytes))
}

#[cfg(test)]
mod tests {
    use cellar_exchange::ImportProgress as ReadProgress;
    use cellar_sheet::metadata::Extent;

    use super::*;

    fn sheet(name: &str) -> ImportedSheet {
        let extent = Extent { rows: 1_462, columns: 6 };
        ImportedSheet { name: name.into(), extent, cells: 8_000 }
    }

    #[test]
    fn a_summary_says_what_is_in_the_file() {
        let file = Path::new("a.csv");
        let one = contents(file, &[sheet("a")]);
        assert_eq!(one, "a.csv: 1,462 rows, 6 columns, 8,000 cells");
        assert_eq!(contents(file, &[sheet("a"), sheet("b")]), "a.csv: 2 sheets, 16,000 cells");
    }

    #[test]
    fn progress_is_never_beyond_its_end() {
        let at = |done, total| {
            percent(UploadProgress {
                read: ReadProgress { done, total },
                ..UploadProgress::default()
            })
        };
        assert_eq!([at(0, 0), at(1, 3), at(3, 3), at(4, 3)], [0, 33, 100, 100]);
    }
}
