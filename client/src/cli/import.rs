mod columns;
mod edits;
mod sheets;

use std::path::Path;

use super::args::{self, Ragged, delimiter_name};
use super::context::Context;
use super::error::CliError;
use super::output::{Output, grouped};
use crate::import::{
    ColumnTypes, FileFormat, NotImported, ReadOptions, Survey, TextEncoding, TypeChoice,
    detect_format, likely_delimiter,
};

pub(super) async fn import_file(
    context: &mut Context,
    output: &Output,
    args: args::Import,
) -> Result<(), CliError> {
    if args.file == Path::new("-") {
        return Err(CliError::usage(
            "cannot import standard input: an import reads the file more than once",
            "write the data to a file first, then run `cellar import FILE.csv`; to import a file named -, pass ./-",
        ));
    }
    let target = args.into.as_ref().or(context.spreadsheet_option());
    if args.name.is_some() && target.is_some() {
        return Err(CliError::usage(
            "--name applies to new spreadsheets, but the file is imported into an existing one",
            "omit --name, or rename the spreadsheet with `cellar rename`",
        ));
    }
    for (option, is_set) in
        [("--sheet", args.sheet.is_some()), ("--replace", args.replace.is_some())]
    {
        if is_set && target.is_none() {
            return Err(missing_spreadsheet(option));
        }
    }
    if args.dry_run {
        return sheets::print_dry_run(output, &args).await;
    }
    let into = match target {
        Some(target) => Some(context.find(target).await?),
        None => None,
    };
    if let (Some(sheet), Some(into)) = (&args.sheet, &into) {
        return edits::import_into_sheet(context, output, &args, into, sheet).await;
    }
    sheets::import_as_new_sheets(context, output, &args, into).await
}

fn missing_spreadsheet(option: &str) -> CliError {
    CliError::usage(
        format!("{option} selects a sheet of an existing spreadsheet"),
        "select the spreadsheet with --into NAME or -s NAME",
    )
}

/// Returns `None` if the output is JSON or not a terminal.
fn new_progress_bar(output: Output, template: &str) -> Option<indicatif::ProgressBar> {
    if output.json || !console::user_attended_stderr() {
        return None;
    }
    let style = indicatif::ProgressStyle::with_template(template)
        .unwrap_or_else(|_| indicatif::ProgressStyle::default_bar());
    Some(indicatif::ProgressBar::new(1).with_style(style.with_key("rate", write_rate)))
}

/// In cells per second, rounded to an integer.
fn write_rate(state: &indicatif::ProgressState, text: &mut dyn std::fmt::Write) {
    let cells_per_second: u64 = format!("{:.0}", state.per_sec()).parse().unwrap_or(0);
    // Writing to a `String` cannot fail.
    let _ = text.write_str(&grouped(cells_per_second));
}

fn read_options(args: &args::Import) -> Result<ReadOptions, CliError> {
    check_options_fit_file(args)?;
    let types = if args.text {
        ColumnTypes { others: Some(TypeChoice::Text), ..ColumnTypes::default() }
    } else {
        args.types.clone().unwrap_or_default()
    };
    let defaults = ReadOptions::for_file(&args.file);
    Ok(ReadOptions {
        delimiter: args.delimiter.or(defaults.delimiter),
        encoding: args.encoding,
        pad: args.ragged == Ragged::Pad,
        types,
        sheets: args.sheets.clone(),
    })
}

fn check_options_fit_file(args: &args::Import) -> Result<(), CliError> {
    let is_csv = detect_format(&args.file)? == FileFormat::Csv;
    let has_csv_options = args.delimiter.is_some()
        || args.encoding.is_some()
        || args.ragged != Ragged::Error
        || args.types.is_some()
        || args.text;
    if has_csv_options && !is_csv {
        return Err(CliError::usage(
            "--delimiter, --encoding, --ragged, --types and --text apply to csv files, but the file is a workbook",
            "omit these options; a workbook contains the types of its cells",
        ));
    }
    if !args.sheets.is_empty() && is_csv {
        return Err(CliError::usage(
            "--sheets selects sheets of a workbook, but the file is a csv file",
            "omit --sheets; --sheet NAME selects a sheet of the spreadsheet",
        ));
    }
    Ok(())
}

/// Returns a hint if the file has only one column, because the delimiter is then probably wrong.
fn delimiter_hint(path: &Path, survey: Option<&Survey>) -> Option<String> {
    let name = delimiter_name(likely_delimiter(path, survey?)?);
    Some(format!("the file has only one column; it may require `--delimiter {name}`"))
}

/// Describes the delimiter and the encoding of a csv file, unless they are a comma and UTF-8 or were
/// chosen with `options`.
fn describe_detected(survey: Option<&Survey>, options: &ReadOptions) -> Option<String> {
    let Survey { delimiter, encoding, .. } = survey?;
    let mut phrases = Vec::new();
    if *delimiter != b',' && options.delimiter.is_none() {
        phrases.push(format!("delimiter {}", delimiter_name(*delimiter)));
    }
    if *encoding != TextEncoding::UTF_8 && options.encoding != Some(*encoding) {
        phrases.push(format!("encoding {encoding}"));
    }
    if phrases.is_empty() { None } else { Some(format!("Detected: {}", phrases.join(", "))) }
}

fn not_imported_note(not_imported: &NotImported) -> Option<String> {
    if not_imported.is_empty() { None } else { Some(format!("Not imported: {not_imported}.")) }
}

fn not_imported_as_json(not_imported: &NotImported) -> serde_json::Value {
    let counts =
        not_imported.iter().map(|(omission, count)| (omission.key().to_owned(), count.into()));
    serde_json::Value::Object(counts.collect())
}

/// Returns null for workbooks.
fn delimiter_as_json(survey: Option<&Survey>) -> serde_json::Value {
    survey.map(|survey| char::from(survey.delimiter).to_string()).into()
}

/// Returns null for workbooks.
fn encoding_as_json(survey: Option<&Survey>) -> serde_json::Value {
    survey.map(|survey| survey.encoding.name()).into()
}
