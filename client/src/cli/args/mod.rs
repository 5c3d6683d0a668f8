//! Defines the `cellar` command line: the global options and the list of commands. Each command's
//! arguments are defined in the module named after the command; `axis` defines those of `cellar
//! rows` and `cellar columns`.

mod axis;
mod clear;
mod compare;
mod create;
mod details;
mod diff;
mod edit;
mod export;
mod feed;
mod find;
mod fork;
mod format;
mod get;
mod history;
mod import;
mod links;
mod list;
mod login;
mod merge;
mod names;
mod nonce;
mod redo;
mod rename;
mod replay;
mod revert;
mod set;
mod share;
mod sheets;
mod stats;
mod sync;
mod trace;
mod undo;
mod unshare;
mod use_spreadsheet;
mod watch;

pub(super) use axis::{AxisArguments, AxisCommand};
pub(super) use clear::Clear;
pub(super) use compare::Compare;
pub(super) use create::Create;
pub(super) use details::Details;
pub(super) use diff::{Diff, DiffSide};
pub(super) use edit::Edit;
pub(super) use export::{Export, ExportFormat};
pub(super) use feed::Feed;
pub(super) use find::Find;
pub(super) use fork::Fork;
pub(super) use format::Format;
pub(super) use get::{Get, WrittenConditions};
pub(super) use history::History;
pub(super) use import::{Import, Ragged, delimiter_name};
pub(super) use links::{Link, Links};
pub(super) use list::{List, ListStatus};
pub(super) use login::{Login, Logout};
pub(super) use merge::Merge;
pub(super) use names::{Names, NamesCommand};
pub(super) use redo::Redo;
pub(super) use rename::Rename;
pub(super) use replay::Replay;
pub(super) use revert::Revert;
pub(super) use set::Set;
pub(super) use share::Share;
pub(super) use sheets::{Sheets, SheetsCommand};
pub(super) use stats::Stats;
pub(super) use sync::Sync;
pub(super) use trace::Trace;
pub(super) use undo::Undo;
pub(super) use unshare::Unshare;
pub(super) use use_spreadsheet::Use;
pub(super) use watch::Watch;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use crate::cli::error::CliError;
use crate::cli::help::{Group, group_commands};
use crate::cli::reference::SpreadsheetReference;
use crate::cli::resolve::{ARCHIVED_FIRST, DELETED_FIRST, SearchOrder, USABLE_FIRST};
use crate::text::shell_quoted;
use axis::{COLUMN_WORDS, ROW_WORDS};

/// Create, read, edit and share spreadsheets in Cellar
#[derive(Debug, Parser)]
#[command(name = "cellar", version, disable_help_subcommand = true)]
#[command(after_help = "\
Getting started:
  cargo run -p synth -- deploy --local   start Cellar on this machine
  cellar login https://example.com       use a stack that others have deployed
  cellar import airports.csv             create a spreadsheet from a file
  cellar get                             print the first cells
  cellar set B2 \"Thigpen Field\"          change a cell
  cellar history                         list the edits

URL and token come from the options, then the environment, then .cellar/profile.json in this or a parent \
directory, then `cellar login`; `synth deploy` writes that file. If the token comes from the options or the \
environment, the URL must also come from there, because only the profile's own token is sent to the profile's URL.

Exit codes: 0 success, 1 error, 2 differences found, conflicts of a merge, or edits not applied, 64 invalid usage.")]
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

/// Options that every command accepts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Spreadsheet: its name, its id or the first 4 characters or more of it, or its URL [env:
    /// CELLAR_SPREADSHEET] [default: the current one, see `cellar use`]
    // This option does not use clap's `env` attribute, because the attribute hides whether the user
    // passed the option. An import must not write into a spreadsheet that only the environment
    // variable selects.
    #[arg(short, long, global = true, value_name = "SPREADSHEET")]
    pub(super) spreadsheet: Option<SpreadsheetReference>,
    /// URL of the API
    #[arg(long, global = true, env = "CELLAR_URL")]
    pub(super) url: Option<String>,
    /// Bearer token for the API of --url
    #[arg(long, global = true, env = "CELLAR_TOKEN", hide_env_values = true)]
    pub(super) token: Option<String>,
    /// Print JSON: results on stdout, errors on stderr
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print the cost of the command to stderr
    #[arg(long, global = true, long_help = COST_HELP)]
    pub(super) cost: bool,
}

/// The groups of commands in `--help`.
const GROUPS: [Group; 8] = [
    ("Stacks", &["login", "logout", "health"]),
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
    (
        "Cells",
        &[
            "get", "find", "trace", "set", "clear", "format", "edit", "sync", "rows", "columns",
            "sheets", "names",
        ],
    ),
    ("Files", &["import", "export", "compare"]),
    ("History", &["history", "diff", "watch", "head", "undo", "redo", "revert"]),
    ("Forks", &["fork", "forks", "merge", "replay"]),
    ("Sharing", &["share", "unshare", "links"]),
    ("Operations", &["stats", "feed"]),
];

