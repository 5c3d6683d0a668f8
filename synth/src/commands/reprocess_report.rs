//! Report of `synth reprocess`: a table of findings per spreadsheet, the totals, and the snapshot
//! job state.

use std::fmt::Write as _;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::reprocess::{
    Finding, FindingKind, RebuildStart, RepairOutcome, SnapshotToRebuild, SurveyCounts,
};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::cli::ReprocessArguments;

/// Maximum number of rows per spreadsheet in the text report. The JSON report contains all rows.
const MAX_SHOWN_ROWS: usize = 50;

/// A finding, or a snapshot to rebuild, with its outcome.
pub(super) enum ReprocessOutcome {
    /// The finding is yet to be repaired.
    Planned(Finding),
    /// The finding was repaired or needed no repair.
    Done(Finding, RepairOutcome),
    /// The repair failed, with this error message.
    Failed(Finding, String),
    /// A snapshot to rebuild.
    ToRebuild(LogId, SnapshotToRebuild),
    /// The snapshot rebuild was started.
    Begun(LogId, SnapshotToRebuild, RebuildStart),
    /// The snapshot is not rebuilt, because its log entry has been offloaded to S3.
    Offloaded(LogId, Position),
}

/// State of the sent snapshot jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JobsResult {
    /// No jobs were sent.
    None,
    /// The running stack will process the jobs after the command has ended.
    #[serde(rename = "left")]
    LeftToStack {
        /// URL of the stack.
        url: String,
    },
    /// The command waited for the jobs.
    Waited {
        /// Number of jobs.
        jobs: usize,
        /// Number of jobs still unfinished when the wait ended.
        #[serde(rename = "left")]
        unfinished: usize,
    },
}

/// JSON report of `synth reprocess`.
#[derive(Serialize)]
pub(super) struct Report {
    spreadsheet: Option<LogId>,
    since: Option<u64>,
    rebuild: bool,
    dry_run: bool,
    #[serde(rename = "looked_at")]
    checked: Checked,
    findings: Vec<Row>,
    total: Total,
    jobs: JobsResult,
}

/// Number of checked records by kind.
#[derive(Serialize)]
struct Checked {
    spreadsheets: u64,
    segments: u64,
    entries: u64,
    snapshots: u64,
    large_entries: u64,
    pending_snapshots: u64,
}

#[derive(Serialize)]
struct Row {
    spreadsheet: LogId,
    position: Position,
    found: &'static str,
    action: &'static str,
    why: String,
}

/// Number of findings by action.
#[derive(Default, Serialize)]
struct Total {
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

impl Report {
    /// Builds the report from `outcomes`.
    pub(super) fn new(
        survey: SurveyCounts,
        arguments: &ReprocessArguments,
        outcomes: Vec<ReprocessOutcome>,
        jobs: JobsResult,
    ) -> Self {
        let mut total = Total { found: outcomes.len(), ..Total::default() };
        let mut findings: Vec<Row> = outcomes.into_iter().map(Row::new).collect();
        for row in &findings {
            total.count(row.action);
        }
        findings.sort_by_key(|row| (row.spreadsheet, row.position));
        let ReprocessArguments { spreadsheet, since, rebuild, dry_run, .. } = *arguments;
        let checked = Checked::from(survey);
        Self { spreadsheet, since, rebuild, dry_run, checked, findings, total, jobs }
    }

    /// Returns the report as text.
    pub(super) fn text(&self) -> String {
        let jobs_text = match &self.jobs {
            JobsResult::None => return self.plan_text(),
            JobsResult::LeftToStack { url } => format!(
                "The stack at {url} now builds the snapshots; `synth reprocess --dry-run` shows the \
                 unfinished ones."
            ),
            JobsResult::Waited { jobs, unfinished: 0 } => {
                format!("All {jobs} snapshots are built.")
            }
            JobsResult::Waited { jobs, unfinished } => format!(
                "{unfinished} of {jobs} snapshots are not built yet: `synth deploy --local` continues \
                 with their jobs."
            ),
        };
        format!("{}\n{jobs_text}", self.plan_text())
    }

    /// Returns the text report for the confirmation prompt, without the job state.
    pub(super) fn plan_text(&self) -> String {
        let mut text = String::new();
        for rows in self.findings.chunk_by(|one, other| one.spreadsheet == other.spreadsheet) {
            let Some(first) = rows.first() else { continue };
            // Writing to a `String` is infallible.
            let _ = writeln!(text, "{}\n{}", first.spreadsheet, table(rows));
            let hidden_rows = rows.len().saturating_sub(MAX_SHOWN_ROWS);
            if hidden_rows > 0 {
                let _ = writeln!(text, "… and {hidden_rows} more (see --json)");
            }
            let _ = writeln!(text);
        }
        let Checked {
            spreadsheets,
            segments,
            entries,
            snapshots,
            large_entries,
            pending_snapshots,
        } = &self.checked;
        let _ = writeln!(
            text,
            "Checked: {spreadsheets} spreadsheets, {segments} segments, {entries} entries, \
             {snapshots} Snapshot entries, {large_entries} large entries, {pending_snapshots} pending \
             snapshots."
        );
        text + &self.total.text()
    }
}

impl Total {
    fn count(&mut self, action: &str) {
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

    fn text(&self) -> String {
        let counts = [
            (self.send, "jobs to send"),
            (self.keep, "bodies to keep"),
            (self.rebuild, "snapshots to rebuild"),
            (self.sent, "jobs sent"),
            (self.kept, "bodies kept"),
            (self.rebuilding, "snapshots in rebuild"),
            (self.failed, "failed"),
            (self.lost, "not repairable by this command"),
        ];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, label)| format!("{count} {label}"))
            .collect();
        if parts.is_empty() {
            return "Nothing to do.".to_owned();
        }
        format!("{}.", parts.join(", "))
    }
}

