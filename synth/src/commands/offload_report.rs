//! Report of `synth offload`: a table of log segments per spreadsheet, and the totals.

use std::fmt::Write as _;

use cellar_base::identity::LogId;
use cellar_engine::retention::{OffloadOutcome, PlannedSegment};
use cellar_log::{retention::Keep, retention::Plan, retention::Policy};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use crate::moment::table_time;

/// Message if `offload_after_days` is not configured.
pub(super) const NOT_CONFIGURED: &str = "All segments stay in the tables: offload_after_days is not configured.\n\
     `synth offload --local --offload-after-days 365 --dry-run` shows what would be offloaded.";

/// Indexes of right-aligned table columns.
const NUMBER_COLUMNS: [usize; 3] = [0, 1, 2];

/// A segment and its offload outcome.
pub(super) enum SegmentOutcome {
    /// Planned: the segment is to be offloaded or kept.
    Planned(PlannedSegment),
    /// The segment was offloaded and trimmed (deleted from the table).
    Done(PlannedSegment, OffloadOutcome),
    /// Offloading failed, with this error message.
    Failed(PlannedSegment, String),
}

/// JSON report of `synth offload`.
#[derive(Serialize)]
pub(super) struct Report {
    offload_after_days: Option<u32>,
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
    offloaded: Option<String>,
    deleted: u64,
}

/// Totals over all segments.
#[derive(Default, Serialize)]
struct Total {
    segments: usize,
    offload_segments: usize,
    offload_entries: u64,
    offload_bytes: u64,
    deleted: u64,
}

/// Returns whether the segment is to be offloaded or trimmed.
pub(super) fn is_due(planned: &PlannedSegment) -> bool {
    matches!(planned.plan, Plan::OffloadAndTrim | Plan::Trim)
}

impl Report {
    /// Builds the report for a stack whose `offload_after_days` is not configured.
    pub(super) fn not_configured() -> Self {
        Self {
            offload_after_days: None,
            keep_segments: None,
            dry_run: false,
            segments: Vec::new(),
            total: Total::default(),
        }
    }

    /// Builds the report from the segment outcomes.
    pub(super) fn new(policy: Policy, dry_run: bool, outcomes: Vec<SegmentOutcome>) -> Self {
        let mut total = Total { segments: outcomes.len(), ..Total::default() };
        let segments: Vec<Row> =
            outcomes.into_iter().map(|outcome| Row::new(outcome, policy)).collect();
        for row in &segments {
            if row.action != "keep" {
                total.offload_segments += 1;
                total.offload_entries = total.offload_entries.saturating_add(row.entries);
                total.offload_bytes = total.offload_bytes.saturating_add(row.bytes);
            }
            total.deleted = total.deleted.saturating_add(row.deleted);
        }
        let Policy { offload_after_days, keep_segments } = policy;
        Self {
            offload_after_days: Some(offload_after_days),
            keep_segments: Some(keep_segments),
            dry_run,
            segments,
            total,
        }
    }

    /// Returns the report as text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for rows in self.segments.chunk_by(|one, other| one.spreadsheet == other.spreadsheet) {
            let Some(first) = rows.first() else { continue };
            // Writing to a `String` is infallible.
            let _ = writeln!(text, "{}\n{}\n", first.spreadsheet, table(rows));
        }
        let Total { segments, offload_segments, offload_entries, offload_bytes, deleted } =
            &self.total;
        let totals = match (offload_segments, self.dry_run) {
            (0, _) => format!("Nothing to offload: all {segments} segments stay in the tables."),
            (due, true) => format!(
                "To offload: {due} of {segments} segments, {offload_entries} entries, {} KB.",
                offload_bytes.div_ceil(1_024)
            ),
            (due, false) => {
                format!("Offloaded: {due} of {segments} segments; {deleted} entries trimmed.")
            }
        };
        text + &totals
    }
}

impl Row {
    fn new(outcome: SegmentOutcome, policy: Policy) -> Self {
        let (planned, action, why, offloaded, deleted) = match outcome {
            SegmentOutcome::Planned(planned) => {
                let (action, why) = describe_plan(planned.plan, policy);
                (planned, action, why, None, 0)
            }
            SegmentOutcome::Done(planned, done) => {
                let why = format!("{} entries trimmed", done.deleted);
                (planned, "offloaded", why, done.offloaded, done.deleted)
            }
            SegmentOutcome::Failed(planned, why) => (planned, "failed", why, None, 0),
        };
        Self {
            spreadsheet: planned.segment.log,
            segment: planned.segment.num,
            entries: planned.entries,
            bytes: planned.body_bytes,
            ended: planned.ended_s,
            action,
            why,
            offloaded: offloaded.or(planned.segment.offloaded),
            deleted,
        }
    }
}

/// Returns the planned action and its reason.
fn describe_plan(plan: Plan, policy: Policy) -> (&'static str, String) {
    let Policy { offload_after_days: days, keep_segments } = policy;
    match plan {
        Plan::Keep(Keep::Newest) => ("keep", format!("one of the newest {keep_segments}")),
        Plan::Keep(Keep::TooYoung) => ("keep", format!("closed less than {days} days ago")),
        Plan::Keep(Keep::TrimmedAlready) => ("keep", "already offloaded".to_owned()),
        Plan::Keep(Keep::Inherited) => ("keep", "inherited from the source of the fork".to_owned()),
        Plan::OffloadAndTrim => ("offload", format!("closed at least {days} days ago")),
        Plan::Trim => ("finish", "offloaded; trimming was interrupted".to_owned()),
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["segment", "entries", "bytes", "closed (UTC)", "action", "why"]);
    for row in rows {
        let ended = row.ended.map_or_else(|| "-".to_owned(), table_time);
        table.add_row([
            row.segment.to_string(),
            row.entries.to_string(),
            row.bytes.to_string(),
            ended,
            row.action.to_owned(),
            row.why.clone(),
        ]);
    }
    for index in NUMBER_COLUMNS {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
