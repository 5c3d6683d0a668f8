//! `synth reprocess --rebuild`: every snapshot of one spreadsheet anew.

use std::collections::VecDeque;

use cellar_base::identity::LogId;
use cellar_engine::reprocess::{RebuildPlan, RebuildStart, SnapshotToRebuild};
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::confirm::confirm;
use super::reprocess::Surroundings;
use super::reprocess_report::{Fate, Report, ReprocessOutcome};
use crate::cli::{Output, ReprocessArguments};
use crate::error::SynthError;

/// Shows what is to be made anew, asks, and has it done.
pub(super) async fn run(
    surroundings: &Surroundings,
    log: LogId,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let step = output.step("Read the log");
    let plan = surroundings.reprocess.plan_rebuild(log).await.map_err(SynthError::Rebuild);
    let plan = step.ended(plan, |plan| format!("{} entries", plan.counts.entries))?;
    let due = plan.snapshots.iter().filter(|anew| anew.active_silent_s.is_none()).count();
    let planned = || {
        let snapshots =
            plan.snapshots.iter().map(|anew| ReprocessOutcome::ToRebuild(log, anew.clone()));
        snapshots.chain(offloaded(&plan)).collect()
    };
    if arguments.dry_run || due == 0 {
        let report = Report::new(plan.counts, arguments, planned(), Fate::None);
        output.result(&report, &report.text());
        return Ok(());
    }
    if !arguments.yes && !output.is_for_programs() {
        output.note(&Report::new(plan.counts, arguments, planned(), Fate::None).plan());
        confirm("the rebuild", &format!("Make {due} snapshots anew?")).await?;
    }
    let (mut outcomes, mut sent) = (Vec::new(), VecDeque::new());
    let step = output.step("Have the snapshots made anew");
    let each = |anew: &SnapshotToRebuild, begun: &RebuildStart| {
        if *begun == RebuildStart::Started {
            sent.push_back(SnapshotJob { log, position: anew.at });
        }
        outcomes.push(ReprocessOutcome::Begun(log, anew.clone(), begun.clone()));
    };
    let begun = surroundings.reprocess.start_rebuild(&plan, each).await;
    step.ended(begun.map_err(SynthError::Rebuild), |()| format!("{} begun", sent.len()))?;
    outcomes.extend(offloaded(&plan));
    let fate = surroundings.follow(sent, output).await;
    let report = Report::new(plan.counts, arguments, outcomes, fate);
    output.result(&report, &report.text());
    Ok(())
}

fn offloaded(plan: &RebuildPlan) -> impl Iterator<Item = ReprocessOutcome> {
    plan.offloaded.iter().map(|at| ReprocessOutcome::Offloaded(plan.log, *at))
}
