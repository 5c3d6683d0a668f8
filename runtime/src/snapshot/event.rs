//! Lambda's event of a queue and the answer to it: the few fields that matter. The crate of all of
//! Lambda's events would bring a date library and two generators of schemas along.

use serde::{Deserialize, Serialize};

/// Messages of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct QueueEvent {
    /// The messages.
    #[serde(rename = "Records")]
    pub records: Vec<QueueMessage>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueMessage {
    /// Its id: what is reported if it is to come back.
    pub message_id: String,
    /// The right to hide it.
    pub receipt_handle: String,
    /// What was sent.
    pub body: String,
}

/// Which messages come back; Lambda deletes the others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueResponse {
    /// Those that do.
    pub batch_item_failures: Vec<ItemFailure>,
}

/// One message that comes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemFailure {
    /// Its id.
    pub item_identifier: String,
}
