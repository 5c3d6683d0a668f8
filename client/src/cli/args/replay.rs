use clap::Args;

use crate::cli::at::{AT, At};
use crate::cli::reference::SpreadsheetReference;

#[derive(Debug, Args)]
#[command(after_help = "\
Replaying creates a new fork of the source at the given position and applies the edits of the existing fork to \
it. The existing fork is not changed. Each edit is reported as unchanged, transformed (adapted to later edits of \
the source), dropped (its target was deleted) or rejected. Each edit keeps its author and time.

The new fork has the name and the members of the existing one. Share links are not kept.

The exit code is 2 if an edit was dropped or rejected, otherwise 0. If the command is interrupted, run it again \
with the printed position: it resumes, and no edit is applied twice.

Examples:
  cellar replay --onto latest --dry-run        # report the outcome of each edit
  cellar replay --onto latest                  # create the new fork and select it
  cellar replay FORK --onto 0.57 --no-use
  cellar replay --onto yesterday
  cellar replay --onto latest --json")]
pub(in crate::cli) struct Replay {
    /// Fork to replay [default: -s, or the current spreadsheet]
    pub(in crate::cli) fork: Option<SpreadsheetReference>,
    /// Position or time of the source onto which to replay the edits, such as 0.57, or `latest`
    #[arg(long, value_name = AT, value_parser = parse_onto)]
    pub(in crate::cli) onto: Onto,
    /// Show the outcome of each edit without creating the fork
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Keep the current spreadsheet selected
    #[arg(long, conflicts_with = "dry_run")]
    pub(in crate::cli) no_use: bool,
}

/// Where in the source the fork is replayed, or `None` for the newest position.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Onto {
    pub(in crate::cli) at: Option<At>,
}

fn parse_onto(text: &str) -> Result<Onto, String> {
    if text == "latest" {
        return Ok(Onto { at: None });
    }
    match text.parse() {
        Ok(at) => Ok(Onto { at: Some(at) }),
        Err(why) => Err(format!("{why}, or `latest`")),
    }
}
