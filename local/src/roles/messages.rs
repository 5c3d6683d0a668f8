//! Builds the access requests of SQS operations, and wraps queues to check the calling function's
//! role.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::HeaderMap;
use cellar_engine::ports::{Jobs, PortError, Receipt, Received};
use serde::Deserialize;

use super::access_request::AccessRequest;
use super::function_roles::{Denied, Roles};
use super::keys::Caller;
use crate::aws_json::operation;
use crate::names::queue_arn;

/// Prefix of SQS's operation header.
pub(crate) const VERSION: &str = "AmazonSQS.";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Request {
    queue_url: String,
}

pub(crate) fn access_requests(
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Vec<AccessRequest>, String> {
    let Request { queue_url } = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let action = format!("sqs:{}", operation(headers, VERSION));
    Ok(vec![AccessRequest::new(action, queue_arn_of_url(&queue_url))])
}

fn queue_arn_of_url(queue_url: &str) -> String {
    let queue_name = match queue_url.rsplit_once('/') {
        Some((_, queue_name)) => queue_name,
        None => queue_url,
    };
    queue_arn(queue_name)
}

/// The function's role must permit each call.
pub(crate) struct RoleQueue {
    pub(crate) queue: Arc<dyn Jobs>,
    pub(crate) url: String,
    pub(crate) roles: Arc<Roles>,
    pub(crate) caller: Caller,
}

impl RoleQueue {
    fn check_permission(&self, action: &str) -> Result<(), PortError> {
        let access_request = AccessRequest::new(action, queue_arn_of_url(&self.url));
        self.roles
            .authorize(self.caller, &access_request)
            .map_err(|Denied(message)| PortError::permanent(message))
    }
}

#[async_trait]
impl Jobs for RoleQueue {
    async fn send(&self, body: &str) -> Result<(), PortError> {
        self.check_permission("sqs:SendMessage")?;
        self.queue.send(body).await
    }

    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError> {
        self.check_permission("sqs:ReceiveMessage")?;
        self.queue.receive(max, visibility_s).await
    }

    async fn change_visibility(
        &self,
        receipt: &Receipt,
        visibility_s: u32,
    ) -> Result<bool, PortError> {
        self.check_permission("sqs:ChangeMessageVisibility")?;
        self.queue.change_visibility(receipt, visibility_s).await
    }

    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError> {
        self.check_permission("sqs:DeleteMessage")?;
        self.queue.delete(receipt).await
    }
}
