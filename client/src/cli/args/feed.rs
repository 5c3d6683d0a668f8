//! Arguments of the commands that list spreadsheets and follow the feed.

use std::path::PathBuf;

use cellar_core::feed::{BadCheckpoint, Checkpoint};
use cellar_core::limits::MAX_FEED_PAGE_ITEMS;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Sorted by name. A spreadsheet that was just made, named or shared is in the list some seconds later.

Examples:
  cellar list
  cellar list budget                 # those with `budget` in their names
  cellar list --mine
  cellar list --status deleted       # what `cellar restore -s ID` can bring back
  cellar list --json")]
pub(in crate::cli) struct List {
    /// What the name has in it, in any case
    pub(in crate::cli) name: Option<String>,
    /// Only those of which you are an owner
    #[arg(long, conflicts_with = "shared")]
    pub(in crate::cli) mine: bool,
    /// Only those that others own
    #[arg(long)]
    pub(in crate::cli) shared: bool,
    /// Only those in this state
    #[arg(long, value_enum, default_value_t = ListStatus::Active)]
    pub(in crate::cli) status: ListStatus,
}

/// Which spreadsheets are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ListStatus {
    /// In use
    Active,
    /// Read and not changed
    Archived,
    /// Deleted, and to be restored by you
    Deleted,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Every change of every spreadsheet's name, owners, sharing and state, since the stack's first day, in an order \
in which the changes of each spreadsheet follow each other. It is for operators, with a token for all \
spreadsheets (`synth token --all`).

With --checkpoint, the file keeps what was printed last, and the next run goes on behind it; what was \
printed when a run was interrupted may be printed again.

Examples:
  cellar feed
  cellar feed --events --json        # with what each change says
  cellar feed --follow --checkpoint feed.json
  cellar feed --after 1000001")]
pub(in crate::cli) struct Feed {
    /// Begin behind this checkpoint; without it at the beginning
    #[arg(long, value_name = "CHECKPOINT", value_parser = checkpoint)]
    pub(in crate::cli) after: Option<Checkpoint>,
    /// Keep how far it has come in this file, and go on from there
    #[arg(long, value_name = "FILE", conflicts_with = "after")]
    pub(in crate::cli) checkpoint: Option<PathBuf>,
    /// Go on as the feed does, until Ctrl-C
    #[arg(long, short)]
    pub(in crate::cli) follow: bool,
    /// Tell what each change says
    #[arg(long)]
    pub(in crate::cli) events: bool,
    /// At most so many items in one request
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_FEED_PAGE_ITEMS)))]
    pub(in crate::cli) limit: Option<u32>,
}

fn checkpoint(text: &str) -> Result<Checkpoint, BadCheckpoint> {
    text.parse()
}
