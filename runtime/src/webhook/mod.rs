//! The webhook as a Lambda: batches of the Feed table's stream in, the feed delivered to a URL.

mod secrets;
mod sender;
mod signature;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use aws_lambda_events::event::dynamodb::{Event, EventRecord};
use aws_sdk_dynamodb::Client;
use cellar_base::record::RecordError;
use cellar_base::schema::{FEED_PARTITION_KEY, FEED_SORT_KEY};
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
use crate::table_stream::image;
use sender::HttpSender;

pub use secrets::WebhookSecrets;
pub use signature::{BadSecret, Secret};

/// Handles batches of the Feed table's stream.
#[derive(Clone)]
pub struct WebhookHandler {
    webhook: Webhook,
}

/// What a webhook is made of.
pub struct WebhookParts {
    /// The Feed table.
    pub index: Arc<DynamoFeed>,
    /// The EventStream table.
    pub streams: Arc<DynamoStreams>,
    /// The bucket with its secrets.
    pub blobs: Arc<dyn Blobs>,
    /// Where the feed is delivered to.
    pub url: String,
    /// To which addresses it may be delivered.
    pub receivers: Receivers,
    /// Whether it tells what events say.
    pub events: bool,
    /// Name of the stack.
    pub stack: String,
    /// Incarnation of the tables.
    pub incarnation: u32,
}

impl WebhookParts {
    /// The webhook.
    #[must_use]
    pub fn webhook(self) -> Webhook {
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
        match events {
            true => webhook.telling(CatalogStore::new(streams, clock, Arc::new(SystemRandom))),
            false => webhook,
        }
    }
}

/// The webhook over the tables and the bucket that the settings name.
#[must_use]
pub fn over_dynamodb(
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
    WebhookParts { index, streams, blobs, url, receivers, events, stack, incarnation }.webhook()
}

impl WebhookHandler {
    /// A handler of this webhook.
    #[must_use]
    pub fn new(webhook: Webhook) -> Self {
        Self { webhook }
    }

    /// Handles one batch, until shortly before `deadline_ms`. What the records say does not matter: they tell
    /// that there is something, and where. A record that cannot be read tells nothing.
    ///
    /// # Errors
    /// [`WebhookError`]: Lambda delivers the batch again.
    pub async fn handle(&self, event: Event, deadline_ms: u64) -> Result<(), WebhookError> {
        let records = event.records.len();
        let mut places: Option<(Checkpoint, Checkpoint)> = None;
        for mut record in event.records {
            match place(&mut record) {
                Ok(at) => {
                    let (first, last) = places.unwrap_or((at, at));
                    places = Some((first.min(at), last.max(at)));
                }
                Err(error) => tracing::error!(%error, "a record cannot be read"),
            }
        }
        let Some(places) = places else { return Ok(()) };
        let delivered = self.webhook.deliver(places, deadline_ms).await;
        match &delivered {
            Ok(items) => tracing::info!(records, items, "delivered"),
            Err(error) => tracing::warn!(records, %error, "not all was delivered"),
        }
        delivered.map(drop)
    }
}

/// Where the item stands that a record tells of.
fn place(record: &mut EventRecord) -> Result<Checkpoint, RecordError> {
    place_of(&image(record, &[FEED_PARTITION_KEY, FEED_SORT_KEY]))
}
