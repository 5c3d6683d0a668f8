//! The command line, as it is parsed and as `--help` shows it.

mod catalog;
mod feed;
mod live;
mod versions;

pub(super) use catalog::{Details, Link, Links, Rename, Share, Unshare};
pub(super) use feed::{Feed, List, ListStatus};
pub(super) use live::{Edit, Watch};
pub(super) use versions::{Fork, Rebase, Restore};

use std::path::PathBuf;

use cellar_core::a1::{CellName, Range};
use cellar_core::catalog::{BadName, Name};
use cellar_core::identity::LogId;
use cellar_core::position::Position;
use cellar_exchange::ColumnTypes;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Work with spreadsheets in Cellar: import, read, edit, export.
#[derive(Debug, Parser)]
#[command(name = "cellar", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "\
Getting started:
  cargo run -p synth -- deploy --local   start a cloud on this machine
  cellar import airports.csv             a new spreadsheet from a file
  cellar get                             the top left of it
  cellar set B2 \"Thigpen Field\"          an edit
  cellar history                         who changed what, and when

The API's address and token come from --url and --token, else CELLAR_URL and CELLAR_TOKEN, else \
.cellar/profile.json, found upwards from the working directory; `deploy` writes that file. A token that \
is given needs a URL beside it: none goes to the URL of a profile but the profile's own.")]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

const COST_HELP: &str = "\
Print what the command cost, on stderr, also if it fails; with --json as a line of JSON there

Request units and requests are as the API told them; dollars are the on-demand prices of us-east-1, \
without the function's own time and invocations, data transfer and storage.

Example:
  cellar --cost set A1 hello
  cost: 1 write unit: $0.000000625";

/// What every command understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(super) struct Global {
    /// The spreadsheet; without it CELLAR_SPREADSHEET, or the current one (see `cellar use`)
    // Not clap's `env`: for an import, a spreadsheet in the environment is not an order to
    // overwrite it.
    #[arg(short, long, global = true, value_name = "ID")]
    pub(super) spreadsheet: Option<LogId>,
    /// The URL of the API
    #[arg(long, global = true, env = "CELLAR_URL")]
    pub(super) url: Option<String>,
    /// The bearer token, for the API of --url
    #[arg(long, global = true, env = "CELLAR_TOKEN", hide_env_values = true)]
    pub(super) token: Option<String>,
    /// Print JSON, for programs; errors too, on stderr
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print what the command cost, on stderr; with --json as a line of JSON there
    #[arg(long, global = true, long_help = COST_HELP)]
    pub(super) cost: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an empty spreadsheet and make it the current one
    Create(Create),
    /// List the spreadsheets that are yours, or shared with you
    List(List),
    /// Import csv, xlsx, xlsb or ods into a new spreadsheet, or into an existing one
    Import(Import),
    /// Show cells
    Get(Get),
    /// Move and type in a grid, and see what others do; works offline, too
    Edit(Edit),
    /// Set or clear cells
    Set(Set),
    /// Clear the values of a range; its formats stay
    Clear(Clear),
    /// Set the number format of a range
    Format(Format),
    /// Insert or delete rows
    Rows(Rows),
    /// Insert or delete columns
    Columns(Columns),
    /// List, add, rename or delete sheets
    Sheets(Sheets),
    /// Take back what an edit did
    Undo(Undo),
    /// Take back all edits behind a position, or bring back what was archived or deleted
    Restore(Restore),
    /// Show what it is called, with whom it is shared, and by which links
    Details(Details),
    /// Call it otherwise
    Rename(Rename),
    /// Share it with somebody, or change what they may do
    Share(Share),
    /// Share it with somebody no longer
    Unshare(Unshare),
    /// Share it with whoever has a link
    Links(Links),
    /// Let it be read and not changed, until it is restored
    #[command(after_help = "\
Examples:
  cellar archive
  cellar restore                     # use it again")]
    Archive,
    /// Delete it: hidden at once, for good after 30 days
    #[command(after_help = "\
Nobody sees it any more but its owners, who can restore it for 30 days.

Examples:
  cellar delete
  cellar restore                     # bring it back
  cellar delete -s ID")]
    Delete,
    /// Show who changed what, newest first
    History(History),
    /// Show changes as they are made, until Ctrl-C
    Watch(Watch),
    /// Show what differs between two positions
    Diff(Diff),
    /// Write the cells to a csv or xlsx file
    Export(Export),
    /// Print the newest position
    #[command(after_help = "Examples:\n  cellar head\n  cellar head --json")]
    Head,
    /// Make a fork: a spreadsheet that goes its own way from a position of this one
    Fork(Fork),
    /// Do what a fork did again, on another position of what it comes from
    Rebase(Rebase),
    /// List the forks of a spreadsheet
    #[command(after_help = "\
