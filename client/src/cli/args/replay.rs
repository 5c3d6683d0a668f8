use cellar_base::identity::LogId;
use cellar_base::position::Position;
use clap::Args;

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
    /// Position of the source onto which to replay the edits, such as 0.57, or `latest`
    #[arg(long, value_name = "POSITION", value_parser = parse_onto)]
    pub(in crate::cli) onto: Onto,
    /// Show the outcome of each edit without creating the fork
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Keep the current spreadsheet selected
    #[arg(long, conflicts_with = "dry_run")]
    pub(in crate::cli) no_use: bool,
}

/// Position of the source onto which the fork is replayed, or `None` for the newest position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Onto {
    pub(in crate::cli) position: Option<Position>,
}

fn parse_onto(text: &str) -> Result<Onto, String> {
    if text == "latest" {
        return Ok(Onto { position: None });
    }
    let position = text.parse().map_err(|_| {
        format!("`{text}` is not a position; expected SEGMENT.NUMBER, such as 0.42, or `latest`")
    })?;
    Ok(Onto { position: Some(position) })
}
