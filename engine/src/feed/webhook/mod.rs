//! Runs the webhook's delivery state machine.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_api::wire::WebhookDelivery;
use cellar_base::limits::{MAX_FEED_EVENTS_ITEMS, WEBHOOK_ITEMS, WEBHOOK_RESERVE_MS};
use cellar_catalog::feed::{Checkpoint, FeedId};
use cellar_catalog::webhook::{Delivering, DeliveryAction, DeliveryAnswer, DeliveryOutcome, Page};

use super::reader::{FeedError, FeedPage, FeedReader};
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
    /// Source of catalog event contents. If `None`, deliveries do not include them.
    catalog: Option<CatalogStore>,
}

pub struct WebhookPorts {
    pub feed: FeedReader,
    pub progresses: Arc<dyn WebhookProgresses>,
    pub sender: Arc<dyn WebhookSender>,
    pub clock: Arc<dyn Clock>,
}

/// Reason why the call must be retried. Deliveries accepted before the error stay accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The receiver rejected a delivery.
    #[error("the receiver rejected a delivery: {0}")]
    NotAccepted(String),
    /// The deadline was reached before all items were delivered.
    #[error("out of time after {items} items; more items are pending")]
    More {
        /// Number of delivered items.
        items: usize,
    },
    /// The items are not visible to eventually consistent reads yet.
    #[error("the items are not visible yet")]
    NotYetThere,
    /// The feed cannot be read, or the progress cannot be stored.
    #[error("the webhook failed: {0}")]
    Store(String),
}

/// State of one call.
#[derive(Default)]
struct DeliveryState {
    page: Option<FeedPage>,
    /// Cause of the latest failure.
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

    /// Delivers the items at these places and all earlier undelivered items. Stops shortly before
    /// `deadline_ms`. Returns the number of delivered items, which is 0 if all items had already
    /// been delivered.
    ///
    /// # Errors
    ///
    /// Returns [`WebhookError`]. The caller must then retry the call.
    pub async fn deliver(
        &self,
        (first, last): (Checkpoint, Checkpoint),
        deadline_ms: u64,
    ) -> Result<usize, WebhookError> {
        let mut state = DeliveryState::default();
        let (mut delivering, mut action) = Delivering::begin(first, last);
        loop {
            let answer = match action {
                DeliveryAction::Finish(DeliveryOutcome::Done { items }) => return Ok(items),
                DeliveryAction::Finish(DeliveryOutcome::OutOfTime { items }) => {
                    return Err(WebhookError::More { items });
                }
                DeliveryAction::Finish(DeliveryOutcome::NotVisibleYet) => {
                    return Err(WebhookError::NotYetThere);
                }
                DeliveryAction::Finish(DeliveryOutcome::NotAccepted) => {
                    return Err(WebhookError::NotAccepted(state.failure));
                }
                DeliveryAction::Finish(DeliveryOutcome::Store) => {
                    return Err(WebhookError::Store(state.failure));
                }
                DeliveryAction::ReadProgress => match self.progresses.progress().await {
                    Ok(progress) => DeliveryAnswer::Progress(progress),
                    Err(error) => state.fail(error.to_string()),
                },
                DeliveryAction::ReadPage { from, feed } => {
                    self.read_page(&mut state, from, feed).await
                }
                DeliveryAction::Send => self.send_page(&mut state).await,
                DeliveryAction::Advance { from, to } => {
                    match self.progresses.advance(from, to).await {
                        Ok(true) => DeliveryAnswer::Advanced,
                        Ok(false) => DeliveryAnswer::Overtaken,
                        Err(error) => state.fail(error.to_string()),
                    }
                }
            };
            let left_ms = deadline_ms.saturating_sub(self.clock.now_ms());
            (delivering, action) = delivering.step(answer, left_ms >= WEBHOOK_RESERVE_MS);
        }
    }

    async fn read_page(
        &self,
        state: &mut DeliveryState,
        from: Option<Checkpoint>,
        feed: Option<FeedId>,
    ) -> DeliveryAnswer {
        let limit = if self.catalog.is_some() { MAX_FEED_EVENTS_ITEMS } else { WEBHOOK_ITEMS };
        match self.feed.page(from, feed, limit).await {
            Ok(page) => {
                let first = page.items.first().map(|item| item.at);
                let (items, next) = (page.items.len(), page.next);
                let summary = Page { feed: page.feed, first, items, next };
                state.page = Some(page);
                DeliveryAnswer::Page(summary)
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
    fn fail(&mut self, cause: String) -> DeliveryAnswer {
        self.failure = cause;
        DeliveryAnswer::Failed
    }
}
