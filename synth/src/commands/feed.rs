//! `synth feed`: compares the feed with the streams, and mends it.

use cellar_engine::feed::{Audit, AuditError, Auditor, Finding};

use super::confirm::confirm;
use super::data::Data;
use super::feed_report::{Done, Report};
use crate::cli::{FeedCommand, FeedPlace, FeedRebuild, Output, WhereArguments};
use crate::error::SynthError;
use crate::local_cloud::Run;
use crate::project::Named;

/// Does what is asked; whether the feed differs from the streams.
pub(crate) async fn run(
    config: Named<'_>,
    command: &FeedCommand,
    output: &Output,
) -> Result<bool, SynthError> {
    match command {
        FeedCommand::Verify(FeedPlace { place }) => {
            with(config, place, async |auditor| verify(auditor, output).await).await
        }
        FeedCommand::Repair(FeedPlace { place }) => {
            with(config, place, async |auditor| repair(auditor, output).await).await
        }
        FeedCommand::Rebuild(FeedRebuild { place, yes }) => {
            if !yes && !output.is_for_programs() {
                let question = "Build the feed anew? Whoever reads it has to begin anew.";
                confirm("building the feed anew", question).await?;
            }
            with(config, place, async |auditor| rebuild(auditor, output).await).await
        }
    }
}

/// Does something with the feed of a stack.
async fn with(
    config: Named<'_>,
    place: &WhereArguments,
    what: impl AsyncFnOnce(&Auditor) -> Result<bool, SynthError>,
) -> Result<bool, SynthError> {
    let data = Data::reach(config, place, Run::Everything).await?;
    let done = match data.auditor() {
        Ok(auditor) => what(&auditor).await,
        Err(error) => Err(error),
    };
    data.leave().await;
    done
}

async fn verify(auditor: &Auditor, output: &Output) -> Result<bool, SynthError> {
    let audit = look(auditor, output).await?;
    Ok(tell(&Report::of(&audit, None), output))
}

async fn repair(auditor: &Auditor, output: &Output) -> Result<bool, SynthError> {
    let before = look(auditor, output).await?;
    if !before.findings.iter().any(Finding::can_be_repaired) {
        return Ok(tell(&Report::of(&before, None), output));
    }
    let step = output.step("Index what is missing");
    let repaired = auditor.repair(&before).await.map_err(SynthError::Feed);
    let repaired = step.ended(repaired, |indexed| format!("{} events", indexed.events))?;
    let audit = look(auditor, output).await?;
    Ok(tell(&Report::of(&audit, Some(Done { repaired: true, events: repaired.events })), output))
}

async fn rebuild(auditor: &Auditor, output: &Output) -> Result<bool, SynthError> {
    let step = output.step("Build the feed anew");
    let rebuilt = auditor.rebuild(|_| {}).await.map_err(SynthError::Feed);
    let rebuilt = step.ended(rebuilt, |indexed| format!("{} events", indexed.events))?;
    let audit = look(auditor, output).await?;
    Ok(tell(&Report::of(&audit, Some(Done { repaired: false, events: rebuilt.events })), output))
}

async fn look(auditor: &Auditor, output: &Output) -> Result<Audit, SynthError> {
    let step = output.step("Compare the feed with the streams");
    let audit = auditor.verify().await.map_err(|error: AuditError| SynthError::Feed(error));
    step.ended(audit, |audit| format!("{} events of {} streams", audit.events, audit.streams))
}

fn tell(report: &Report, output: &Output) -> bool {
    output.result(report, &report.text());
    report.differs()
}
