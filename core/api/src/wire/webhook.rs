//! Body of a webhook delivery.

use serde::{Deserialize, Serialize};

use super::FeedReply;
use cellar_catalog::webhook::FEED_TYPE;

/// Body of a webhook delivery: a page of the feed, as returned by `GET /v1/feed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookDelivery {
    /// Kind of delivery. Always `cellar.feed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Name of the stack.
    pub stack: String,
    /// Page of the feed.
    pub data: FeedReply,
}

impl WebhookDelivery {
    /// Creates a delivery of a page of the feed. `stack` is the name of the stack that sends it.
    #[must_use]
    pub fn new(stack: &str, data: FeedReply) -> Self {
        Self { kind: FEED_TYPE.to_owned(), stack: stack.to_owned(), data }
    }

    /// Returns the delivery id. All deliveries of the same page have the same id, so that receivers
    /// can deduplicate them.
    #[must_use]
    pub fn id(&self) -> String {
        let first = self.data.items.first().map_or(self.data.checkpoint, |item| item.checkpoint);
        let feed = self.data.generation.as_deref().unwrap_or_default();
        format!("{feed}-{first}-{}", self.data.checkpoint)
    }
}
