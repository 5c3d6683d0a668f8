//! `synth webhook`: shows the delivery progress, manages the signing secret, and delivers pending
//! feed items.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cellar_base::consistency::ReadConsistency;
use cellar_catalog::feed::{Checkpoint, FeedId};
use cellar_catalog::webhook::Receivers;
use cellar_engine::feed::{Webhook, WebhookError};
use cellar_engine::ports::{FeedTable as _, PortError, WebhookProgresses as _};
use cellar_runtime::dynamodb::DynamoFeed;
use cellar_runtime::webhook::{Secret, WebhookParts, WebhookSecrets};
use serde::Serialize;

use super::data::StackData;
use crate::cli::{Output, ProgressStep, WebhookCommand, WebhookLocation, WebhookSecret};
use crate::error::{MaintenanceError, SynthError};
use crate::local_cloud::{FeedTables, LocalFunctions};
use crate::project::{ConfigSelection, Project};

/// The command starts runs until all feed items are delivered.
const MAX_RUN_DURATION: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct DeliveryStatus {
    /// Checkpoint after the last feed item that was delivered, if any.
    delivered: Option<u64>,
    /// `None` if the feed is empty.
    last: Option<u64>,
    complete: bool,
}

/// The secrets that sign deliveries, newest first.
#[derive(Serialize)]
struct SecretsReport {
    secrets: Vec<String>,
}

/// Returns whether deliveries are pending.
pub(crate) async fn run_webhook_command(
    config_selection: ConfigSelection<'_>,
    command: &WebhookCommand,
    output: &Output,
) -> Result<bool, SynthError> {
    let location = match command {
        WebhookCommand::Status(WebhookLocation { location })
        | WebhookCommand::Deliver(WebhookLocation { location })
        | WebhookCommand::Secret(WebhookSecret { location, .. }) => location,
    };
    let data = StackData::open(config_selection, location, LocalFunctions::Running).await?;
    let result = run_with_data(config_selection, &data, command, output).await;
    data.close().await;
    result
}

async fn run_with_data(
    config_selection: ConfigSelection<'_>,
    data: &StackData,
    command: &WebhookCommand,
    output: &Output,
) -> Result<bool, SynthError> {
    match command {
        WebhookCommand::Secret(arguments) => {
            print_secret(data, arguments.rotate, output).await?;
            let has_pending_deliveries = false;
            return Ok(has_pending_deliveries);
        }
        WebhookCommand::Status(_) => {}
        WebhookCommand::Deliver(_) => deliver_pending(config_selection, data, output).await?,
    }
    let status = DeliveryStatus::read(data).await?;
    output.print_result(&status, &status.to_text());
    let has_pending_deliveries = !status.complete;
    Ok(has_pending_deliveries)
}

/// If `rotate` is set, creates a new secret first.
async fn print_secret(data: &StackData, rotate: bool, output: &Output) -> Result<(), SynthError> {
    let secret_store = WebhookSecrets::new(Arc::clone(&data.blobs) as _);
    let result = if rotate { secret_store.rotate().await } else { secret_store.get().await };
    let secrets_newest_first = result.map_err(MaintenanceError::WebhookState)?;
    let newest_secret = secrets_newest_first.first().map(Secret::text).unwrap_or_default();
    let report = SecretsReport {
        secrets: secrets_newest_first.iter().map(|secret| secret.text().to_owned()).collect(),
    };
    output.print_result(&report, newest_secret);
    if rotate && secrets_newest_first.len() > 1 {
        output.print_note(
            "Deliveries are also signed with the previous secret, until the next rotation.",
        );
    }
    Ok(())
}

async fn deliver_pending(
    config_selection: ConfigSelection<'_>,
    data: &StackData,
    output: &Output,
) -> Result<(), SynthError> {
    let config = Project::find(config_selection)?.config;
    let webhook_config = config.webhook.ok_or(MaintenanceError::NoWebhook)?;
    let FeedTables { streams, feed, incarnation } = data.feed()?;
    let parts = WebhookParts {
        index: Arc::clone(feed),
        streams: Arc::clone(streams),
        blobs: Arc::clone(&data.blobs) as _,
        url: webhook_config.url,
        receivers: Receivers::PublicAndLocalhost,
        events: webhook_config.payloads,
        stack: config.stack,
        incarnation: *incarnation,
    };
    let webhook = parts.build();
    let step = output.start_step("Deliver pending items");
    let result = deliver_all(data, &webhook, &step).await;
    step.finish(result, |item_count| format!("{item_count} items"))?;
    Ok(())
}

/// Returns the number of delivered items.
async fn deliver_all(
    data: &StackData,
    webhook: &Webhook,
    step: &ProgressStep,
) -> Result<usize, SynthError> {
    let mut delivered_count = 0_usize;
    loop {
        let status = DeliveryStatus::read(data).await?;
        let Some(last_number) = status.last else { return Ok(delivered_count) };
        if status.complete {
            return Ok(delivered_count);
        }
        let last_checkpoint = Checkpoint::new(last_number).unwrap_or_default();
        match webhook.deliver((last_checkpoint, last_checkpoint), deadline_ms()).await {
            Ok(items) | Err(WebhookError::OutOfTime { items }) => delivered_count += items,
            Err(error) => return Err(MaintenanceError::NotDelivered(error).into()),
        }
        step.update(&format!("{delivered_count} items"));
    }
}

fn deadline_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from((now + MAX_RUN_DURATION).as_millis()).unwrap_or(u64::MAX)
}

struct LastFeedItem {
    generation_id: FeedId,
    checkpoint: Checkpoint,
}

impl LastFeedItem {
    /// Returns `None` for an empty feed.
    async fn read(feed: &DynamoFeed) -> Result<Option<Self>, PortError> {
        let Some((partition, generation)) = feed.newest_partition(ReadConsistency::Strong).await?
        else {
            return Ok(None);
        };
        let Some((offset, _)) = feed.last_item(partition).await? else { return Ok(None) };
        let Ok(checkpoint) = Checkpoint::at(partition, offset) else { return Ok(None) };
        Ok(Some(Self { generation_id: generation.id, checkpoint }))
    }
}

impl DeliveryStatus {
    async fn read(data: &StackData) -> Result<Self, SynthError> {
        let feed = &data.feed()?.feed;
        let progress = feed.progress().await.map_err(MaintenanceError::WebhookState)?;
        let last_item = LastFeedItem::read(feed).await.map_err(MaintenanceError::WebhookState)?;
        let complete = match (&progress, &last_item) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(progress), Some(last_item)) => {
                progress.feed == last_item.generation_id && progress.next > last_item.checkpoint
            }
        };
        Ok(Self {
            delivered: progress.map(|progress| progress.next.number()),
            last: last_item.map(|last_item| last_item.checkpoint.number()),
            complete,
        })
    }

    fn to_text(self) -> String {
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
