use std::path::PathBuf;

use cellar_base::identity::LogId;
use cellar_catalog::spreadsheet::Name;
use cellar_exchange::ColumnTypes;
use cellar_sheet::a1::CellName;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
csv and tsv files may have any size, sheets of xlsx, xlsb and ods files up to 20 million cells. Each sheet of \
the file becomes a sheet of the spreadsheet. The import is atomic: one entry adds all sheets, or none. With \
--sheet, up to 100,000 cells are written into an existing sheet as edits.

Numbers, dates and booleans in csv are detected per column, and only if every cell then still shows the text \
of its field.

If an import is interrupted, run the same command again to finish it; nothing is imported twice.

Examples:
  cellar import airports.csv
  cellar import budget.xlsx
  cellar import prices.tsv --text                 # import all cells as text
  cellar import export.csv --delimiter semicolon --types A=text,C=number
  cellar import budget.xlsx --into ID             # add sheets to a spreadsheet
  cellar import budget.xlsx --into ID --sheets Costs,Plan
  cellar import prices.csv --into ID --replace Prices
  cellar import more.csv --into ID --sheet Costs --cell A120")]
pub(in crate::cli) struct Import {
    /// File to import: csv or tsv in UTF-8, xlsx, xlsb or ods
    pub(in crate::cli) file: PathBuf,
    /// Name of the new spreadsheet [default: the file name]
    #[arg(long, value_parser = Name::new, conflicts_with = "into")]
    pub(in crate::cli) name: Option<Name>,
    /// Import into this spreadsheet instead of a new one (same as -s)
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) into: Option<LogId>,
    /// Replace this sheet of an existing spreadsheet, keeping its name
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
    /// Field separator of a csv file [default: comma, or tab for .tsv]
    #[arg(long, value_enum)]
    pub(in crate::cli) delimiter: Option<Delimiter>,
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
    /// Read the file and report its contents without importing it
    #[arg(long, conflicts_with_all = ["sheet", "restart"])]
    pub(in crate::cli) dry_run: bool,
    /// Discard an interrupted import and start over
    #[arg(long)]
    pub(in crate::cli) restart: bool,
}

/// Field separator of a csv file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Delimiter {
    Comma,
    Tab,
    Semicolon,
}

/// How an import treats rows with more or fewer fields than the first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Ragged {
    /// Fail and report the line
    Error,
    /// Pad short rows with empty cells
    Pad,
}
