//! Arguments of the commands that go on while others edit.

use cellar_core::a1::Range;
use cellar_core::position::Position;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cellar edit
  cellar edit --sheet Costs --at C300
  cellar edit --column-width 20

What you type is kept on disk before it is shown, sent as soon as somebody answers, and lands in the
rows that you saw, whatever others insert or delete meanwhile. Nothing is lost if the line breaks or
the machine goes down: the next `cellar edit` goes on.

Keys: arrows, Tab, Enter, PageUp, PageDown, Home, Ctrl-Home; type to replace, Enter or F2 to change,
Delete to clear, Escape to give up; Ctrl-G goes to a cell, Ctrl-O inserts a row, Ctrl-K deletes one,
Ctrl-Z takes your last edit back, Ctrl-PageDown and Ctrl-PageUp turn to other sheets, Ctrl-Q ends.")]
pub(in crate::cli) struct Edit {
    /// The sheet to begin with; otherwise the first
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// The cell to begin at
    #[arg(long, value_name = "CELL")]
    pub(in crate::cli) at: Option<Range>,
    /// Characters of a column
    #[arg(long, value_name = "CHARACTERS", default_value_t = 12,
        value_parser = clap::value_parser!(u16).range(4..=200))]
    pub(in crate::cli) column_width: u16,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A line for each change: where, when, who and what. Ctrl-C ends it, with exit code 0. If nobody answers, it \
says so, goes on trying, and shows what it has missed. It asks every second while something happens, and \
once a minute when nothing does: half a read unit each time.

With --json each line is an object with an `event`: `entry`, `offline`, `online` or `skipped`.

Examples:
  cellar watch
  cellar watch --range B2:D20
  cellar watch --sheet Costs --range A:C
  cellar watch --from 0.42 --until 0.50      # what was done there, then what is being done
  cellar watch --json --for 60 | jq .what")]
pub(in crate::cli) struct Watch {
    /// Only what changes or moves these cells; `Costs!A1:B5` of another sheet than the first
    #[arg(long, value_name = "RANGE")]
    pub(in crate::cli) range: Option<Range>,
    /// The sheet; without it all, with --range the first
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Begin behind this position; without it behind the newest there is
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) from: Option<Position>,
    /// End when this position was reached
    #[arg(long, value_name = "POSITION")]
    pub(in crate::cli) until: Option<Position>,
    /// End after so many seconds
    #[arg(long = "for", value_name = "SECONDS")]
    pub(in crate::cli) for_s: Option<u64>,
}
