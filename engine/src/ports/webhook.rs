//! Ports of the webhook: its stored progress, and the sender of its deliveries.

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_catalog::webhook::WebhookProgress;

use super::PortError;

/// Stores the progress of the webhook in one record.
#[async_trait]
pub trait WebhookProgresses: Send + Sync {
    /// Returns the stored progress; `None` before the first delivery. The read is strongly
    /// consistent.
    ///
    /// # Errors
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError>;

    /// Replaces the stored progress by `to` if it equals `from`. Returns whether the progress was
    /// replaced. If the request fails with an error, the new progress may still have been stored; a
    /// retry returns `false` in that case.
    ///
    /// # Errors
    /// Returns the same errors as [`WebhookProgresses::progress`].
    async fn advance(
        &self,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> Result<bool, PortError>;
}

/// Error of a delivery that the receiver did not accept. The delivery is retried later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct DeliveryRejected {
    /// Response of the receiver, or the reason why no response arrived.
    pub reason: String,
}

/// Sends deliveries to the receiver of the webhook.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Sends a delivery. `Ok` means that the receiver accepted the delivery.
    ///
    /// # Errors
    /// Returns [`DeliveryRejected`]. The receiver may have processed the delivery despite the
    /// error.
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), DeliveryRejected>;
}
