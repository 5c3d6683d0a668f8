//! Arguments of the commands that observe a deployed stack.

use std::ops::RangeInclusive;
use std::time::Duration;

use cellar_base::duration::{DurationFault, DurationUnit, parse_duration};
use clap::{Args, ValueEnum};

/// Accepted range of `logs --limit`. The lines are sorted in memory, so their number must be
/// limited.
pub(crate) const LOG_LINES: RangeInclusive<u64> = 1..=100_000;
/// Accepted range of `logs --since`, in seconds. CloudWatch retains log lines for at most ten
/// years.
const LOG_SECONDS: RangeInclusive<u64> = 1..=3_653 * 86_400;

/// Options that select the stack of a command.
#[derive(Debug, Args)]
pub(crate) struct LocationArguments {
    /// Use the local stack [default: the target of the last deployment]
    #[arg(long)]
    pub(crate) local: bool,
    /// Use the stack in AWS, even if it was not deployed from this directory
    #[arg(long, conflicts_with = "local")]
    pub(crate) aws: bool,
    /// URL of an AWS emulator to use instead of AWS
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub(crate) endpoint_url: Option<String>,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth status\n  synth status --aws\n  \
                        synth --json status | jq .running.url\n\n\
                        Without options, the command shows the target of the last deployment. For a stack in \
                        AWS it also shows active alarms and dead letters.")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) location: LocationArguments,
}

/// A function of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum FunctionArgument {
    /// Serves the HTTP API
    Api,
    /// Starts the jobs that new entries require
    Relay,
    /// Writes the feed from the event streams
    Indexer,
    /// Delivers the feed to `webhook.url`
    Webhook,
    /// Builds snapshots
    Snapshot,
}

/// Arguments of `logs`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth logs\n  synth logs api --errors --since 2d\n  \
                        synth logs --follow\n  \
                        synth logs snapshot --filter 'a snapshot failed'\n  \
                        synth --json logs --since 1h | jq -r .message\n  \
                        synth logs --local --follow\n\n\
                        If there are more lines than --limit, the newest are shown. Ctrl-C ends --follow.")]
pub(crate) struct LogsArguments {
    /// Functions to show [default: all]
    #[arg(value_enum, conflicts_with = "local")]
    pub(crate) functions: Vec<FunctionArgument>,
    /// Show only lines newer than this duration, such as 15m, 2h or 7d
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = parse_log_time)]
    pub(crate) since: Duration,
    /// Follow new lines
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Show only errors, warnings and timeouts
    #[arg(long)]
    pub(crate) errors: bool,
    /// Show only lines that contain this text (case-sensitive)
    #[arg(long, value_name = "TEXT", value_parser = parse_text)]
    pub(crate) filter: Option<String>,
    /// Maximum number of lines to show; older lines are omitted
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(LOG_LINES))]
    pub(crate) limit: u64,
    /// Include Lambda platform lines (START, END, REPORT)
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) location: LocationArguments,
}

fn parse_log_time(text: &str) -> Result<Duration, DurationFault> {
    parse_duration(text, DurationUnit::Seconds, &LOG_SECONDS).map(Duration::from_secs)
}

/// Maximum length of the `--filter` text, in bytes. CloudWatch limits the length of the filter
/// pattern, which contains the text in quoted and escaped form.
const TEXT_BYTES_MAX: usize = 511;

fn parse_text(text: &str) -> Result<String, String> {
    match text.len() {
        0 => Err("the text is empty".to_owned()),
        1..=TEXT_BYTES_MAX => Ok(text.to_owned()),
        _ => Err(format!("the filter text has more than {TEXT_BYTES_MAX} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_bounded() {
        assert_eq!(parse_log_time("15m"), Ok(Duration::from_secs(900)));
        assert_eq!(parse_log_time("2h 30s"), Ok(Duration::from_secs(7_230)));
        assert_eq!(parse_log_time("1s"), Ok(Duration::from_secs(1)));
        assert!(parse_log_time("3653d").is_ok() && parse_log_time("3653d 1s").is_err());
        for bad in ["", "0s", "h", "1", "-1h", "yesterday", "99999999999999999999d"] {
            assert!(parse_log_time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn texts_are_bounded() {
        assert!(parse_text("").is_err() && parse_text("x").is_ok());
        assert!(parse_text(&"x".repeat(TEXT_BYTES_MAX)).is_ok());
        assert!(parse_text(&"x".repeat(TEXT_BYTES_MAX + 1)).is_err());
    }
}
