//! What `synth reprocess` shows: what was looked at, a table for each spreadsheet, and what comes of it.

use std::fmt::Write as _;

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::reprocess::{
    Finding, FindingKind, RebuildStart, RepairOutcome, SnapshotToRebuild, SurveyCounts,
};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::cli::ReprocessArguments;

/// Rows of one spreadsheet that people are shown; programs get all.
const MAX_SHOWN_ROWS: usize = 50;

/// Something that was found, and what became of it.
pub(super) enum ReprocessOutcome {
    /// It was left as it is, so far.
    Planned(Finding),
    /// Something was done about it, if there was anything to do.
    Done(Finding, RepairOutcome),
    /// It failed: why.
    Failed(Finding, String),
    /// A snapshot that would be made anew.
    ToRebuild(LogId, SnapshotToRebuild),
    /// A snapshot that is made anew.
    Begun(LogId, SnapshotToRebuild, RebuildStart),
    /// A snapshot whose entry is offloaded, so that it is not made anew.
    Offloaded(LogId, Position),
}

/// What becomes of the jobs that were sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fate {
    /// There are none.
    None,
    /// A cloud that runs does them.
    Left {
        /// Its URL.
        url: String,
    },
    /// A cloud was started for them, and waited for.
    Waited {
        /// How many there were.
        jobs: usize,
        /// How many are not done.
        left: usize,
    },
}

/// All of it, as programs get it.
#[derive(Serialize)]
pub(super) struct Report {
    spreadsheet: Option<LogId>,
    since: Option<u64>,
    rebuild: bool,
    dry_run: bool,
    looked_at: LookedAt,
    findings: Vec<Row>,
    total: Total,
    jobs: Fate,
}

#[derive(Serialize)]
struct LookedAt {
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
    /// Of these findings.
    pub(super) fn new(
        seen: SurveyCounts,
        arguments: &ReprocessArguments,
        outcomes: Vec<ReprocessOutcome>,
        jobs: Fate,
    ) -> Self {
        let mut total = Total { found: outcomes.len(), ..Total::default() };
        let mut findings: Vec<Row> = outcomes.into_iter().map(Row::of).collect();
        findings.iter().for_each(|row| total.add(row.action));
        // A log's records come before its entries.
        findings.sort_by_key(|row| (row.spreadsheet, row.position));
        let ReprocessArguments { spreadsheet: log, since, rebuild, dry_run, .. } = *arguments;
        Self {
            spreadsheet: log,
            since,
            rebuild,
            dry_run,
            looked_at: LookedAt::from(seen),
            findings,
            total,
            jobs,
        }
    }

    /// For people, at the end.
    pub(super) fn text(&self) -> String {
        let mut text = self.plan();
        let end = match &self.jobs {
            Fate::None => None,
            Fate::Left { url } => Some(format!(
                "The local cloud at {url} makes the snapshots now; `synth reprocess --local --dry-run` \
                 shows what is left."
            )),
            Fate::Waited { jobs, left: 0 } => {
                Some(format!("All {jobs} snapshots are made; nothing runs now."))
            }
            Fate::Waited { jobs, left } => Some(format!(
                "{left} of {jobs} snapshots are not made yet: their jobs wait in the queue, and go on \
                 with `synth deploy --local`."
            )),
        };
        end.into_iter().for_each(|end| {
            let _ = write!(text, "\n{end}");
        });
        text
    }

    /// For people, before they say yes.
    pub(super) fn plan(&self) -> String {
        let mut text = String::new();
        for rows in self.findings.chunk_by(|one, two| one.spreadsheet == two.spreadsheet) {
            let Some(first) = rows.first() else { continue };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{}\n{}", first.spreadsheet, table(rows));
            let more = rows.len().saturating_sub(MAX_SHOWN_ROWS);
            if more > 0 {
                let _ = writeln!(text, "… and {more} more, which --json shows");
            }
            let _ = writeln!(text);
        }
        let LookedAt {
            spreadsheets,
            segments,
            entries,
            snapshots,
            large_entries,
            pending_snapshots,
        } = &self.looked_at;
        let _ = writeln!(
            text,
            "Looked at: {spreadsheets} spreadsheets, {segments} segments, {entries} entries, \
             {snapshots} Snapshot entries, {large_entries} large entries, {pending_snapshots} pending \
             snapshots."
        );
        text + &self.total.sum()
    }
}

