//! The command `cellar import` imports each sheet of a file as a new sheet.

use std::path::Path;
use std::time::{Duration, Instant};

use cellar_api::wire::{Head, ReversalReport};
use cellar_base::identity::LogId;
use cellar_catalog::spreadsheet::Name;
use serde_json::json;

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
use crate::import::sheets::{
    self, FileSummary, Imported, ImportedSheet, JournalKey, ProgressMonitor, Target, UploadProgress,
};
use crate::import::{FileFormat, ImportError, ReadOptions, detect_format, name_of_file};
use crate::text::{escape, shell_quoted};

const PROGRESS_INTERVAL_MS: u64 = 100;
/// Used if stderr is not a terminal.
const LINE_INTERVAL_S: u64 = 10;
const BAR_TEMPLATE: &str = "{bar:30} {percent} %, {msg}, {eta} left";
const MAX_LISTED_SHEETS: usize = 10;
const FOLLOWED_INCOMPLETE: &str = "Too many formulas refer to the replaced sheet: some of them show #REF! now. \
                                   `cellar undo` takes the import back.";

pub(super) async fn print_dry_run(output: &Output, args: &args::Import) -> Result<(), CliError> {
    let options = read_options(args)?;
    let started = Instant::now();
    let progress = ProgressMonitor::default();
    let examination = sheets::examine_file(&args.file, &options, &progress);
    let file = show_progress(*output, &progress, examination).await?;
    if args.strict {
        file.require_all_imported()?;
    }
    let hint = delimiter_hint(&args.file, file.survey.as_ref());
    output.print_json(&json!({
        "dryRun": true,
        "sheets": sheets_as_json(&file.sheets),
        "cells": count_cells(&file.sheets),
        "hidden": file.hidden,
        "names": file.names,
        "notImported": not_imported_as_json(&file.not_imported),
        "delimiter": delimiter_as_json(file.survey.as_ref()),
        "encoding": encoding_as_json(file.survey.as_ref()),
        "types": columns::types_as_json(file.survey.as_ref()),
        "seconds": started.elapsed().as_secs_f64(),
        "hint": hint,
    }))?;
    output
        .print_line(format!("{}; nothing was sent", describe_contents(&args.file, &file.sheets)))?;
    list_sheets(output, &file.sheets)?;
    print_notes(output, &file, &options, hint.as_deref());

    Ok(())
}

pub(super) async fn import_as_new_sheets(
    context: &mut Context,
    output: &Output,
    args: &args::Import,
    named_target: Option<NamedSpreadsheet>,
) -> Result<(), CliError> {
    let into = named_target.as_ref().map(|target| target.id);
    let options = read_options(args)?;
    let client = context.client()?;
    let file_path = std::path::absolute(&args.file)?;
    let target = import_target(context, &client, args, &options, &file_path, into);
    let started = Instant::now();
    if args.strict {
        check_strictly(output, &file_path, &options).await?;
    }
    let progress = ProgressMonitor::default();
    let import = sheets::import_sheets(&client, &file_path, &options, &target, &progress);
    let imported = show_progress(*output, &progress, import).await?;
    let written_to = match named_target {
        Some(target) => target,
        None => select_new_spreadsheet(context, output, args, imported.spreadsheet)?,
    };
    record_import_position(context, &client, &imported);
    let survey = imported.file.as_ref().and_then(|file| file.survey.as_ref());
    let hint = delimiter_hint(&args.file, survey);
    let seconds = started.elapsed().as_secs_f64();
    let destination = context.destination(written_to)?;
    let progress = progress.current();
    let report = ImportReport { imported, progress, seconds, hint, destination };
    report.print(output, args, &options)?;
    output.print_note(next_command_note(&report.imported, into));
    report.destination.print(*output);
    Ok(())
}

fn select_new_spreadsheet(
    context: &mut Context,
    output: &Output,
    args: &args::Import,
    id: LogId,
) -> Result<NamedSpreadsheet, CliError> {
    let name = new_name(args).map(|name| name.to_string()).unwrap_or_default();
    let created = NamedSpreadsheet { id, name: Some(name) };
    context.select(&created, output)?;
    Ok(created)
}

/// A file name that is not a valid name results in a spreadsheet without a name.
fn new_name(args: &args::Import) -> Option<Name> {
    args.name.clone().or_else(|| name_of_file(&args.file))
}

/// Reads the whole file, because nothing may be created if it has contents that are not imported.
async fn check_strictly(
    output: &Output,
    file_path: &Path,
    options: &ReadOptions,
) -> Result<(), CliError> {
    if detect_format(file_path)? == FileFormat::Csv {
        return Ok(());
    }
    let progress = ProgressMonitor::default();
    let examination = sheets::examine_file(file_path, options, &progress);
    Ok(show_progress(*output, &progress, examination).await?.require_all_imported()?)
}

