//! What the webhook needs: where it keeps how far it has come, and whom it tells.

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_catalog::webhook::WebhookProgress;

use super::PortError;

/// How far the webhook has delivered the feed: one record.
#[async_trait]
pub trait WebhookProgresses: Send + Sync {
    /// How far it has come; `None` if it never delivered anything. Read consistently.
    ///
    /// # Errors
    /// [`PortError`] if the table does not answer or holds a record that cannot be read.
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError>;

    /// Keeps how far it has come, if what is there is `from`; whether it is kept. After an error it may be
    /// kept all the same: whoever repeats it finds that somebody was faster.
    ///
    /// # Errors
    /// As [`WebhookProgresses::progress`].
    async fn advance(
        &self,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> Result<bool, PortError>;
}

/// A delivery that was not accepted, and why: it is sent again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotAccepted {
    /// What the receiver answered, or that it did not.
    pub why: String,
}

/// Sends deliveries to the receiver.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Sends one; it is accepted if this returns without an error.
    ///
    /// # Errors
    /// [`NotAccepted`]: it may have arrived all the same.
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), NotAccepted>;
}
