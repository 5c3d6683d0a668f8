//! Defines the arguments and the help texts of `cellar`.

mod catalog;
mod feed;
mod live;
mod versions;

pub(super) use catalog::{Details, Link, Links, Rename, Share, Unshare};
pub(super) use feed::{Feed, List, ListStatus};
pub(super) use live::{Edit, Watch};
pub(super) use versions::{Fork, Replay, Revert};

use std::path::PathBuf;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::{spreadsheet::BadName, spreadsheet::Name};
use cellar_exchange::ColumnTypes;
use cellar_sheet::a1::{CellName, Range};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::cli::help::{Group, with_groups};

/// Create, read, edit and share spreadsheets in Cellar
#[derive(Debug, Parser)]
#[command(name = "cellar", version, disable_help_subcommand = true)]
#[command(after_help = "\
Getting started:
  cargo run -p synth -- deploy --local   start Cellar on this machine
  cellar import airports.csv             create a spreadsheet from a file
  cellar get                             print the first cells
  cellar set B2 \"Thigpen Field\"          change a cell
  cellar history                         list the edits

URL and token come from the options, then the environment, then .cellar/profile.json in this or a parent \
directory; `synth deploy` writes that file. A token from the options or the environment requires a URL from \
there, too: only the profile's own token is sent to the profile's URL.")]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

const COST_HELP: &str = "\
Print the cost of the command to stderr, even if it fails; with --json as a line of JSON

Request units and requests are reported by the API. Dollars are on-demand prices of us-east-1, without \
Lambda, data transfer and storage.

Example:
  cellar --cost set A1 hello
  cost: 1 write unit: $0.000000625";

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Spreadsheet [env: CELLAR_SPREADSHEET] [default: the current one, see `cellar use`]
    // Does not use clap's `env`, because an import must not overwrite a spreadsheet that only the
    // environment selects.
    #[arg(short, long, global = true, value_name = "ID")]
    pub(super) spreadsheet: Option<LogId>,
    /// URL of the API
    #[arg(long, global = true, env = "CELLAR_URL")]
    pub(super) url: Option<String>,
    /// Bearer token or share link for the API of --url
    #[arg(long, global = true, env = "CELLAR_TOKEN", hide_env_values = true)]
    pub(super) token: Option<String>,
    /// Print JSON: results on stdout, errors on stderr
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print the cost of the command to stderr
    #[arg(long, global = true, long_help = COST_HELP)]
    pub(super) cost: bool,
}

/// The commands, as `--help` groups them.
const GROUPS: [Group; 7] = [
    (
        "Spreadsheets",
        &[
            "create",
            "list",
            "use",
            "details",
            "rename",
            "archive",
            "unarchive",
            "delete",
            "undelete",
        ],
    ),
    ("Cells", &["get", "set", "clear", "format", "edit", "rows", "columns", "sheets"]),
    ("Files", &["import", "export"]),
    ("History", &["history", "diff", "watch", "head", "undo", "revert"]),
    ("Forks", &["fork", "forks", "replay"]),
    ("Sharing", &["share", "unshare", "links"]),
    ("Operations", &["stats", "health", "feed"]),
];

