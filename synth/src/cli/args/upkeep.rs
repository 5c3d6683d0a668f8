//! Arguments of the commands that maintain the data of a stack.

use std::time::{SystemTime, UNIX_EPOCH};

use cellar_base::duration::{DurationFault, DurationUnit, parse_duration};
use cellar_base::identity::LogId;
use cellar_stacks::config::limits::{KEEP_SEGMENTS, OFFLOAD_AFTER_DAYS};
use clap::Args;
use clap::builder::RangedI64ValueParser;

use super::parse_spreadsheet_id;
use super::watch::LocationArguments;

/// Arguments of `offload`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth offload --dry-run\n  \
                        synth offload --local --offload-after 365d\n  \
                        synth offload --local --offload-after 30d --keep-segments 4 --yes\n\n\
                        The command can be interrupted and run again at any time, also while users edit. \
                        Offloaded segments stay readable, and edits can still be based on them.")]
pub(crate) struct OffloadArguments {
    #[command(flatten)]
    pub(crate) location: LocationArguments,
    /// Show what would be done without doing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Offload only segments that were closed at least this long ago, such as 365d [default:
    /// offload_after of the configuration]
    #[arg(long = "offload-after", value_name = "DURATION", value_parser = parse_offload_days)]
    pub(crate) offload_after_days: Option<u32>,
    /// Keep the newest N segments of each spreadsheet in the tables [default: keep_segments of the
    /// configuration]
    #[arg(long, value_name = "N", value_parser = segments_parser())]
    pub(crate) keep_segments: Option<u32>,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Arguments of `purge`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth purge --dry-run\n  \
                        synth purge --local --yes\n\n\
                        A deleted spreadsheet can be undeleted for 30 days. After that, this command \
                        permanently removes its entries, snapshots, offloaded segments and uploads. A \
                        spreadsheet with forks in use is kept until they are purged; a purged fork \
                        takes only the objects that its source and siblings do not need. Its catalog \
                        events stay in the feed. The command can be interrupted and run again at any \
                        time; run it weekly or monthly, as your retention rules require.")]
pub(crate) struct PurgeArguments {
    #[command(flatten)]
    pub(crate) location: LocationArguments,
    /// Show what would be done without doing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Arguments of `reprocess`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth reprocess --dry-run\n  \
                        synth reprocess --local --since 2026-11-01 --yes\n  \
                        synth reprocess --rebuild --spreadsheet ID\n  \
                        synth reprocess --cells --spreadsheet ID --dry-run\n\n\
                        The command can be interrupted and run again at any time, also while users edit; no \
                        job is done twice. --rebuild rebuilds every snapshot of a spreadsheet from its \
                        log, even if all objects under sheets/ in the bucket are lost; new snapshots wait \
                        until it is finished. --cells lists each cell that shows #LOST! because its long \
                        text is missing or damaged, and stores that error as its value, which `cellar \
                        set` can replace.")]
pub(crate) struct ReprocessArguments {
    #[command(flatten)]
    pub(crate) location: LocationArguments,
    /// Repair only this spreadsheet [default: all]
    #[arg(long, short, value_name = "ID", value_parser = parse_spreadsheet_id)]
    pub(crate) spreadsheet: Option<LogId>,
    /// Check only entries created at or after this time, such as 2026-11-01 or
    /// 2026-11-01T08:00:00Z [default: all]
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub(crate) since: Option<u64>,
    /// Show what would be done without doing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Rebuild every snapshot of the spreadsheet from its first entry
    #[arg(long, requires = "spreadsheet", conflicts_with = "since")]
    pub(crate) rebuild: bool,
    /// List the cells of the spreadsheet whose long text is lost, and store #LOST! in them
    #[arg(long, requires = "spreadsheet", conflicts_with_all = ["since", "rebuild"])]
    pub(crate) cells: bool,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Point in time to which the tables are restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RestoreTime {
    /// The latest restorable time, which is a few minutes in the past.
    Latest,
    /// Time in Unix seconds.
    At(u64),
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth restore --to 2026-11-01T08:00:00Z\n  \
                        synth restore --to latest --yes\n\n\
                        Use it for table items that were deleted or damaged outside Cellar. Mistaken edits \
                        need no restore: the log keeps every state, `cellar undo` reverses an edit and \
                        `cellar revert` all edits after a position. The restored tables are added to the \
                        stack beside the old ones, which stay in use until `synth deploy`. The command can \
                        be interrupted and run again at any time.")]
pub(crate) struct RestoreArguments {
    /// Point in time within the last 35 days, such as 2026-11-01T08:00:00Z, or `latest`
    #[arg(long, value_name = "TIME", value_parser = parse_restore_time)]
    pub(crate) to: RestoreTime,
    /// URL of an AWS emulator to use instead of AWS
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint_url: Option<String>,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    pub(crate) yes: bool,
}

fn parse_restore_time(text: &str) -> Result<RestoreTime, String> {
    if text == "latest" { Ok(RestoreTime::Latest) } else { parse_since(text).map(RestoreTime::At) }
}

fn parse_offload_days(text: &str) -> Result<u32, DurationFault> {
    let allowed = u64::from(*OFFLOAD_AFTER_DAYS.start())..=u64::from(*OFFLOAD_AFTER_DAYS.end());
    let days = parse_duration(text, DurationUnit::Days, &allowed)?;
    Ok(u32::try_from(days).unwrap_or(u32::MAX))
}

fn segments_parser() -> RangedI64ValueParser<u32> {
    let (min, max) = (i64::from(*KEEP_SEGMENTS.start()), i64::from(*KEEP_SEGMENTS.end()));
    RangedI64ValueParser::new().range(min..=max)
}

/// Parses a UTC date or time into seconds since the Unix epoch.
fn parse_since(text: &str) -> Result<u64, String> {
    let is_day = !text.contains(['T', 't', ' ']);
    let timestamp = if is_day { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let time = humantime::parse_rfc3339_weak(&timestamp).map_err(|_| {
        "expected a day such as 2026-11-01 or a time such as 2026-11-01T08:00:00Z".to_owned()
    })?;
    if time > SystemTime::now() {
        return Err("the time is in the future".to_owned());
    }
    Ok(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_of_offloaded_segments_are_whole_days_in_range() {
        assert_eq!((parse_offload_days("1d"), parse_offload_days("36525d")), (Ok(1), Ok(36_525)));
        for bad in ["0d", "36526d", "36h", "365", "x"] {
            assert!(parse_offload_days(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn parses_days_and_times_in_the_past() {
        assert_eq!(parse_since("1970-01-02"), Ok(86_400));
        for text in ["2026-11-01T08:00:00Z", "2026-11-01 08:00:00"] {
            assert_eq!(parse_since(text), Ok(1_793_520_000), "{text}");
        }
        for bad in ["", "yesterday", "2026-11", "2026-13-01", "2026-11-01T8", "9999-01-01"] {
            assert!(parse_since(bad).is_err(), "{bad}");
            assert!(parse_restore_time(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_restore_time("latest"), Ok(RestoreTime::Latest));
        assert_eq!(parse_restore_time("1970-01-02"), Ok(RestoreTime::At(86_400)));
    }
}