fn import_target(
    context: &Context,
    client: &Client,
    args: &args::Import,
    options: &ReadOptions,
    file_path: &Path,
    into: Option<LogId>,
) -> Target {
    let key = JournalKey {
        cloud: client.identity(),
        subject: client.subject(),
        file: file_path,
        options,
        into,
        replace: args.replace.as_deref(),
    };
    Target {
        into,
        name: new_name(args),
        replace: args.replace.clone(),
        journal: key.path(&context.directory),
        restart: args.restart,
    }
}

fn record_import_position(context: &Context, client: &Client, imported: &Imported) {
    if let Some(incarnation) = imported.incarnation {
        let read_at = Head { head: imported.position, incarnation };
        let spreadsheet = client.spreadsheet(imported.spreadsheet);
        context.record_seen(&spreadsheet, read_at, imported.first_sheet);
    }
}

struct ImportReport {
    imported: Imported,
    progress: UploadProgress,
    seconds: f64,
    hint: Option<String>,
    destination: Destination,
}

impl ImportReport {
    fn print(
        &self,
        output: &Output,
        args: &args::Import,
        options: &ReadOptions,
    ) -> Result<(), CliError> {
        output.print_json(&self.destination.add_to(&self.to_json()))?;
        output.print_line(self.summary(&args.file))?;
        list_sheets(output, &self.imported.sheets)?;
        if let Some(followed) = &self.imported.followed {
            print_followed(output, followed)?;
        }
        match &self.imported.file {
            Some(file) => print_notes(output, file, options, self.hint.as_deref()),
            None => output.print_note(
                "The file had already been uploaded by an interrupted import, which is now complete.",
            ),
        }

        Ok(())
    }

    fn to_json(&self) -> serde_json::Value {
        let file = self.imported.file.as_ref();
        let survey = file.and_then(|file| file.survey.as_ref());
        json!({
            "spreadsheet": self.imported.spreadsheet,
            "position": self.imported.position,
            "sheets": sheets_as_json(&self.imported.sheets),
            "cells": count_cells(&self.imported.sheets),
            "followed": self.imported.followed.map(|followed| followed.restored),
            "followedIncomplete": self.imported.followed.map(|followed| followed.formulas_incomplete),
            "hidden": file.map(|file| file.hidden),
            "names": file.map(|file| file.names),
            "notImported": file.map(|file| not_imported_as_json(&file.not_imported)),
            "delimiter": delimiter_as_json(survey),
            "encoding": encoding_as_json(survey),
            "types": columns::types_as_json(survey),
            "objects": self.progress.objects,
            "objectBytes": self.progress.object_bytes,
            "seconds": self.seconds,
            "resumed": file.is_none(),
            "hint": self.hint,
        })
    }

    fn summary(&self, file_path: &Path) -> String {
        let Self { imported, progress, seconds, .. } = self;
        let contents = describe_contents(file_path, &imported.sheets);
        let sheet = match imported.sheets.as_slice() {
            [sheet] => format!("sheet {} of ", escape(&sheet.name)),
            _ => String::new(),
        };
        let upload = match progress.objects {
            0 => String::new(),
            object_count => format!(
                ", uploaded as {} bytes in {}",
                grouped(progress.object_bytes),
                count(object_count, "object", "objects")
            ),
        };
        format!("{contents} in {sheet}{}{upload}, {seconds:.1} s", imported.spreadsheet)
    }
}

/// Fails if the user presses Ctrl-C.
async fn show_progress<T>(
    output: Output,
    progress: &ProgressMonitor,
    import: impl Future<Output = Result<T, ImportError>>,
) -> Result<T, CliError> {
    let mut import = std::pin::pin!(import);
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    let mut ticks = tokio::time::interval(Duration::from_millis(PROGRESS_INTERVAL_MS));
    let mut reporter = ProgressReporter::new(output);
    loop {
        tokio::select! {
            result = &mut import => {
                reporter.end();
                return Ok(result?);
            }
            _ = ticks.tick() => reporter.report(progress.current()),
            // An import can be cancelled at any point: the journal is written before each request,
            // so that the import can be resumed.
            _ = &mut interrupt => {
                reporter.end();
                return Err(interruption_error(progress.current()));
            }
        }
    }
}

fn interruption_error(progress: UploadProgress) -> CliError {
    if progress.is_appending {
        CliError::InterruptedDuringAppend
    } else {
        CliError::InterruptedBeforeAppend
    }
}

fn count_cells(sheets: &[ImportedSheet]) -> u64 {
    sheets.iter().map(|sheet| sheet.cells).sum()
}

fn sheets_as_json(sheets: &[ImportedSheet]) -> serde_json::Value {
    let sheet_as_json = |sheet: &ImportedSheet| {
        json!({
            "name": sheet.name,
            "rows": sheet.extent.rows,
            "columns": sheet.extent.columns,
            "cells": sheet.cells,
        })
    };
    sheets.iter().map(sheet_as_json).collect()
}