Examples:
  cellar forks
  cellar forks --json
  cellar forks -s 4b74c877-c40f-8d75-966e-04fce373d865")]
    Forks,
    /// Show how a spreadsheet is stored, and what opening it costs
    Stats(Stats),
    /// Make a spreadsheet the current one
    Use(Use),
    /// Print every change of every spreadsheet's name, sharing and state, since the beginning; for operators
    Feed(Feed),
    /// Show what runs at the URL and what it reaches; needs no token
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
    /// The spreadsheet; otherwise that of -s, or the current one
    pub(super) id: Option<cellar_core::identity::LogId>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
It is yours: `cellar share` and `cellar links` share it with others.

Examples:
  cellar create --name 'Budget 2026'
  cellar create
  cellar create --nonce budget-2026   # run again, it finds the same spreadsheet")]
pub(super) struct Create {
    /// What it is called
    #[arg(long, value_parser = name)]
    pub(super) name: Option<Name>,
    /// A name of your choice that makes it safe to run again: the same nonce and the same token
    /// give the same spreadsheet
    #[arg(long, value_parser = nonce)]
    pub(super) nonce: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
csv and tsv of any size; xlsx, xlsb and ods (a sheet of theirs each) of up to 20 million cells. Each \
sheet of the file becomes a sheet of the spreadsheet, all of them in one entry of its history, or \
nothing does. With --sheet, up to 100,000 cells go into a sheet that is there, as edits.

In csv, numbers, dates and booleans are recognised, a column at a time, and only where nothing of \
the text is lost: every cell shows as the text of its field.

An interrupted import is finished when the same command is run again; nothing happens twice.

Examples:
  cellar import airports.csv
  cellar import budget.xlsx
  cellar import prices.tsv --text                 # keep everything as text
  cellar import export.csv --delimiter semicolon --types A=text,C=number
  cellar import budget.xlsx --into ID             # as new sheets of a spreadsheet
  cellar import budget.xlsx --into ID --sheets Costs,Plan
  cellar import prices.csv --into ID --replace Prices
  cellar import more.csv --into ID --sheet Costs --at A120")]
pub(super) struct Import {
    /// The file: csv or tsv in UTF-8, xlsx, xlsb or ods
    pub(super) file: PathBuf,
    /// What the new spreadsheet is called; without it, it is called as the file
    #[arg(long, value_parser = name, conflicts_with = "into")]
    pub(super) name: Option<Name>,
    /// Import into this spreadsheet (`-s` does the same) instead of a new one
    #[arg(long, value_name = "ID")]
    pub(super) into: Option<LogId>,
    /// Take the place, and the name, of this sheet of an existing spreadsheet
    #[arg(long, value_name = "NAME", conflicts_with = "sheet")]
    pub(super) replace: Option<String>,
    /// Set cells of this sheet of an existing spreadsheet, as edits; others stay
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,
    /// Where the first cell goes in that sheet; without it A1
    #[arg(long, value_name = "CELL", requires = "sheet")]
    pub(super) at: Option<CellName>,
    /// The sheets of a workbook that are wanted; without it all
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) sheets: Vec<String>,
    /// What separates fields of csv; comma, or tab for .tsv files
    #[arg(long, value_enum)]
    pub(super) delimiter: Option<Delimiter>,
    /// What to do with rows of csv that have another number of fields than the first
    #[arg(long, value_enum, default_value_t = Ragged::Error)]
    pub(super) ragged: Ragged,
    /// What columns of csv are: A=text,C=number with text, number, date or boolean, or one for all
    #[arg(long, value_name = "TYPES")]
    pub(super) types: Option<ColumnTypes>,
    /// Keep everything in csv as text
    #[arg(long, conflicts_with = "types")]
    pub(super) text: bool,
    /// Read the file, say what is in it, and send nothing
    #[arg(long, conflicts_with_all = ["sheet", "restart"])]
    pub(super) dry_run: bool,
    /// Forget an interrupted run and begin anew
    #[arg(long)]
    pub(super) restart: bool,
}

/// What separates fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Delimiter {
    Comma,
    Tab,
    Semicolon,
}

