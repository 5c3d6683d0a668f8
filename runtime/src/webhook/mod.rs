//! Lambda handler of the webhook. Receives change stream batches of the Feed table and delivers the
//! feed to a URL.

mod secrets;
mod sender;
mod signature;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_lambda_events::event::dynamodb::{Event, EventRecord};
use aws_sdk_dynamodb::Client;
use cellar_base::record::RecordError;
use cellar_base::table_attributes::{FEED_PARTITION_KEY, FEED_SORT_KEY};
use cellar_catalog::feed::Checkpoint;
use cellar_catalog::records::feed::place_of;
use cellar_catalog::webhook::Receivers;
use cellar_engine::catalog::CatalogStore;
use cellar_engine::feed::{FeedReader, Webhook, WebhookError, WebhookPorts};
use cellar_engine::meter::Meter;
use cellar_engine::ports::{Blobs, Clock};
use cellar_engine::system::{SystemClock, SystemRandom};

use crate::dynamodb::{DynamoFeed, DynamoStreams};
use crate::settings::WebhookSettings;
use crate::table_stream::take_new_image;
use sender::HttpSender;

pub use secrets::WebhookSecrets;
pub use signature::{BadSecret, Secret};

/// Handles batches of the Feed table's change stream.
#[derive(Clone)]
pub struct WebhookHandler {
    webhook: Webhook,
}

/// Ports and settings of a [`Webhook`].
pub struct WebhookParts {
    /// The Feed table.
    pub index: Arc<DynamoFeed>,
    /// The EventStream table.
    pub streams: Arc<DynamoStreams>,
    /// Bucket with the webhook's signing secrets.
    pub blobs: Arc<dyn Blobs>,
    /// Receiver URL of the feed.
    pub url: String,
    /// Addresses to which deliveries may be sent.
    pub receivers: Receivers,
    /// Whether to include event payloads in deliveries.
    pub events: bool,
    /// Name of the stack.
    pub stack: String,
    /// Incarnation of the tables.
    pub incarnation: u32,
}

impl WebhookParts {
    #[must_use]
    pub fn build(self) -> Webhook {
        let Self { index, streams, blobs, url, receivers, events, stack, incarnation } = self;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let secrets = WebhookSecrets::new(blobs);
        let sender = HttpSender::new(url, secrets, Arc::clone(&clock), receivers);
        let ports = WebhookPorts {
            feed: FeedReader::new(Arc::clone(&index) as _, incarnation),
            progresses: index,
            sender: Arc::new(sender),
            clock: Arc::clone(&clock),
        };
        let webhook = Webhook::new(ports, &stack);
        if events {
            webhook.with_catalog(CatalogStore::new(streams, clock, Arc::new(SystemRandom)))
        } else {
            webhook
        }
    }
}

/// Builds the webhook over the tables and the bucket of `settings`.
#[must_use]
pub fn build_webhook(
    settings: WebhookSettings,
    client: Client,
    blobs: Arc<dyn Blobs>,
    meter: Arc<Meter>,
    receivers: Receivers,
) -> Webhook {
    let index = DynamoFeed::named(&settings.feed_table, client.clone(), Arc::clone(&meter));
    let streams = DynamoStreams::named(&settings.event_stream_table, client, meter);
    let WebhookSettings { url, events, stack, incarnation, .. } = settings;
    let (index, streams) = (Arc::new(index), Arc::new(streams));
    WebhookParts { index, streams, blobs, url, receivers, events, stack, incarnation }.build()
}

impl WebhookHandler {
    #[must_use]
    pub fn new(webhook: Webhook) -> Self {
        Self { webhook }
    }

    /// Handles one batch, stopping shortly before `deadline_ms` (milliseconds since the Unix
    /// epoch). Only record keys are read, because they determine the range of feed items to
    /// deliver. Malformed records are logged and skipped.
    ///
    /// # Errors
    ///
    /// Returns a [`WebhookError`] if a part of the range was not delivered. Lambda then redelivers
    /// the batch.
    pub async fn handle(&self, event: Event, deadline_ms: u64) -> Result<(), WebhookError> {
        let records = event.records.len();
        let mut range: Option<(Checkpoint, Checkpoint)> = None;
        for mut record in event.records {
            match read_checkpoint(&mut record) {
                Ok(checkpoint) => {
                    let (first, last) = range.unwrap_or((checkpoint, checkpoint));
                    range = Some((first.min(checkpoint), last.max(checkpoint)));
                }
                Err(error) => tracing::error!(%error, "cannot read a record of the Feed table"),
            }
        }
        let Some(range) = range else { return Ok(()) };
        let delivered = self.webhook.deliver(range, deadline_ms).await;
        match &delivered {
            Ok(items) => tracing::info!(records, items, "delivered the feed"),
            Err(error) => tracing::warn!(records, %error, "the feed was not delivered completely"),
        }
        delivered.map(drop)
    }
}

/// Reads the checkpoint of a record's feed item.
fn read_checkpoint(record: &mut EventRecord) -> Result<Checkpoint, RecordError> {
    place_of(&take_new_image(record, &[FEED_PARTITION_KEY, FEED_SORT_KEY]))
}
