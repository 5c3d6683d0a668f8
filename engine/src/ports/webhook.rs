//! Ports that store the webhook's progress and send its deliveries.

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_catalog::webhook::WebhookProgress;

use super::PortError;

/// Stores how far the feed has been delivered to the webhook receiver.
#[async_trait]
pub trait WebhookProgresses: Send + Sync {
    /// Returns the stored progress, or `None` if nothing was delivered yet. The read is strongly
    /// consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or the record is unreadable.
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError>;

    /// Replaces the stored progress with `to` if it equals `from`. Returns whether the progress was
    /// replaced.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails. The progress may have been replaced
    /// nevertheless, and a retry then returns `false`.
    async fn advance(
        &self,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> Result<bool, PortError>;
}

/// The receiver did not accept a delivery. The delivery is retried later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct DeliveryRejected {
    /// Response of the receiver, or the reason why there was no response.
    pub reason: String,
}

/// Sends deliveries to the webhook receiver.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Sends a delivery. Returns `Ok` if the receiver accepted it.
    ///
    /// # Errors
    ///
    /// Returns [`DeliveryRejected`] if the receiver did not confirm the delivery. The receiver may
    /// have processed it nevertheless.
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), DeliveryRejected>;
}
