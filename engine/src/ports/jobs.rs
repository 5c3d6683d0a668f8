//! Port of a job queue with the semantics of an SQS standard queue.

use async_trait::async_trait;
use cellar_base::limits::{MAX_MESSAGE_BYTES, MAX_RECEIVED_MESSAGES, MAX_VISIBILITY_S};

use super::PortError;

/// A received message, which is hidden from other receivers for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Id of the message, the same for each receipt.
    pub id: String,
    /// The body as sent.
    pub body: String,
    /// Receipt with which this receiver deletes or hides the message.
    pub receipt: Receipt,
    /// Approximate number of times that the message was received, including this time.
    pub receive_count: u32,
    /// Time when the message was sent, Unix milliseconds.
    pub sent_ms: u64,
}

/// The handle of one receipt of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Receipt(pub String);

/// Retention and dead-letter rules of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueRules {
    /// Time in milliseconds after which a message is dropped.
    pub retention_ms: u64,
    /// Number of receives before a message moves to the dead-letter queue; `None` for no limit.
    pub max_receive_count: Option<u32>,
}

impl QueueRules {
    /// The longest retention of SQS, without a dead-letter queue.
    pub const LONGEST: Self =
        Self { retention_ms: 14 * 24 * 60 * 60 * 1_000, max_receive_count: None };
}

/// A job queue.
///
/// Messages are delivered at least once, in any order. A received message is hidden for its
/// visibility timeout, and is delivered again afterwards unless it was deleted. A message that was
/// received too often moves to the dead-letter queue, if there is one.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Sends a message durably. Not idempotent: each call adds a message.
    ///
    /// # Errors
    /// [`PortError`] if the request fails, or the body is empty or longer than `MAX_MESSAGE_BYTES`.
    async fn send(&self, body: &str) -> Result<(), PortError>;

    /// Receives up to `max` messages and hides each for `visibility_s` seconds. May return fewer
    /// messages, or none, although the queue has more.
    ///
    /// # Errors
    /// [`PortError`] if the request fails, `max` is not 1 to `MAX_RECEIVED_MESSAGES`, or
    /// `visibility_s` exceeds `MAX_VISIBILITY_S`.
    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError>;

    /// Hides a received message for `visibility_s` seconds from now; 0 makes it visible
    /// immediately. Returns `false` if the receipt has expired: the message was deleted or became
    /// visible again.
    ///
    /// # Errors
    /// [`PortError`] if the request fails, or `visibility_s` exceeds `MAX_VISIBILITY_S`.
    async fn change_visibility(
        &self,
        receipt: &Receipt,
        visibility_s: u32,
    ) -> Result<bool, PortError>;

    /// Deletes a received message. Idempotent. A message that was received again since may stay.
    ///
    /// # Errors
    /// [`PortError`] if the request fails.
    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError>;
}

/// Checks the length of a message body.
///
/// # Errors
/// A permanent [`PortError`].
pub fn check_body(body: &str) -> Result<(), PortError> {
    if (1..=MAX_MESSAGE_BYTES).contains(&body.len()) {
        return Ok(());
    }
    let bytes = body.len();
    let why = format!("the message body has {bytes} bytes; 1 to {MAX_MESSAGE_BYTES} are allowed");
    Err(PortError::permanent(why))
}

/// Checks the number of messages to receive in one request.
///
/// # Errors
/// A permanent [`PortError`].
pub fn check_max(max: u8) -> Result<(), PortError> {
    if (1..=MAX_RECEIVED_MESSAGES).contains(&max) {
        return Ok(());
    }
    let why = format!(
        "cannot receive {max} messages in one request; 1 to {MAX_RECEIVED_MESSAGES} are allowed"
    );
    Err(PortError::permanent(why))
}

/// Checks a visibility timeout.
///
/// # Errors
/// A permanent [`PortError`].
pub fn check_visibility(visibility_s: u32) -> Result<(), PortError> {
    if visibility_s <= MAX_VISIBILITY_S {
        return Ok(());
    }
    let why = format!(
        "cannot hide a message for {visibility_s} s; at most {MAX_VISIBILITY_S} s are allowed"
    );
    Err(PortError::permanent(why))
}
