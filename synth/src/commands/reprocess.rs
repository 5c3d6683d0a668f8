//! `synth reprocess`: what was lost on the way from an entry to its snapshot is found, and sent again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cellar_engine::ports::PortError;
use cellar_engine::reprocess::{Finding, RepairOutcome, Reprocess, ReprocessPorts, Scope};
use cellar_engine::system::SystemClock;
use cellar_snapshot::snapshot_job::SnapshotJob;

use super::confirm::confirm;
use super::data::Data;
use super::reprocess_report::{Fate, Report, ReprocessOutcome};
use super::{lost_cells, rebuild};
use crate::cli::{Output, ReprocessArguments};
use crate::error::SynthError;
use crate::local_cloud::Run;
use crate::project::Named;

/// How long a cloud that was started for this goes on without finishing a snapshot.
const STALLED: Duration = Duration::from_secs(5 * 60);
const POLL: Duration = Duration::from_millis(250);

/// Shows what is to be mended, asks, and has it done.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    // A look changes nothing, not even by what waits in the queues of a cloud that does not run.
    let run = if arguments.dry_run { Run::Nothing } else { Run::Everything };
    let data = Data::reach(config, &arguments.place, run).await?;
    let result = work(&data, arguments, output).await;
    data.leave().await;
    result
}

async fn work(
    data: &Data,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    if let Some(log) = arguments.spreadsheet.filter(|_| arguments.cells) {
        return lost_cells::run(data, log, arguments, output).await;
    }
    let surroundings = Surroundings::of(data)?;
    match arguments.spreadsheet.filter(|_| arguments.rebuild) {
        Some(log) => rebuild::run(&surroundings, log, arguments, output).await,
        None => reprocess(&surroundings, arguments, output).await,
    }
}

/// What both ways of reprocessing work with.
pub(super) struct Surroundings {
    pub(super) reprocess: Reprocess,
    /// The URL of the stack that runs by itself; none if it was started for this.
    running: Option<String>,
}

impl Surroundings {
    fn of(data: &Data) -> Result<Self, SynthError> {
        let Some((pending, jobs)) = data.snapshots.clone() else {
            let url = data.running.clone().unwrap_or_default();
            return Err(SynthError::OtherCloud { url, what: "version" });
        };
        let tables = Arc::clone(&data.tables);
        let ports = ReprocessPorts {
            entries: Arc::clone(&tables) as _,
            segments: Arc::clone(&tables) as _,
            retention: tables,
            pending,
            blobs: Arc::clone(&data.blobs) as _,
            jobs,
            clock: Arc::new(SystemClock),
        };
        Ok(Self { reprocess: Reprocess::new(ports), running: data.running.clone() })
    }

    /// Waits for the snapshots whose jobs were sent, if nobody else makes them.
    pub(super) async fn follow(&self, mut sent: VecDeque<SnapshotJob>, output: &Output) -> Fate {
        let jobs = sent.len();
        if jobs == 0 {
            return Fate::None;
        }
        if let Some(url) = self.running.clone() {
            return Fate::Left { url };
        }
        let step = output.step("Make the snapshots");
        let made = self.wait(&mut sent).await;
        let left = sent.len();
        match made {
            Ok(()) if left == 0 => step.done(&format!("{jobs} made")),
            Ok(()) => step.failed(),
            // They were sent all the same, and what is said of them is right.
            Err(error) => {
                step.failed();
                output.note(&format!("What became of them is not known: {error}"));
            }
        }
        Fate::Waited { jobs, left }
    }

    /// Until all are made, or none was for long.
    async fn wait(&self, sent: &mut VecDeque<SnapshotJob>) -> Result<(), PortError> {
        let (mut left, mut moved) = (sent.len(), Instant::now());
        loop {
            self.reprocess.drop_finished(sent).await?;
            if sent.len() < left {
                (left, moved) = (sent.len(), Instant::now());
            }
            if sent.is_empty() || moved.elapsed() > STALLED {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

async fn reprocess(
    surroundings: &Surroundings,
    arguments: &ReprocessArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let scope = Scope { log: arguments.spreadsheet, since_s: arguments.since.unwrap_or_default() };
    let mut findings = Vec::new();
    let step = output.step("Look at the logs");
    let seen = surroundings.reprocess.survey(scope, |finding| findings.push(finding)).await;
    let seen = step.ended(seen.map_err(SynthError::Look), |seen| {
        format!("{} entries, {} findings", seen.entries, findings.len())
    })?;
    let (due, lost) =
        (count(&findings, |f| f.kind.is_repairable()), count(&findings, |f| f.kind.is_lost()));
    let planned = || findings.iter().cloned().map(ReprocessOutcome::Planned).collect();
    if arguments.dry_run || due == 0 {
        let report = Report::new(seen, arguments, planned(), Fate::None);
        output.result(&report, &report.text());
        return if lost == 0 { Ok(()) } else { Err(SynthError::Lost { lost }) };
    }
    if !arguments.yes && !output.is_for_programs() {
        output.note(&Report::new(seen, arguments, planned(), Fate::None).plan());
        confirm("reprocessing", &format!("Mend {due} findings?")).await?;
    }
    let Done { outcomes, sent, gone, failed, first } = mend(surroundings, findings, output).await;
    let lost = lost.saturating_add(gone);
    let fate = surroundings.follow(sent, output).await;
    let report = Report::new(seen, arguments, outcomes, fate);
    output.result(&report, &report.text());
    match first {
        Some(first) => Err(SynthError::Reprocess { failed, due, first }),
        None if lost > 0 => Err(SynthError::Lost { lost }),
        None => Ok(()),
    }
}

fn count(findings: &[Finding], counts: impl Fn(&Finding) -> bool) -> usize {
    findings.iter().filter(|finding| counts(finding)).count()
}

/// What became of all findings.
#[derive(Default)]
struct Done {
    outcomes: Vec<ReprocessOutcome>,
    sent: VecDeque<SnapshotJob>,
    /// Bodies that went between the look and the deed.
    gone: usize,
    failed: usize,
    first: Option<PortError>,
}

/// Does one after the other: one that fails does not keep the others.
async fn mend(surroundings: &Surroundings, findings: Vec<Finding>, output: &Output) -> Done {
    let step = output.step("Send jobs and keep bodies");
    let mut done = Done::default();
    for finding in findings {
        match surroundings.reprocess.repair(&finding).await {
            Ok(mended) => {
                if mended == RepairOutcome::Sent {
                    done.sent.push_back(SnapshotJob { log: finding.log, position: finding.at });
                }
                done.gone += usize::from(mended == RepairOutcome::Lost);
                done.outcomes.push(ReprocessOutcome::Done(finding, mended));
            }
            Err(error) => {
                done.failed += 1;
                done.outcomes.push(ReprocessOutcome::Failed(finding, error.to_string()));
                done.first.get_or_insert(error);
            }
        }
    }
    match done.failed {
        0 => step.done(&format!("{} jobs sent", done.sent.len())),
        _ => step.failed(),
    }
    done
}
