//! `synth archive`: old log segments from the tables into the bucket.

use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use cellar_core::retention::Policy;
use cellar_engine::meter::Meter;
use cellar_engine::retention::{Archivist, Planned, RetentionError};
use cellar_engine::system::SystemClock;
use cellar_local::{Occupancy, Options, Ports, StateFolder};
use cellar_runtime::dynamodb::{self, DynamoTables};
use cellar_runtime::s3::{self, S3Blobs};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::archive_report::{self, Outcome, Report};
use crate::cli::{ArchiveArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::start;
use crate::project::Project;

/// Shows what is to be archived, asks, and does it.
pub(crate) async fn run(
    config: Option<&Path>,
    arguments: &ArchiveArguments,
    output: &Output,
) -> Result<(), SynthError> {
    if !arguments.local {
        return Err(SynthError::NotYet {
            what: "archiving of a stack in AWS",
            help: "`synth archive --local` archives what is on this machine",
        });
    }
    let project = Project::find(config)?;
    let days = arguments.archive_after_days.or(project.config.archive_after_days);
    let Some(archive_after_days) = days else {
        output.result(&Report::everything_is_kept(), archive_report::EVERYTHING_IS_KEPT);
        return Ok(());
    };
    let keep_segments = arguments.keep_segments.unwrap_or(project.config.keep_segments);
    let policy = Policy { archive_after_days, keep_segments };
    let cloud = Cloud::reach(&project).await?;
    let result = archive(&cloud, policy, arguments, output).await;
    cloud.leave().await;
    result
}

async fn archive(
    cloud: &Cloud,
    policy: Policy,
    arguments: &ArchiveArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let mut planned = Vec::new();
    let step = output.step("Look at the log segments");
    let survey = cloud.archivist.survey(policy, |segment| planned.push(segment)).await;
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
        confirm(due)?;
    }
    let (outcomes, failed, first) = carry_out(cloud, planned, output).await;
    let report = Report::new(policy, false, outcomes);
    output.result(&report, &report.text());
    match first {
        Some(first) => Err(SynthError::Archive { failed, segments: due, first }),
        None => Ok(()),
    }
}

/// Does it segment by segment: one that fails does not keep the others.
async fn carry_out(
    cloud: &Cloud,
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
        match cloud.archivist.carry_out(&planned).await {
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

fn confirm(due: usize) -> Result<(), SynthError> {
    let refused = SynthError::Unconfirmed { what: "archiving" };
    if !std::io::stdin().is_terminal() {
        return Err(refused);
    }
    let _ = write!(std::io::stderr(), "Archive {due} segments? Type yes: ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(SynthError::Process)?;
    if answer.trim() == "yes" { Ok(()) } else { Err(refused) }
}

/// The tables and the bucket of the local cloud: of the one that runs, or of one that runs for as
/// long as this takes. So the state folder's lock holds in either case.
struct Cloud {
    archivist: Archivist,
    own: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Cloud {
    async fn reach(project: &Project) -> Result<Self, SynthError> {
        let folder = project.local_state();
        if !folder.exists() {
            return Err(SynthError::NotDeployed);
        }
        let own = match folder.occupancy()? {
            Occupancy::By(_) => None,
            Occupancy::Unknown => return Err(SynthError::Busy),
            Occupancy::Free => Some(serve_what_was_left(&folder).await?),
        };
        let Some((endpoints, access_key, secret_key)) = folder.endpoints()? else {
            return Err(SynthError::Busy);
        };
        let meter = Arc::new(Meter::default());
        let url = &endpoints.database_url;
        let client = dynamodb::client_for_endpoint(url, &access_key, &secret_key);
        let (entries, segments) = (&endpoints.entry_table, &endpoints.segment_table);
        let tables = DynamoTables::named(entries, segments, client, Arc::clone(&meter));
        let tables = Arc::new(tables);
        let client = s3::client_for_endpoint(&endpoints.buckets_url, &access_key, &secret_key);
        let blobs = Arc::new(S3Blobs::new(endpoints.bucket, client, meter));
        let clock = Arc::new(SystemClock);
        let archivist = Archivist::new(Arc::clone(&tables) as _, tables, blobs, clock);
        Ok(Self { archivist, own })
    }

    async fn leave(self) {
        if let Some((stop, served)) = self.own {
            let _ = stop.send(());
            let _ = served.await;
        }
    }
}

/// Runs the cloud that was left in the folder, on a port of its own choice.
async fn serve_what_was_left(
    folder: &StateFolder,
) -> Result<(oneshot::Sender<()>, JoinHandle<()>), SynthError> {
    let path = folder.template();
    let template =
        fs::read_to_string(&path).map_err(|cause| SynthError::Io { what: "read", path, cause })?;
    let stack = folder.stack()?.ok_or(SynthError::NotDeployed)?;
    let cloud = start(&template, folder, &Options { stack, port: 0 }, Ports::default()).await?;
    let (stop, stopped) = oneshot::channel();
    let served = tokio::spawn(async move {
        let _ = cloud.serve(async move { drop(stopped.await) }).await;
    });
    Ok((stop, served))
}
