//! `synth feed`: verifies, repairs or rebuilds the feed (all catalog events in one order).

use cellar_engine::feed::{Audit, Auditor, Finding};

use super::confirm::confirm;
use super::data::StackData;
use super::feed_report::{FeedRepair, Report};
use crate::cli::{FeedCommand, FeedPlace, FeedRebuild, Output, WhereArguments};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::LocalFunctions;
use crate::project::ConfigSelection;

/// Runs a `synth feed` subcommand. Returns whether the feed is inconsistent with the event streams.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    command: &FeedCommand,
    output: &Output,
) -> Result<bool, SynthError> {
    match command {
        FeedCommand::Verify(FeedPlace { place }) => {
            with_auditor(config, place, async |auditor| verify(auditor, output).await).await
        }
        FeedCommand::Repair(FeedPlace { place }) => {
            with_auditor(config, place, async |auditor| repair(auditor, output).await).await
        }
        FeedCommand::Rebuild(FeedRebuild { place, yes }) => {
            if !yes && !output.is_json() {
                let question =
                    "Rebuild the feed? Consumers must read the new feed from its beginning.";
                confirm("rebuilding the feed", question).await?;
            }
            with_auditor(config, place, async |auditor| rebuild(auditor, output).await).await
        }
    }
}

/// Opens the stack's data, runs `action` with its feed auditor, and closes the data.
async fn with_auditor(
    config: ConfigSelection<'_>,
    place: &WhereArguments,
    action: impl AsyncFnOnce(&Auditor) -> Result<bool, SynthError>,
) -> Result<bool, SynthError> {
    let data = StackData::open(config, place, LocalFunctions::Running).await?;
    let result = match data.auditor() {
        Ok(auditor) => action(&auditor).await,
        Err(error) => Err(error),
    };
    data.close().await;
    result
}

async fn verify(auditor: &Auditor, output: &Output) -> Result<bool, SynthError> {
    let audit = compare(auditor, output).await?;
    Ok(print_report(&Report::new(&audit, None), output))
}

async fn repair(auditor: &Auditor, output: &Output) -> Result<bool, SynthError> {
    let before = compare(auditor, output).await?;
    if !before.findings.iter().any(Finding::can_be_repaired) {
        return Ok(print_report(&Report::new(&before, None), output));
    }
    let step = output.step("Add the missing events");
    let repaired = auditor.repair(&before).await.map_err(MaintenanceError::Feed);
    let repaired = step.finish(repaired, |indexed| format!("{} events", indexed.events))?;
    let after = compare(auditor, output).await?;
    let repair = FeedRepair { repaired: true, events: repaired.events };
    Ok(print_report(&Report::new(&after, Some(repair)), output))
}

async fn rebuild(auditor: &Auditor, output: &Output) -> Result<bool, SynthError> {
    let step = output.step("Rebuild the feed");
    let rebuilt = auditor.rebuild(|_| {}).await.map_err(MaintenanceError::Feed);
    let rebuilt = step.finish(rebuilt, |indexed| format!("{} events", indexed.events))?;
    let after = compare(auditor, output).await?;
    let repair = FeedRepair { repaired: false, events: rebuilt.events };
    Ok(print_report(&Report::new(&after, Some(repair)), output))
}

async fn compare(auditor: &Auditor, output: &Output) -> Result<Audit, SynthError> {
    let step = output.step("Compare the feed with the event streams");
    let audit = auditor.verify().await.map_err(MaintenanceError::Feed);
    let audit =
        step.finish(audit, |audit| format!("{} events of {} streams", audit.events, audit.streams));
    Ok(audit?)
}

/// Prints the report and returns whether the feed differs from the event streams.
fn print_report(report: &Report, output: &Output) -> bool {
    output.print_result(report, &report.text());
    report.has_differences()
}
