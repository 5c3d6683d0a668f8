//! Report of `synth purge`: a table of deleted spreadsheets, and the totals.

use cellar_base::count::count;
use cellar_base::identity::LogId;
use cellar_catalog::purge::DeletedPlan;
use cellar_engine::purge::{PlannedPurge, PurgedData};
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::maintenance::ReportKind;
use crate::moment::format_utc;

const BYTES_PER_KB: u64 = 1_024;

pub(super) enum PurgeOutcome {
    /// Nothing was done. The plan says whether the spreadsheet is to be purged or kept.
    Planned(PlannedPurge),
    Purged(PlannedPurge, PurgedData),
    /// Parts of the spreadsheet may already be removed.
    Failed(PlannedPurge, String),
}

#[derive(Serialize)]
pub(super) struct PurgeReport {
    dry_run: bool,
    spreadsheets: Vec<SpreadsheetRow>,
    total: Total,
}

#[derive(Serialize)]
struct SpreadsheetRow {
    spreadsheet: LogId,
    name: String,
    deleted: u64,
    action: &'static str,
    #[serde(rename = "why")]
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    restorable_until: Option<u64>,
    entries: u64,
    objects: u64,
    object_bytes: u64,
}

#[derive(Default, Serialize)]
struct Total {
    deleted: usize,
    purge: usize,
    failed: usize,
    entries: u64,
    objects: u64,
    object_bytes: u64,
}

impl Total {
    fn of_rows(rows: &[SpreadsheetRow]) -> Self {
        let mut total = Self { deleted: rows.len(), ..Self::default() };
        for row in rows {
            match row.action {
                "purge" | "purged" => total.purge += 1,
                "failed" => total.failed += 1,
                _ => {}
            }
            total.entries += row.entries;
            total.objects += row.objects;
            total.object_bytes += row.object_bytes;
        }
        total
    }
}

impl PurgeReport {
    pub(super) fn new(kind: ReportKind, outcomes: Vec<PurgeOutcome>) -> Self {
        let rows: Vec<SpreadsheetRow> = outcomes.into_iter().map(SpreadsheetRow::new).collect();
        let dry_run = kind == ReportKind::Plan;
        Self { dry_run, total: Total::of_rows(&rows), spreadsheets: rows }
    }

    pub(super) fn to_text(&self) -> String {
        if self.total.deleted == 0 {
            return "No spreadsheet is deleted.".to_owned();
        }
        format!("{}\n\n{}", self.to_table(), self.format_total())
    }

    fn format_total(&self) -> String {
        let Total { deleted, purge, entries, objects, object_bytes, .. } = &self.total;
        if *purge == 0 {
            let kept =
                count(*deleted, "deleted spreadsheet is kept", "deleted spreadsheets are kept");
            return format!("Nothing to purge: {kept}.");
        }
        let deleted_spreadsheets = count(*deleted, "deleted spreadsheet", "deleted spreadsheets");
        if self.dry_run {
            return format!("To purge: {purge} of {deleted_spreadsheets}.");
        }
        let object_kilobytes = object_bytes.div_ceil(BYTES_PER_KB);
        format!(
            "Purged: {purge} of {deleted_spreadsheets}; {} and {} ({object_kilobytes} KB) were \
             removed.",
            count(*entries, "entry", "entries"),
            count(*objects, "object", "objects"),
        )
    }

    fn to_table(&self) -> Table {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(["spreadsheet", "name", "deleted", "action", "why"]);
        for row in &self.spreadsheets {
            table.add_row([
                row.spreadsheet.to_string(),
                row.name.clone(),
                format_utc(row.deleted),
                row.action.to_owned(),
                row.reason.clone(),
            ]);
        }
        table
    }
}

impl SpreadsheetRow {
    fn new(outcome: PurgeOutcome) -> Self {
        match outcome {
            PurgeOutcome::Planned(planned) => {
                let (action, reason) = describe_plan(planned.plan);
                Self::of_spreadsheet(planned, action, reason)
            }
            PurgeOutcome::Purged(planned, purged_data) => Self {
                entries: purged_data.entries,
                objects: purged_data.objects,
                object_bytes: purged_data.object_bytes,
                ..Self::of_spreadsheet(planned, "purged", describe_purged_data(&purged_data))
            },
            PurgeOutcome::Failed(planned, error) => Self::of_spreadsheet(planned, "failed", error),
        }
    }

    fn of_spreadsheet(planned: PlannedPurge, action: &'static str, reason: String) -> Self {
        let restorable_until = match planned.plan {
            DeletedPlan::Restorable { until_s } => Some(until_s),
            DeletedPlan::Forked { .. } | DeletedPlan::Purge => None,
        };
        Self {
            spreadsheet: planned.log,
            name: planned.name,
            deleted: planned.since_s,
            action,
            reason,
            restorable_until,
            entries: 0,
            objects: 0,
            object_bytes: 0,
        }
    }
}

pub(super) fn describe_purged_data(purged_data: &PurgedData) -> String {
    format!(
        "{}, {}",
        count(purged_data.entries, "entry", "entries"),
        count(purged_data.objects, "object", "objects")
    )
}

/// Returns the planned action for a spreadsheet, and the reason for this action.
fn describe_plan(plan: DeletedPlan) -> (&'static str, String) {
    match plan {
        DeletedPlan::Restorable { until_s } => {
            ("keep", format!("can be undeleted until {}", format_utc(until_s)))
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
        let text = PurgeReport::new(ReportKind::Plan, outcomes.collect()).to_text();
        for expected in [
            "can be undeleted until 2026-12-21T",
            "a fork needs",
            "2 forks need",
            "deleted more than 30 days ago",
            "To purge: 1 of 4 deleted spreadsheets.",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let kept = PurgeOutcome::Planned(planned(1, DeletedPlan::Forked { forks: 1 }));
        let text = PurgeReport::new(ReportKind::Result, vec![kept]).to_text();
        assert!(text.ends_with("Nothing to purge: 1 deleted spreadsheet is kept."), "{text}");
        assert_eq!(
            PurgeReport::new(ReportKind::Plan, vec![]).to_text(),
            "No spreadsheet is deleted."
        );
    }

    #[test]
    fn the_text_contains_totals_and_failures() {
        let removed = PurgedData { entries: 7, objects: 3, object_bytes: 2_049 };
        let report = PurgeReport::new(
            ReportKind::Result,
            vec![
                PurgeOutcome::Purged(planned(1, DeletedPlan::Purge), removed),
                PurgeOutcome::Failed(
                    planned(2, DeletedPlan::Purge),
                    "the bucket is unreachable".to_owned(),
                ),
            ],
        );
        let text = report.to_text();
        let sum =
            "Purged: 1 of 2 deleted spreadsheets; 7 entries and 3 objects (3 KB) were removed.";
        assert!(text.ends_with(sum) && text.contains("the bucket is unreachable"), "{text}");
        let single = PurgedData { entries: 1, objects: 1, object_bytes: 1 };
        let outcome = PurgeOutcome::Purged(planned(1, DeletedPlan::Purge), single);
        let singular = PurgeReport::new(ReportKind::Result, vec![outcome]).to_text();
        let sum = "Purged: 1 of 1 deleted spreadsheet; 1 entry and 1 object (1 KB) were removed.";
        assert!(singular.ends_with(sum) && singular.contains("1 entry, 1 object"), "{singular}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["total"]["failed"], 1);
        assert_eq!(json["spreadsheets"][0]["object_bytes"], 2_049);
    }
}
