//! `synth reprocess`: repairs missing snapshots, and keeps entry bodies (S3 objects) that are
//! marked for expiry.

use std::collections::VecDeque;

use cellar_base::count::count;
use cellar_engine::ports::PortError;
use cellar_engine::reprocess::{Finding, RepairOutcome, Scope, SurveyCounts};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::data::StackData;
use super::maintenance::{BatchOutcome, MaintenanceOptions, MaintenancePlan};
use super::reprocess_report::{JobsResult, ReprocessOutcome, ReprocessReport};
use super::snapshot_repair::SnapshotRepair;
use super::{lost_cells, rebuild};
use crate::cli::{Output, ReprocessArguments};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::LocalFunctions;
use crate::project::ConfigSelection;

pub(crate) async fn reprocess_logs(
    config_selection: ConfigSelection<'_>,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    // In a dry run, do not start the functions, because they would process the queued jobs.
    let functions =
        if arguments.dry_run { LocalFunctions::Suspended } else { LocalFunctions::Running };
    let data = StackData::open(config_selection, &arguments.location, functions).await?;
    let result = reprocess_with_data(&data, arguments, output).await;
    data.close().await;
    result
}

async fn reprocess_with_data(
    data: &StackData,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    if let Some(log_id) = arguments.spreadsheet
        && arguments.cells
    {
        return lost_cells::replace_lost_cells(data, log_id, arguments, output).await;
    }
    let snapshot_repair = SnapshotRepair::new(data)?;
    if let Some(log_id) = arguments.spreadsheet
        && arguments.rebuild
    {
        return rebuild::rebuild_snapshots(&snapshot_repair, log_id, arguments, output).await;
    }
    repair_logs(&snapshot_repair, arguments, output).await
}

async fn repair_logs(
    snapshot_repair: &SnapshotRepair,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let LogSurvey { findings, counts } = survey_logs(snapshot_repair, arguments, output).await?;
    let repairable_count = findings.iter().filter(|finding| finding.kind.is_repairable()).count();
    let lost_count = findings.iter().filter(|finding| finding.kind.is_lost()).count();
    let planned_outcomes = findings.iter().cloned().map(ReprocessOutcome::Planned).collect();
    let plan_report = ReprocessReport::new(counts, arguments, planned_outcomes, JobsResult::None);
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let plan = MaintenancePlan {
        text: plan_report.plan_text(),
        item_count: repairable_count,
        action: "reprocessing",
        question: format!("Repair {}?", count(repairable_count, "finding", "findings")),
    };
    if !options.should_carry_out(plan, output).await? {
        output.print_result(&plan_report, &plan_report.to_text());
        return check_nothing_is_lost(lost_count);
    }
    let Repairs { batch, sent_jobs, lost_meanwhile } =
        repair_findings(snapshot_repair, findings, output).await;
    let BatchOutcome { outcomes, failed_count, first_error } = batch;
    let jobs_result = snapshot_repair.wait_for_jobs(sent_jobs, output).await;
    let report = ReprocessReport::new(counts, arguments, outcomes, jobs_result);
    output.print_result(&report, &report.to_text());
    match first_error {
        Some(first_error) => {
            let item_count = repairable_count;
            Err(MaintenanceError::Reprocess { failed_count, item_count, first_error }.into())
        }
        None => check_nothing_is_lost(lost_count + lost_meanwhile),
    }
}

struct LogSurvey {
    findings: Vec<Finding>,
    counts: SurveyCounts,
}

async fn survey_logs(
    snapshot_repair: &SnapshotRepair,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<LogSurvey, MaintenanceError> {
    let scope = Scope { log: arguments.spreadsheet, since_s: arguments.since.unwrap_or_default() };
    let mut findings = Vec::new();
    let step = output.start_step("Check the logs");
    let result = snapshot_repair.reprocess.survey(scope, |finding| findings.push(finding)).await;
    let counts = step.finish(result.map_err(MaintenanceError::ReprocessSurvey), |checked| {
        format!(
            "{}, {}",
            count(checked.entries, "entry", "entries"),
            count(findings.len(), "finding", "findings")
        )
    })?;
    Ok(LogSurvey { findings, counts })
}

/// Returns [`MaintenanceError::Lost`] if any data is lost, because this command cannot restore it.
fn check_nothing_is_lost(lost_count: usize) -> Result<(), SynthError> {
    if lost_count > 0 {
        return Err(MaintenanceError::Lost { lost_count }.into());
    }
    Ok(())
}

#[derive(Default)]
struct Repairs {
    batch: BatchOutcome<ReprocessOutcome, PortError>,
    sent_jobs: VecDeque<SnapshotJob>,
    /// Number of entry bodies (S3 objects) that were deleted after this command had found them and
    /// before it could keep them.
    lost_meanwhile: usize,
}

async fn repair_findings(
    snapshot_repair: &SnapshotRepair,
    findings: Vec<Finding>,
    output: &Output,
) -> Repairs {
    let step = output.start_step("Send jobs and keep bodies");
    let mut repairs = Repairs::default();
    for finding in findings {
        match snapshot_repair.reprocess.repair(&finding).await {
            Ok(outcome) => repairs.add_outcome(finding, outcome),
            Err(error) => {
                let outcome = ReprocessOutcome::Failed(finding, error.to_string());
                repairs.batch.add_failure(outcome, error);
            }
        }
    }
    if repairs.batch.failed_count == 0 {
        step.succeed(&count(repairs.sent_jobs.len(), "job sent", "jobs sent"));
    } else {
        step.fail();
    }
    repairs
}

impl Repairs {
    fn add_outcome(&mut self, finding: Finding, outcome: RepairOutcome) {
        match outcome {
            RepairOutcome::Sent => {
                let job = SnapshotJob { log: finding.log, position: finding.at };
                self.sent_jobs.push_back(job);
            }
            RepairOutcome::Lost => self.lost_meanwhile += 1,
            RepairOutcome::Kept | RepairOutcome::Nothing => {}
        }
        self.batch.add_outcome(ReprocessOutcome::Repaired(finding, outcome));
    }
}
