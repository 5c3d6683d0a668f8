//! `synth offload`: moves old log segments from the tables to S3.

use std::sync::Arc;

use cellar_engine::retention::{Offloader, PlannedSegment, RetentionError};
use cellar_engine::system::SystemClock;
use cellar_log::retention::Policy;

use super::confirm::confirm;
use super::data::Data;
use super::offload_report::{self, Report, SegmentOutcome};
use crate::cli::{OffloadArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::Run;
use crate::project::{Named, Project};

/// Plans, confirms and offloads.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &OffloadArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config)?;
    let days = arguments.offload_after_days.or(project.config.offload_after_days);
    let Some(offload_after_days) = days else {
        output.result(&Report::everything_is_kept(), offload_report::EVERYTHING_IS_KEPT);
        return Ok(());
    };
    let keep_segments = arguments.keep_segments.unwrap_or(project.config.keep_segments);
    let policy = Policy { offload_after_days, keep_segments };
    let data = Data::reach(config, &arguments.place, Run::Everything).await?;
    let (tables, blobs) = (Arc::clone(&data.tables), Arc::clone(&data.blobs));
    let offloader = Offloader::new(Arc::clone(&tables) as _, tables, blobs, Arc::new(SystemClock));
    let result = offload(&offloader, policy, arguments, output).await;
    data.leave().await;
    result
}

async fn offload(
    offloader: &Offloader,
    policy: Policy,
    arguments: &OffloadArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let mut planned = Vec::new();
    let step = output.step("List the log segments");
    let survey = offloader.survey(policy, |segment| planned.push(segment)).await;
    step.ended(survey.map_err(SynthError::Survey), |()| format!("{} segments", planned.len()))?;
    let due = planned.iter().filter(|planned| offload_report::is_due(planned)).count();
    if arguments.dry_run || due == 0 {
        let outcomes =
            planned.iter().map(|planned| SegmentOutcome::PlannedSegment(planned.clone())).collect();
        let report = Report::new(policy, true, outcomes);
        output.result(&report, &report.text());
        return Ok(());
    }
    if !arguments.yes && !output.is_for_programs() {
        let outcomes =
            planned.iter().map(|planned| SegmentOutcome::PlannedSegment(planned.clone())).collect();
        output.note(&Report::new(policy, true, outcomes).text());
        confirm("offloading", &format!("Offload {due} segments?")).await?;
    }
    let (outcomes, failed, first) = carry_out(offloader, planned, output).await;
    let report = Report::new(policy, false, outcomes);
    output.result(&report, &report.text());
    match first {
        Some(first) => Err(SynthError::Offload { failed, segments: due, first }),
        None => Ok(()),
    }
}

/// Offloads segment by segment. If one fails, the others are still offloaded.
async fn carry_out(
    offloader: &Offloader,
    planned: Vec<PlannedSegment>,
    output: &Output,
) -> (Vec<SegmentOutcome>, usize, Option<RetentionError>) {
    let (mut outcomes, mut failed, mut first) = (Vec::new(), 0, None);
    for planned in planned {
        if !offload_report::is_due(&planned) {
            outcomes.push(SegmentOutcome::PlannedSegment(planned));
            continue;
        }
        let (log, num) = (planned.segment.log, planned.segment.num);
        let step = output.step(&format!("Offload segment {num} of {log}"));
        match offloader.execute(&planned).await {
            Ok(done) => {
                step.done(&format!("{} entries trimmed", done.deleted));
                outcomes.push(SegmentOutcome::Done(planned, done));
            }
            Err(error) => {
                step.failed();
                failed += 1;
                outcomes.push(SegmentOutcome::Failed(planned, error.to_string()));
                first.get_or_insert(error);
            }
        }
    }
    (outcomes, failed, first)
}
