//! Arguments of `revert`, `fork` and `replay`.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::spreadsheet::Name;
use clap::Args;

use super::{name, nonce};

#[derive(Debug, Args)]
#[command(after_help = "\
All sheets return to their state at the position. The command appends a new entry and deletes nothing: `cellar \
undo` undoes it like any edit. Edits that others are making meanwhile are applied to the reverted state.

A recovered sheet becomes the last sheet and gets a new number. A revert that does not fit one entry is \
refused; fork the spreadsheet at the position instead.

Examples:
  cellar history                     # list the positions
  cellar diff 0.42                   # list the changes that would be reverted
  cellar revert --to 0.42
  cellar fork --at 0.42              # or: a new spreadsheet with that state")]
pub(in crate::cli) struct Revert {
    /// Position to revert to
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) to: Position,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A fork is a new spreadsheet that shares the contents and history of its source up to the position. Later edits \
of either do not affect the other. Nothing is copied: forking is fast and takes almost no space.

Examples:
  cellar fork                        # fork at the newest position and select the fork
  cellar fork --at 0.42              # fork at an earlier position, see `cellar history`
  cellar fork --at 0.42 --no-use     # keep the current spreadsheet selected
  cellar fork --nonce what-if-2026   # repeated, it returns the same fork")]
pub(in crate::cli) struct Fork {
    /// Name of the fork [default: `Fork of NAME`]
    #[arg(long, value_parser = name)]
    pub(in crate::cli) name: Option<Name>,
    /// Position to fork at, such as 0.42 [default: the newest]
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) at: Option<Position>,
    /// Keep the current spreadsheet selected
    #[arg(long)]
    pub(in crate::cli) no_use: bool,
    /// Idempotency key: the same nonce, subject and spreadsheet always give the same fork
    #[arg(long, value_parser = nonce)]
    pub(in crate::cli) nonce: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Replaying creates a new fork of the source at the given position and applies the edits of the existing fork to \
it. The existing fork is not changed. Each edit is reported as unchanged, transformed (adapted to later edits of \
the source), dropped (its target was deleted) or rejected. You are the author of the replayed edits.

The exit code is 2 if an edit was dropped or rejected, otherwise 0. If the command is interrupted, run it again \
with the printed position: it resumes, and no edit is applied twice.

Examples:
  cellar replay --onto latest --dry-run        # report the outcome of each edit
  cellar replay --onto latest                  # create the new fork and select it
  cellar replay FORK --onto 0.57 --no-use
  cellar replay --onto latest --json")]
pub(in crate::cli) struct Replay {
    /// Fork to replay [default: -s, or the current spreadsheet]
    pub(in crate::cli) fork: Option<LogId>,
    /// Position of the source, such as 0.57, or `latest`
    #[arg(long, value_name = "POSITION", value_parser = onto)]
    pub(in crate::cli) onto: Onto,
    /// Show the outcome of each edit without creating the fork
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Keep the current spreadsheet selected
    #[arg(long, conflicts_with = "dry_run")]
    pub(in crate::cli) no_use: bool,
}

/// Position to replay onto; `None` is the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Onto(pub(in crate::cli) Option<Position>);

fn onto(text: &str) -> Result<Onto, String> {
    match text {
        "latest" => Ok(Onto(None)),
        text => text.parse().map(|at| Onto(Some(at))).map_err(|_| {
            format!(
                "`{text}` is not a position; expected SEGMENT.NUMBER, such as 0.42, or `latest`"
            )
        }),
    }
}
