//! `synth reprocess --rebuild`: rebuilds every snapshot of one spreadsheet.

use std::collections::VecDeque;

use cellar_base::count::count;
use cellar_base::identity::LogId;
use cellar_engine::reprocess::{RebuildPlan, RebuildStart, SnapshotToRebuild};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::maintenance::{MaintenanceOptions, MaintenancePlan};
use super::reprocess_report::{JobsResult, ReprocessOutcome, ReprocessReport};
use super::snapshot_repair::SnapshotRepair;
use crate::cli::{Output, ReprocessArguments};
use crate::error::{MaintenanceError, SynthError};

pub(super) async fn rebuild_snapshots(
    snapshot_repair: &SnapshotRepair,
    log_id: LogId,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let step = output.start_step("Read the log");
    let result = snapshot_repair.reprocess.plan_rebuild(log_id).await;
    let rebuild_plan = step.finish(result.map_err(MaintenanceError::Rebuild), |plan| {
        count(plan.counts.entries, "entry", "entries")
    })?;
    let is_due = |snapshot: &&SnapshotToRebuild| snapshot.active_silent_s.is_none();
    let due_count = rebuild_plan.snapshots.iter().filter(is_due).count();
    let planned_outcomes = planned_outcomes(&rebuild_plan);
    let plan_report =
        ReprocessReport::new(rebuild_plan.counts, arguments, planned_outcomes, JobsResult::None);
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let plan = MaintenancePlan {
        text: plan_report.plan_text(),
        item_count: due_count,
        action: "the rebuild",
        question: format!("Rebuild {}?", count(due_count, "snapshot", "snapshots")),
    };
    if !options.should_carry_out(plan, output).await? {
        output.print_result(&plan_report, &plan_report.to_text());
        return Ok(());
    }
    let StartedRebuild { mut outcomes, sent_jobs } =
        start_rebuild(snapshot_repair, &rebuild_plan, output).await?;
    outcomes.extend(offloaded_outcomes(&rebuild_plan));
    let jobs_result = snapshot_repair.wait_for_jobs(sent_jobs, output).await;
    let report = ReprocessReport::new(rebuild_plan.counts, arguments, outcomes, jobs_result);
    output.print_result(&report, &report.to_text());
    Ok(())
}

fn planned_outcomes(rebuild_plan: &RebuildPlan) -> Vec<ReprocessOutcome> {
    let mut outcomes = Vec::new();
    for snapshot in &rebuild_plan.snapshots {
        outcomes.push(ReprocessOutcome::ToRebuild(rebuild_plan.log, snapshot.clone()));
    }
    outcomes.extend(offloaded_outcomes(rebuild_plan));
    outcomes
}

struct StartedRebuild {
    outcomes: Vec<ReprocessOutcome>,
    sent_jobs: VecDeque<SnapshotJob>,
}

async fn start_rebuild(
    snapshot_repair: &SnapshotRepair,
    rebuild_plan: &RebuildPlan,
    output: &Output,
) -> Result<StartedRebuild, SynthError> {
    let log_id = rebuild_plan.log;
    let mut started = StartedRebuild { outcomes: Vec::new(), sent_jobs: VecDeque::new() };
    let step = output.start_step("Start the rebuild");
    let record_start = |snapshot: &SnapshotToRebuild, start: &RebuildStart| {
        if *start == RebuildStart::Started {
            started.sent_jobs.push_back(SnapshotJob { log: log_id, position: snapshot.at });
        }
        let outcome = ReprocessOutcome::Started(log_id, snapshot.clone(), start.clone());
        started.outcomes.push(outcome);
    };
    let result = snapshot_repair.reprocess.start_rebuild(rebuild_plan, record_start).await;
    step.finish(result.map_err(MaintenanceError::Rebuild), |()| {
        format!("{} started", started.sent_jobs.len())
    })?;
    Ok(started)
}

/// Returns the outcomes of the snapshots that are not rebuilt because their log entries have been
/// offloaded to S3.
fn offloaded_outcomes(rebuild_plan: &RebuildPlan) -> impl Iterator<Item = ReprocessOutcome> {
    rebuild_plan
        .offloaded
        .iter()
        .map(|position| ReprocessOutcome::Offloaded(rebuild_plan.log, *position))
}
