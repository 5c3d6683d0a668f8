//! `synth webhook`: shows delivery progress, manages the signing secret, and delivers pending feed
//! items.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_catalog::feed::Checkpoint;
use cellar_catalog::webhook::Receivers;
use cellar_engine::feed::{Webhook, WebhookError};
use cellar_engine::ports::{FeedTable as _, WebhookProgresses as _};
use cellar_runtime::webhook::{Secret, WebhookParts, WebhookSecrets};
use serde::Serialize;

use super::data::StackData;
use crate::cli::{Output, ProgressStep, WebhookCommand, WebhookPlace, WebhookSecret};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::{FeedTables, LocalFunctions};
use crate::project::{ConfigSelection, Project};

/// Maximum duration of a delivery run. The command repeats runs until everything is delivered.
const RUN_DURATION: Duration = Duration::from_secs(60);

/// Webhook delivery progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct DeliveryStatus {
    /// Checkpoint after the last delivered feed item, if any.
    delivered: Option<u64>,
    /// Checkpoint of the last feed item; `None` for an empty feed.
    last: Option<u64>,
    /// Whether all feed items have been delivered.
    complete: bool,
}

/// Secrets that sign deliveries, newest first.
#[derive(Serialize)]
struct Secrets {
    secrets: Vec<String>,
}

/// Runs a `synth webhook` subcommand. Returns whether deliveries are pending.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    command: &WebhookCommand,
    output: &Output,
) -> Result<bool, SynthError> {
    let place = match command {
        WebhookCommand::Status(WebhookPlace { place })
        | WebhookCommand::Deliver(WebhookPlace { place })
        | WebhookCommand::Secret(WebhookSecret { place, .. }) => place,
    };
    let data = StackData::open(config, place, LocalFunctions::Running).await?;
    let result = match command {
        WebhookCommand::Status(_) => print_status(&data, output).await,
        WebhookCommand::Secret(arguments) => {
            print_secret(&data, arguments.rotate, output).await.map(|()| false)
        }
        WebhookCommand::Deliver(_) => deliver(config, &data, output).await,
    };
    data.close().await;
    result
}

/// Prints the delivery progress and returns whether deliveries are pending.
async fn print_status(data: &StackData, output: &Output) -> Result<bool, SynthError> {
    let status = DeliveryStatus::read(data).await?;
    output.print_result(&status, &status.text());
    Ok(!status.complete)
}

/// Prints the newest signing secret, after creating a new one if `rotate` is set.
async fn print_secret(data: &StackData, rotate: bool, output: &Output) -> Result<(), SynthError> {
    let store = WebhookSecrets::new(Arc::clone(&data.blobs) as _);
    let secrets = if rotate { store.rotate().await } else { store.get().await };
    let secrets = secrets.map_err(MaintenanceError::WebhookState)?;
    let texts = secrets.iter().map(|secret| secret.text().to_owned()).collect();
    let newest = secrets.first().map(Secret::text).unwrap_or_default();
    output.print_result(&Secrets { secrets: texts }, newest);
    if rotate && secrets.len() > 1 {
        output
            .note("Deliveries are also signed with the previous secret, until the next rotation.");
    }
    Ok(())
}

/// Delivers all pending feed items and prints the progress.
async fn deliver(
    config: ConfigSelection<'_>,
    data: &StackData,
    output: &Output,
) -> Result<bool, SynthError> {
    let project = Project::find(config)?;
    let configured = project.config.webhook.clone().ok_or(MaintenanceError::NoWebhook)?;
    let FeedTables { streams, feed, incarnation } = data.feed()?;
    let parts = WebhookParts {
        index: Arc::clone(feed),
        streams: Arc::clone(streams),
        blobs: Arc::clone(&data.blobs) as _,
        url: configured.url,
        receivers: Receivers::PublicAndLocalhost,
        events: configured.payloads,
        stack: project.config.stack.clone(),
        incarnation: *incarnation,
    };
    let webhook = parts.build();
    let step = output.step("Deliver pending items");
    let delivered = deliver_all(data, &webhook, &step).await;
    step.finish(delivered, |items| format!("{items} items"))?;
    print_status(data, output).await
}

/// Delivers feed items until none are pending, and returns their number.
async fn deliver_all(
    data: &StackData,
    webhook: &Webhook,
    step: &ProgressStep,
) -> Result<usize, SynthError> {
    let mut delivered = 0_usize;
    loop {
        let status = DeliveryStatus::read(data).await?;
        let Some(last) = status.last else { return Ok(delivered) };
        if status.complete {
            return Ok(delivered);
        }
        let last = Checkpoint::new(last).unwrap_or_default();
        match webhook.deliver((last, last), deadline_ms()).await {
            Ok(items) | Err(WebhookError::More { items }) => {
                delivered = delivered.saturating_add(items);
            }
            Err(error) => return Err(MaintenanceError::NotDelivered(error).into()),
        }
        step.update(&format!("{delivered} items"));
    }
}

/// Returns the deadline of a delivery run that starts now, in milliseconds since the Unix epoch.
fn deadline_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from((now + RUN_DURATION).as_millis()).unwrap_or(u64::MAX)
}

impl DeliveryStatus {
    async fn read(data: &StackData) -> Result<Self, SynthError> {
        let feed = &data.feed()?.feed;
        let progress = feed.progress().await.map_err(MaintenanceError::WebhookState)?;
        let newest_partition =
            feed.newest_partition(true).await.map_err(MaintenanceError::WebhookState)?;
        // The last feed item, along with the feed generation.
        let mut last = None;
        if let Some((partition, generation)) = newest_partition {
            let item = feed.last_item(partition).await.map_err(MaintenanceError::WebhookState)?;
            last = item
                .and_then(|(offset, _)| Checkpoint::at(partition, offset).ok())
                .map(|checkpoint| (generation, checkpoint));
        }
        let complete = match (&progress, &last) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(progress), Some((generation, last))) => {
                progress.feed == generation.id && progress.next > *last
            }
        };
        Ok(Self {
            delivered: progress.map(|progress| progress.next.number()),
            last: last.map(|(_, checkpoint)| checkpoint.number()),
            complete,
        })
    }

    fn text(&self) -> String {
        match (self.delivered, self.last) {
            (_, None) => "Nothing to deliver: the feed is empty.".to_owned(),
            (None, Some(_)) => "Nothing was delivered yet.".to_owned(),
            (Some(delivered), Some(_)) if self.complete => {
                format!("Everything was delivered, up to checkpoint {delivered}.")
            }
            (Some(delivered), Some(last)) => {
                format!("Delivered up to checkpoint {delivered}; the feed ends at {last}.")
            }
        }
    }
}
