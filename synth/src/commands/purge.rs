//! `synth purge`: permanently removes deleted spreadsheets that can no longer be undeleted.

use std::sync::Arc;

use cellar_base::count::count;
use cellar_catalog::purge::DeletedPlan;
use cellar_catalog::spreadsheet::Person;
use cellar_engine::catalog::CatalogStore;
use cellar_engine::purge::{PlannedPurge, PurgeError, PurgePorts, Purger};
use cellar_engine::system::{SystemClock, SystemRandom};

use super::data::StackData;
use super::maintenance::{BatchOutcome, MaintenanceOptions, MaintenancePlan, ReportKind};
use super::purge_report::{PurgeOutcome, PurgeReport, describe_purged_data};
use crate::cli::{Output, PurgeArguments};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::LocalFunctions;
use crate::project::ConfigSelection;

/// Token issuer under which this command accesses the catalog (spreadsheet metadata). No real token
/// has this issuer.
const OPERATOR_ISSUER: &str = "cellar:operator";
const OPERATOR_SUBJECT: &str = "synth purge";

pub(crate) async fn purge_spreadsheets(
    config_selection: ConfigSelection<'_>,
    arguments: &PurgeArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let data =
        StackData::open(config_selection, &arguments.location, LocalFunctions::Running).await?;
    let result = match create_purger(&data) {
        Ok(purger) => purge_after_confirmation(&purger, arguments, output).await,
        Err(error) => Err(error),
    };
    data.close().await;
    result
}

fn create_purger(data: &StackData) -> Result<Purger, SynthError> {
    let feed = data.feed()?;
    let clock = Arc::new(SystemClock);
    let random = Arc::new(SystemRandom);
    let ports = PurgePorts {
        entries: Arc::clone(&data.tables) as _,
        segments: Arc::clone(&data.tables) as _,
        retention: Arc::clone(&data.tables) as _,
        presences: Arc::clone(&data.tables) as _,
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

async fn plan_purges(
    purger: &Purger,
    output: &Output,
) -> Result<Vec<PlannedPurge>, MaintenanceError> {
    let step = output.start_step("Find deleted spreadsheets");
    let result = purger.plan_purges().await.map_err(MaintenanceError::PurgeSurvey);
    step.finish(result, |planned| format!("{} deleted", planned.len()))
}

async fn purge_after_confirmation(
    purger: &Purger,
    arguments: &PurgeArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let planned_purges = plan_purges(purger, output).await?;
    let due_count = planned_purges.iter().filter(|planned| is_due(planned)).count();
    let planned_outcomes = planned_purges.iter().cloned().map(PurgeOutcome::Planned).collect();
    let plan_report = PurgeReport::new(ReportKind::Plan, planned_outcomes);
    let options = MaintenanceOptions { dry_run: arguments.dry_run, yes: arguments.yes };
    let plan = MaintenancePlan {
        text: plan_report.to_text(),
        item_count: due_count,
        action: "purging",
        question: format!(
            "Permanently remove {}? This cannot be undone.",
            count(due_count, "spreadsheet", "spreadsheets")
        ),
    };
    if !options.should_carry_out(plan, output).await? {
        output.print_result(&plan_report, &plan_report.to_text());
        return Ok(());
    }
    let BatchOutcome { outcomes, failed_count, first_error } =
        purge_due_spreadsheets(purger, planned_purges, output).await;
    let report = PurgeReport::new(ReportKind::Result, outcomes);
    output.print_result(&report, &report.to_text());
    match first_error {
        Some(first_error) => {
            let item_count = due_count;
            Err(MaintenanceError::Purge { failed_count, item_count, first_error }.into())
        }
        None => Ok(()),
    }
}

fn is_due(planned: &PlannedPurge) -> bool {
    planned.plan == DeletedPlan::Purge
}

/// The spreadsheets are sorted so that a fork precedes its source, because a source can be purged
/// only after all of its forks.
async fn purge_due_spreadsheets(
    purger: &Purger,
    planned_purges: Vec<PlannedPurge>,
    output: &Output,
) -> BatchOutcome<PurgeOutcome, PurgeError> {
    let mut batch = BatchOutcome::default();
    for planned in planned_purges {
        if !is_due(&planned) {
            batch.add_outcome(PurgeOutcome::Planned(planned));
            continue;
        }
        let step = output.start_step(&format!("Purge {}", planned.log));
        match purger.purge(planned.log).await {
            Ok(purged_data) => {
                step.succeed(&describe_purged_data(&purged_data));
                batch.add_outcome(PurgeOutcome::Purged(planned, purged_data));
            }
            Err(error) => {
                step.fail();
                batch.add_failure(PurgeOutcome::Failed(planned, error.to_string()), error);
            }
        }
    }
    batch
}
