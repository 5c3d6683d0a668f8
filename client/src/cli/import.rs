//! `cellar import`

mod columns;
mod edits;
mod sheets;

use std::path::Path;

use super::args::{self, Delimiter, Ragged};
use super::context::Context;
use super::error::CliError;
use super::output::Output;
use crate::import::{ColumnTypes, FileKind, ReadOptions, TypeChoice};

pub(super) async fn run(
    context: &mut Context,
    output: &Output,
    args: args::Import,
) -> Result<(), CliError> {
    if args.file == Path::new("-") {
        return Err(CliError::usage(
            "standard input cannot be imported: a file is read twice, and again after an interruption",
            "write it to a file first, then: cellar import FILE.csv (a file called - is ./-)",
        ));
    }
    let into = args.into.or(context.given_spreadsheet());
    if let (Some(_), Some(into)) = (&args.name, into) {
        return Err(CliError::usage(
            format!("{into} has a name, and --name is for a new spreadsheet"),
            format!("leave --name out, or afterwards: cellar rename NAME -s {into}"),
        ));
    }
    match (&args.sheet, &args.replace, into) {
        (Some(_), _, None) => Err(needs_spreadsheet("--sheet")),
        (None, Some(_), None) => Err(needs_spreadsheet("--replace")),
        (Some(sheet), _, Some(into)) => edits::run(context, output, &args, into, sheet).await,
        (None, _, _) if args.dry_run => sheets::look(output, &args).await,
        (None, _, _) => sheets::run(context, output, &args, into).await,
    }
}

fn needs_spreadsheet(option: &str) -> CliError {
    CliError::usage(
        format!("{option} is a sheet of an existing spreadsheet"),
        "give the spreadsheet with --into ID or -s ID",
    )
}

/// How the file is to be read.
fn read_options(args: &args::Import) -> Result<ReadOptions, CliError> {
    let is_csv = FileKind::of(&args.file)? == FileKind::Csv;
    let of_csv = args.delimiter.is_some()
        || args.ragged != Ragged::Error
        || args.types.is_some()
        || args.text;
    if of_csv && !is_csv {
        return Err(CliError::usage(
            "--delimiter, --ragged, --types and --text are about csv, and this is a workbook",
            "leave them out: a workbook says itself what its cells are",
        ));
    }
    if !args.sheets.is_empty() && is_csv {
        return Err(CliError::usage(
            "--sheets are the sheets of a workbook, and csv has only one",
            "leave it out; --sheet NAME is a sheet of the spreadsheet",
        ));
    }
    let all_text = ColumnTypes { others: Some(TypeChoice::Text), ..ColumnTypes::default() };
    let types = if args.text { Some(all_text) } else { args.types.clone() };
    Ok(ReadOptions {
        delimiter: delimiter(args.delimiter, &args.file),
        pad: args.ragged == Ragged::Pad,
        types: types.unwrap_or_default(),
        sheets: args.sheets.clone(),
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
}
