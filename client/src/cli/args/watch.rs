use std::time::Duration;

use cellar_base::position::Position;
use cellar_sheet::a1::Range;
use clap::Args;

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
    /// Sheet [default: all sheets, or the first sheet with --range]
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
