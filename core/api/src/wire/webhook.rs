//! What the webhook delivers (design `6-catalog-feed.md` §3).

use serde::{Deserialize, Serialize};

use super::FeedReply;
use cellar_catalog::webhook::FEED_TYPE;

/// One delivery: some of the feed, as `GET /v1/feed` answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookDelivery {
    /// What kind of delivery: `cellar.feed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Name of the stack.
    pub stack: String,
    /// What was appended; `next` is the checkpoint behind it.
    pub data: FeedReply,
}

impl WebhookDelivery {
    /// A delivery of a page of a stack's feed.
    #[must_use]
    pub fn new(stack: &str, data: FeedReply) -> Self {
        Self { kind: FEED_TYPE.to_owned(), stack: stack.to_owned(), data }
    }

    /// Its id: the same for the same part of the same feed, so that a receiver knows a delivery that it has
    /// had.
    #[must_use]
    pub fn id(&self) -> String {
        let first = self.data.items.first().map_or(self.data.checkpoint, |item| item.checkpoint);
        let feed = self.data.generation.as_deref().unwrap_or_default();
        format!("{feed}-{first}-{}", self.data.checkpoint)
    }
}
