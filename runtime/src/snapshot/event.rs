//! The parts of Lambda's SQS event and response that Cellar uses. The `aws_lambda_events` crate
//! provides complete types, but its SQS feature would add a date library and two schema generators
//! to the bundle.

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
    /// Message id, by which [`ItemFailure`] refers to the message.
    pub message_id: String,
    /// Receipt handle, which is required to change the visibility timeout of the message.
    pub receipt_handle: String,
    pub body: String,
}

/// Response to a batch of messages. Lambda returns the listed messages to the queue and deletes all
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
