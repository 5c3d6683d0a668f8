//! Lambda's SQS event and response, limited to the fields that Cellar uses.
//!
//! The `aws_lambda_events` crate provides complete types, but its SQS feature would add a date
//! library and two schema generators to the bundle.

use serde::{Deserialize, Serialize};

/// A batch of SQS messages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct QueueEvent {
    #[serde(rename = "Records")]
    pub records: Vec<QueueMessage>,
}

/// A queue message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueMessage {
    /// Message id. [`ItemFailure`] identifies the message by this id.
    pub message_id: String,
    /// Receipt handle, required to change the message's visibility timeout.
    pub receipt_handle: String,
    pub body: String,
}

/// Response to a batch. Lists the messages that Lambda returns to the queue; Lambda deletes all
/// other messages of the batch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueResponse {
    pub batch_item_failures: Vec<ItemFailure>,
}

/// A message that returns to the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemFailure {
    pub item_identifier: String,
}
