//! Arguments of `list` and `feed`.

use std::path::PathBuf;

use cellar_base::limits::MAX_FEED_PAGE_ITEMS;
use cellar_catalog::feed::{BadCheckpoint, Checkpoint};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
The list is sorted by name. A new, renamed or newly shared spreadsheet appears after a few seconds.

Examples:
  cellar list
  cellar list budget                 # names that contain `budget`
  cellar list --mine
  cellar list --status deleted       # spreadsheets that `cellar undelete -s ID` recovers
  cellar list --json")]
pub(in crate::cli) struct List {
    /// Text that the name contains (case-insensitive)
    pub(in crate::cli) name: Option<String>,
    /// Only spreadsheets that you own
    #[arg(long, conflicts_with = "shared")]
    pub(in crate::cli) mine: bool,
    /// Only spreadsheets owned by others
    #[arg(long)]
    pub(in crate::cli) shared: bool,
    /// Status
    #[arg(long, value_enum, default_value_t = ListStatus::Active)]
    pub(in crate::cli) status: ListStatus,
}

/// Status of the listed spreadsheets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ListStatus {
    /// Editable
    Active,
    /// Read-only
    Archived,
    /// Deleted; you can undelete it
    Deleted,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The feed contains every change of a spreadsheet's name, members, links and status, in one permanent order, \
since the stack was created. It requires an operator token (`synth token create --all`).

With --checkpoint, the next run resumes after the last printed item. Items printed just before an \
interruption may be printed again.

Examples:
  cellar feed
  cellar feed --payloads --json      # with the payload of each event
  cellar feed --follow --checkpoint feed.json
  cellar feed --after 1000001")]
pub(in crate::cli) struct Feed {
    /// Print only items after this checkpoint [default: from the beginning]
    #[arg(long, value_name = "CHECKPOINT", value_parser = checkpoint)]
    pub(in crate::cli) after: Option<Checkpoint>,
    /// Resume from, and save progress to, this file
    #[arg(long, value_name = "FILE", conflicts_with = "after")]
    pub(in crate::cli) checkpoint: Option<PathBuf>,
    /// Follow the feed until Ctrl-C
    #[arg(long, short)]
    pub(in crate::cli) follow: bool,
    /// Include the payload of each event
    #[arg(long)]
    pub(in crate::cli) payloads: bool,
    /// Items per request
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_FEED_PAGE_ITEMS)))]
    pub(in crate::cli) page_size: Option<u32>,
}

fn checkpoint(text: &str) -> Result<Checkpoint, BadCheckpoint> {
    text.parse()
}
