//! `synth feed`: verifies, repairs or rebuilds the feed (all catalog events in one order).

use cellar_base::count::count;
use cellar_engine::feed::{Audit, Auditor, Finding};

use super::confirm::confirm;
use super::data::StackData;
use super::feed_report::{FeedRepair, FeedReport};
use crate::cli::{FeedCommand, FeedLocation, FeedRebuild, Output};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::LocalFunctions;
use crate::project::ConfigSelection;

/// Returns whether the feed is inconsistent with the event streams.
pub(crate) async fn run_feed_command(
    config_selection: ConfigSelection<'_>,
    command: &FeedCommand,
    output: &Output,
) -> Result<bool, SynthError> {
    let location = match command {
        FeedCommand::Verify(FeedLocation { location })
        | FeedCommand::Repair(FeedLocation { location })
        | FeedCommand::Rebuild(FeedRebuild { location, .. }) => location,
    };
    if let FeedCommand::Rebuild(FeedRebuild { yes, .. }) = command
        && !yes
        && !output.is_json()
    {
        let question = "Rebuild the feed? Consumers must read the new feed from its beginning.";
        confirm("rebuilding the feed", question).await?;
    }
    let data = StackData::open(config_selection, location, LocalFunctions::Running).await?;
    let result = run_with_data(&data, command, output).await;
    data.close().await;
    result
}

async fn run_with_data(
    data: &StackData,
    command: &FeedCommand,
    output: &Output,
) -> Result<bool, SynthError> {
    let auditor = data.auditor()?;
    let report = match command {
        FeedCommand::Verify(_) => FeedReport::new(&compare_feed(&auditor, output).await?, None),
        FeedCommand::Repair(_) => repair_feed(&auditor, output).await?,
        FeedCommand::Rebuild(_) => rebuild_feed(&auditor, output).await?,
    };
    output.print_result(&report, &report.to_text());
    Ok(report.has_differences())
}

async fn repair_feed(auditor: &Auditor, output: &Output) -> Result<FeedReport, SynthError> {
    let audit = compare_feed(auditor, output).await?;
    if !audit.findings.iter().any(Finding::can_be_repaired) {
        return Ok(FeedReport::new(&audit, None));
    }
    let step = output.start_step("Add the missing events");
    let result = auditor.repair(&audit).await.map_err(MaintenanceError::Feed);
    let indexed = step.finish(result, |written| count(written.events, "event", "events"))?;
    let audit_after_repair = compare_feed(auditor, output).await?;
    let repair = FeedRepair { repaired: true, events: indexed.events };
    Ok(FeedReport::new(&audit_after_repair, Some(repair)))
}

async fn rebuild_feed(auditor: &Auditor, output: &Output) -> Result<FeedReport, SynthError> {
    let step = output.start_step("Rebuild the feed");
    let result = auditor.rebuild(|_| {}).await.map_err(MaintenanceError::Feed);
    let indexed = step.finish(result, |written| count(written.events, "event", "events"))?;
    let audit_after_rebuild = compare_feed(auditor, output).await?;
    let repair = FeedRepair { repaired: false, events: indexed.events };
    Ok(FeedReport::new(&audit_after_rebuild, Some(repair)))
}

async fn compare_feed(auditor: &Auditor, output: &Output) -> Result<Audit, SynthError> {
    let step = output.start_step("Compare the feed with the event streams");
    let result = auditor.verify().await.map_err(MaintenanceError::Feed);
    let audit = step.finish(result, |compared| {
        format!(
            "{} of {}",
            count(compared.events, "event", "events"),
            count(compared.streams, "stream", "streams")
        )
    })?;
    Ok(audit)
}
