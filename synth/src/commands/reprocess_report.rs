//! Report of `synth reprocess`: a table of findings per spreadsheet, the totals, and the state of
//! the snapshot jobs.

use cellar_base::count::count;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::reprocess::{
    Finding, FindingKind, RebuildStart, RepairOutcome, SnapshotToRebuild, SurveyCounts,
};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::cli::ReprocessArguments;

/// The JSON report contains all rows.
const MAX_SHOWN_ROWS: usize = 50;

pub(super) enum ReprocessOutcome {
    Planned(Finding),
    /// The finding was repaired or needed no repair.
    Repaired(Finding, RepairOutcome),
    Failed(Finding, String),
    ToRebuild(LogId, SnapshotToRebuild),
    Started(LogId, SnapshotToRebuild, RebuildStart),
    /// The snapshot is not rebuilt because its log entry has been offloaded to S3.
    Offloaded(LogId, Position),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JobsResult {
    None,
    /// The running stack will process the jobs after the command has ended.
    #[serde(rename = "left")]
    LeftToStack {
        url: String,
    },
    Waited {
        jobs: usize,
        /// Number of jobs that were unfinished when the command stopped waiting.
        #[serde(rename = "left")]
        unfinished: usize,
    },
}

#[derive(Serialize)]
pub(super) struct ReprocessReport {
    spreadsheet: Option<LogId>,
    since: Option<u64>,
    rebuild: bool,
    dry_run: bool,
    #[serde(rename = "looked_at")]
    checked: CheckedCounts,
    findings: Vec<FindingRow>,
    total: ActionCounts,
    jobs: JobsResult,
}

#[derive(Serialize)]
struct CheckedCounts {
    spreadsheets: u64,
    segments: u64,
    entries: u64,
    snapshots: u64,
    large_entries: u64,
    pending_snapshots: u64,
}

#[derive(Serialize)]
struct FindingRow {
    spreadsheet: LogId,
    position: Position,
    found: &'static str,
    action: &'static str,
    #[serde(rename = "why")]
    reason: String,
}

#[derive(Default, Serialize)]
struct ActionCounts {
    found: usize,
    send: usize,
    sent: usize,
    keep: usize,
    kept: usize,
    rebuild: usize,
    rebuilding: usize,
    failed: usize,
    lost: usize,
}

impl ReprocessReport {
    pub(super) fn new(
        counts: SurveyCounts,
        arguments: &ReprocessArguments,
        outcomes: Vec<ReprocessOutcome>,
        jobs_result: JobsResult,
    ) -> Self {
        let mut total = ActionCounts { found: outcomes.len(), ..ActionCounts::default() };
        let mut findings: Vec<FindingRow> = outcomes.into_iter().map(FindingRow::new).collect();
        for finding in &findings {
            total.count_action(finding.action);
        }
        findings.sort_by_key(|finding| (finding.spreadsheet, finding.position));
        Self {
            spreadsheet: arguments.spreadsheet,
            since: arguments.since,
            rebuild: arguments.rebuild,
            dry_run: arguments.dry_run,
            checked: CheckedCounts::from(counts),
            findings,
            total,
            jobs: jobs_result,
        }
    }

    pub(super) fn to_text(&self) -> String {
        let jobs_text = match &self.jobs {
            JobsResult::None => return self.plan_text(),
            JobsResult::LeftToStack { url } => format!(
                "The stack at {url} now builds the snapshots; `synth reprocess --dry-run` shows the \
                 unfinished ones."
            ),
            JobsResult::Waited { jobs, unfinished: 0 } => {
                format!("Built {}.", count(*jobs, "snapshot", "snapshots"))
            }
            JobsResult::Waited { jobs, unfinished } => format!(
                "{unfinished} of {} not built yet: `synth deploy --local` continues with the rest.",
                count(*jobs, "snapshot is", "snapshots are")
            ),
        };
        format!("{}\n{jobs_text}", self.plan_text())
    }

