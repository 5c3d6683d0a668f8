//! Arguments of what looks at a stack that is deployed.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::{Args, ValueEnum};

/// Lines of a log that can be shown at a time: they are sorted in memory.
pub(crate) const LOG_LINES: RangeInclusive<u64> = 1..=100_000;
/// Seconds that logs are read back: CloudWatch keeps no line for longer than ten years.
const LOG_SECONDS: RangeInclusive<u64> = 1..=3_653 * 86_400;

/// Which stack is looked at.
#[derive(Debug, Args)]
pub(crate) struct WhereArguments {
    /// The stack on this machine [default: wherever was last deployed to from here]
    #[arg(long)]
    pub(crate) local: bool,
    /// The stack in AWS, though it was not deployed from here
    #[arg(long, conflicts_with = "local")]
    pub(crate) aws: bool,
    /// The stack in an emulator of AWS at this URL
    #[arg(long, value_name = "URL", conflicts_with = "local")]
    pub(crate) endpoint_url: Option<String>,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth status\n  synth status --aws\n  \
                        synth --json status | jq .running.url\n\n\
                        Without options it is about what was last deployed from here. A stack in AWS is \
                        shown with its alarms that have gone off and the dead letters of its queues.")]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) place: WhereArguments,
}

/// A function of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum FunctionArgument {
    /// Serves the API
    Api,
    /// Relays new entries to what follows them
    Relay,
    /// Indexes what is appended to streams
    Indexer,
    /// Delivers the feed to the URL of `webhook`, if there is one
    Webhook,
    /// Makes snapshots
    Snapshot,
}

/// Arguments of `logs`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth logs\n  synth logs api --errors --since 2d\n  \
                        synth logs --follow\n  \
                        synth logs snapshot --filter 'a snapshot failed'\n  \
                        synth --json logs --since 1h | jq -r .message\n  \
                        synth logs --local --follow\n\n\
                        Of more lines than --limit the newest are shown. --follow ends with Ctrl-C.")]
pub(crate) struct LogsArguments {
    /// Functions [default: all]
    #[arg(value_enum, conflicts_with = "local")]
    pub(crate) functions: Vec<FunctionArgument>,
    /// How far back, such as 15m, 2h or 7d
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = parse_log_time)]
    pub(crate) since: Duration,
    /// Go on with what is logged from now on
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only errors and warnings, and calls that were cut off
    #[arg(long)]
    pub(crate) errors: bool,
    /// Only lines with this text in them, as it is written
    #[arg(long, value_name = "TEXT", value_parser = parse_text)]
    pub(crate) filter: Option<String>,
    /// Lines at most, the newest
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(LOG_LINES))]
    pub(crate) limit: u64,
    /// Also what Lambda itself says of each call
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) place: WhereArguments,
}

/// A time such as `15m`, within bounds of seconds.
pub(super) fn duration_within(
    text: &str,
    seconds: &RangeInclusive<u64>,
) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text)
        .map_err(|_| "write it as 15m, 2h, 7d or 30days".to_owned())?;
    if !seconds.contains(&duration.as_secs()) {
        let said = |s: &u64| humantime::format_duration(Duration::from_secs(*s)).to_string();
        return Err(format!("from {} to {}", said(seconds.start()), said(seconds.end())));
    }
    Ok(duration)
}

fn parse_log_time(text: &str) -> Result<Duration, String> {
    duration_within(text, &LOG_SECONDS)
}

/// Bytes of a pattern that CloudWatch takes, less its quotes, if each is written as two.
const TEXT_BYTES_MAX: usize = 511;

fn parse_text(text: &str) -> Result<String, String> {
    match text.len() {
        0 => Err("it is empty".to_owned()),
        1..=TEXT_BYTES_MAX => Ok(text.to_owned()),
        _ => Err(format!("it has more than {TEXT_BYTES_MAX} bytes")),
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
