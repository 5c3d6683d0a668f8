//! Arguments of the commands for versions: restore, and forks.

use cellar_core::catalog::Name;
use cellar_core::position::Position;
use clap::Args;

use super::{name, nonce};

#[derive(Debug, Args)]
#[command(after_help = "\
All sheets become what they were at that position, by a new entry: nothing is lost, and `cellar undo` takes \
it back like any edit. Edits that others are making on what they see meanwhile go on from there.

Without --to, a spreadsheet that is archived or deleted is used again, as it was: owners can do that, with one \
that is deleted for 30 days.

A sheet that comes back is the last one, and has a new number. What takes more than one entry is refused: \
a fork has it then, whatever the size.

Examples:
  cellar history                     # which positions there are
  cellar diff 0.42                   # what has changed since then, and would be taken back
  cellar restore --to 0.42
  cellar restore                     # after `cellar archive` or `cellar delete`
  cellar fork --at 0.42              # instead: a spreadsheet of its own, as it was then")]
pub(in crate::cli) struct Restore {
    /// The position whose state comes back, segment.num; without it, the spreadsheet itself comes back that
    /// is archived or deleted
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) to: Option<Position>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A fork has everything up to that position, history included, and nothing that comes later; edits of one \
do not reach the other. It takes no time and next to no space, however large the spreadsheet is.

Examples:
  cellar fork                        # from the newest position; the fork is the current one then
  cellar fork --at 0.42              # from an earlier one, see `cellar history`
  cellar fork --at 0.42 --keep       # and go on with the spreadsheet that was forked
  cellar fork --nonce what-if-2026   # run again, it finds the same fork")]
pub(in crate::cli) struct Fork {
    /// What the fork is called; without it `Fork of` and the name of the spreadsheet
    #[arg(long, value_parser = name)]
    pub(in crate::cli) name: Option<Name>,
    /// The last position that both share, segment.num; without it the newest
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) at: Option<Position>,
    /// Do not make the fork the current spreadsheet
    #[arg(long)]
    pub(in crate::cli) keep: bool,
    /// A name of your choice that makes it safe to run again: the same nonce, token and spreadsheet
    /// give the same fork
    #[arg(long, value_parser = nonce)]
    pub(in crate::cli) nonce: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The result is a new fork, at the new position, with the edits of the old one, which stays as it is. What \
others have moved since, the edits follow; each that became something else is listed: transformed, \
dropped (nothing is left of what it was about) or rejected. Whoever rebases is the author.

The exit code is 2 if something was dropped or rejected, 0 if not. Interrupted, run it again with the \
position that it printed: it goes on, and nothing happens twice.

Examples:
  cellar rebase --onto latest --dry-run   # only show what would become of each edit
  cellar rebase --onto latest             # the new fork is the current spreadsheet then
  cellar rebase --onto 0.57 --keep -s ID
  cellar rebase --onto latest --json")]
pub(in crate::cli) struct Rebase {
    /// The position of the spreadsheet that was forked, segment.num, or `latest`
    #[arg(long, value_name = "POSITION", value_parser = onto)]
    pub(in crate::cli) onto: Onto,
    /// Only show what would become of each edit
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Do not make the new fork the current spreadsheet
    #[arg(long, conflicts_with = "dry_run")]
    pub(in crate::cli) keep: bool,
}

/// Where a fork is to go; none is the newest position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Onto(pub(in crate::cli) Option<Position>);

fn onto(text: &str) -> Result<Onto, String> {
    match text {
        "latest" => Ok(Onto(None)),
        text => text.parse().map(|at| Onto(Some(at))).map_err(|_| {
            format!("`{text}` is no position: write segment.num, for example 0.42, or latest")
        }),
    }
}
