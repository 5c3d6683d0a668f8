//! Port for a job queue that behaves like an SQS standard queue.

use async_trait::async_trait;
use cellar_base::limits::{MAX_MESSAGE_BYTES, MAX_RECEIVED_MESSAGES, MAX_VISIBILITY_S};

use super::PortError;

/// A received message. Other receivers do not get it until its visibility timeout expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Id of the message. It stays the same if the message is redelivered.
    pub id: String,
    /// Message body as it was sent.
    pub body: String,
    /// Receipt handle with which the receiver deletes the message or changes its visibility
    /// timeout.
    pub receipt: Receipt,
    /// Approximate number of times that the message was received, including this time.
    pub receive_count: u32,
    /// Time at which the message was sent, in milliseconds since the Unix epoch.
    pub sent_ms: u64,
}

/// A receipt handle, which identifies one receive of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Receipt(pub String);

/// How long a queue retains messages, and when it moves them to the dead-letter queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueRules {
    /// Retention period in milliseconds. The queue deletes older messages.
    pub retention_ms: u64,
    /// Maximum number of times that a message is received before it moves to the dead-letter queue,
    /// or `None` for no limit.
    pub max_receive_count: Option<u32>,
}

impl QueueRules {
    /// The maximum retention period of SQS, and no dead-letter queue.
    pub const LONGEST: Self =
        Self { retention_ms: 14 * 24 * 60 * 60 * 1_000, max_receive_count: None };
}

/// A job queue.
///
/// Each message is delivered at least once, in any order. A received message is hidden until its
/// visibility timeout expires, and is then redelivered unless it was deleted. If the queue has a
/// dead-letter queue, a message that was received too often moves to that queue.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Sends a message durably. Not idempotent, since each call adds a message.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails, or if the body is empty or longer than
    /// `MAX_MESSAGE_BYTES`.
    async fn send(&self, body: &str) -> Result<(), PortError>;

    /// Receives at most `max` messages and hides them for `visibility_s` seconds. Fewer messages
    /// may be returned, even if the queue contains more.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails, `max` is not between 1 and
    /// `MAX_RECEIVED_MESSAGES`, or `visibility_s` exceeds `MAX_VISIBILITY_S`.
    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError>;

    /// Hides a received message for `visibility_s` seconds from now. A value of 0 makes the message
    /// visible immediately. Returns `false` if the message was deleted or became visible again, so
    /// that the receipt handle is no longer valid.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails, or if `visibility_s` exceeds `MAX_VISIBILITY_S`.
    async fn change_visibility(
        &self,
        receipt: &Receipt,
        visibility_s: u32,
    ) -> Result<bool, PortError>;

    /// Deletes a received message. Idempotent. If the message was received again since, it may
    /// stay in the queue.
    ///
    /// # Errors
    ///
    /// Returns [`PortError`] if the request fails.
    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError>;
}

/// Checks the length of a message body.
///
/// # Errors
///
/// Returns a permanent [`PortError`] if the body is empty or too long.
pub fn check_message_body(body: &str) -> Result<(), PortError> {
    if (1..=MAX_MESSAGE_BYTES).contains(&body.len()) {
        return Ok(());
    }
    let byte_length = body.len();
    let message = format!(
        "the message body is {byte_length} bytes long, but must be 1 to {MAX_MESSAGE_BYTES} bytes long"
    );
    Err(PortError::permanent(message))
}

/// Checks the maximum number of messages in a receive request.
///
/// # Errors
///
/// Returns a permanent [`PortError`] if the number is out of range.
pub fn check_receive_count(max: u8) -> Result<(), PortError> {
    if (1..=MAX_RECEIVED_MESSAGES).contains(&max) {
        return Ok(());
    }
    let message = format!(
        "cannot receive {max} messages in one request; the number must be 1 to {MAX_RECEIVED_MESSAGES}"
    );
    Err(PortError::permanent(message))
}

/// Checks that a visibility timeout is not too long.
///
/// # Errors
///
/// Returns a permanent [`PortError`] if the timeout is too long.
pub fn check_visibility(visibility_s: u32) -> Result<(), PortError> {
    if visibility_s <= MAX_VISIBILITY_S {
        return Ok(());
    }
    let message = format!(
        "cannot hide a message for {visibility_s} seconds; the maximum is {MAX_VISIBILITY_S} seconds"
    );
    Err(PortError::permanent(message))
}
