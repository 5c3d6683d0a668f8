use std::ops::RangeInclusive;
use std::time::Duration;

use cellar_base::duration::{DurationFault, DurationUnit, parse_duration};
use cellar_sheet::a1::Range;
use clap::Args;

use crate::cli::at::{AT, At};

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
  cellar watch --after 0.42 --until 0.50     # past changes
  cellar watch --after \"2 hours ago\"        # past changes, then new ones
  cellar watch --json --for 60s | jq .what")]
pub(in crate::cli) struct Watch {
    /// Print only changes that affect these cells, such as A1:B5 or `Costs!A1:B5`
    #[arg(long, value_name = "RANGE")]
    pub(in crate::cli) range: Option<Range>,
    /// Sheet [default: all sheets, or the first sheet with --range]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) sheet: Option<String>,
    /// Print only changes after this position or time, such as 0.42 or `2 hours ago` [default: the newest]
    #[arg(long, value_name = AT)]
    pub(in crate::cli) after: Option<At>,
    /// Stop at this position or past time
    #[arg(long, value_name = AT)]
    pub(in crate::cli) until: Option<At>,
    /// Stop after this time, such as 60s or 5m
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_watch_time)]
    pub(in crate::cli) for_time: Option<Duration>,
}

/// Accepted range of `--for`, in milliseconds: up to a year.
const WATCH_MS: RangeInclusive<u64> = 1..=366 * 86_400 * 1_000;

fn parse_watch_time(text: &str) -> Result<Duration, DurationFault> {
    parse_duration(text, DurationUnit::Milliseconds, &WATCH_MS).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_are_bounded() {
        assert_eq!(parse_watch_time("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_watch_time("1ms"), Ok(Duration::from_millis(1)));
        assert_eq!(parse_watch_time("366d"), Ok(Duration::from_millis(*WATCH_MS.end())));
        for bad in ["0s", "366d 1ms", "60", "soon"] {
            assert!(parse_watch_time(bad).is_err(), "{bad}");
        }
    }
}
