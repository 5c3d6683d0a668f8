//! Report of `synth offload`: a table of log segments per spreadsheet, and the totals.

use cellar_base::count::count;
use cellar_base::identity::LogId;
use cellar_engine::retention::{OffloadOutcome, PlannedSegment};
use cellar_log::{retention::KeepReason, retention::Plan, retention::Policy};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use super::maintenance::ReportKind;
use crate::moment::format_utc;

/// Message shown if `offload_after` is not configured.
pub(super) const NOT_CONFIGURED: &str = "All segments stay in the tables: offload_after is not configured.\n\
     `synth offload --local --offload-after 365d --dry-run` shows what would be offloaded.";

const BYTES_PER_KB: u64 = 1_024;
const NUMBER_COLUMNS: [usize; 3] = [0, 1, 2];

pub(super) enum SegmentOutcome {
    /// Nothing was done. The plan says whether the segment is to be offloaded or kept.
    Planned(PlannedSegment),
    /// The segment was offloaded to S3 and trimmed (deleted from the table).
    Offloaded(PlannedSegment, OffloadOutcome),
    Failed(PlannedSegment, String),
}

#[derive(Serialize)]
pub(super) struct OffloadReport {
    offload_after_days: Option<u32>,
    keep_segments: Option<u32>,
    dry_run: bool,
    segments: Vec<SegmentRow>,
    total: Total,
}

#[derive(Serialize)]
struct SegmentRow {
    spreadsheet: LogId,
    segment: u32,
    entries: u64,
    bytes: u64,
    ended: Option<u64>,
    action: &'static str,
    #[serde(rename = "why")]
    reason: String,
    offloaded: Option<String>,
    deleted: u64,
}

#[derive(Default, Serialize)]
struct Total {
    segments: usize,
    offload_segments: usize,
    offload_entries: u64,
    offload_bytes: u64,
    deleted: u64,
}

/// Returns whether the plan is to offload or trim the segment.
pub(super) fn is_due(planned: &PlannedSegment) -> bool {
    matches!(planned.plan, Plan::OffloadAndTrim | Plan::Trim)
}

impl OffloadReport {
    pub(super) fn not_configured() -> Self {
        Self {
            offload_after_days: None,
            keep_segments: None,
            dry_run: false,
            segments: Vec::new(),
            total: Total::default(),
        }
    }

    pub(super) fn new(policy: Policy, kind: ReportKind, outcomes: Vec<SegmentOutcome>) -> Self {
        let rows: Vec<SegmentRow> =
            outcomes.into_iter().map(|outcome| SegmentRow::new(outcome, policy)).collect();
        Self {
            offload_after_days: Some(policy.offload_after_days),
            keep_segments: Some(policy.keep_segments),
            dry_run: kind == ReportKind::Plan,
            total: Total::of_rows(&rows),
            segments: rows,
        }
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        let is_same_log =
            |left: &SegmentRow, right: &SegmentRow| left.spreadsheet == right.spreadsheet;
        for rows_of_log in self.segments.chunk_by(is_same_log) {
            let Some(first_row) = rows_of_log.first() else { continue };
            let log_id = first_row.spreadsheet;
            text.push_str(&format!("{log_id}\n{}\n\n", format_table(rows_of_log)));
        }
        text.push_str(&self.format_total());
        text
    }

    fn format_total(&self) -> String {
        let Total { segments, offload_segments, offload_entries, offload_bytes, deleted } =
            &self.total;
        if *offload_segments == 0 {
            let kept = count(*segments, "segment stays", "segments stay");
            return format!("Nothing to offload: {kept} in the tables.");
        }
        let all_segments = count(*segments, "segment", "segments");
        if self.dry_run {
            let offload_kilobytes = offload_bytes.div_ceil(BYTES_PER_KB);
            return format!(
                "To offload: {offload_segments} of {all_segments}, {}, {offload_kilobytes} KB.",
                count(*offload_entries, "entry", "entries")
            );
        }
        let trimmed = count(*deleted, "entry trimmed", "entries trimmed");
        format!("Offloaded: {offload_segments} of {all_segments}; {trimmed}.")
    }
}

impl Total {
    fn of_rows(rows: &[SegmentRow]) -> Self {
        let mut total = Self { segments: rows.len(), ..Self::default() };
        for row in rows {
            if row.action != "keep" {
                total.offload_segments += 1;
                total.offload_entries = total.offload_entries.saturating_add(row.entries);
                total.offload_bytes = total.offload_bytes.saturating_add(row.bytes);
            }
            total.deleted = total.deleted.saturating_add(row.deleted);
        }
        total
    }
}

impl SegmentRow {
    fn new(outcome: SegmentOutcome, policy: Policy) -> Self {
        match outcome {
            SegmentOutcome::Planned(planned) => {
                let (action, reason) = describe_plan(planned.plan, policy);
                Self::of_segment(planned, action, reason)
            }
            SegmentOutcome::Offloaded(planned, offload) => {
                let reason = count(offload.deleted, "entry trimmed", "entries trimmed");
                let mut row = Self::of_segment(planned, "offloaded", reason);
                row.offloaded = offload.offloaded.or(row.offloaded);
                row.deleted = offload.deleted;
                row
            }
            SegmentOutcome::Failed(planned, error) => Self::of_segment(planned, "failed", error),
        }
    }

    fn of_segment(planned: PlannedSegment, action: &'static str, reason: String) -> Self {
        Self {
            spreadsheet: planned.segment.log,
            segment: planned.segment.num,
            entries: planned.entries,
            bytes: planned.body_bytes,
            ended: planned.ended_s,
            action,
            reason,
            offloaded: planned.segment.offloaded,
            deleted: 0,
        }
    }
}

/// Returns the planned action for a segment, and the reason for this action.
fn describe_plan(plan: Plan, policy: Policy) -> (&'static str, String) {
    let Policy { offload_after_days: days, keep_segments } = policy;
    match plan {
        Plan::Keep(KeepReason::Newest) => ("keep", format!("one of the newest {keep_segments}")),
        Plan::Keep(KeepReason::TooYoung) => ("keep", format!("closed less than {days} days ago")),
        Plan::Keep(KeepReason::TrimmedAlready) => ("keep", "already offloaded".to_owned()),
        Plan::Keep(KeepReason::Inherited) => {
            ("keep", "inherited from the source of the fork".to_owned())
        }
        Plan::OffloadAndTrim => ("offload", format!("closed at least {days} days ago")),
        Plan::Trim => ("finish", "offloaded; trimming was interrupted".to_owned()),
    }
}

fn format_table(rows: &[SegmentRow]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["segment", "entries", "bytes", "closed", "action", "why"]);
    for row in rows {
        let closing_time = row.ended.map_or_else(|| "-".to_owned(), format_utc);
        table.add_row([
            row.segment.to_string(),
            row.entries.to_string(),
            row.bytes.to_string(),
            closing_time,
            row.action.to_owned(),
            row.reason.clone(),
        ]);
    }
    for column_index in NUMBER_COLUMNS {
        if let Some(column) = table.column_mut(column_index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
