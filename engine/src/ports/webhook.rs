//! Ports for the webhook's stored progress and its deliveries.

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_catalog::webhook::WebhookProgress;

use super::PortError;

/// Stores the webhook's progress in a single record.
#[async_trait]
pub trait WebhookProgresses: Send + Sync {
    /// Returns the stored progress, or `None` before the first delivery. The read is strongly
    /// consistent.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails or a record is unreadable.
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError>;

    /// Replaces the stored progress with `to` if it equals `from`. Returns whether the progress was
    /// replaced. If an error is returned, the progress may have been replaced nevertheless. A retry
    /// then returns `false`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`WebhookProgresses::progress`].
    async fn advance(
        &self,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> Result<bool, PortError>;
}

/// Error for a delivery that the receiver did not accept. The delivery is retried later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct DeliveryRejected {
    /// The receiver's response, or the reason why no response arrived.
    pub reason: String,
}

/// Sends deliveries to the webhook receiver.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Sends a delivery. Returns `Ok` if the receiver accepted the delivery.
    ///
    /// # Errors
    ///
    /// Returns [`DeliveryRejected`]. The receiver may have processed the delivery despite the
    /// error.
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), DeliveryRejected>;
}