    /// Omits the job state.
    pub(super) fn plan_text(&self) -> String {
        let mut text = String::new();
        let is_same_log =
            |left: &FindingRow, right: &FindingRow| left.spreadsheet == right.spreadsheet;
        for findings_of_log in self.findings.chunk_by(is_same_log) {
            let Some(first_finding) = findings_of_log.first() else { continue };
            let log_id = first_finding.spreadsheet;
            text.push_str(&format!("{log_id}\n{}\n", format_table(findings_of_log)));
            let hidden_count = findings_of_log.len().saturating_sub(MAX_SHOWN_ROWS);
            if hidden_count > 0 {
                text.push_str(&format!("… and {hidden_count} more (see --json)\n"));
            }
            text.push('\n');
        }
        format!("{text}{}\n{}", self.checked.to_text(), self.total.to_text())
    }
}

impl CheckedCounts {
    fn to_text(&self) -> String {
        let Self { spreadsheets, segments, entries, snapshots, large_entries, pending_snapshots } =
            self;
        let counts = [
            count(*spreadsheets, "spreadsheet", "spreadsheets"),
            count(*segments, "segment", "segments"),
            count(*entries, "entry", "entries"),
            count(*snapshots, "Snapshot entry", "Snapshot entries"),
            count(*large_entries, "large entry", "large entries"),
            count(*pending_snapshots, "pending snapshot", "pending snapshots"),
        ];
        format!("Checked: {}.", counts.join(", "))
    }
}

impl ActionCounts {
    fn count_action(&mut self, action: &str) {
        let counter = match action {
            "send" => &mut self.send,
            "sent" => &mut self.sent,
            "keep" => &mut self.keep,
            "kept" => &mut self.kept,
            "rebuild" => &mut self.rebuild,
            "rebuilding" => &mut self.rebuilding,
            "failed" => &mut self.failed,
            "lost" => &mut self.lost,
            _ => return,
        };
        *counter += 1;
    }

    fn to_text(&self) -> String {
        let counts_and_labels = [
            (self.send, "job to send", "jobs to send"),
            (self.keep, "body to keep", "bodies to keep"),
            (self.rebuild, "snapshot to rebuild", "snapshots to rebuild"),
            (self.sent, "job sent", "jobs sent"),
            (self.kept, "body kept", "bodies kept"),
            (self.rebuilding, "snapshot in rebuild", "snapshots in rebuild"),
            (self.failed, "failed", "failed"),
            (self.lost, "not repairable by this command", "not repairable by this command"),
        ];
        let mut parts = Vec::new();
        for (number, label, plural_label) in counts_and_labels {
            if number > 0 {
                parts.push(count(number, label, plural_label));
            }
        }
        if parts.is_empty() {
            return "Nothing to do.".to_owned();
        }
        format!("{}.", parts.join(", "))
    }
}

impl From<SurveyCounts> for CheckedCounts {
    fn from(counts: SurveyCounts) -> Self {
        Self {
            spreadsheets: counts.logs,
            segments: counts.segments,
            entries: counts.entries,
            snapshots: counts.snapshots,
            large_entries: counts.bodies,
            pending_snapshots: counts.pending,
        }
    }
}

impl FindingRow {
    fn new(outcome: ReprocessOutcome) -> Self {
        match outcome {
            ReprocessOutcome::Planned(finding) => Self::of_planned_finding(&finding),
            ReprocessOutcome::Repaired(finding, repair) => Self::of_repaired(&finding, repair),
            ReprocessOutcome::Failed(finding, error) => {
                Self { action: "failed", reason: error, ..Self::of_planned_finding(&finding) }
            }
            ReprocessOutcome::ToRebuild(log_id, snapshot) => match snapshot.active_silent_s {
                Some(silent_s) => Self::waiting_for_rebuild(log_id, &snapshot, silent_s),
                None => Self::of_snapshot(log_id, &snapshot, "rebuild"),
            },
            ReprocessOutcome::Started(log_id, snapshot, RebuildStart::Started) => {
                Self::of_snapshot(log_id, &snapshot, "rebuilding")
            }
            ReprocessOutcome::Started(log_id, snapshot, RebuildStart::InProgress) => {
                let silent_s = snapshot.active_silent_s.unwrap_or_default();
                Self::waiting_for_rebuild(log_id, &snapshot, silent_s)
            }
            ReprocessOutcome::Offloaded(log_id, position) => Self::of_offloaded(log_id, position),
        }
    }

