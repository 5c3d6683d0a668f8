//! The fields of Lambda's SQS event and response that Cellar uses.
//!
//! The crate `aws_lambda_events` provides complete types, but its SQS feature would add a date
//! library and two schema generators to the bundle.

use serde::{Deserialize, Serialize};

/// A batch of queue messages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct QueueEvent {
    #[serde(rename = "Records")]
    pub records: Vec<QueueMessage>,
}

/// A queue message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueMessage {
    /// Id of the message, which [`ItemFailure`] refers to.
    pub message_id: String,
    /// Receipt that is required to change the visibility timeout of the message.
    pub receipt_handle: String,
    pub body: String,
}

/// The messages that return to the queue. Lambda deletes all other messages of the batch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueResponse {
    /// The messages that return to the queue.
    pub batch_item_failures: Vec<ItemFailure>,
}

/// A message that returns to the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemFailure {
    /// Id of the message.
    pub item_identifier: String,
}
