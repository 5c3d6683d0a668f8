//! Sends signed webhook deliveries over HTTP.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_base::limits::WEBHOOK_TIMEOUT_MS;
use cellar_catalog::webhook::{ID_HEADER, Receivers, SIGNATURE_HEADER, TIMESTAMP_HEADER};
use cellar_engine::ports::{Clock, DeliveryRejected, WebhookSender};

use super::secrets::WebhookSecrets;
use crate::http::HttpClient;

pub(super) struct HttpSender {
    pub(super) url: String,
    pub(super) secrets: WebhookSecrets,
    pub(super) clock: Arc<dyn Clock>,
    receivers: Receivers,
    client: HttpClient,
}

impl HttpSender {
    pub(super) fn new(
        url: String,
        secrets: WebhookSecrets,
        clock: Arc<dyn Clock>,
        receivers: Receivers,
    ) -> Self {
        let client = HttpClient::restricted_to(WEBHOOK_TIMEOUT_MS, receivers);
        Self { url, secrets, clock, receivers, client }
    }
}

#[async_trait]
impl WebhookSender for HttpSender {
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), DeliveryRejected> {
        let rejected = |reason: String| DeliveryRejected { reason };
        if !self.receivers.allows_url(&self.url) {
            let reason = format!("{}: the host is not on the public internet", self.url);
            return Err(rejected(reason));
        }
        let body = serde_json::to_string(delivery).map_err(|error| rejected(error.to_string()))?;
        let secrets = self.secrets.get().await.map_err(|error| rejected(error.to_string()))?;
        let delivery_id = delivery.id();
        let sent_s = self.clock.now_ms() / 1_000;
        let signatures: Vec<String> =
            secrets.iter().map(|secret| secret.sign(&delivery_id, sent_s, &body)).collect();
        let headers = [
            (ID_HEADER, delivery_id),
            (TIMESTAMP_HEADER, sent_s.to_string()),
            (SIGNATURE_HEADER, signatures.join(" ")),
        ];
        self.client
            .post_json(&self.url, body, &headers)
            .await
            .map_err(|fault| rejected(format!("{}: {fault}", self.url)))
    }
}
