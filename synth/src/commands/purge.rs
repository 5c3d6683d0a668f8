//! `synth purge`: deleted spreadsheets that nobody can restore any more, for good.

use std::sync::Arc;

use cellar_catalog::purge::DeletedPlan;
use cellar_catalog::spreadsheet::Person;
use cellar_engine::catalog::CatalogStore;
use cellar_engine::purge::{PlannedPurge, PurgeError, PurgePorts, Purger};
use cellar_engine::system::{SystemClock, SystemRandom};

use super::confirm::confirm;
use super::data::Data;
use super::purge_report::{PurgeOutcome, Report};
use crate::cli::{Output, PurgeArguments};
use crate::error::SynthError;
use crate::local_cloud::Run;
use crate::project::Named;

/// Whom the history of a spreadsheet names as the one who purged it: no issuer of tokens is called so.
const OPERATOR: (&str, &str) = ("cellar:operator", "synth purge");

/// Why deleted spreadsheets were not purged.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub(crate) enum PurgeFailure {
    /// Deleted spreadsheets that could not be purged.
    #[error("{failed} of {due} deleted spreadsheets were not purged: {first}")]
    #[diagnostic(
        code(synth::purge),
        help(
            "what is left of them goes when you run it again, which goes on where this one ended"
        )
    )]
    NotDone {
        /// How many failed.
        failed: usize,
        /// How many were to be purged.
        due: usize,
        /// Why the first did.
        first: PurgeError,
    },
    /// What is deleted could not be found out.
    #[error("the tables could not be read: {0}")]
    #[diagnostic(code(synth::purge_survey), help("nothing was changed; run it again"))]
    Survey(PurgeError),
}

/// Shows what is to go, asks, and removes it.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &PurgeArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let data = Data::reach(config, &arguments.place, Run::Everything).await?;
    let result = match purger(&data) {
        Ok(purger) => purge(&purger, arguments, output).await,
        Err(error) => Err(error),
    };
    data.leave().await;
    result
}

fn purger(data: &Data) -> Result<Purger, SynthError> {
    let (streams, ..) = data.indexed()?;
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let ports = PurgePorts {
        entries: Arc::clone(&data.tables) as _,
        segments: Arc::clone(&data.tables) as _,
        retention: Arc::clone(&data.tables) as _,
        pending: data.snapshots.as_ref().map(|(pending, _)| Arc::clone(pending) as _),
        blobs: Arc::clone(&data.blobs) as _,
        versions: Arc::clone(&data.blobs) as _,
        clock: Arc::clone(&clock) as _,
        random: Arc::clone(&random) as _,
    };
    let catalog = CatalogStore::new(streams, clock, random);
    let (issuer, subject) = OPERATOR;
    let operator = Person { issuer: issuer.to_owned(), subject: subject.to_owned() };
    Ok(Purger::new(ports, catalog, operator))
}

async fn purge(
    purger: &Purger,
    arguments: &PurgeArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let step = output.step("Look for deleted spreadsheets");
    let survey = purger.survey().await.map_err(PurgeFailure::Survey);
    let planned = step.ended(survey, |planned| format!("{} are deleted", planned.len()))?;
    let due = planned.iter().filter(|planned| is_due(planned)).count();
    let as_planned = || planned.iter().cloned().map(PurgeOutcome::Planned).collect();
    if arguments.dry_run || due == 0 {
        let report = Report::new(true, as_planned());
        output.result(&report, &report.text());
        return Ok(());
    }
    if !arguments.yes && !output.is_for_programs() {
        output.note(&Report::new(true, as_planned()).text());
        let question = format!("Delete {due} spreadsheets for good? Nothing brings them back.");
        confirm("purging", &question).await?;
    }
    let (outcomes, failed, first) = carry_out(purger, planned, output).await;
    let report = Report::new(false, outcomes);
    output.result(&report, &report.text());
    match first {
        Some(first) => Err(PurgeFailure::NotDone { failed, due, first }.into()),
        None => Ok(()),
    }
}

fn is_due(planned: &PlannedPurge) -> bool {
    planned.plan == DeletedPlan::Purge
}

/// One after the other, forks first: one that fails does not keep the others, but for what it was forked of.
async fn carry_out(
    purger: &Purger,
    planned: Vec<PlannedPurge>,
    output: &Output,
) -> (Vec<PurgeOutcome>, usize, Option<PurgeError>) {
    let (mut outcomes, mut failed, mut first) = (Vec::new(), 0, None);
    for planned in planned {
        if !is_due(&planned) {
            outcomes.push(PurgeOutcome::Planned(planned));
            continue;
        }
        let step = output.step(&format!("Purge {}", planned.log));
        match purger.purge(planned.log).await {
            Ok(removed) => {
                step.done(&format!("{} entries, {} objects", removed.entries, removed.objects));
                outcomes.push(PurgeOutcome::Purged(planned, removed));
            }
            Err(error) => {
                step.failed();
                failed += 1;
                outcomes.push(PurgeOutcome::Failed(planned, error.to_string()));
                first.get_or_insert(error);
            }
        }
    }
    (outcomes, failed, first)
}
