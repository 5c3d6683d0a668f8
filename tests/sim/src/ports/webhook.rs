//! The webhook's checkpoint and receiver.

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use cellar_api::wire::WebhookDelivery;
use cellar_catalog::webhook::WebhookProgress;
use cellar_engine::ports::{DeliveryRejected, PortError, WebhookProgresses, WebhookSender};

use crate::process::Process;
use crate::rare::RareEvent;

#[async_trait]
impl WebhookProgresses for Process {
    async fn progress(&self) -> Result<Option<WebhookProgress>, PortError> {
        let world = Arc::clone(self.world());
        let effect = async move { world.index.progress().await };
        self.call("the webhook's progress".to_owned(), effect).await.and_then(|progress| progress)
    }

    async fn advance(
        &self,
        from: Option<WebhookProgress>,
        to: WebhookProgress,
    ) -> Result<bool, PortError> {
        let world = Arc::clone(self.world());
        let effect = async move {
            let advanced = world.index.advance(from, to).await?;
            if !advanced {
                world.count(RareEvent::WebhookOvertaken);
            }
            Ok(advanced)
        };
        let what = format!("the webhook is at {}", to.next);
        self.call(what, effect).await.and_then(|advanced| advanced)
    }
}

#[async_trait]
impl WebhookSender for Process {
    async fn send(&self, delivery: &WebhookDelivery) -> Result<(), DeliveryRejected> {
        let (world, sent) = (Arc::clone(self.world()), delivery.clone());
        let what = format!("deliver {}", delivery.id());
        let effect = async move {
            let mut received = world.received.lock().unwrap_or_else(PoisonError::into_inner);
            if received.iter().any(|before| before.id() == sent.id()) {
                world.count(RareEvent::DeliveredAgain);
            }
            received.push(sent);
        };
        let answered = self.call(what, effect).await;
        answered.map_err(|error| DeliveryRejected { reason: error.to_string() })
    }
}
