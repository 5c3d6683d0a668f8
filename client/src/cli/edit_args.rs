//! Arguments of the commands that edit ranges, rows, columns and sheets.

use cellar_base::limits::MAX_INSERT;
use cellar_base::position::Position;
use cellar_sheet::a1::Range;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar clear A1:B5
  cellar clear A1 C1 E1:E9
  cellar clear A:C
  cellar clear 3:5 --sheet Costs
  cellar clear \"'My sheet'!A1\"")]
pub(in crate::cli) struct Clear {
    /// Ranges such as A1:B5, A:C, 3:5 or Costs!A1; cleared in one edit
    #[arg(required = true, value_name = "RANGE")]
    pub(in crate::cli) ranges: Vec<Range>,
    /// Sheet [default: the sheet of the ranges, or the first]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The format also applies to the blank cells of the range. Every format is stored; these are displayed:
  General              the number without formatting
  0                    whole numbers
  0.00                 a fixed number of decimals, up to 15
  yyyy-mm-dd hh:mm:ss  dates and times: yyyy, mm, dd, hh, mm (minutes, if after hh) and ss in any
                       order, separated by one of - / . : T or a space
Numbers with any other format are displayed as General.

Examples:
  cellar format B2:B99 0.00
  cellar format C:C yyyy-mm-dd
  cellar format B2:B99 General     # remove the format")]
pub(in crate::cli) struct Format {
    /// Range such as A1:B5, A:C, 3:5 or Costs!A1
    pub(in crate::cli) range: Range,
    /// Number format, as in Excel; General removes it
    pub(in crate::cli) format: String,
    /// Sheet [default: the sheet of the range, or the first]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar rows insert 3 --count 2
  cellar rows delete 3:5")]
pub(in crate::cli) struct Rows {
    #[command(subcommand)]
    pub(in crate::cli) command: RowsCommand,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar columns insert C
  cellar columns delete C:D")]
pub(in crate::cli) struct Columns {
    #[command(subcommand)]
    pub(in crate::cli) command: ColumnsCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum RowsCommand {
    /// Insert blank rows
    #[command(after_help = "\
Examples:
  cellar rows insert 3              # one row before row 3
  cellar rows insert 3 --count 2 --sheet Costs")]
    Insert {
        /// Row before which to insert, such as 3
        before: String,
        #[command(flatten)]
        inserted: Inserted,
    },
    /// Delete rows and their contents
    #[command(after_help = "\
Examples:
  cellar rows delete 3:5
  cellar rows delete 3 7 9:12 --sheet Costs")]
    Delete {
        /// Rows such as 3 or 3:5; deleted in one edit
        #[arg(required = true)]
        rows: Vec<String>,
        /// Sheet [default: the first]
        #[arg(long, value_name = "NAME")]
        sheet: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ColumnsCommand {
    /// Insert blank columns
    #[command(after_help = "\
Examples:
  cellar columns insert C           # one column before column C
  cellar columns insert C --count 2 --sheet Costs")]
    Insert {
        /// Column before which to insert, such as C
        before: String,
        #[command(flatten)]
        inserted: Inserted,
    },
    /// Delete columns and their contents
    #[command(after_help = "\
Examples:
  cellar columns delete C:D
  cellar columns delete C F:G --sheet Costs")]
    Delete {
        /// Columns such as C or C:D; deleted in one edit
        #[arg(required = true)]
        columns: Vec<String>,
        /// Sheet [default: the first]
        #[arg(long, value_name = "NAME")]
        sheet: Option<String>,
    },
}

/// How many blank rows or columns to insert, and into which sheet.
#[derive(Debug, Args)]
pub(in crate::cli) struct Inserted {
    /// Number to insert
    #[arg(
        long, short = 'n', default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_INSERT))
    )]
    pub(in crate::cli) count: u32,
    /// Sheet [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  cellar sheets                        # list the sheets
  cellar sheets add Costs
  cellar sheets rename Costs Prices
  cellar sheets delete Prices")]
pub(in crate::cli) struct Sheets {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<SheetsCommand>,
    /// Position to list the sheets at, such as 0.42 [default: the newest]
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) at: Option<Position>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SheetsCommand {
    /// Add a sheet after the last one
    #[command(after_help = "Examples:\n  cellar sheets add Costs")]
    Add {
        /// Name of the sheet
        name: String,
    },
    /// Rename a sheet
    #[command(after_help = "Examples:\n  cellar sheets rename Costs Prices")]
    Rename {
        /// Current name
        old: String,
        /// New name
        new: String,
    },
    /// Delete a sheet and its contents
    #[command(after_help = "Examples:\n  cellar sheets delete Costs")]
    Delete {
        /// Name of the sheet
        name: String,
    },
}
