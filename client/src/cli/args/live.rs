//! Arguments of the interactive commands: `edit` and `watch`.

use std::time::Duration;

use cellar_base::position::Position;
use cellar_sheet::a1::Range;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar edit
  cellar edit --sheet Costs --cell C300
  cellar edit --column-width 20

Edits are saved to disk before they are shown and sent as soon as the server responds. They apply to the
rows and columns that you saw, even if others insert or delete some meanwhile. If the connection or the
machine fails, the next `cellar edit` sends what is pending.

Keys: arrows, Tab, Enter, PageUp, PageDown, Home and Ctrl-Home move; typing replaces a cell, Enter or F2
edits it, Delete clears it, Escape cancels; Ctrl-G goes to a cell, Ctrl-O inserts a row, Ctrl-K deletes a
row, Ctrl-Z undoes your last edit, Ctrl-PageDown and Ctrl-PageUp switch sheets, Ctrl-Q quits.")]
pub(in crate::cli) struct Edit {
    /// Sheet to start with [default: the first]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Cell to start at
    #[arg(long, value_name = "CELL")]
    pub(in crate::cli) cell: Option<Range>,
    /// Width of a column, in characters
    #[arg(long, value_name = "CHARACTERS", default_value_t = 12,
        value_parser = clap::value_parser!(u16).range(4..=200))]
    pub(in crate::cli) column_width: u16,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Prints a line per change: position, time, author and change. Ctrl-C ends the command with exit code 0. If the \
server does not respond, the command retries and then prints the missed changes. It polls every second while \
there are changes and once a minute otherwise; each poll costs half a read unit.

With --json each line is an object with an `event`: `entry`, `offline`, `online` or `skipped`.

Examples:
  cellar watch
  cellar watch --range B2:D20
  cellar watch --sheet Costs --range A:C
  cellar watch --after 0.42 --until 0.50     # past changes, then new ones
  cellar watch --json --for 60s | jq .what")]
pub(in crate::cli) struct Watch {
    /// Print only changes that affect these cells, such as A1:B5 or `Costs!A1:B5`
    #[arg(long, value_name = "RANGE")]
    pub(in crate::cli) range: Option<Range>,
    /// Sheet [default: all; the first with --range]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Print only changes after this position [default: the newest]
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) after: Option<Position>,
    /// Stop at this position
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) until: Option<Position>,
    /// Stop after this time, such as 60s or 5m
    #[arg(long = "for", value_name = "DURATION", value_parser = humantime::parse_duration)]
    pub(in crate::cli) for_time: Option<Duration>,
}
