//! The commands that edit ranges, rows, columns and sheets, as they are parsed.

use cellar_core::a1::Range;
use cellar_core::limits::MAX_INSERT;
use cellar_core::position::Position;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar clear A1:B5
  cellar clear A:C
  cellar clear 3:5 --sheet Costs
  cellar clear \"'My sheet'!A1\"")]
pub(in crate::cli) struct Clear {
    /// The range, such as A1:B5, A:C or 3:5, with a sheet's name before it or without
    pub(in crate::cli) range: Range,
    /// The sheet; without it the one in the range, or the first
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The format is also that of cells which are blank so far. Every format is kept; understood are:
  General              the number as it is
  0                    whole numbers
  0.00                 that many decimals, up to 15
  yyyy-mm-dd hh:mm:ss  dates and times: yyyy, mm, dd, hh, mm (minutes, if behind hh) and ss in any
                       order, with one of - / . : T or a space between two
Numbers under any other format are shown as General here.

Examples:
  cellar format B2:B99 0.00
  cellar format C:C yyyy-mm-dd
  cellar format B2:B99 General     # removes it")]
pub(in crate::cli) struct Format {
    /// The range, such as A1:B5, A:C or 3:5, with a sheet's name before it or without
    pub(in crate::cli) range: Range,
    /// The number format, as in Excel; General removes it
    pub(in crate::cli) format: String,
    /// The sheet; without it the one in the range, or the first
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
    pub(in crate::cli) command: AxisCommand,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar columns insert C
  cellar columns delete C:D")]
pub(in crate::cli) struct Columns {
    #[command(subcommand)]
    pub(in crate::cli) command: AxisCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum AxisCommand {
    /// Insert blank ones before one
    Insert(InsertLines),
    /// Delete some with all they hold
    Delete(DeleteLines),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar rows insert 3 --count 2    # two blank rows before row 3
  cellar columns insert C --sheet Costs")]
pub(in crate::cli) struct InsertLines {
    /// The row (3) or column (C) before which to insert
    pub(in crate::cli) before: String,
    /// How many
    #[arg(
        long, short = 'n', default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_INSERT))
    )]
    pub(in crate::cli) count: u32,
    /// The sheet; without it the first
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar rows delete 3:5
  cellar rows delete 3 7 9:12
  cellar columns delete C:D --sheet Costs")]
pub(in crate::cli) struct DeleteLines {
    /// The rows (3 or 3:5) or columns (C or C:D); all of one command go together
    #[arg(required = true)]
    pub(in crate::cli) which: Vec<String>,
    /// The sheet; without it the first
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  cellar sheets                        # lists them
  cellar sheets add Costs
  cellar sheets rename Costs Prices
  cellar sheets delete Prices")]
pub(in crate::cli) struct Sheets {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<SheetsCommand>,
    /// List the sheets as they were at this position, segment.num
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) at: Option<Position>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SheetsCommand {
    /// Add a sheet behind the others
    #[command(after_help = "Examples:\n  cellar sheets add Costs")]
    Add {
        /// Its name
        name: String,
    },
    /// Give a sheet another name
    #[command(after_help = "Examples:\n  cellar sheets rename Costs Prices")]
    Rename {
        /// Its name so far
        old: String,
        /// Its new name
        new: String,
    },
    /// Delete a sheet with all it holds
    #[command(after_help = "Examples:\n  cellar sheets delete Costs")]
    Delete {
        /// Its name
        name: String,
    },
}
