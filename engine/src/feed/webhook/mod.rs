//! Delivers the feed to a URL, using the delivery state machine.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_api::wire::WebhookDelivery;
use cellar_base::limits::{MAX_FEED_EVENTS_ITEMS, WEBHOOK_ITEMS, WEBHOOK_RESERVE_MS};
use cellar_catalog::feed::{Checkpoint, FeedId};
use cellar_catalog::webhook::{
    Delivering, DeliveryAction, DeliveryAnswer, DeliveryOutcome, Page, WebhookProgress,
};

use super::error::FeedError;
use super::reader::{FeedPage, FeedReader};
use super::view::feed_reply;
use crate::catalog::CatalogStore;
use crate::ports::{Clock, WebhookProgresses, WebhookSender};

/// Delivers feed items to the webhook receiver.
#[derive(Clone)]
pub struct Webhook {
    feed: FeedReader,
    progresses: Arc<dyn WebhookProgresses>,
    sender: Arc<dyn WebhookSender>,
    clock: Arc<dyn Clock>,
    stack: String,
    /// Catalog from which the contents of events are read. If `None`, deliveries do not include the
    /// contents.
    catalog: Option<CatalogStore>,
}

pub struct WebhookPorts {
    pub feed: FeedReader,
    pub progresses: Arc<dyn WebhookProgresses>,
    pub sender: Arc<dyn WebhookSender>,
    pub clock: Arc<dyn Clock>,
}

/// Error that ends a call before all items were delivered. The caller must retry the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The receiver rejected a delivery.
    #[error("the receiver rejected a delivery: {0}")]
    NotAccepted(String),
    /// The deadline was reached before all items were delivered.
    #[error("the time limit was reached after {items} items; more items must be delivered")]
    OutOfTime {
        /// Number of delivered items.
        items: usize,
    },
    /// The requested items are not yet visible to eventually consistent reads.
    #[error("the items are not visible yet")]
    NotVisibleYet,
    /// The feed cannot be read, or the progress cannot be stored.
    #[error("the webhook failed: {0}")]
    Store(String),
}

/// State of one call.
#[derive(Default)]
struct DeliveryState {
    page: Option<FeedPage>,
    /// Cause of the latest failure. Used in error messages.
    failure: String,
}

impl Webhook {
    /// Creates the webhook of a stack.
    #[must_use]
    pub fn new(ports: WebhookPorts, stack: &str) -> Self {
        let WebhookPorts { feed, progresses, sender, clock } = ports;
        Self { feed, progresses, sender, clock, stack: stack.to_owned(), catalog: None }
    }

    /// Includes the contents of catalog events in deliveries.
    #[must_use]
    pub fn with_catalog(self, catalog: CatalogStore) -> Self {
        Self { catalog: Some(catalog), ..self }
    }

    /// Delivers all undelivered items up to and including the checkpoint `last`. If nothing was
    /// ever delivered, starts with the item at `first`, or with the start of the feed if `first` is
    /// at the start of a partition. Stops shortly before `deadline_ms`. Returns
    /// the number of delivered items, or 0 if all items were already delivered.
    ///
    /// # Errors
    ///
    /// Returns [`WebhookError`] if not all items were delivered. The caller must retry the call.
    pub async fn deliver(
        &self,
        (first, last): (Checkpoint, Checkpoint),
        deadline_ms: u64,
    ) -> Result<usize, WebhookError> {
        let mut state = DeliveryState::default();
        let (mut delivering, mut action) = Delivering::begin(first, last);
        loop {
            let answer = match action {
                DeliveryAction::Finish(outcome) => return state.into_result(outcome),
                DeliveryAction::ReadProgress => self.read_progress(&mut state).await,
                DeliveryAction::ReadPage { from, feed } => {
                    self.read_page(&mut state, from, feed).await
                }
                DeliveryAction::Send => self.send_page(&mut state).await,
                DeliveryAction::Advance { from, to } => {
                    self.advance_progress(&mut state, from, to).await
                }
            };
            let remaining_ms = deadline_ms.saturating_sub(self.clock.now_ms());
            let has_time_left = remaining_ms >= WEBHOOK_RESERVE_MS;
            (delivering, action) = delivering.step(answer, has_time_left);
        }
    }

    async fn read_progress(&self, state: &mut DeliveryState) -> DeliveryAnswer {
        match self.progresses.progress().await {
            Ok(progress) => DeliveryAnswer::Progress(progress),
            Err(error) => state.fail(error.to_string()),
        }
    }

    async fn advance_progress(
        &self,
        state: &mut DeliveryState,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> DeliveryAnswer {
        match self.progresses.advance(from, to).await {
            Ok(true) => DeliveryAnswer::Advanced,
            Ok(false) => DeliveryAnswer::Overtaken,
            Err(error) => state.fail(error.to_string()),
        }
    }

    async fn read_page(
        &self,
        state: &mut DeliveryState,
        from: Option<Checkpoint>,
        feed: Option<FeedId>,
    ) -> DeliveryAnswer {
        let max_items = if self.catalog.is_some() { MAX_FEED_EVENTS_ITEMS } else { WEBHOOK_ITEMS };
        match self.feed.page(from, feed, max_items).await {
            Ok(page) => {
                let page_summary = Page {
                    feed: page.feed,
                    first: page.items.first().map(|item| item.at),
                    items: page.items.len(),
                    next: page.next,
                };
                state.page = Some(page);
                DeliveryAnswer::Page(page_summary)
            }
            Err(FeedError::AnotherFeed) => {
                "the feed was rebuilt during the delivery".clone_into(&mut state.failure);
                DeliveryAnswer::AnotherFeed
            }
            Err(error) => state.fail(error.to_string()),
        }
    }

    async fn send_page(&self, state: &mut DeliveryState) -> DeliveryAnswer {
        let Some(page) = state.page.take() else { return state.fail("no page to send".to_owned()) };
        let reply = match feed_reply(page, self.catalog.as_ref()).await {
            Ok(reply) => reply,
            Err(error) => return state.fail(error.to_string()),
        };
        match self.sender.send(&WebhookDelivery::new(&self.stack, reply)).await {
            Ok(()) => DeliveryAnswer::Accepted,
            Err(rejected) => {
                state.failure = rejected.reason;
                DeliveryAnswer::NotAccepted
            }
        }
    }
}

impl DeliveryState {
    fn into_result(self, outcome: DeliveryOutcome) -> Result<usize, WebhookError> {
        match outcome {
            DeliveryOutcome::Done { items } => Ok(items),
            DeliveryOutcome::OutOfTime { items } => Err(WebhookError::OutOfTime { items }),
            DeliveryOutcome::NotVisibleYet => Err(WebhookError::NotVisibleYet),
            DeliveryOutcome::NotAccepted => Err(WebhookError::NotAccepted(self.failure)),
            DeliveryOutcome::Store => Err(WebhookError::Store(self.failure)),
        }
    }

    fn fail(&mut self, cause: String) -> DeliveryAnswer {
        self.failure = cause;
        DeliveryAnswer::Failed
    }
}
