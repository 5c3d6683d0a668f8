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
use crate::table::escape;
use crate::user_file::replaces_data;
use crate::{CellsQuery, Client};

pub(super) async fn run(
    context: &Context,
    output: &Output,
    args: args::Export,
) -> Result<(), CliError> {
    let format = format(&args)?;
    let to_stdout = args.file == Path::new("-");
    if to_stdout && output.json {
        return Err(CliError::usage(
            "--json and - both want standard output",
            "export to a file, or leave out --json",
        ));
    }
    if to_stdout && format == ExportFormat::Xlsx && io::stdout().is_terminal() {
        return Err(CliError::usage(
            "a terminal cannot show xlsx",
            "export to a file: cellar export FILE.xlsx",
        ));
    }
    // Found before the work, and once more when the file is moved into place.
    if !to_stdout && !args.force && replaces_data(&args.file) {
        return Err(ExportError::Exists { path: args.file }.into());
    }
    let client = context.client()?;
    let exported = export(context, output, &client, &args, format).await?;
    let spreadsheet = context.spreadsheet()?;
    let left_out = match (format, &args.sheet) {
        (ExportFormat::Csv | ExportFormat::Tsv, None) => {
            left_out(&client, spreadsheet, exported.position).await
        }
        _ => 0,
    };
    if left_out > 0 {
        let sheets = count(left_out, "other sheet is", "other sheets are");
        output.note(format!(
            "{sheets} not in the file: name one with --sheet, or export all of them to FILE.xlsx"
        ));
    }
    let sum = |count: fn(&ExportedSheet) -> u64| exported.sheets.iter().map(count).sum();
    // A sheet as csv has no formulas, but their values, which are as old.
    let warnings: Vec<String> = [
        warnings::exported_formulas(sum(|sheet| sheet.formulas)),
        warnings::formula_like_texts(sum(|sheet| sheet.formula_like_texts)),
    ]
    .into_iter()
    .flatten()
    .collect();
    output.warn(&warnings);
    if to_stdout {
        return Ok(());
    }
    if args.at.is_none() {
        let first = exported.sheets.first().filter(|_| args.sheet.is_none());
        let at = (exported.position, exported.incarnation);
        context.saw(&client, spreadsheet, at, first.map(|sheet| sheet.sheet));
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
        "cells": cells(&exported),
        "sheets": sheets.collect::<Vec<_>>(),
        "sheets_left_out": left_out,
        "warnings": warnings,
    }))?;
    output.say(summary(&args.file, &exported))?;
    Ok(())
}

/// Reads the cells, and writes them.
async fn export(
    context: &Context,
    output: &Output,
    client: &Client,
    args: &args::Export,
    format: ExportFormat,
) -> Result<Exported, CliError> {
    let spreadsheet = context.spreadsheet()?;
    let seen = context.seen(client, spreadsheet);
    let (sheet, at) = (args.sheet.clone(), args.at);
    let query = CellsQuery { sheet, at, min_position, ..CellsQuery::default() };
    let to_stdout = args.file == Path::new("-");
    let spinner = Spinner::new(output);
    let progress = |cells| spinner.cells(cells);
    if format == ExportFormat::Xlsx {
        let fetched = fetch_xlsx(client, spreadsheet, query, progress).await?;
        spinner.end();
        if !to_stdout {
            return Ok(fetched.write_file(&args.file, args.force)?);
        }
        // Its parts are not written one behind the other.
        let mut whole = tempfile::tempfile()?;
        let exported = fetched.write_to(&mut whole)?;
        whole.rewind()?;
        io::copy(&mut whole, &mut io::stdout().lock())?;
        return Ok(exported);
    }
    let delimiter = if format == ExportFormat::Tsv { b'\t' } else { b',' };
    let style =
        CsvStyle { delimiter, formulas: args.formulas, escape_formulas: args.escape_formulas };
    let fetched = fetch_csv(client, spreadsheet, query, style, progress).await?;
    spinner.end();
    Ok(match to_stdout {
        true => fetched.write_to(io::stdout().lock())?,
        false => fetched.write_file(&args.file, args.force)?,
    })
}

/// How many sheets one of csv leaves out, if that can be found out.
async fn left_out(client: &Client, spreadsheet: LogId, at: Position) -> usize {
    let sheets = client.sheets(spreadsheet, Some(at), None).await;
    sheets.map_or(0, |reply| reply.sheets.len().saturating_sub(1))
}

/// The format that is asked for, or that the file's name says.
fn format(args: &args::Export) -> Result<ExportFormat, CliError> {
    let extension = args.file.extension().unwrap_or_default().to_ascii_lowercase();
    let format = match (args.format, extension.to_str().unwrap_or_default()) {
        (Some(format), _) => format,
        (None, "xlsx") => ExportFormat::Xlsx,
        (None, "tsv" | "tab") => ExportFormat::Tsv,
        (None, other @ ("xls" | "xlsm" | "xlsb" | "ods" | "numbers" | "json" | "parquet")) => {
            return Err(CliError::usage(
                format!("{other} cannot be written"),
                "name a .csv, .tsv or .xlsx file, or give --format",
            ));
        }
        (None, _) => ExportFormat::Csv,
    };
    if format == ExportFormat::Xlsx && args.escape_formulas {
        return Err(CliError::usage(
            "--escape-formulas is about csv: xlsx says of each cell whether it is a formula",
            "leave it out",
        ));
    }
    if format == ExportFormat::Xlsx && args.formulas {
        return Err(CliError::usage(
            "--formulas is about csv: xlsx has formulas, and what they gave, anyway",
            "leave it out",
        ));
    }
    Ok(format)
}

fn cells(exported: &Exported) -> u64 {
    exported.sheets.iter().map(|sheet| sheet.cells).sum()
}

fn summary(file: &Path, exported: &Exported) -> String {
    let cells = count(cells(exported), "cell", "cells");
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

/// A count of cells while they are read; only on a terminal.
struct Spinner(indicatif::ProgressBar);

impl Spinner {
    fn new(output: &Output) -> Self {
        // indicatif itself draws nothing where stderr is not a terminal.
        let bar = if output.json {
            indicatif::ProgressBar::hidden()
        } else {
            indicatif::ProgressBar::new_spinner()
        };
        bar.enable_steady_tick(std::time::Duration::from_millis(100));
        Self(bar)
    }

    fn cells(&self, cells: u64) {
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
    fn the_format_is_in_the_name_unless_it_is_given() {
        let format = |file: &str, format| {
            super::format(&args::Export {
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
