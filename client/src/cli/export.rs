use std::io::{self, IsTerminal as _, Seek as _};
use std::path::Path;

use cellar_api::wire::Head;
use cellar_base::position::Position;
use cellar_sheet::operation::SheetId;

use super::args::{self, ExportFormat};
use super::at::{find_optional, print_json_with_times};
use super::context::Context;
use super::error::CliError;
use super::output::{Output, count};
use super::spinner::Spinner;
use super::warnings;
use crate::export::{
    CsvExport, CsvStyle, ExportError, Exported, ExportedSheet, XlsxExport, fetch_csv,
    fetch_csv_pages, fetch_xlsx, fetch_xlsx_pages,
};
use crate::text::escape;
use crate::user_file::replaces_data;
use crate::{CellsQuery, Spreadsheet};

pub(super) async fn export_file(
    context: &Context,
    output: &Output,
    args: args::Export,
) -> Result<(), CliError> {
    let format = choose_format(&args)?;
    check_options_fit_format(&args, format)?;
    check_output_target(&args, format, output)?;
    let spreadsheet = context.spreadsheet()?;
    let at = find_optional(args.at.as_ref(), &spreadsheet, output).await?;
    let query = CellsQuery {
        sheet: args.sheet.clone(),
        at: at.as_ref().map(|at| at.position),
        min_position: context.seen_position(&spreadsheet),
        ..CellsQuery::default()
    };
    let exported = fetch_and_write_cells(output, &spreadsheet, &args, query, format).await?;
    let omitted_sheets = count_omitted_sheets(&spreadsheet, &args, format, exported.position).await;
    print_omitted_sheets_note(output, omitted_sheets);
    print_omitted_names_note(output, exported.omitted_names);
    let warnings = formula_warnings(&exported);
    output.print_warnings(&warnings);
    if writes_to_stdout(&args) {
        return Ok(());
    }
    if args.at.is_none() {
        let read_at = Head { head: exported.position, incarnation: exported.incarnation };
        context.record_seen(&spreadsheet, read_at, first_sheet(&args, &exported));
    }
    let result = serde_json::json!({
        "spreadsheet": spreadsheet.id(),
        "file": args.file.display().to_string(),
        "position": exported.position,
        "cells": count_cells(&exported),
        "sheets": exported.sheets.iter().map(sheet_as_json).collect::<Vec<_>>(),
        "sheets_left_out": omitted_sheets,
        "names": exported.names,
        "names_left_out": exported.omitted_names,
        "warnings": warnings,
    });
    print_json_with_times(output, &result, [at.as_ref()])?;
    output.print_line(summary(&args.file, &exported))?;
    Ok(())
}

/// Returns the first sheet if the user did not select a sheet, otherwise `None`.
fn first_sheet(args: &args::Export, exported: &Exported) -> Option<SheetId> {
    match args.sheet {
        Some(_) => None,
        None => exported.sheets.first().map(|sheet| sheet.sheet),
    }
}

fn writes_to_stdout(args: &args::Export) -> bool {
    args.file == Path::new("-")
}

fn check_output_target(
    args: &args::Export,
    format: ExportFormat,
    output: &Output,
) -> Result<(), CliError> {
    if !writes_to_stdout(args) {
        // Fail before reading any cells if the file exists. The export checks again before it
        // writes the file.
        if !args.force && replaces_data(&args.file) {
            return Err(ExportError::Exists { path: args.file.clone() }.into());
        }
        return Ok(());
    }
    if output.json {
        return Err(CliError::usage(
            "--json and - cannot be combined, because both write to standard output",
            "export to a file, or omit --json",
        ));
    }
    if format == ExportFormat::Xlsx && io::stdout().is_terminal() {
        return Err(CliError::usage(
            "xlsx is a binary format and cannot be written to a terminal",
            "export to a file: cellar export FILE.xlsx",
        ));
    }
    Ok(())
}

async fn fetch_and_write_cells(
    output: &Output,
    spreadsheet: &Spreadsheet,
    args: &args::Export,
    query: CellsQuery,
    format: ExportFormat,
) -> Result<Exported, CliError> {
    let spinner = Spinner::new(output);
    let report_progress = |cell_count| spinner.show(count(cell_count, "cell", "cells"));
    match csv_delimiter(format) {
        Some(delimiter) => {
            let &args::Export { formulas, escape_formulas, .. } = args;
            let style = CsvStyle { delimiter, formulas, escape_formulas };
            let csv = if args.remote {
                fetch_csv_pages(spreadsheet, query, style, report_progress).await?
            } else {
                fetch_csv(spreadsheet, query, style, report_progress).await?
            };
            spinner.end();
            write_csv(csv, args)
        }
        None => {
            let xlsx = if args.remote {
                fetch_xlsx_pages(spreadsheet, query, report_progress).await?
            } else {
                fetch_xlsx(spreadsheet, query, report_progress).await?
            };
            spinner.end();
            write_xlsx(xlsx, args)
        }
    }
}

