//! `synth reprocess --rebuild`: rebuilds every snapshot of one spreadsheet.

use std::collections::VecDeque;

use cellar_base::identity::LogId;
use cellar_engine::reprocess::{RebuildPlan, RebuildStart, SnapshotToRebuild};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::maintenance::{MaintenanceOptions, MaintenancePlan};
use super::reprocess_report::{JobsResult, Report, ReprocessOutcome};
use super::snapshot_repair::SnapshotRepair;
use crate::cli::{Output, ReprocessArguments};
use crate::error::{MaintenanceError, SynthError};

/// Starts rebuilding all snapshots of a spreadsheet after confirmation.
pub(super) async fn run(
    snapshot_repair: &SnapshotRepair,
    log: LogId,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let step = output.step("Read the log");
    let planned = snapshot_repair.reprocess.plan_rebuild(log).await;
    let planned = step.finish(planned.map_err(MaintenanceError::Rebuild), |planned| {
        format!("{} entries", planned.counts.entries)
    })?;
    let is_due = |snapshot: &&SnapshotToRebuild| snapshot.active_silent_s.is_none();
    let due = planned.snapshots.iter().filter(is_due).count();
    let plan_report = || {
        let mut outcomes: Vec<ReprocessOutcome> = planned
            .snapshots
            .iter()
            .map(|snapshot| ReprocessOutcome::ToRebuild(log, snapshot.clone()))
            .collect();
        outcomes.extend(offloaded_outcomes(&planned));
        Report::new(planned.counts, arguments, outcomes, JobsResult::None)
    };
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let plan = MaintenancePlan {
        text: &|| plan_report().plan_text(),
        due,
        action: "the rebuild",
        question: format!("Rebuild {due} snapshots?"),
    };
    if !options.should_carry_out(plan, output).await? {
        let report = plan_report();
        output.print_result(&report, &report.text());
        return Ok(());
    }
    let (mut outcomes, jobs) = start_rebuild(snapshot_repair, &planned, output).await?;
    outcomes.extend(offloaded_outcomes(&planned));
    let jobs = snapshot_repair.wait_for_jobs(jobs, output).await;
    let report = Report::new(planned.counts, arguments, outcomes, jobs);
    output.print_result(&report, &report.text());
    Ok(())
}

/// Starts rebuilding the snapshots. Returns the outcome per snapshot, and the sent jobs.
async fn start_rebuild(
    snapshot_repair: &SnapshotRepair,
    planned: &RebuildPlan,
    output: &Output,
) -> Result<(Vec<ReprocessOutcome>, VecDeque<SnapshotJob>), SynthError> {
    let mut outcomes = Vec::new();
    let mut jobs = VecDeque::new();
    let step = output.step("Start the rebuild");
    let record = |snapshot: &SnapshotToRebuild, begun: &RebuildStart| {
        if *begun == RebuildStart::Started {
            jobs.push_back(SnapshotJob { log: planned.log, position: snapshot.at });
        }
        outcomes.push(ReprocessOutcome::Begun(planned.log, snapshot.clone(), begun.clone()));
    };
    let started = snapshot_repair.reprocess.start_rebuild(planned, record).await;
    step.finish(started.map_err(MaintenanceError::Rebuild), |()| {
        format!("{} started", jobs.len())
    })?;
    Ok((outcomes, jobs))
}

/// Returns the snapshots that are not rebuilt, because their log entries have been offloaded to S3.
fn offloaded_outcomes(planned: &RebuildPlan) -> impl Iterator<Item = ReprocessOutcome> {
    planned.offloaded.iter().map(|position| ReprocessOutcome::Offloaded(planned.log, *position))
}
