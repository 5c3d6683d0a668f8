//! `synth reprocess`: repairs missing snapshots, and rescues entry bodies (S3 objects) marked for
//! expiry.

use std::collections::VecDeque;

use cellar_engine::ports::PortError;
use cellar_engine::reprocess::{Finding, RepairOutcome, Scope};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::data::StackData;
use super::maintenance::{Batch, MaintenanceOptions, MaintenancePlan};
use super::reprocess_report::{JobsResult, Report, ReprocessOutcome};
use super::snapshot_repair::SnapshotRepair;
use super::{lost_cells, rebuild};
use crate::cli::{Output, ReprocessArguments};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::LocalFunctions;
use crate::project::ConfigSelection;

/// Repairs snapshots and entry bodies after confirmation. With `--rebuild` or `--cells`, runs that
/// operation instead.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    // A dry run must not start the functions, which would process the queued jobs.
    let functions =
        if arguments.dry_run { LocalFunctions::Suspended } else { LocalFunctions::Running };
    let data = StackData::open(config, &arguments.place, functions).await?;
    let result = run_mode(&data, arguments, output).await;
    data.close().await;
    result
}

async fn run_mode(
    data: &StackData,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    if let Some(log) = arguments.spreadsheet {
        if arguments.cells {
            return lost_cells::run(data, log, arguments, output).await;
        }
        if arguments.rebuild {
            return rebuild::run(&SnapshotRepair::new(data)?, log, arguments, output).await;
        }
    }
    repair(&SnapshotRepair::new(data)?, arguments, output).await
}

async fn repair(
    snapshot_repair: &SnapshotRepair,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let scope = Scope { log: arguments.spreadsheet, since_s: arguments.since.unwrap_or_default() };
    let mut findings = Vec::new();
    let step = output.step("Check the logs");
    let survey = snapshot_repair.reprocess.survey(scope, |finding| findings.push(finding)).await;
    let survey = step.finish(survey.map_err(MaintenanceError::ReprocessSurvey), |survey| {
        format!("{} entries, {} findings", survey.entries, findings.len())
    })?;
    let due = findings.iter().filter(|finding| finding.kind.is_repairable()).count();
    let lost_before = findings.iter().filter(|finding| finding.kind.is_lost()).count();
    let plan_report = || {
        let outcomes = findings.iter().cloned().map(ReprocessOutcome::Planned).collect();
        Report::new(survey, arguments, outcomes, JobsResult::None)
    };
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let plan = MaintenancePlan {
        text: &|| plan_report().plan_text(),
        due,
        action: "reprocessing",
        question: format!("Repair {due} findings?"),
    };
    if !options.should_carry_out(plan, output).await? {
        let report = plan_report();
        output.print_result(&report, &report.text());
        return check_lost(lost_before);
    }
    let Repairs { batch, sent_jobs, lost_meanwhile } =
        repair_all(snapshot_repair, findings, output).await;
    let Batch { outcomes, failed, first_error } = batch;
    let jobs = snapshot_repair.wait_for_jobs(sent_jobs, output).await;
    let report = Report::new(survey, arguments, outcomes, jobs);
    output.print_result(&report, &report.text());
    match first_error {
        Some(first) => Err(MaintenanceError::Reprocess { failed, due, first }.into()),
        None => check_lost(lost_before + lost_meanwhile),
    }
}

/// Returns an error if there are `lost` findings, which this command cannot repair.
fn check_lost(lost: usize) -> Result<(), SynthError> {
    if lost > 0 {
        return Err(MaintenanceError::Lost { lost }.into());
    }
    Ok(())
}

/// Results of all repairs.
#[derive(Default)]
struct Repairs {
    batch: Batch<ReprocessOutcome, PortError>,
    sent_jobs: VecDeque<SnapshotJob>,
    /// Number of entry bodies deleted between survey and repair.
    lost_meanwhile: usize,
}

/// Repairs the findings one at a time.
async fn repair_all(
    snapshot_repair: &SnapshotRepair,
    findings: Vec<Finding>,
    output: &Output,
) -> Repairs {
    let step = output.step("Send jobs and keep bodies");
    let mut repairs = Repairs::default();
    for finding in findings {
        match snapshot_repair.reprocess.repair(&finding).await {
            Ok(repaired) => {
                if repaired == RepairOutcome::Sent {
                    let job = SnapshotJob { log: finding.log, position: finding.at };
                    repairs.sent_jobs.push_back(job);
                }
                if repaired == RepairOutcome::Lost {
                    repairs.lost_meanwhile += 1;
                }
                repairs.batch.add(ReprocessOutcome::Done(finding, repaired));
            }
            Err(error) => {
                let outcome = ReprocessOutcome::Failed(finding, error.to_string());
                repairs.batch.add_failure(outcome, error);
            }
        }
    }
    if repairs.batch.failed == 0 {
        step.succeed(&format!("{} jobs sent", repairs.sent_jobs.len()));
    } else {
        step.fail();
    }
    repairs
}
