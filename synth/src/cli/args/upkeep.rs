//! Arguments of what looks after the data of a stack.

use std::ops::RangeInclusive;
use std::time::{SystemTime, UNIX_EPOCH};

use cellar_core::identity::LogId;
use cellar_stacks::config::limits::{ARCHIVE_AFTER_DAYS, KEEP_SEGMENTS};
use clap::Args;
use clap::builder::RangedI64ValueParser;

use super::WhereArguments;

/// Arguments of `archive`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth archive --dry-run\n  \
                        synth archive --local --archive-after-days 365\n  \
                        synth archive --local --archive-after-days 30 --keep-segments 4 --yes\n\n\
                        It may be interrupted and repeated at any time, also while others edit. \
                        Positions of archived segments can be read and edited on as before.")]
pub(crate) struct ArchiveArguments {
    #[command(flatten)]
    pub(crate) place: WhereArguments,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Days after its end from which a segment is archived [default: archive_after_days of the
    /// configuration; without it, everything is kept]
    #[arg(long, value_name = "N", value_parser = days_parser())]
    pub(crate) archive_after_days: Option<u32>,
    /// Newest segments of each spreadsheet that stay [default: keep_segments of the configuration]
    #[arg(long, value_name = "N", value_parser = segments_parser())]
    pub(crate) keep_segments: Option<u32>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Arguments of `purge`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth purge --dry-run\n  \
                        synth purge --local --yes\n\n\
                        A spreadsheet that was deleted can be restored for 30 days; then nobody sees it, and \
                        this removes its entries, snapshots, archives and uploads for good. A spreadsheet \
                        of which forks are in use stays until they go, too; a fork goes with all that its \
                        family does not need. What the catalog said of it stays in the feed. It may be \
                        interrupted and repeated at any time; run it each \
                        week or month, as your retention rules ask.")]
pub(crate) struct PurgeArguments {
    #[command(flatten)]
    pub(crate) place: WhereArguments,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Arguments of `reprocess`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth reprocess --dry-run\n  \
                        synth reprocess --local --since 2026-11-01 --yes\n  \
                        synth reprocess --rebuild --log ID\n  \
                        synth reprocess --cells --log ID --dry-run\n\n\
                        It may be interrupted and repeated at any time, also while others edit: a \
                        job that comes twice is done once. --rebuild makes every snapshot of a \
                        spreadsheet anew from its log, though everything below sheets/ in the bucket \
                        be lost; until it is done, new snapshots wait for it. --cells names each \
                        cell that shows #LOST! because its long text is gone or damaged, and writes \
                        that error into it: `cellar set` gives it another value.")]
pub(crate) struct ReprocessArguments {
    #[command(flatten)]
    pub(crate) place: WhereArguments,
    /// One spreadsheet [default: all]
    #[arg(long, value_name = "ID", visible_alias = "spreadsheet")]
    pub(crate) log: Option<LogId>,
    /// Entries from then on, such as 2026-11-01 or 2026-11-01T08:00:00Z [default: all]
    #[arg(long, value_name = "DATE", value_parser = parse_since)]
    pub(crate) since: Option<u64>,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Make every snapshot of the spreadsheet anew, from its first entry on
    #[arg(long, requires = "log", conflicts_with = "since")]
    pub(crate) rebuild: bool,
    /// Name the cells of the spreadsheet whose long text is lost, and write #LOST! into them
    #[arg(long, requires = "log", conflicts_with_all = ["since", "rebuild"])]
    pub(crate) cells: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// A moment to restore to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The last that is possible, some minutes ago.
    Latest,
    /// Unix seconds.
    At(u64),
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth restore --to 2026-11-01T08:00:00Z\n  \
                        synth restore --to latest --yes\n\n\
                        For what Cellar itself never does: items that somebody deleted or damaged. Wrong \
                        edits need no backup: the log keeps every state; `cellar undo` takes an edit \
                        back, `cellar restore` all behind a position. The restored tables come into the stack beside the old ones, which stay in \
                        use until `synth deploy`; it may be interrupted and repeated at any time.")]
pub(crate) struct RestoreArguments {
    /// A moment such as 2026-11-01T08:00:00Z within the last 35 days, or `latest`
    #[arg(long, value_name = "MOMENT", value_parser = parse_moment)]
    pub(crate) to: Moment,
    /// The stack in an emulator of AWS at this URL
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint_url: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

fn parse_moment(text: &str) -> Result<Moment, String> {
    if text == "latest" { Ok(Moment::Latest) } else { parse_since(text).map(Moment::At) }
}

fn days_parser() -> RangedI64ValueParser<u32> {
    within(&ARCHIVE_AFTER_DAYS)
}

fn segments_parser() -> RangedI64ValueParser<u32> {
    within(&KEEP_SEGMENTS)
}

fn within(range: &RangeInclusive<u32>) -> RangedI64ValueParser<u32> {
    let (from, to) = (i64::from(*range.start()), i64::from(*range.end()));
    RangedI64ValueParser::new().range(from..=to)
}

/// Unix seconds of a day, or of a moment.
fn parse_since(text: &str) -> Result<u64, String> {
    let is_day = !text.contains(['T', 't', ' ']);
    let moment = if is_day { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let moment = humantime::parse_rfc3339_weak(&moment)
        .map_err(|_| "write a day as 2026-11-01, a moment as 2026-11-01T08:00:00Z".to_owned())?;
    if moment > SystemTime::now() {
        return Err("it is in the future".to_owned());
    }
    Ok(moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_or_moments_that_were() {
        assert_eq!(parse_since("1970-01-02"), Ok(86_400));
        for text in ["2026-11-01T08:00:00Z", "2026-11-01 08:00:00"] {
            assert_eq!(parse_since(text), Ok(1_793_520_000), "{text}");
        }
        for bad in ["", "yesterday", "2026-11", "2026-13-01", "2026-11-01T8", "9999-01-01"] {
            assert!(parse_since(bad).is_err(), "{bad}");
            assert!(parse_moment(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_moment("latest"), Ok(Moment::Latest));
        assert_eq!(parse_moment("1970-01-02"), Ok(Moment::At(86_400)));
    }
}
