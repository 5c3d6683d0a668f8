//! `cellar export`

use std::io::{self, IsTerminal as _, Seek as _};
use std::path::Path;

use cellar_base::identity::LogId;
use cellar_base::position::Position;

use super::args::{self, ExportFormat};
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use super::warnings;
use crate::export::{CsvStyle, ExportError, Exported, ExportedSheet, fetch_csv, fetch_xlsx};
use crate::text::escape;
use crate::user_file::replaces_data;
use crate::{CellsQuery, Client};

/// Interval of the spinner animation, in milliseconds.
const SPINNER_INTERVAL_MS: u64 = 100;

pub(super) async fn export_file(
    context: &Context,
    output: &Output,
    args: args::Export,
) -> Result<(), CliError> {
    let format = choose_format(&args)?;
    let to_stdout = args.file == Path::new("-");
    if to_stdout && output.json {
        return Err(CliError::usage(
            "--json and - both write to standard output",
            "export to a file, or omit --json",
        ));
    }
    if to_stdout && format == ExportFormat::Xlsx && io::stdout().is_terminal() {
        return Err(CliError::usage(
            "xlsx is a binary format and cannot be written to a terminal",
            "export to a file: cellar export FILE.xlsx",
        ));
    }
    // Check before reading the cells. Writing the file repeats the check.
    if !to_stdout && !args.force && replaces_data(&args.file) {
        return Err(ExportError::Exists { path: args.file }.into());
    }
    let client = context.client()?;
    let exported = export(context, output, &client, &args, format).await?;
    let spreadsheet = context.spreadsheet()?;
    let is_single_sheet = format != ExportFormat::Xlsx && args.sheet.is_none();
    let omitted_sheets = if is_single_sheet {
        count_other_sheets(&client, spreadsheet, exported.position).await
    } else {
        0
    };
    if omitted_sheets > 0 {
        let sheets = count(omitted_sheets, "other sheet was", "other sheets were");
        output.note(format!(
            "{sheets} not exported; select a sheet with --sheet, or export all sheets to FILE.xlsx"
        ));
    }
    let total = |value: fn(&ExportedSheet) -> u64| exported.sheets.iter().map(value).sum();
    let formulas = warnings::exported_formulas(total(|sheet| sheet.formulas));
    let texts = warnings::formula_like_texts(total(|sheet| sheet.formula_like_texts));
    let warnings: Vec<String> = formulas.into_iter().chain(texts).collect();
    output.warn(&warnings);
    if to_stdout {
        return Ok(());
    }
    if args.at.is_none() {
        let first = exported.sheets.first().filter(|_| args.sheet.is_none());
        let at = (exported.position, exported.incarnation);
        context.record_seen(&client, spreadsheet, at, first.map(|sheet| sheet.sheet));
    }
    let sheets = exported.sheets.iter().map(|sheet| {
        serde_json::json!({
            "name": sheet.name,
            "rows": sheet.rows,
            "columns": sheet.columns,
            "cells": sheet.cells,
        })
    });
    output.result(&serde_json::json!({
        "spreadsheet": spreadsheet,
        "file": args.file.display().to_string(),
        "position": exported.position,
        "cells": count_cells(&exported),
        "sheets": sheets.collect::<Vec<_>>(),
        "sheets_left_out": omitted_sheets,
        "warnings": warnings,
    }))?;
    output.say(summary(&args.file, &exported))?;
    Ok(())
}

/// Reads the cells and writes the file.
async fn export(
    context: &Context,
    output: &Output,
    client: &Client,
    args: &args::Export,
    format: ExportFormat,
) -> Result<Exported, CliError> {
    let spreadsheet = context.spreadsheet()?;
    let min_position = context.seen_position(client, spreadsheet);
    let (sheet, at) = (args.sheet.clone(), args.at);
    let query = CellsQuery { sheet, at, min_position, ..CellsQuery::default() };
    let to_stdout = args.file == Path::new("-");
    let spinner = Spinner::new(output);
    let report_progress = |cells| spinner.show_cells(cells);
    if format == ExportFormat::Xlsx {
        let fetched = fetch_xlsx(client, spreadsheet, query, report_progress).await?;
        spinner.end();
        if !to_stdout {
            return Ok(fetched.write_file(&args.file, args.force)?);
        }
        // Writing XLSX requires seeking, which a pipe does not support.
        let mut buffer = tempfile::tempfile()?;
        let exported = fetched.write_to(&mut buffer)?;
        buffer.rewind()?;
        io::copy(&mut buffer, &mut io::stdout().lock())?;
        return Ok(exported);
    }
    let delimiter = if format == ExportFormat::Tsv { b'\t' } else { b',' };
    let style =
        CsvStyle { delimiter, formulas: args.formulas, escape_formulas: args.escape_formulas };
    let fetched = fetch_csv(client, spreadsheet, query, style, report_progress).await?;
    spinner.end();
    if to_stdout {
        Ok(fetched.write_to(io::stdout().lock())?)
    } else {
        Ok(fetched.write_file(&args.file, args.force)?)
    }
}