impl Total {
    fn add(&mut self, action: &str) {
        let count = match action {
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
        *count += 1;
    }

    fn sum(&self) -> String {
        let parts = [
            (self.send, "jobs to send"),
            (self.keep, "bodies to keep"),
            (self.rebuild, "snapshots to make anew"),
            (self.sent, "jobs sent"),
            (self.kept, "bodies kept"),
            (self.rebuilding, "snapshots made anew from now on"),
            (self.failed, "failed"),
            (self.lost, "not to be mended so"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        match parts.as_slice() {
            [] => "Nothing to do.".to_owned(),
            parts => format!("{}.", parts.join(", ")),
        }
    }
}

impl From<SurveyCounts> for LookedAt {
    fn from(seen: SurveyCounts) -> Self {
        Self {
            spreadsheets: seen.logs,
            segments: seen.segments,
            entries: seen.entries,
            snapshots: seen.snapshots,
            large_entries: seen.bodies,
            pending_snapshots: seen.pending,
        }
    }
}

impl Row {
    fn of(outcome: ReprocessOutcome) -> Self {
        let row = |spreadsheet, position, found, action, why| Self {
            spreadsheet,
            position,
            found,
            action,
            why,
        };
        match outcome {
            ReprocessOutcome::Planned(finding) => Self::finding(&finding, None),
            ReprocessOutcome::Done(finding, mended) => Self::finding(&finding, Some(mended)),
            ReprocessOutcome::Failed(finding, why) => {
                Self { action: "failed", why, ..Self::finding(&finding, None) }
            }
            ReprocessOutcome::ToRebuild(log, anew) => match anew.active_silent_s {
                Some(silent_s) => row(log, anew.at, "snapshot", "wait", going_on(silent_s)),
                None => row(log, anew.at, "snapshot", "rebuild", from(&anew)),
            },
            ReprocessOutcome::Begun(log, anew, RebuildStart::Started) => {
                row(log, anew.at, "snapshot", "rebuilding", from(&anew))
            }
            ReprocessOutcome::Begun(log, anew, RebuildStart::InProgress) => {
                let silent_s = anew.active_silent_s.unwrap_or_default();
                row(log, anew.at, "snapshot", "wait", going_on(silent_s))
            }
            ReprocessOutcome::Offloaded(log, at) => {
                let why = "its entry is offloaded: its root cannot be replaced, and reads before the \
                           first of the others may lack objects";
                row(log, at, "offloaded_snapshot", "skip", why.to_owned())
            }
        }
    }

    fn finding(finding: &Finding, mended: Option<RepairOutcome>) -> Self {
        let (found, planned, why) = words(&finding.kind);
        let action = match mended {
            None | Some(RepairOutcome::Nothing) => planned,
            Some(RepairOutcome::Sent) => "sent",
            Some(RepairOutcome::Kept) => "kept",
            Some(RepairOutcome::Lost) => "lost",
        };
        Self { spreadsheet: finding.log, position: finding.at, found, action, why }
    }
}

fn going_on(silent_s: u64) -> String {
    format!("a rebuild was on it {silent_s} s ago")
}

fn from(anew: &SnapshotToRebuild) -> String {
    let so_far = if anew.root.is_some() { "it was made before" } else { "it was never made" };
    so_far.to_owned()
}

/// What it is, what is done about it, and why.
fn words(found: &FindingKind) -> (&'static str, &'static str, String) {
    match found {
        FindingKind::NotBuilt => ("not_made", "send", "its snapshot was not made".to_owned()),
        FindingKind::Skipped => {
            let why = "a later snapshot is made: nobody needs this one (--rebuild makes it)";
            ("passed_over", "skip", why.to_owned())
        }
        FindingKind::RootMissing => {
            let why = "it is said to be made, and has no root: make it anew with --rebuild";
            ("root_missing", "lost", why.to_owned())
        }
        FindingKind::Offloaded => {
            ("offloaded", "skip", "its snapshot was not made before it was offloaded".to_owned())
        }
        FindingKind::InProgress { silent_s } => {
            ("under_way", "wait", format!("a worker was on it {silent_s} s ago"))
        }
        FindingKind::Abandoned { silent_s } => {
            ("abandoned", "send", format!("nobody has been on it for {silent_s} s"))
        }
        FindingKind::BodyPending { key } => {
            ("body_pending", "keep", format!("its body {key} would expire"))
        }
        FindingKind::BodyLost { key } => {
            ("body_lost", "lost", format!("its body {key} is gone: restore its older version"))
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