/// A file with one sheet is described like `airports.csv: 3,377 rows, 7 columns, 23,639 cells`, and
/// a file with several sheets like `budget.xlsx: 3 sheets, 40 cells`.
fn describe_contents(file: &Path, sheets: &[ImportedSheet]) -> String {
    let cells = count(count_cells(sheets), "cell", "cells");
    let file_name = file.display();
    if let [sheet] = sheets {
        let rows = count(sheet.extent.rows, "row", "rows");
        let columns = count(sheet.extent.columns, "column", "columns");
        return format!("{file_name}: {rows}, {columns}, {cells}");
    }
    format!("{file_name}: {}, {cells}", count(sheets.len(), "sheet", "sheets"))
}

fn list_sheets(output: &Output, sheets: &[ImportedSheet]) -> Result<(), CliError> {
    if sheets.len() < 2 {
        return Ok(());
    }
    for sheet in sheets.iter().take(MAX_LISTED_SHEETS) {
        let extent = sheet.extent;
        output.print_line(format!(
            "  {}: {}, {}, {}",
            escape(&sheet.name),
            count(extent.rows, "row", "rows"),
            count(extent.columns, "column", "columns"),
            count(sheet.cells, "cell", "cells"),
        ))?;
    }
    if sheets.len() > MAX_LISTED_SHEETS {
        let omitted_count = grouped(sheets.len() - MAX_LISTED_SHEETS);
        output
            .print_line(format!("  and {omitted_count} more (list them with `cellar sheets`)"))?;
    }
    Ok(())
}

fn print_followed(output: &Output, followed: &ReversalReport) -> Result<(), CliError> {
    if !followed.restored.is_zero() {
        output.print_line(format!("refer to the new sheet now: {}", followed.restored))?;
    }
    if followed.formulas_incomplete {
        output.print_note(FOLLOWED_INCOMPLETE);
    }
    Ok(())
}

fn print_notes(output: &Output, file: &FileSummary, options: &ReadOptions, hint: Option<&str>) {
    if let Some(detected) = describe_detected(file.survey.as_ref(), options) {
        output.print_note(detected);
    }
    if let Some(types) = columns::describe_types(file.survey.as_ref()) {
        output.print_note(types);
    }
    if file.hidden > 0 {
        let sheets = count(file.hidden, "sheet is", "sheets are");
        output.print_note(format!("{sheets} hidden in the file, but visible in Cellar."));
    }
    if file.names > 0 {
        let names = count(file.names, "name", "names");
        output.print_note(format!("{names} for formulas; `cellar names` lists them."));
    }
    if let Some(note) = not_imported_note(&file.not_imported) {
        output.print_note(note);
    }
    if let Some(hint) = hint {
        output.print_note(hint);
    }
}

fn next_command_note(imported: &Imported, into: Option<LogId>) -> String {
    match (into, imported.sheets.first()) {
        (Some(into), Some(sheet)) => {
            format!("Next: cellar get -s {into} --sheet {}", shell_quoted(&sheet.name))
        }
        _ => "Next: cellar get".to_owned(),
    }
}

/// Shows an import's progress as a bar on a terminal, or else as periodic lines. Shows nothing with
/// `--json`.
struct ProgressReporter {
    output: Output,
    bar: Option<indicatif::ProgressBar>,
    last_line: Instant,
}

impl ProgressReporter {
    fn new(output: Output) -> Self {
        let bar = new_progress_bar(output, BAR_TEMPLATE);
        Self { output, bar, last_line: Instant::now() }
    }

    fn report(&mut self, progress: UploadProgress) {
        if let Some(bar) = &self.bar {
            bar.set_length(progress.read.total.max(1));
            bar.set_position(progress.read.done);
            bar.set_message(describe_progress(progress));
        } else if self.last_line.elapsed() >= Duration::from_secs(LINE_INTERVAL_S) {
            self.last_line = Instant::now();
            let percent = percent_read(progress);
            self.output.print_note(format!("{percent} % read, {}", describe_progress(progress)));
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn percent_read(progress: UploadProgress) -> u64 {
    let read = progress.read;
    read.done.saturating_mul(100).checked_div(read.total).unwrap_or(0).min(100)
}

fn describe_progress(progress: UploadProgress) -> String {
    let cells = count(progress.cells, "cell", "cells");
    let megabytes = progress.object_bytes / 1_000_000;
    let objects = count(progress.objects, "object", "objects");
    format!("{cells}, {} MB uploaded in {objects}", grouped(megabytes))
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
    fn describes_the_contents_of_a_file() {
        let file = Path::new("a.csv");
        let one = describe_contents(file, &[sheet("a")]);
        assert_eq!(one, "a.csv: 1,462 rows, 6 columns, 8,000 cells");
        assert_eq!(
            describe_contents(file, &[sheet("a"), sheet("b")]),
            "a.csv: 2 sheets, 16,000 cells"
        );
    }

    #[test]
    fn progress_is_at_most_100_percent() {
        let at = |done, total| {
            percent_read(UploadProgress {
                read: ReadProgress { done, total },
                ..UploadProgress::default()
            })
        };
        assert_eq!([at(0, 0), at(1, 3), at(3, 3), at(4, 3)], [0, 33, 100, 100]);
    }
}