fn csv_delimiter(format: ExportFormat) -> Option<u8> {
    match format {
        ExportFormat::Csv => Some(b','),
        ExportFormat::Tsv => Some(b'\t'),
        ExportFormat::Xlsx => None,
    }
}

fn write_csv(csv: CsvExport, args: &args::Export) -> Result<Exported, CliError> {
    if writes_to_stdout(args) {
        return Ok(csv.write_to(io::stdout().lock())?);
    }
    Ok(csv.write_file(&args.file, args.force)?)
}

fn write_xlsx(xlsx: XlsxExport, args: &args::Export) -> Result<Exported, CliError> {
    if !writes_to_stdout(args) {
        return Ok(xlsx.write_file(&args.file, args.force)?);
    }
    // Write to a temporary file first: writing an xlsx file requires seeking, which stdout does not
    // support.
    let mut buffer = tempfile::tempfile()?;
    let exported = xlsx.write_to(&mut buffer)?;
    buffer.rewind()?;
    io::copy(&mut buffer, &mut io::stdout().lock())?;
    Ok(exported)
}

/// Returns 0 if the sheets cannot be read.
async fn count_omitted_sheets(
    spreadsheet: &Spreadsheet,
    args: &args::Export,
    format: ExportFormat,
    position: Position,
) -> usize {
    if format == ExportFormat::Xlsx || args.sheet.is_some() {
        return 0;
    }
    match spreadsheet.sheets_at(position).await {
        Ok(reply) => reply.sheets.len().saturating_sub(1),
        Err(_) => 0,
    }
}

fn print_omitted_sheets_note(output: &Output, omitted_sheets: usize) {
    if omitted_sheets > 0 {
        let sheets = count(omitted_sheets, "other sheet was", "other sheets were");
        output.print_note(format!(
            "{sheets} not exported; select a sheet with --sheet, or export all sheets to FILE.xlsx"
        ));
    }
}

fn print_omitted_names_note(output: &Output, omitted_names: usize) {
    if omitted_names > 0 {
        let names = count(omitted_names, "name was", "names were");
        output.print_note(format!(
            "{names} not exported, because the cells are not in the file or outside Excel's sheets"
        ));
    }
}

fn formula_warnings(exported: &Exported) -> Vec<String> {
    let stale_count = exported.sheets.iter().map(|sheet| sheet.stale_formulas).sum();
    let text_count = exported.sheets.iter().map(|sheet| sheet.formula_like_texts).sum();
    [warnings::stale_formulas(stale_count), warnings::formula_like_texts(text_count)].concat()
}

fn sheet_as_json(sheet: &ExportedSheet) -> serde_json::Value {
    serde_json::json!({
        "name": sheet.name,
        "rows": sheet.rows,
        "columns": sheet.columns,
        "cells": sheet.cells,
    })
}

/// Fails if the extension is not that of a format that Cellar writes.
fn choose_format(args: &args::Export) -> Result<ExportFormat, CliError> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let extension = args.file.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str().unwrap_or_default() {
        "xlsx" => Ok(ExportFormat::Xlsx),
        "tsv" | "tab" => Ok(ExportFormat::Tsv),
        "" | "csv" | "txt" => Ok(ExportFormat::Csv),
        other => Err(CliError::usage(
            format!("cannot export to the format {}", escape(other)),
            "pass a .csv, .tsv or .xlsx file, or --format",
        )),
    }
}

fn check_options_fit_format(args: &args::Export, format: ExportFormat) -> Result<(), CliError> {
    if format != ExportFormat::Xlsx {
        return Ok(());
    }
    if args.escape_formulas {
        return Err(CliError::usage(
            "--escape-formulas applies to csv only",
            "omit --escape-formulas; xlsx distinguishes texts from formulas",
        ));
    }
    if args.formulas {
        return Err(CliError::usage(
            "--formulas applies to csv only",
            "omit --formulas; xlsx contains formulas and their results",
        ));
    }
    Ok(())
}

fn count_cells(exported: &Exported) -> u64 {
    exported.sheets.iter().map(|sheet| sheet.cells).sum()
}

fn summary(file: &Path, exported: &Exported) -> String {
    let cells = count(count_cells(exported), "cell", "cells");
    let (file_name, position) = (file.display(), exported.position);
    if let [sheet] = exported.sheets.as_slice() {
        let rows = count(sheet.rows, "row", "rows");
        let fields = count(sheet.columns, "field", "fields");
        let sheet_name = escape(&sheet.name);
        return format!(
            "{file_name}: {rows} of {fields}, {cells}, sheet {sheet_name} at {position}"
        );
    }
    let sheets = count(exported.sheets.len(), "sheet", "sheets");
    format!("{file_name}: {sheets}, {cells}, at {position}")
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
                remote: false,
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
        for file in ["a.ods", "a.pdf"] {
            assert!(matches!(format(file, None), Err(CliError::Usage { .. })), "{file}");
        }
    }
}
