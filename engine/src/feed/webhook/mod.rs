//! Drives the deliveries of the webhook.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use cellar_api::wire::WebhookDelivery;
use cellar_base::limits::{MAX_FEED_EVENTS_ITEMS, WEBHOOK_ITEMS, WEBHOOK_RESERVE_MS};
use cellar_catalog::feed::{Checkpoint, FeedId};
use cellar_catalog::webhook::{Delivering, DeliveryAction, DeliveryAnswer, DeliveryOutcome, Page};

use super::reader::{FeedError, FeedPage, FeedReader};
use super::view::view;
use crate::catalog::CatalogStore;
use crate::ports::{Clock, WebhookProgresses, WebhookSender};

/// Delivers the feed to the receiver.
#[derive(Clone)]
pub struct Webhook {
    feed: FeedReader,
    progresses: Arc<dyn WebhookProgresses>,
    sender: Arc<dyn WebhookSender>,
    clock: Arc<dyn Clock>,
    stack: String,
    /// Tells what events say; without it, nobody is told.
    catalog: Option<CatalogStore>,
}

/// What a webhook works on.
pub struct WebhookPorts {
    /// The feed.
    pub feed: FeedReader,
    /// How far it has come.
    pub progresses: Arc<dyn WebhookProgresses>,
    /// The receiver.
    pub sender: Arc<dyn WebhookSender>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// A call that has to be repeated. What was delivered before it stays.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The receiver did not accept a delivery.
    #[error("the receiver rejected a delivery: {0}")]
    NotAccepted(String),
    /// There is more, and no time for it.
    #[error("{items} items were delivered, and there are more")]
    More {
        /// Items that were delivered.
        items: usize,
    },
    /// The items are not to be seen yet.
    #[error("the items are not to be seen yet")]
    NotYetThere,
    /// The feed or the events cannot be read, or the progress not be kept.
    #[error("the webhook cannot go on: {0}")]
    Store(String),
}

/// What a call carries from action to action.
#[derive(Default)]
struct Call {
    page: Option<FeedPage>,
    why: String,
}

impl Webhook {
    /// The webhook of a stack of this name.
    #[must_use]
    pub fn new(ports: WebhookPorts, stack: &str) -> Self {
        let WebhookPorts { feed, progresses, sender, clock } = ports;
        Self { feed, progresses, sender, clock, stack: stack.to_owned(), catalog: None }
    }

    /// The same, which tells what the events of this catalog say.
    #[must_use]
    pub fn telling(self, catalog: CatalogStore) -> Self {
        Self { catalog: Some(catalog), ..self }
    }

    /// Delivers what was indexed at these places and whatever is missing before, until shortly before
    /// `deadline_ms`. How many items it has delivered: none if they were delivered before.
    ///
    /// # Errors
    /// [`WebhookError`]: call again.
    pub async fn deliver(
        &self,
        (first, last): (Checkpoint, Checkpoint),
        deadline_ms: u64,
    ) -> Result<usize, WebhookError> {
        let mut call = Call::default();
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
                    return Err(WebhookError::NotAccepted(call.why));
                }
                DeliveryAction::Finish(DeliveryOutcome::Store) => {
                    return Err(WebhookError::Store(call.why));
                }
                DeliveryAction::ReadProgress => match self.progresses.progress().await {
                    Ok(progress) => DeliveryAnswer::Progress(progress),
                    Err(error) => call.failed(error.to_string()),
                },
                DeliveryAction::ReadPage { from, feed } => self.read(&mut call, from, feed).await,
                DeliveryAction::Send => self.send(&mut call).await,
                DeliveryAction::Advance { from, to } => {
                    match self.progresses.advance(from, to).await {
                        Ok(true) => DeliveryAnswer::Advanced,
                        Ok(false) => DeliveryAnswer::Overtaken,
                        Err(error) => call.failed(error.to_string()),
                    }
                }
            };
            let left_ms = deadline_ms.saturating_sub(self.clock.now_ms());
            (delivering, action) = delivering.step(answer, left_ms >= WEBHOOK_RESERVE_MS);
        }
    }

    async fn read(
        &self,
        call: &mut Call,
        from: Option<Checkpoint>,
        feed: Option<FeedId>,
    ) -> DeliveryAnswer {
        let limit = if self.catalog.is_some() { MAX_FEED_EVENTS_ITEMS } else { WEBHOOK_ITEMS };
        match self.feed.page(from, feed, limit).await {
            Ok(page) => {
                let first = page.items.first().map(|item| item.at);
                let (items, next) = (page.items.len(), page.next);
                let seen = Page { feed: page.feed, first, items, next };
                call.page = Some(page);
                DeliveryAnswer::Page(seen)
            }
            Err(FeedError::AnotherFeed) => {
                "the feed is another one again".clone_into(&mut call.why);
                DeliveryAnswer::AnotherFeed
            }
            Err(error) => call.failed(error.to_string()),
        }
    }

    async fn send(&self, call: &mut Call) -> DeliveryAnswer {
        let Some(page) = call.page.take() else { return call.failed("no page".to_owned()) };
        let told = match view(page, self.catalog.as_ref()).await {
            Ok(told) => told,
            Err(error) => return call.failed(error.to_string()),
        };
        match self.sender.send(&WebhookDelivery::new(&self.stack, told)).await {
            Ok(()) => DeliveryAnswer::Accepted,
            Err(refused) => {
                call.why = refused.why;
                DeliveryAnswer::NotAccepted
            }
        }
    }
}

impl Call {
    fn failed(&mut self, why: String) -> DeliveryAnswer {
        self.why = why;
        DeliveryAnswer::Failed
    }
}
