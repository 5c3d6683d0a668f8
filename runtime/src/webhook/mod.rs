//! Lambda handler of the webhook, which delivers the feed to a URL. The handler receives change
//! stream records of the Feed table.

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
use cellar_catalog::records::feed::decode_feed_position;
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

/// Handles batches of change stream records from the Feed table.
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
    /// Bucket that stores the webhook's signing secrets.
    pub blobs: Arc<dyn Blobs>,
    /// URL to which the feed is delivered.
    pub url: String,
    /// The network addresses to which deliveries may be sent.
    pub receivers: Receivers,
    /// Whether deliveries contain event payloads.
    pub events: bool,
    pub stack: String,
    /// Number of times that the tables were restored (incarnation).
    pub incarnation: u32,
}

impl WebhookParts {
    #[must_use]
    pub fn build(self) -> Webhook {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let secrets = WebhookSecrets::new(self.blobs);
        let sender = HttpSender::new(self.url, secrets, Arc::clone(&clock), self.receivers);
        let ports = WebhookPorts {
            feed: FeedReader::new(Arc::clone(&self.index) as _, self.incarnation),
            progresses: self.index,
            sender: Arc::new(sender),
            clock: Arc::clone(&clock),
        };
        let webhook = Webhook::new(ports, &self.stack);
        if self.events {
            webhook.with_catalog(CatalogStore::new(self.streams, clock, Arc::new(SystemRandom)))
        } else {
            webhook
        }
    }
}

/// Builds the webhook that uses the tables of `settings` and the bucket `blobs`.
#[must_use]
pub fn build_webhook(
    settings: WebhookSettings,
    client: Client,
    blobs: Arc<dyn Blobs>,
    meter: Arc<Meter>,
    receivers: Receivers,
) -> Webhook {
    let feed_table = DynamoFeed::named(&settings.feed_table, client.clone(), Arc::clone(&meter));
    let stream_table = DynamoStreams::named(&settings.event_stream_table, client, meter);
    let parts = WebhookParts {
        index: Arc::new(feed_table),
        streams: Arc::new(stream_table),
        blobs,
        url: settings.url,
        receivers,
        events: settings.events,
        stack: settings.stack,
        incarnation: settings.incarnation,
    };
    parts.build()
}

impl WebhookHandler {
    #[must_use]
    pub fn new(webhook: Webhook) -> Self {
        Self { webhook }
    }

    /// Delivers the feed items from the first to the last item in the batch. Stops shortly before
    /// `deadline_ms`, in milliseconds since the Unix epoch. Only the keys of the records are used.
    /// Malformed records are logged and skipped.
    ///
    /// # Errors
    ///
    /// Returns a [`WebhookError`] if some of the items were not delivered. Lambda then delivers the
    /// batch to this function again.
    pub async fn handle(&self, event: Event, deadline_ms: u64) -> Result<(), WebhookError> {
        let record_count = event.records.len();
        let mut checkpoints = Vec::new();
        for mut record in event.records {
            match read_checkpoint(&mut record) {
                Ok(checkpoint) => checkpoints.push(checkpoint),
                Err(error) => tracing::error!(%error, "cannot read a record of the Feed table"),
            }
        }
        checkpoints.sort_unstable();
        let (Some(first), Some(last)) = (checkpoints.first(), checkpoints.last()) else {
            return Ok(());
        };
        match self.webhook.deliver((*first, *last), deadline_ms).await {
            Ok(items) => {
                tracing::info!(records = record_count, items, "delivered the feed");
                Ok(())
            }
            Err(error) => {
                tracing::warn!(records = record_count, %error, "the feed was not delivered completely");
                Err(error)
            }
        }
    }
}

/// Returns the checkpoint of the feed item in a change stream record.
fn read_checkpoint(record: &mut EventRecord) -> Result<Checkpoint, RecordError> {
    decode_feed_position(&take_new_image(record, &[FEED_PARTITION_KEY, FEED_SORT_KEY]))
}