/// What to do with ragged rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Ragged {
    /// Stop and name the line
    Error,
    /// Fill short rows with empty cells on the right
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
  cellar get --at 0.3               # as it was at that position, see `cellar history`
  cellar get --remote               # the server reads; nothing is loaded or kept here")]
pub(super) struct Get {
    /// The range, such as A1:G20, A:C or Sheet1!B2; without it the top left of the first sheet
    #[arg(long, short)]
    pub(super) range: Option<Range>,
    /// Show the cells as they were at this position, segment.num
    #[arg(long, value_name = "POSITION")]
    pub(super) at: Option<Position>,
    /// The sheet; without it the one in the range, or the first
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,
    /// Let the server read the cells, as it does with --at; nothing of a snapshot is loaded or kept here
    #[arg(long)]
    pub(super) remote: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Numbers, dates such as 2026-11-21, TRUE and FALSE are recognised; everything else is text, and so \
is everything with --text. All pairs of one command happen together.

Examples:
  cellar set A1 hello
  cellar set A1 1 B1 2.50 C1 2026-11-21
  cellar set A1 -5
  cellar set --text A1 007
  cellar set --clear A1 B1
  cellar set --sheet Costs A1 1
  cellar set -- A1 --dashes")]
pub(super) struct Set {
    /// Pairs of a cell and its value; with --clear, only cells
    #[arg(required = true, value_name = "CELL VALUE", allow_negative_numbers = true)]
    pub(super) pairs: Vec<String>,
    /// Take the values as text, whatever they look like
    #[arg(long, conflicts_with = "clear")]
    pub(super) text: bool,
    /// Clear the cells
    #[arg(long)]
    pub(super) clear: bool,
    /// The sheet; without it the one that the cells name, or the first
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar undo           # your newest edit that was not taken back; again, the one before
  cellar undo 0.12      # the edit at that position, whoever made it, see `cellar history`
  cellar undo 0.13      # of an undo: does again what it took back

What others have changed since stays as they left it. A sheet that comes back is the last one, and \
has a new number: edits that others still send of the old one do not reach it.

Without a position, edits of which nothing is still there are gone past, at most ten.")]
pub(super) struct Undo {
    /// The position of the edit; without it your newest that was not taken back
    pub(super) position: Option<Position>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The exit code is 2 if there are differences, 0 if there are none.

Examples:
  cellar diff 0.3              # what has changed since then
  cellar diff 0.3 0.9
  cellar diff 0.3 0.9 --json")]
pub(super) struct Diff {
    /// The earlier position, segment.num
    pub(super) from: Position,
    /// The later position; without it the newest
    pub(super) to: Option<Position>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar history
  cellar history --limit 5
  cellar history --from 0.42
  cellar history --json")]
pub(super) struct History {
    /// How many entries to show
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: u32,
    /// The newest position to show; without it the newest there is
    #[arg(long, value_name = "POSITION")]
    pub(super) from: Option<Position>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
csv and tsv have one sheet, each cell as it is shown; xlsx has all of them, with formulas and number \
formats. A link stays and leads to the new file; a pipe or a device gets the bytes.

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
    /// The file; - is standard output
    pub(super) file: PathBuf,
    /// The format; without it as the file's name ends, and else csv
    #[arg(long, value_enum)]
    pub(super) format: Option<ExportFormat>,
    /// Export the cells as they were at this position, segment.num
    #[arg(long, value_name = "POSITION")]
    pub(super) at: Option<Position>,
    /// The sheet; without it the first, and in xlsx all
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,
    /// Write formulas into csv instead of what they gave
    #[arg(long)]
    pub(super) formulas: bool,
    /// Write ' before csv texts that begin with =, +, -, @, a tab or a line end: other programs may run them
    #[arg(long)]
    pub(super) escape_formulas: bool,
    /// Replace the file if it exists
    #[arg(long)]
    pub(super) force: bool,
}

/// What is written.
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
    /// The spreadsheet's id
    pub(super) id: LogId,
}

pub(super) use super::edit_args::{
    AxisCommand, Clear, Columns, DeleteLines, Format, InsertLines, Rows, Sheets, SheetsCommand,
};

fn name(text: &str) -> Result<Name, BadName> {
    Name::new(text)
}

fn nonce(text: &str) -> Result<String, String> {
    let max = cellar_core::limits::MAX_NONCE_BYTES;
    if text.is_empty() || text.len() > max {
        return Err(format!("a nonce has 1 to {max} bytes, this one has {}", text.len()));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests;