    fn of_planned_finding(finding: &Finding) -> Self {
        let FindingDescription { name, planned_action, reason } = describe_finding(&finding.kind);
        Self {
            spreadsheet: finding.log,
            position: finding.at,
            found: name,
            action: planned_action,
            reason,
        }
    }

    fn of_repaired(finding: &Finding, repair: RepairOutcome) -> Self {
        let row = Self::of_planned_finding(finding);
        let action = match repair {
            RepairOutcome::Nothing => row.action,
            RepairOutcome::Sent => "sent",
            RepairOutcome::Kept => "kept",
            RepairOutcome::Lost => "lost",
        };
        Self { action, ..row }
    }

    fn of_offloaded(log_id: LogId, position: Position) -> Self {
        let reason = "the entry is offloaded: its root cannot be replaced, and reads before the \
                      first rebuilt snapshot may lack objects";
        Self {
            spreadsheet: log_id,
            position,
            found: "offloaded_snapshot",
            action: "skip",
            reason: reason.to_owned(),
        }
    }

    fn of_snapshot(log_id: LogId, snapshot: &SnapshotToRebuild, action: &'static str) -> Self {
        let reason = if snapshot.root.is_some() { "built before" } else { "never built" };
        Self {
            spreadsheet: log_id,
            position: snapshot.at,
            found: "snapshot",
            action,
            reason: reason.to_owned(),
        }
    }

    fn waiting_for_rebuild(log_id: LogId, snapshot: &SnapshotToRebuild, silent_s: u64) -> Self {
        let reason = format!("an earlier rebuild was active {silent_s} s ago");
        Self { reason, ..Self::of_snapshot(log_id, snapshot, "wait") }
    }
}

struct FindingDescription {
    name: &'static str,
    planned_action: &'static str,
    reason: String,
}

fn describe_finding(kind: &FindingKind) -> FindingDescription {
    let (name, planned_action, reason) = match kind {
        FindingKind::NotBuilt => ("not_made", "send", "the snapshot was not built".to_owned()),
        FindingKind::Skipped => (
            "passed_over",
            "skip",
            "a later snapshot is built, so this one is not needed (--rebuild builds it)".to_owned(),
        ),
        FindingKind::RootMissing => (
            "root_missing",
            "lost",
            "the snapshot is recorded as built but has no root: rebuild it with --rebuild"
                .to_owned(),
        ),
        FindingKind::Offloaded => (
            "offloaded",
            "skip",
            "the entry was offloaded before its snapshot was built".to_owned(),
        ),
        FindingKind::InProgress { silent_s } => {
            ("under_way", "wait", format!("a worker was active {silent_s} s ago"))
        }
        FindingKind::Abandoned { silent_s } => {
            ("abandoned", "send", format!("no worker was active for {silent_s} s"))
        }
        FindingKind::BodyPending { key } => {
            ("body_pending", "keep", format!("the body {key} would expire"))
        }
        FindingKind::BodyLost { key } => (
            "body_lost",
            "lost",
            format!("the body {key} was deleted: restore its previous object version"),
        ),
        FindingKind::Unreadable { why } => ("unreadable", "lost", why.clone()),
    };
    FindingDescription { name, planned_action, reason }
}

fn format_table(rows: &[FindingRow]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["position", "found", "action", "why"]);
    for row in rows.iter().take(MAX_SHOWN_ROWS) {
        table.add_row([
            row.position.to_string(),
            row.found.replace('_', " "),
            row.action.to_owned(),
            row.reason.clone(),
        ]);
    }
    table
}
