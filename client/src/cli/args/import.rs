use std::path::PathBuf;

use cellar_catalog::spreadsheet::Name;
use cellar_exchange::{ColumnTypes, TextEncoding};
use cellar_sheet::a1::CellName;
use clap::{Args, ValueEnum};

use crate::cli::reference::SpreadsheetReference;

#[derive(Debug, Args)]
#[command(after_help = "\
csv and tsv files may have any size, sheets of xlsx, xlsb and ods files up to 20 million cells. Each sheet of \
the file becomes a sheet of the spreadsheet. The import is atomic: one entry adds all sheets, or none. With \
--sheet, up to 100,000 cells are written into an existing sheet as edits.

The field separator of a csv file is detected from its first rows: a comma, a semicolon, a tab or a vertical \
bar. A byte order mark states the encoding, such as UTF-16; a file without one is read as UTF-8, unless \
--encoding names its encoding.

Numbers, dates and booleans in csv are detected per column, and only if every cell then still shows the text \
of its field.

Of a workbook, values, formulas and number formats are imported. Everything else is listed after the import, \
such as merged ranges, links and charts; with --strict, it prevents the import.

If an import is interrupted, run the same command again to finish it; nothing is imported twice.

Examples:
  cellar import airports.csv
  cellar import budget.xlsx
  cellar import prices.tsv --text                 # import all cells as text
  cellar import export.csv --delimiter ';' --types A=text,C=number
  cellar import old.csv --encoding windows-1252   # of an older program on Windows
  cellar import budget.xlsx --strict              # only if nothing would be lost
  cellar import budget.xlsx --into Budget         # add sheets to a spreadsheet
  cellar import budget.xlsx --into Budget --sheets Costs,Plan
  cellar import prices.csv --into Budget --replace Prices
  cellar import more.csv --into Budget --sheet Costs --cell A120")]
pub(in crate::cli) struct Import {
    /// File to import: csv, tsv, xlsx, xlsb or ods
    pub(in crate::cli) file: PathBuf,
    /// Name of the new spreadsheet [default: the file name]
    #[arg(long, value_parser = Name::new, conflicts_with = "into")]
    pub(in crate::cli) name: Option<Name>,
    /// Import into this spreadsheet instead of a new one (same as -s)
    #[arg(long, value_name = "SPREADSHEET")]
    pub(in crate::cli) into: Option<SpreadsheetReference>,
    /// Replace this sheet of an existing spreadsheet; formulas and names then refer to the new sheet
    #[arg(long, value_name = "NAME", conflicts_with = "sheet")]
    pub(in crate::cli) replace: Option<String>,
    /// Write the cells into this sheet of an existing spreadsheet, as edits
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Cell of that sheet where the import starts [default: A1]
    #[arg(long, value_name = "CELL", requires = "sheet")]
    pub(in crate::cli) cell: Option<CellName>,
    /// Sheets of the workbook to import [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(in crate::cli) sheets: Vec<String>,
    /// Field separator of a csv file: a character such as ';', or comma, semicolon, tab or pipe [default:
    /// detected, or tab for .tsv]
    #[arg(long, value_name = "SEPARATOR", value_parser = parse_delimiter)]
    pub(in crate::cli) delimiter: Option<u8>,
    /// Encoding of a csv file without a byte order mark, such as windows-1252 or utf-16le [default: utf-8]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) encoding: Option<TextEncoding>,
    /// How to treat csv rows with more or fewer fields than the first row
    #[arg(long, value_enum, default_value_t = Ragged::Error)]
    pub(in crate::cli) ragged: Ragged,
    /// Column types of a csv file: A=text,C=number, or one type for all columns (text, number, date,
    /// boolean)
    #[arg(long, value_name = "TYPES")]
    pub(in crate::cli) types: Option<ColumnTypes>,
    /// Import all cells of a csv file as text
    #[arg(long, conflicts_with = "types")]
    pub(in crate::cli) text: bool,
    /// Import nothing if the workbook has contents that Cellar does not take, and list them
    #[arg(long)]
    pub(in crate::cli) strict: bool,
    /// Read the file and report its contents without importing it
    #[arg(long, conflicts_with_all = ["sheet", "restart"])]
    pub(in crate::cli) dry_run: bool,
    /// Discard an interrupted import and start over
    #[arg(long)]
    pub(in crate::cli) restart: bool,
}

/// Names of field separators.
const DELIMITER_NAMES: [(&str, u8); 5] =
    [("comma", b','), ("semicolon", b';'), ("tab", b'\t'), ("\\t", b'\t'), ("pipe", b'|')];

fn parse_delimiter(text: &str) -> Result<u8, String> {
    if let Some((_, delimiter)) = DELIMITER_NAMES.iter().find(|(name, _)| *name == text) {
        return Ok(*delimiter);
    }
    match text.as_bytes() {
        [byte] if is_delimiter(*byte) => Ok(*byte),
        _ => Err(
            "pass one ASCII character that is no letter, digit, quote or line end, such as ';' or \
                  '|', or a name: comma, semicolon, tab, pipe"
                .to_owned(),
        ),
    }
}

fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\n\r\0".contains(&byte)
}

/// Returns the name of a field separator, or the character itself.
pub(in crate::cli) fn delimiter_name(delimiter: u8) -> String {
    match DELIMITER_NAMES.iter().find(|(_, byte)| *byte == delimiter) {
        Some((name, _)) => (*name).to_owned(),
        None => char::from(delimiter).to_string(),
    }
}

/// How an import treats rows with more or fewer fields than the first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Ragged {
    /// Fail and report the line
    Error,
    /// Pad short rows with empty cells
    Pad,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delimiter_is_a_character_or_a_name() {
        for (text, expected) in [
            (",", b','),
            (";", b';'),
            ("|", b'|'),
            ("\t", b'\t'),
            ("\\t", b'\t'),
            (" ", b' '),
            (":", b':'),
            ("comma", b','),
            ("semicolon", b';'),
            ("tab", b'\t'),
            ("pipe", b'|'),
        ] {
            assert_eq!(parse_delimiter(text), Ok(expected), "{text}");
        }
        for text in ["", "a", "5", "\"", "\n", "\r", "\0", ";;", "ä", "\\n", "Comma"] {
            assert!(parse_delimiter(text).is_err(), "{text}");
        }
        assert_eq!((delimiter_name(b'\t').as_str(), delimiter_name(b'^').as_str()), ("tab", "^"));
    }
}