impl Cli {
    /// The command line with grouped help.
    pub(super) fn grouped() -> clap::Command {
        with_groups(Self::command(), &GROUPS)
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an empty spreadsheet and select it
    Create(Create),
    /// List your spreadsheets and those shared with you
    List(List),
    /// Import a csv, tsv, xlsx, xlsb or ods file
    Import(Import),
    /// Print the cells of a range
    Get(Get),
    /// Edit a spreadsheet in a terminal grid, online or offline
    Edit(Edit),
    /// Set the values of cells
    Set(Set),
    /// Clear the values of ranges; keep their number formats
    Clear(Clear),
    /// Set the number format of a range
    Format(Format),
    /// Insert or delete rows
    Rows(Rows),
    /// Insert or delete columns
    Columns(Columns),
    /// List, add, rename or delete sheets
    Sheets(Sheets),
    /// Undo an edit
    Undo(Undo),
    /// Revert all edits after a position
    Revert(Revert),
    /// Show a spreadsheet's name, status, members and share links
    Details(Details),
    /// Rename a spreadsheet
    Rename(Rename),
    /// Share a spreadsheet with a person, or change their role
    Share(Share),
    /// Revoke a person's access
    Unshare(Unshare),
    /// List, create or revoke share links
    Links(Links),
    /// Make a spreadsheet read-only
    #[command(after_help = "\
Examples:
  cellar archive
  cellar unarchive                   # make it editable again")]
    Archive,
    /// Make an archived spreadsheet editable again
    #[command(after_help = "Examples:\n  cellar unarchive\n  cellar unarchive -s ID")]
    Unarchive,
    /// Delete a spreadsheet; owners can undelete it for 30 days
    #[command(after_help = "\
A deleted spreadsheet is visible only to its owners.

Examples:
  cellar delete
  cellar undelete                    # recover it
  cellar delete -s ID")]
    Delete,
    /// Recover a spreadsheet deleted within the last 30 days
    #[command(after_help = "\
Examples:
  cellar list --status deleted
  cellar undelete -s ID")]
    Undelete,
    /// List edits with author and time, newest first
    History(History),
    /// Print changes as they happen, until Ctrl-C
    Watch(Watch),
    /// Compare two positions
    Diff(Diff),
    /// Export cells to a csv, tsv or xlsx file
    Export(Export),
    /// Print the newest position
    #[command(after_help = "Examples:\n  cellar head\n  cellar head --json")]
    Head,
    /// Fork a spreadsheet at a position
    Fork(Fork),
    /// Replay a fork's edits onto a later position of its source
    Replay(Replay),
    /// List the forks of a spreadsheet
    #[command(after_help = "\
Examples:
  cellar forks
  cellar forks --json
  cellar forks -s 4b74c877-c40f-8d75-966e-04fce373d865")]
    Forks,
    /// Show storage statistics and the cost of opening a spreadsheet
    Stats(Stats),
    /// Select the current spreadsheet
    Use(Use),
    /// Print the change feed of all spreadsheets (operators only)
    Feed(Feed),
    /// Check the health of the stack at the URL; needs no token
    #[command(after_help = "\
Examples:
  cellar health
  cellar health --url https://example.com")]
    Health,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar stats
  cellar stats 4b74c877-c40f-8d75-966e-04fce373d865
  cellar --json stats")]
pub(super) struct Stats {
    /// Spreadsheet [default: -s, or the current one]
    pub(super) id: Option<cellar_base::identity::LogId>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
You are its owner. Share it with `cellar share` or `cellar links`.

Examples:
  cellar create --name 'Budget 2026'
  cellar create
  cellar create --nonce budget-2026   # repeated, it returns the same spreadsheet")]
pub(super) struct Create {
    /// Name of the spreadsheet
    #[arg(long, value_parser = name)]
    pub(super) name: Option<Name>,
    /// Idempotency key: the same nonce and subject always give the same spreadsheet
    #[arg(long, value_parser = nonce)]
    pub(super) nonce: Option<String>,
}

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
pub(super) struct Import {
    /// File: csv or tsv in UTF-8, xlsx, xlsb or ods
    pub(super) file: PathBuf,
    /// Name of the new spreadsheet [default: the file name]
    #[arg(long, value_parser = name, conflicts_with = "into")]
    pub(super) name: Option<Name>,
    /// Import into this spreadsheet instead of a new one (same as -s)
    #[arg(long, value_name = "ID")]
    pub(super) into: Option<LogId>,
    /// Replace this sheet of an existing spreadsheet, keeping its name
    #[arg(long, value_name = "NAME", conflicts_with = "sheet")]
    pub(super) replace: Option<String>,
    /// Write the cells into this sheet of an existing spreadsheet, as edits
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,
    /// Top-left cell of the import in that sheet [default: A1]
    #[arg(long, value_name = "CELL", requires = "sheet")]
    pub(super) cell: Option<CellName>,
    /// Sheets of the workbook to import [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) sheets: Vec<String>,
    /// Field separator of a csv file [default: comma, or tab for .tsv]
    #[arg(long, value_enum)]
    pub(super) delimiter: Option<Delimiter>,
    /// How to treat csv rows with more or fewer fields than the first row
    #[arg(long, value_enum, default_value_t = Ragged::Error)]
    pub(super) ragged: Ragged,
    /// Column types of a csv file: A=text,C=number, or one type for all columns (text, number, date,
    /// boolean)
    #[arg(long, value_name = "TYPES")]
    pub(super) types: Option<ColumnTypes>,
    /// Import all cells of a csv file as text
    #[arg(long, conflicts_with = "types")]
    pub(super) text: bool,
    /// Read the file and report its contents without importing it
    #[arg(long, conflicts_with_all = ["sheet", "restart"])]
    pub(super) dry_run: bool,
    /// Discard an interrupted import and start over
    #[arg(long)]
    pub(super) restart: bool,
}

/// Field separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Delimiter {
    Comma,
    Tab,
    Semicolon,
}

/// How to treat rows with more or fewer fields than the first row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Ragged {
    /// Fail and report the line
    Error,
    /// Pad short rows with empty cells
    Pad,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar get
  cellar get --range B2:D10
  cellar get --range A:C --json
  cellar get --sheet Costs
  cellar get --range \"'My sheet'!A1:C9\"
  cellar get --at 0.3               # at an earlier position, see `cellar history`
  cellar get --remote               # read on the server, without a local cache")]
pub(super) struct Get {
    /// Range, such as A1:G20, A:C or Sheet1!B2 [default: the top left of the first sheet]
    #[arg(long, short)]
    pub(super) range: Option<Range>,
    /// Position to read at, such as 0.42 [default: the newest]
    #[arg(long, value_name = "POSITION")]
    pub(super) at: Option<Position>,
    /// Sheet [default: the sheet of the range, or the first]
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,
    /// Read the cells on the server, without loading or caching a snapshot
    #[arg(long)]
    pub(super) remote: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Numbers, dates such as 2026-11-21, TRUE and FALSE are recognized; everything else is text. With --text, \
every value is text. All cells of one command are set in one edit.

Examples:
  cellar set A1 hello
  cellar set A1 1 B1 2.50 C1 2026-11-21
  cellar set A1 -5
  cellar set --text A1 007
  cellar set --sheet Costs A1 1
  cellar set -- A1 --dashes")]
pub(super) struct Set {
    /// Pairs of a cell and its value
    #[arg(required = true, value_name = "CELL VALUE", allow_negative_numbers = true)]
    pub(super) pairs: Vec<String>,
    /// Set all values as text
    #[arg(long)]
    pub(super) text: bool,
    /// Sheet [default: the sheet of the cells, or the first]
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar undo           # your newest edit; repeated, the one before it
  cellar undo 0.12      # the edit at this position, by any author, see `cellar history`
  cellar undo 0.13      # undo an undo: redo

Cells that others have changed since then keep their new values. A deleted sheet is recovered as the last \
sheet, with a new number: pending edits of the old sheet do not affect it.

Without a position, up to ten edits that have no effect left are skipped.")]
pub(super) struct Undo {
    /// Position of the edit [default: your newest edit that was not undone]
    pub(super) position: Option<Position>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The exit code is 2 if there are differences, otherwise 0.

Examples:
  cellar diff 0.3              # compare with the newest position
  cellar diff 0.3 0.9
  cellar diff 0.3 0.9 --json")]
pub(super) struct Diff {
    /// Earlier position, such as 0.3
    pub(super) from: Position,
    /// Later position [default: the newest]
    pub(super) to: Option<Position>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar history
  cellar history --limit 5
  cellar history --until 0.42
  cellar history --json")]
pub(super) struct History {
    /// Maximum number of entries
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: u32,
    /// Newest position to show [default: the newest]
    #[arg(long, value_name = "POSITION")]
    pub(super) until: Option<Position>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
csv and tsv files contain one sheet, with cells as displayed; xlsx files contain all sheets, with formulas and \
number formats. A symbolic link is followed; a pipe or device receives the bytes.

Examples:
  cellar export airports.csv
  cellar export budget.xlsx                    # all sheets
  cellar export airports.csv --force
  cellar export costs.csv --sheet Costs
  cellar export for-excel.csv --escape-formulas
  cellar export yesterday.csv --at 0.42
  cellar export - | head
  cellar export --format xlsx - > budget.xlsx")]
pub(super) struct Export {
    /// Output file; - for stdout
    pub(super) file: PathBuf,
    /// File format [default: from the file name, otherwise csv]
    #[arg(long, value_enum)]
    pub(super) format: Option<ExportFormat>,
    /// Position to export, such as 0.42 [default: the newest]
    #[arg(long, value_name = "POSITION")]
    pub(super) at: Option<Position>,
    /// Sheet [default: the first; all for xlsx]
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,
    /// Write formulas instead of their results (csv)
    #[arg(long)]
    pub(super) formulas: bool,
    /// Prefix csv texts that start with =, +, -, @, tab or line break with ', so that other programs do not
    /// run them as formulas
    #[arg(long)]
    pub(super) escape_formulas: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
}

/// Formats of exported files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportFormat {
    Csv,
    Tsv,
    Xlsx,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar use 0b8f2c9e-5d1a-8c3b-9f00-6a2f4c1d7e55")]
pub(super) struct Use {
    /// Id of the spreadsheet
    pub(super) id: LogId,
}

pub(super) use super::edit_args::{
    Clear, Columns, ColumnsCommand, Format, Inserted, Rows, RowsCommand, Sheets, SheetsCommand,
};

fn name(text: &str) -> Result<Name, BadName> {
    Name::new(text)
}

fn nonce(text: &str) -> Result<String, String> {
    let max = cellar_base::limits::MAX_NONCE_BYTES;
    if text.is_empty() || text.len() > max {
        return Err(format!("the nonce has {} bytes; it must have 1 to {max}", text.len()));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests;
