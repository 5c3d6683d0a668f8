//! Ports of the webhook: its stored progress and its receiver.

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_catalog::webhook::WebhookProgress;

use super::PortError;

/// The progress of the webhook, stored in one record.
#[async_trait]
pub trait WebhookProgresses: Send + Sync {
    /// Reads the progress with strong consistency; `None` before the first delivery.
    ///
    /// # Errors
    /// [`PortError`] if the request fails or a record is unreadable.
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError>;

    /// Replaces the progress `from` by `to`; returns whether the stored progress was `from`. After
    /// an error the progress may have been stored nevertheless: a retry then returns `false`.
    ///
    /// # Errors
    /// As [`WebhookProgresses::progress`].
    async fn advance(
        &self,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> Result<bool, PortError>;
}

/// The receiver rejected a delivery, which is retried later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct DeliveryRejected {
    /// Response of the receiver, or the reason why there was none.
    pub reason: String,
}

/// Sends deliveries to the receiver.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Sends a delivery; `Ok` means that the receiver accepted it.
    ///
    /// # Errors
    /// [`DeliveryRejected`]; the delivery may have arrived nevertheless.
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), DeliveryRejected>;
}