/// Returns the number of sheets after the first one, or 0 if the sheets cannot be read.
async fn count_other_sheets(client: &Client, spreadsheet: LogId, at: Position) -> usize {
    let sheets = client.sheets(spreadsheet, Some(at), None).await;
    sheets.map_or(0, |reply| reply.sheets.len().saturating_sub(1))
}

/// Returns the format option, which defaults to the format of the file extension.
fn choose_format(args: &args::Export) -> Result<ExportFormat, CliError> {
    let extension = args.file.extension().unwrap_or_default().to_ascii_lowercase();
    let format = match (args.format, extension.to_str().unwrap_or_default()) {
        (Some(format), _) => format,
        (None, "xlsx") => ExportFormat::Xlsx,
        (None, "tsv" | "tab") => ExportFormat::Tsv,
        (None, other @ ("xls" | "xlsm" | "xlsb" | "ods" | "numbers" | "json" | "parquet")) => {
            return Err(CliError::usage(
                format!("cannot export to the format {other}"),
                "pass a .csv, .tsv or .xlsx file, or --format",
            ));
        }
        (None, _) => ExportFormat::Csv,
    };
    if format == ExportFormat::Xlsx && args.escape_formulas {
        return Err(CliError::usage(
            "--escape-formulas applies to csv only",
            "omit --escape-formulas; xlsx distinguishes texts from formulas",
        ));
    }
    if format == ExportFormat::Xlsx && args.formulas {
        return Err(CliError::usage(
            "--formulas applies to csv only",
            "omit --formulas; xlsx contains formulas and their results",
        ));
    }
    Ok(format)
}

fn count_cells(exported: &Exported) -> u64 {
    exported.sheets.iter().map(|sheet| sheet.cells).sum()
}

fn summary(file: &Path, exported: &Exported) -> String {
    let cells = count(count_cells(exported), "cell", "cells");
    let (file, position) = (file.display(), exported.position);
    match exported.sheets.as_slice() {
        [sheet] => {
            let rows = count(sheet.rows, "row", "rows");
            let columns = count(sheet.columns, "field", "fields");
            let name = escape(&sheet.name);
            format!("{file}: {rows} of {columns}, {cells}, sheet {name} at {position}")
        }
        sheets => {
            let sheets = count(sheets.len(), "sheet", "sheets");
            format!("{file}: {sheets}, {cells}, at {position}")
        }
    }
}

/// Shows the number of cells read so far, on a terminal only.
struct Spinner(indicatif::ProgressBar);

impl Spinner {
    fn new(output: &Output) -> Self {
        // indicatif draws nothing if stderr is not a terminal.
        let bar = if output.json {
            indicatif::ProgressBar::hidden()
        } else {
            indicatif::ProgressBar::new_spinner()
        };
        bar.enable_steady_tick(std::time::Duration::from_millis(SPINNER_INTERVAL_MS));
        Self(bar)
    }

    fn show_cells(&self, cells: u64) {
        self.0.set_message(count(cells, "cell", "cells"));
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_depends_on_the_extension_unless_passed() {
        let format = |file: &str, format| {
            choose_format(&args::Export {
                file: file.into(),
                format,
                at: None,
                sheet: None,
                formulas: false,
                escape_formulas: false,
                force: false,
            })
        };
        for (file, given, expected) in [
            ("a.csv", None, ExportFormat::Csv),
            ("a.XLSX", None, ExportFormat::Xlsx),
            ("a.tsv", None, ExportFormat::Tsv),
            ("a.txt", None, ExportFormat::Csv),
            ("-", None, ExportFormat::Csv),
            ("a.csv", Some(ExportFormat::Xlsx), ExportFormat::Xlsx),
            ("a.ods", Some(ExportFormat::Csv), ExportFormat::Csv),
        ] {
            assert_eq!(format(file, given).unwrap(), expected, "{file}");
        }
        assert!(matches!(format("a.ods", None), Err(CliError::Usage { .. })));
    }
}