impl Cli {
    /// Returns the clap definition of the command line, with the commands in groups.
    pub(super) fn grouped() -> clap::Command {
        group_commands(Self::command(), &GROUPS)
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Save a token for a stack
    Login(Login),
    /// Delete the saved token of a stack
    Logout(Logout),
    /// Create an empty spreadsheet and select it
    Create(Create),
    /// List your spreadsheets and those shared with you
    List(List),
    /// Import a csv, tsv, xlsx, xlsb or ods file
    Import(Import),
    /// Print the cells of a range, or the rows that fulfil conditions
    Get(Get),
    /// Find the cells that contain a text
    Find(Find),
    /// Edit a spreadsheet in a terminal grid, online or offline
    Edit(Edit),
    /// Send edits that were made offline or interrupted
    Sync(Sync),
    /// Set the values of cells
    Set(Set),
    /// Clear the values of ranges; keep their number formats
    Clear(Clear),
    /// Set the number format of a range
    Format(Format),
    /// Insert or delete rows
    #[command(mut_subcommands(|subcommand| ROW_WORDS.add_help(subcommand)), after_help = "\
Examples:
  cellar rows insert 3 --count 2
  cellar rows delete 3:5")]
    Rows(AxisArguments),
    /// Insert or delete columns
    #[command(mut_subcommands(|subcommand| COLUMN_WORDS.add_help(subcommand)), after_help = "\
Examples:
  cellar columns insert C
  cellar columns delete C:D")]
    Columns(AxisArguments),
    /// List, add, rename or delete sheets
    Sheets(Sheets),
    /// List, define or delete names of cells and values, for formulas
    Names(Names),
    /// Show the cells that a formula reads, and the formulas that read a cell
    Trace(Trace),
    /// Undo an edit
    Undo(Undo),
    /// Take back your newest undo
    Redo(Redo),
    /// Revert all edits after a position, in all sheets or in one sheet or range
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
    Archive(NoName),
    /// Make an archived spreadsheet editable again
    #[command(after_help = "Examples:\n  cellar unarchive\n  cellar unarchive -s Budget")]
    Unarchive(NoName),
    /// Delete a spreadsheet; owners can undelete it for 30 days
    #[command(after_help = "\
A deleted spreadsheet is visible only to its owners.

Examples:
  cellar delete
  cellar undelete                    # recover it
  cellar delete -s Budget")]
    Delete(NoName),
    /// Recover a spreadsheet deleted within the last 30 days
    #[command(after_help = "\
Examples:
  cellar list --status deleted
  cellar undelete -s Budget")]
    Undelete(NoName),
    /// List edits with author and time, newest first
    History(History),
    /// Print changes as they happen, until Ctrl-C
    Watch(Watch),
    /// Compare two positions, or a fork with its source
    Diff(Diff),
    /// Export cells to a csv, tsv or xlsx file
    Export(Export),
    /// Compare the results of formulas with those in a workbook file
    Compare(Compare),
    /// Print the newest position
    #[command(after_help = "Examples:\n  cellar head\n  cellar head --json")]
    Head,
    /// Fork a spreadsheet at a position
    Fork(Fork),
    /// Merge a fork into its source, with the authors of its edits
    Merge(Merge),
    /// Replay a fork's edits onto a later position of its source
    Replay(Replay),
    /// List the forks of a spreadsheet
    #[command(after_help = "\
Examples:
  cellar forks
  cellar forks --json
  cellar forks -s Budget")]
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

/// The arguments of a command that takes the spreadsheet only from `-s`. Without a declared argument,
/// the error would not mention `-s`.
#[derive(Debug, Args)]
pub(super) struct NoName {
    #[arg(hide = true)]
    name: Option<String>,
}

impl Command {
    /// Fails if the command names a spreadsheet without `-s`.
    pub(super) fn check_no_name(&self) -> Result<(), CliError> {
        let (command, arguments) = match self {
            Self::Archive(arguments) => ("archive", arguments),
            Self::Unarchive(arguments) => ("unarchive", arguments),
            Self::Delete(arguments) => ("delete", arguments),
            Self::Undelete(arguments) => ("undelete", arguments),
            _ => return Ok(()),
        };
        match &arguments.name {
            None => Ok(()),
            Some(name) => Err(CliError::usage(
                format!(
                    "`cellar {command}` takes the spreadsheet only from -s; nothing was changed"
                ),
                format!("run: cellar {command} -s {}", shell_quoted(name)),
            )),
        }
    }

    /// Returns the spreadsheet that an argument of the command names.
    pub(super) fn named_spreadsheet(&self) -> Option<&SpreadsheetReference> {
        match self {
            Self::Use(args) => Some(&args.target),
            Self::Import(args) => args.into.as_ref(),
            Self::Replay(args) => args.fork.as_ref(),
            Self::Merge(args) => Some(&args.fork),
            Self::Stats(args) => args.target.as_ref(),
            _ => None,
        }
    }

    /// Whether the command applies to the spreadsheet that -s, the environment or the profile
    /// selects.
    pub(super) fn uses_selected_spreadsheet(&self) -> bool {
        let uses_none = matches!(
            self,
            Self::Sync(Sync { all: true })
                | Self::Login(_)
                | Self::Logout(_)
                | Self::Create(_)
                | Self::List(_)
                | Self::Import(_)
                | Self::Feed(_)
                | Self::Health
        );
        !uses_none && self.named_spreadsheet().is_none()
    }

    /// Where to search first for the spreadsheet that the user names.
    pub(super) fn search_order(&self) -> SearchOrder {
        match self {
            Self::Unarchive(_) => ARCHIVED_FIRST,
            Self::Undelete(_) => DELETED_FIRST,
            _ => USABLE_FIRST,
        }
    }
}

#[cfg(test)]
mod tests;
