//! `synth archive`: old log segments from the tables into the bucket.

use std::sync::Arc;

use cellar_core::retention::Policy;
use cellar_engine::retention::{Archivist, Planned, RetentionError};
use cellar_engine::system::SystemClock;

use super::archive_report::{self, Outcome, Report};
use super::confirm::confirm;
use super::data::Data;
use crate::cli::{ArchiveArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::Run;
use crate::project::{Named, Project};

/// Shows what is to be archived, asks, and does it.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &ArchiveArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let project = Project::find(config)?;
    let days = arguments.archive_after_days.or(project.config.archive_after_days);
    let Some(archive_after_days) = days else {
        output.result(&Report::everything_is_kept(), archive_report::EVERYTHING_IS_KEPT);
        return Ok(());
    };
    let keep_segments = arguments.keep_segments.unwrap_or(project.config.keep_segments);
    let policy = Policy { archive_after_days, keep_segments };
    let data = Data::reach(config, &arguments.place, Run::Everything).await?;
    let (tables, blobs) = (Arc::clone(&data.tables), Arc::clone(&data.blobs));
    let archivist = Archivist::new(Arc::clone(&tables) as _, tables, blobs, Arc::new(SystemClock));
    let result = archive(&archivist, policy, arguments, output).await;
    data.leave().await;
    result
}

async fn archive(
    archivist: &Archivist,
    policy: Policy,
    arguments: &ArchiveArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let mut planned = Vec::new();
    let step = output.step("Look at the log segments");
    let survey = archivist.survey(policy, |segment| planned.push(segment)).await;
    step.ended(survey.map_err(SynthError::Survey), |()| format!("{} segments", planned.len()))?;
    let due = planned.iter().filter(|planned| archive_report::is_due(planned)).count();
    if arguments.dry_run || due == 0 {
        let outcomes = planned.iter().map(|planned| Outcome::Planned(planned.clone())).collect();
        let report = Report::new(policy, true, outcomes);
        output.result(&report, &report.text());
        return Ok(());
    }
    if !arguments.yes && !output.is_for_programs() {
        let outcomes = planned.iter().map(|planned| Outcome::Planned(planned.clone())).collect();
        output.note(&Report::new(policy, true, outcomes).text());
        confirm("archiving", &format!("Archive {due} segments?")).await?;
    }
    let (outcomes, failed, first) = carry_out(archivist, planned, output).await;
    let report = Report::new(policy, false, outcomes);
    output.result(&report, &report.text());
    match first {
        Some(first) => Err(SynthError::Archive { failed, segments: due, first }),
        None => Ok(()),
    }
}

/// Does it segment by segment: one that fails does not keep the others.
async fn carry_out(
    archivist: &Archivist,
    planned: Vec<Planned>,
    output: &Output,
) -> (Vec<Outcome>, usize, Option<RetentionError>) {
    let (mut outcomes, mut failed, mut first) = (Vec::new(), 0, None);
    for planned in planned {
        if !archive_report::is_due(&planned) {
            outcomes.push(Outcome::Planned(planned));
            continue;
        }
        let (log, num) = (planned.segment.log, planned.segment.num);
        let step = output.step(&format!("Archive segment {num} of {log}"));
        match archivist.carry_out(&planned).await {
            Ok(done) => {
                step.done(&format!("{} entries left the table", done.deleted));
                outcomes.push(Outcome::Done(planned, done));
            }
            Err(error) => {
                step.failed();
                failed += 1;
                outcomes.push(Outcome::Failed(planned, error.to_string()));
                first.get_or_insert(error);
            }
        }
    }
    (outcomes, failed, first)
}
