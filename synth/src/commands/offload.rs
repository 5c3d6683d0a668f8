//! `synth offload`: moves old log segments from the tables to S3.

use std::sync::Arc;

use cellar_base::count::count;
use cellar_engine::retention::{Offloader, PlannedSegment, RetentionError};
use cellar_engine::system::SystemClock;
use cellar_log::retention::Policy;

use super::data::StackData;
use super::maintenance::{BatchOutcome, MaintenanceOptions, MaintenancePlan, ReportKind};
use super::offload_report::{self, OffloadReport, SegmentOutcome, is_due};
use crate::cli::{OffloadArguments, Output};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::LocalFunctions;
use crate::project::{ConfigSelection, Project};

pub(crate) async fn offload_segments(
    config_selection: ConfigSelection<'_>,
    arguments: &OffloadArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let config = Project::find(config_selection)?.config;
    let configured_days = arguments.offload_after_days.or(config.offload_after_days);
    let Some(offload_after_days) = configured_days else {
        output.print_result(&OffloadReport::not_configured(), offload_report::NOT_CONFIGURED);
        return Ok(());
    };
    let keep_segments = arguments.keep_segments.unwrap_or(config.keep_segments);
    let policy = Policy { offload_after_days, keep_segments };
    let data =
        StackData::open(config_selection, &arguments.location, LocalFunctions::Running).await?;
    let offloader = Offloader::new(
        Arc::clone(&data.tables) as _,
        Arc::clone(&data.tables) as _,
        Arc::clone(&data.blobs) as _,
        Arc::new(SystemClock),
    );
    let result = offload_after_confirmation(&offloader, policy, arguments, output).await;
    data.close().await;
    result
}

async fn offload_after_confirmation(
    offloader: &Offloader,
    policy: Policy,
    arguments: &OffloadArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let planned_segments = list_segments(offloader, policy, output).await?;
    let due_count = planned_segments.iter().filter(|segment| is_due(segment)).count();
    let planned_outcomes = planned_segments.iter().cloned().map(SegmentOutcome::Planned).collect();
    let plan_report = OffloadReport::new(policy, ReportKind::Plan, planned_outcomes);
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let plan = MaintenancePlan {
        text: plan_report.to_text(),
        item_count: due_count,
        action: "offloading",
        question: format!("Offload {}?", count(due_count, "segment", "segments")),
    };
    if !options.should_carry_out(plan, output).await? {
        output.print_result(&plan_report, &plan_report.to_text());
        return Ok(());
    }
    let BatchOutcome { outcomes, failed_count, first_error } =
        offload_due_segments(offloader, planned_segments, output).await;
    let report = OffloadReport::new(policy, ReportKind::Result, outcomes);
    output.print_result(&report, &report.to_text());
    match first_error {
        Some(first_error) => {
            let item_count = due_count;
            Err(MaintenanceError::Offload { failed_count, item_count, first_error }.into())
        }
        None => Ok(()),
    }
}

async fn list_segments(
    offloader: &Offloader,
    policy: Policy,
    output: &Output,
) -> Result<Vec<PlannedSegment>, MaintenanceError> {
    let mut planned_segments = Vec::new();
    let step = output.start_step("List the log segments");
    let result = offloader.plan_all_logs(policy, |segment| planned_segments.push(segment)).await;
    step.finish(result.map_err(MaintenanceError::OffloadSurvey), |()| {
        count(planned_segments.len(), "segment", "segments")
    })?;
    Ok(planned_segments)
}

async fn offload_due_segments(
    offloader: &Offloader,
    planned_segments: Vec<PlannedSegment>,
    output: &Output,
) -> BatchOutcome<SegmentOutcome, RetentionError> {
    let mut batch = BatchOutcome::default();
    for planned in planned_segments {
        if !is_due(&planned) {
            batch.add_outcome(SegmentOutcome::Planned(planned));
            continue;
        }
        let log_id = planned.segment.log;
        let segment_number = planned.segment.num;
        let step = output.start_step(&format!("Offload segment {segment_number} of {log_id}"));
        match offloader.execute(&planned).await {
            Ok(offload) => {
                step.succeed(&count(offload.deleted, "entry trimmed", "entries trimmed"));
                batch.add_outcome(SegmentOutcome::Offloaded(planned, offload));
            }
            Err(error) => {
                step.fail();
                batch.add_failure(SegmentOutcome::Failed(planned, error.to_string()), error);
            }
        }
    }
    batch
}
