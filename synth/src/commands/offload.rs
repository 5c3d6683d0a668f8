//! `synth offload`: moves old log segments from the tables to S3.

use std::sync::Arc;

use cellar_engine::retention::{Offloader, PlannedSegment, RetentionError};
use cellar_engine::system::SystemClock;
use cellar_log::retention::Policy;

use super::data::StackData;
use super::maintenance::{Batch, MaintenanceOptions, MaintenancePlan};
use super::offload_report::{self, Report, SegmentOutcome};
use crate::cli::{OffloadArguments, Output};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::LocalFunctions;
use crate::project::{ConfigSelection, Project};

/// Offloads the due segments after confirmation.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &OffloadArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config)?;
    let days = arguments.offload_after_days.or(project.config.offload_after_days);
    let Some(offload_after_days) = days else {
        output.print_result(&Report::not_configured(), offload_report::NOT_CONFIGURED);
        return Ok(());
    };
    let keep_segments = arguments.keep_segments.unwrap_or(project.config.keep_segments);
    let policy = Policy { offload_after_days, keep_segments };
    let data = StackData::open(config, &arguments.place, LocalFunctions::Running).await?;
    let (tables, blobs) = (Arc::clone(&data.tables), Arc::clone(&data.blobs));
    let offloader = Offloader::new(Arc::clone(&tables) as _, tables, blobs, Arc::new(SystemClock));
    let result = offload(&offloader, policy, arguments, output).await;
    data.close().await;
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
    step.finish(survey.map_err(MaintenanceError::OffloadSurvey), |()| {
        format!("{} segments", planned.len())
    })?;
    let due = planned.iter().filter(|segment| offload_report::is_due(segment)).count();
    let plan_report = || {
        let outcomes = planned.iter().cloned().map(SegmentOutcome::Planned).collect();
        Report::new(policy, true, outcomes)
    };
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let plan = MaintenancePlan {
        text: &|| plan_report().text(),
        due,
        action: "offloading",
        question: format!("Offload {due} segments?"),
    };
    if !options.should_carry_out(plan, output).await? {
        let report = plan_report();
        output.print_result(&report, &report.text());
        return Ok(());
    }
    let Batch { outcomes, failed, first_error } = offload_all(offloader, planned, output).await;
    let report = Report::new(policy, false, outcomes);
    output.print_result(&report, &report.text());
    match first_error {
        Some(first) => Err(MaintenanceError::Offload { failed, due, first }.into()),
        None => Ok(()),
    }
}

/// Offloads the due segments one at a time.
async fn offload_all(
    offloader: &Offloader,
    planned: Vec<PlannedSegment>,
    output: &Output,
) -> Batch<SegmentOutcome, RetentionError> {
    let mut batch = Batch::default();
    for planned in planned {
        if !offload_report::is_due(&planned) {
            batch.add(SegmentOutcome::Planned(planned));
            continue;
        }
        let (log, number) = (planned.segment.log, planned.segment.num);
        let step = output.step(&format!("Offload segment {number} of {log}"));
        match offloader.execute(&planned).await {
            Ok(done) => {
                step.succeed(&format!("{} entries trimmed", done.deleted));
                batch.add(SegmentOutcome::Done(planned, done));
            }
            Err(error) => {
                step.fail();
                batch.add_failure(SegmentOutcome::Failed(planned, error.to_string()), error);
            }
        }
    }
    batch
}
