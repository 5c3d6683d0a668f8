//! Report of `synth purge`: a table of deleted spreadsheets, and the totals.

use cellar_base::identity::LogId;
use cellar_catalog::purge::DeletedPlan;
use cellar_engine::purge::{PlannedPurge, PurgedData};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use crate::moment::table_time;

/// A deleted spreadsheet and its purge outcome.
pub(super) enum PurgeOutcome {
    /// Planned: the spreadsheet is to be purged or kept.
    Planned(PlannedPurge),
    /// The spreadsheet was purged.
    Purged(PlannedPurge, PurgedData),
    /// The purge failed, with this error message, and may have removed parts of the spreadsheet.
    Failed(PlannedPurge, String),
}

/// JSON report of `synth purge`.
#[derive(Serialize)]
pub(super) struct Report {
    dry_run: bool,
    spreadsheets: Vec<Row>,
    total: Total,
}

#[derive(Serialize)]
struct Row {
    spreadsheet: LogId,
    name: String,
    deleted: u64,
    action: &'static str,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    restorable_until: Option<u64>,
    entries: u64,
    objects: u64,
    object_bytes: u64,
}

/// Totals over all deleted spreadsheets.
#[derive(Default, Serialize)]
struct Total {
    deleted: usize,
    purge: usize,
    failed: usize,
    entries: u64,
    objects: u64,
    object_bytes: u64,
}

impl Report {
    /// Builds the report from the spreadsheet outcomes.
    pub(super) fn new(dry_run: bool, outcomes: Vec<PurgeOutcome>) -> Self {
        let spreadsheets: Vec<Row> = outcomes.into_iter().map(Row::new).collect();
        let count = |action| spreadsheets.iter().filter(|row| row.action == action).count();
        let sum = |field: fn(&Row) -> u64| spreadsheets.iter().map(field).sum();
        let total = Total {
            deleted: spreadsheets.len(),
            purge: count("purge") + count("purged"),
            failed: count("failed"),
            entries: sum(|row| row.entries),
            objects: sum(|row| row.objects),
            object_bytes: sum(|row| row.object_bytes),
        };
        Self { dry_run, spreadsheets, total }
    }

    /// Returns the report as text.
    pub(super) fn text(&self) -> String {
        let Total { deleted, purge, entries, objects, object_bytes, .. } = &self.total;
        let totals = match (deleted, purge, self.dry_run) {
            (0, ..) => return "No spreadsheet is deleted.".to_owned(),
            (_, 0, _) => format!("Nothing to purge: {deleted} deleted spreadsheets are kept."),
            (_, due, true) => format!("To purge: {due} of {deleted} deleted spreadsheets."),
            (_, due, false) => format!(
                "Purged: {due} of {deleted} deleted spreadsheets; {entries} entries and {objects} \
                 objects ({} KB) were removed.",
                object_bytes.div_ceil(1_024)
            ),
        };
        format!("{}\n\n{totals}", self.table())
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["spreadsheet", "name", "deleted (UTC)", "action", "why"]);
        for row in &self.spreadsheets {
            table.add_row([
                row.spreadsheet.to_string(),
                row.name.clone(),
                table_time(row.deleted),
                row.action.to_owned(),
                row.why.clone(),
            ]);
        }
        table
    }
}

impl Row {
    fn new(outcome: PurgeOutcome) -> Self {
        let nothing = PurgedData::default();
        let (planned, action, why, removed) = match outcome {
            PurgeOutcome::Planned(planned) => {
                let (action, why) = describe_plan(planned.plan);
                (planned, action, why, nothing)
            }
            PurgeOutcome::Purged(planned, removed) => {
                let why = format!("{} entries, {} objects", removed.entries, removed.objects);
                (planned, "purged", why, removed)
            }
            PurgeOutcome::Failed(planned, why) => (planned, "failed", why, nothing),
        };
        let restorable_until = match planned.plan {
            DeletedPlan::Restorable { until_s } => Some(until_s),
            DeletedPlan::Forked { .. } | DeletedPlan::Purge => None,
        };
        Self {
            spreadsheet: planned.log,
            name: planned.name,
            deleted: planned.since_s,
            action,
            why,
            restorable_until,
            entries: removed.entries,
            objects: removed.objects,
            object_bytes: removed.object_bytes,
        }
    }
}

/// Returns the planned action and its reason.
fn describe_plan(plan: DeletedPlan) -> (&'static str, String) {
    match plan {
        DeletedPlan::Restorable { until_s } => {
            ("keep", format!("can be undeleted until {}", table_time(until_s)))
        }
        DeletedPlan::Forked { forks: 1 } => ("keep", "a fork needs its entries".to_owned()),
        DeletedPlan::Forked { forks } => ("keep", format!("{forks} forks need its entries")),
        DeletedPlan::Purge => ("purge", "deleted more than 30 days ago".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(number: u128, plan: DeletedPlan) -> PlannedPurge {
        let log = LogId::from_uuid(uuid::Uuid::from_u128(number));
        PlannedPurge { log, name: format!("Sheet {number}"), since_s: 1_795_246_133, plan }
    }

    #[test]
    fn the_text_explains_kept_spreadsheets() {
        let plans = [
            DeletedPlan::Restorable { until_s: 1_797_838_133 },
            DeletedPlan::Forked { forks: 1 },
            DeletedPlan::Forked { forks: 2 },
            DeletedPlan::Purge,
        ];
        let outcomes = (1..).zip(plans).map(|(n, plan)| PurgeOutcome::Planned(planned(n, plan)));
        let text = Report::new(true, outcomes.collect()).text();
        for expected in [
            "can be undeleted until 2026-12-21",
            "a fork needs",
            "2 forks need",
            "deleted more than 30 days ago",
            "To purge: 1 of 4 deleted spreadsheets.",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let kept = PurgeOutcome::Planned(planned(1, DeletedPlan::Forked { forks: 1 }));
        let text = Report::new(false, vec![kept]).text();
        assert!(text.ends_with("Nothing to purge: 1 deleted spreadsheets are kept."), "{text}");
        assert_eq!(Report::new(true, vec![]).text(), "No spreadsheet is deleted.");
    }

    #[test]
    fn the_text_contains_totals_and_failures() {
        let removed = PurgedData { entries: 7, objects: 3, object_bytes: 2_049 };
        let report = Report::new(
            false,
            vec![
                PurgeOutcome::Purged(planned(1, DeletedPlan::Purge), removed),
                PurgeOutcome::Failed(
                    planned(2, DeletedPlan::Purge),
                    "the bucket is unreachable".to_owned(),
                ),
            ],
        );
        let text = report.text();
        let sum =
            "Purged: 1 of 2 deleted spreadsheets; 7 entries and 3 objects (3 KB) were removed.";
        assert!(text.ends_with(sum) && text.contains("the bucket is unreachable"), "{text}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["total"]["failed"], 1);
        assert_eq!(json["spreadsheets"][0]["object_bytes"], 2_049);
    }
}
