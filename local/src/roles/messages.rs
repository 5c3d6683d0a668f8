//! What a request to SQS asks for, as policies see it, and the queue of a function as its role lets it.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::HeaderMap;
use cellar_engine::ports::{Jobs, PortError, Receipt, Received};
use serde::Deserialize;

use super::{Ask, Caller, Roles};
use crate::aws_json::operation;
use crate::names::queue_arn;

/// What the targets of SQS begin with.
pub(crate) const VERSION: &str = "AmazonSQS.";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Request {
    queue_url: String,
}

/// What a request asks for; an error says why it cannot be read.
pub(crate) fn asks(headers: &HeaderMap, body: &[u8]) -> Result<Vec<Ask>, String> {
    let Request { queue_url } = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let action = format!("sqs:{}", operation(headers, VERSION));
    Ok(vec![Ask::new(action, arn_at(&queue_url))])
}

/// The ARN of the queue at a URL.
fn arn_at(url: &str) -> String {
    queue_arn(url.rsplit_once('/').map_or(url, |(_, name)| name))
}

/// A queue as a function has it, which calls it without a request: its role is asked all the same.
pub(crate) struct RoleQueue {
    pub(crate) queue: Arc<dyn Jobs>,
    pub(crate) url: String,
    pub(crate) roles: Arc<Roles>,
    pub(crate) caller: Caller,
}

impl RoleQueue {
    fn check(&self, action: &str) -> Result<(), PortError> {
        let ask = Ask::new(action, arn_at(&self.url));
        self.roles.check(self.caller, &ask).map_err(|denied| PortError::permanent(denied.0))
    }
}

#[async_trait]
impl Jobs for RoleQueue {
    async fn send(&self, body: &str) -> Result<(), PortError> {
        self.check("sqs:SendMessage")?;
        self.queue.send(body).await
    }

    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError> {
        self.check("sqs:ReceiveMessage")?;
        self.queue.receive(max, visibility_s).await
    }

    async fn change_visibility(
        &self,
        receipt: &Receipt,
        visibility_s: u32,
    ) -> Result<bool, PortError> {
        self.check("sqs:ChangeMessageVisibility")?;
        self.queue.change_visibility(receipt, visibility_s).await
    }

    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.check("sqs:DeleteMessage")?;
        self.queue.delete(receipt).await
    }
}
