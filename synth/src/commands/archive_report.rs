//! What `synth archive` shows: a table for each spreadsheet, and the sum.

use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use cellar_core::identity::LogId;
use cellar_core::retention::{Keep, Plan, Policy};
use cellar_engine::retention::{Done, Planned};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

/// What is said where nothing is configured.
pub(super) const EVERYTHING_IS_KEPT: &str = "Everything is kept in the tables: no archive_after_days is configured.\n\
     `synth archive --local --archive-after-days 365 --dry-run` shows what would be archived.";

/// Columns of numbers, which stand at the right.
const NUMBERS: [usize; 3] = [0, 1, 2];

/// A segment and what became of it.
pub(super) enum Outcome {
    /// It was left as it is, so far.
    Planned(Planned),
    /// It was archived and purged.
    Done(Planned, Done),
    /// It was not: why.
    Failed(Planned, String),
}

/// All of it, as programs get it.
#[derive(Serialize)]
pub(super) struct Report {
    archive_after_days: Option<u32>,
    keep_segments: Option<u32>,
    dry_run: bool,
    segments: Vec<Row>,
    total: Total,
}

#[derive(Serialize)]
struct Row {
    spreadsheet: LogId,
    segment: u32,
    entries: u64,
    bytes: u64,
    ended: Option<u64>,
    action: &'static str,
    why: String,
    archive: Option<String>,
    deleted: u64,
}

#[derive(Default, Serialize)]
struct Total {
    segments: usize,
    archive_segments: usize,
    archive_entries: u64,
    archive_bytes: u64,
    deleted: u64,
}

/// Whether something is to be done.
pub(super) fn is_due(planned: &Planned) -> bool {
    matches!(planned.plan, Plan::ArchiveAndPurge | Plan::Purge)
}

impl Report {
    /// Where nothing is configured.
    pub(super) fn everything_is_kept() -> Self {
        let (segments, total) = (Vec::new(), Total::default());
        let (archive_after_days, keep_segments) = (None, None);
        Self { archive_after_days, keep_segments, dry_run: false, segments, total }
    }

    /// Of these segments.
    pub(super) fn new(policy: Policy, dry_run: bool, outcomes: Vec<Outcome>) -> Self {
        let mut total = Total { segments: outcomes.len(), ..Total::default() };
        let segments = outcomes.into_iter().map(|outcome| {
            let row = Row::of(outcome, policy);
            if row.action != "keep" {
                total.archive_segments += 1;
                total.archive_entries = total.archive_entries.saturating_add(row.entries);
                total.archive_bytes = total.archive_bytes.saturating_add(row.bytes);
            }
            total.deleted = total.deleted.saturating_add(row.deleted);
            row
        });
        let segments = segments.collect();
        let (days, keep) = (Some(policy.archive_after_days), Some(policy.keep_segments));
        Self { archive_after_days: days, keep_segments: keep, dry_run, segments, total }
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for rows in self.segments.chunk_by(|one, two| one.spreadsheet == two.spreadsheet) {
            let Some(first) = rows.first() else { continue };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}\n{}\n", first.spreadsheet, table(rows));
        }
        let Total { segments, archive_segments, archive_entries, archive_bytes, deleted } =
            &self.total;
        let sum = match (archive_segments, self.dry_run) {
            (0, _) => format!("Nothing to archive: {segments} segments stay."),
            (due, true) => format!(
                "To archive: {due} of {segments} segments, {archive_entries} entries, {} KB.",
                archive_bytes.div_ceil(1_024)
            ),
            (due, false) => {
                format!("Archived: {due} of {segments} segments; {deleted} entries left the table.")
            }
        };
        text + &sum
    }
}

impl Row {
    fn of(outcome: Outcome, policy: Policy) -> Self {
        let (planned, action, why, archive, deleted) = match outcome {
            Outcome::Planned(planned) => {
                let (action, why) = planned_words(planned.plan, policy);
                (planned, action, why, None, 0)
            }
            Outcome::Done(planned, done) => {
                let why = format!("{} entries left the table", done.deleted);
                (planned, "archived", why, done.archive, done.deleted)
            }
            Outcome::Failed(planned, why) => (planned, "failed", why, None, 0),
        };
        Self {
            spreadsheet: planned.segment.log,
            segment: planned.segment.num,
            entries: planned.entries,
            bytes: planned.body_bytes,
            ended: planned.ended_s,
            action,
            why,
            archive: archive.or(planned.segment.archive),
            deleted,
        }
    }
}

fn planned_words(plan: Plan, policy: Policy) -> (&'static str, String) {
    let Policy { archive_after_days: days, keep_segments } = policy;
    match plan {
        Plan::Keep(Keep::Newest) => ("keep", format!("one of the newest {keep_segments}")),
        Plan::Keep(Keep::TooYoung) => ("keep", format!("ended less than {days} days ago")),
        Plan::Keep(Keep::PurgedAlready) => ("keep", "archived before".to_owned()),
        Plan::Keep(Keep::Inherited) => {
            ("keep", "a fork: its first entries are another's".to_owned())
        }
        Plan::ArchiveAndPurge => ("archive", format!("ended at least {days} days ago")),
        Plan::Purge => ("finish", "an archiving was interrupted".to_owned()),
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["segment", "entries", "bytes", "ended (UTC)", "action", "why"]);
    for row in rows {
        let ended = row.ended.map_or_else(|| "-".to_owned(), day);
        table.add_row([
            row.segment.to_string(),
            row.entries.to_string(),
            row.bytes.to_string(),
            ended,
            row.action.to_owned(),
            row.why.clone(),
        ]);
    }
    for column in NUMBERS {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A time that a record may hold, whatever it is.
pub(super) fn day(unix_s: u64) -> String {
    /// The last second of the year 9999.
    const LAST_S: u64 = 253_402_300_799;
    let time = UNIX_EPOCH + Duration::from_secs(unix_s.min(LAST_S));
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.replace('T', " ").trim_end_matches('Z').to_owned()
}