impl From<SurveyCounts> for Checked {
    fn from(survey: SurveyCounts) -> Self {
        Self {
            spreadsheets: survey.logs,
            segments: survey.segments,
            entries: survey.entries,
            snapshots: survey.snapshots,
            large_entries: survey.bodies,
            pending_snapshots: survey.pending,
        }
    }
}

impl Row {
    fn new(outcome: ReprocessOutcome) -> Self {
        match outcome {
            ReprocessOutcome::Planned(finding) => Self::of_finding(&finding, None),
            ReprocessOutcome::Done(finding, repaired) => Self::of_finding(&finding, Some(repaired)),
            ReprocessOutcome::Failed(finding, why) => {
                Self { action: "failed", why, ..Self::of_finding(&finding, None) }
            }
            ReprocessOutcome::ToRebuild(log, snapshot) => match snapshot.active_silent_s {
                Some(silent_s) => Self::waiting_for_rebuild(log, &snapshot, silent_s),
                None => Self::of_snapshot(log, &snapshot, "rebuild"),
            },
            ReprocessOutcome::Begun(log, snapshot, RebuildStart::Started) => {
                Self::of_snapshot(log, &snapshot, "rebuilding")
            }
            ReprocessOutcome::Begun(log, snapshot, RebuildStart::InProgress) => {
                let silent_s = snapshot.active_silent_s.unwrap_or_default();
                Self::waiting_for_rebuild(log, &snapshot, silent_s)
            }
            ReprocessOutcome::Offloaded(spreadsheet, position) => {
                let why = "the entry is offloaded: its root cannot be replaced, and reads before the \
                           first rebuilt snapshot may lack objects";
                let (found, action) = ("offloaded_snapshot", "skip");
                Self { spreadsheet, position, found, action, why: why.to_owned() }
            }
        }
    }

    fn of_finding(finding: &Finding, repaired: Option<RepairOutcome>) -> Self {
        let (found, planned_action, why) = describe(&finding.kind);
        let action = match repaired {
            None | Some(RepairOutcome::Nothing) => planned_action,
            Some(RepairOutcome::Sent) => "sent",
            Some(RepairOutcome::Kept) => "kept",
            Some(RepairOutcome::Lost) => "lost",
        };
        Self { spreadsheet: finding.log, position: finding.at, found, action, why }
    }

    fn of_snapshot(log: LogId, snapshot: &SnapshotToRebuild, action: &'static str) -> Self {
        let why = if snapshot.root.is_some() { "built before" } else { "never built" };
        Self {
            spreadsheet: log,
            position: snapshot.at,
            found: "snapshot",
            action,
            why: why.to_owned(),
        }
    }

    fn waiting_for_rebuild(log: LogId, snapshot: &SnapshotToRebuild, silent_s: u64) -> Self {
        let why = format!("an earlier rebuild was active {silent_s} s ago");
        Self { why, ..Self::of_snapshot(log, snapshot, "wait") }
    }
}

/// Returns a finding's name, the planned action, and the reason.
fn describe(found: &FindingKind) -> (&'static str, &'static str, String) {
    match found {
        FindingKind::NotBuilt => ("not_made", "send", "the snapshot was not built".to_owned()),
        FindingKind::Skipped => {
            let why = "a later snapshot is built, so this one is not needed (--rebuild builds it)";
            ("passed_over", "skip", why.to_owned())
        }
        FindingKind::RootMissing => {
            let why =
                "the snapshot is recorded as built but has no root: rebuild it with --rebuild";
            ("root_missing", "lost", why.to_owned())
        }
        FindingKind::Offloaded => {
            let why = "the entry was offloaded before its snapshot was built";
            ("offloaded", "skip", why.to_owned())
        }
        FindingKind::InProgress { silent_s } => {
            ("under_way", "wait", format!("a worker was active {silent_s} s ago"))
        }
        FindingKind::Abandoned { silent_s } => {
            ("abandoned", "send", format!("no worker was active for {silent_s} s"))
        }
        FindingKind::BodyPending { key } => {
            ("body_pending", "keep", format!("the body {key} would expire"))
        }
        FindingKind::BodyLost { key } => {
            let why = format!("the body {key} was deleted: restore its older version");
            ("body_lost", "lost", why)
        }
        FindingKind::Unreadable { why } => ("unreadable", "lost", why.clone()),
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["position", "found", "action", "why"]);
    for row in rows.iter().take(MAX_SHOWN_ROWS) {
        let (found, action) = (row.found.replace('_', " "), row.action.to_owned());
        table.add_row([row.position.to_string(), found, action, row.why.clone()]);
    }
    table
}
