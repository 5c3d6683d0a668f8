//! `synth purge`: permanently removes deleted spreadsheets whose undelete period has ended.

use std::sync::Arc;

use cellar_catalog::purge::DeletedPlan;
use cellar_catalog::spreadsheet::Person;
use cellar_engine::catalog::CatalogStore;
use cellar_engine::purge::{PlannedPurge, PurgeError, PurgePorts, Purger};
use cellar_engine::system::{SystemClock, SystemRandom};

use super::data::StackData;
use super::maintenance::{Batch, MaintenanceOptions, MaintenancePlan};
use super::purge_report::{PurgeOutcome, Report};
use crate::cli::{Output, PurgeArguments};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::LocalFunctions;
use crate::project::ConfigSelection;

/// Issuer that identifies this command as a user in the catalog (spreadsheet metadata). Never used
/// in tokens.
const OPERATOR_ISSUER: &str = "cellar:operator";
/// Subject that identifies this command as a user in the catalog (spreadsheet metadata).
const OPERATOR_SUBJECT: &str = "synth purge";

/// Purges the due spreadsheets after confirmation.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &PurgeArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let data = StackData::open(config, &arguments.place, LocalFunctions::Running).await?;
    let result = match purger(&data) {
        Ok(purger) => purge(&purger, arguments, output).await,
        Err(error) => Err(error),
    };
    data.close().await;
    result
}

fn purger(data: &StackData) -> Result<Purger, SynthError> {
    let feed = data.feed()?;
    let (clock, random) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let ports = PurgePorts {
        entries: Arc::clone(&data.tables) as _,
        segments: Arc::clone(&data.tables) as _,
        retention: Arc::clone(&data.tables) as _,
        pending: data.snapshots.as_ref().map(|snapshots| Arc::clone(&snapshots.pending) as _),
        blobs: Arc::clone(&data.blobs) as _,
        versions: Arc::clone(&data.blobs) as _,
        clock: Arc::clone(&clock) as _,
        random: Arc::clone(&random) as _,
    };
    let catalog = CatalogStore::new(Arc::clone(&feed.streams) as _, clock, random);
    let operator =
        Person { issuer: OPERATOR_ISSUER.to_owned(), subject: OPERATOR_SUBJECT.to_owned() };
    Ok(Purger::new(ports, catalog, operator))
}

async fn purge(
    purger: &Purger,
    arguments: &PurgeArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let step = output.step("Find deleted spreadsheets");
    let survey = purger.survey().await.map_err(MaintenanceError::PurgeSurvey);
    let planned = step.finish(survey, |planned| format!("{} deleted", planned.len()))?;
    let due = planned.iter().filter(|planned| is_due(planned)).count();
    let plan_report = || {
        let outcomes = planned.iter().cloned().map(PurgeOutcome::Planned).collect();
        Report::new(true, outcomes)
    };
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let plan = MaintenancePlan {
        text: &|| plan_report().text(),
        due,
        action: "purging",
        question: format!("Permanently remove {due} spreadsheets? This cannot be undone."),
    };
    if !options.should_carry_out(plan, output).await? {
        let report = plan_report();
        output.print_result(&report, &report.text());
        return Ok(());
    }
    let Batch { outcomes, failed, first_error } = purge_all(purger, planned, output).await;
    let report = Report::new(false, outcomes);
    output.print_result(&report, &report.text());
    match first_error {
        Some(first) => Err(MaintenanceError::Purge { failed, due, first }.into()),
        None => Ok(()),
    }
}

fn is_due(planned: &PlannedPurge) -> bool {
    planned.plan == DeletedPlan::Purge
}

/// Purges the due spreadsheets one at a time. The survey lists forks before their sources, because
/// a source can be purged only after its forks.
async fn purge_all(
    purger: &Purger,
    planned: Vec<PlannedPurge>,
    output: &Output,
) -> Batch<PurgeOutcome, PurgeError> {
    let mut batch = Batch::default();
    for planned in planned {
        if !is_due(&planned) {
            batch.add(PurgeOutcome::Planned(planned));
            continue;
        }
        let step = output.step(&format!("Purge {}", planned.log));
        match purger.purge(planned.log).await {
            Ok(removed) => {
                step.succeed(&format!("{} entries, {} objects", removed.entries, removed.objects));
                batch.add(PurgeOutcome::Purged(planned, removed));
            }
            Err(error) => {
                step.fail();
                batch.add_failure(PurgeOutcome::Failed(planned, error.to_string()), error);
            }
        }
    }
    batch
}
