//! A queue of jobs, as SQS's standard queues are.

use async_trait::async_trait;
use cellar_base::limits::{MAX_MESSAGE_BYTES, MAX_RECEIVED_MESSAGES, MAX_VISIBILITY_S};

use super::PortError;

/// A message that was received, and is hidden from others for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The message, however often it is received.
    pub id: String,
    /// What was sent.
    pub body: String,
    /// The right to delete or hide it, given by this receipt of it.
    pub receipt: Receipt,
    /// How often it was received so far, this time included: about right.
    pub receive_count: u32,
    /// When it was sent, Unix milliseconds.
    pub sent_ms: u64,
}

/// What a queue gives with each receipt of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Receipt(pub String);

/// A queue of jobs.
///
/// A message is delivered at least once, in any order. A received message is hidden for its
/// visibility, and comes back after that unless it was deleted; one that came back too often moves
/// to the queue's dead letters, if it has any.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Puts a message into the queue, durably. Repeating it gives two messages.
    ///
    /// # Errors
    /// [`PortError`] if the queue does not answer, or the body is empty or longer than
    /// `MAX_MESSAGE_BYTES`.
    async fn send(&self, body: &str) -> Result<(), PortError>;

    /// Takes up to `max` messages and hides each for `visibility_s` seconds. Fewer, or none, does
    /// not mean that there are no more.
    ///
    /// # Errors
    /// [`PortError`] if the queue does not answer, `max` is not 1 to `MAX_RECEIVED_MESSAGES`, or
    /// the visibility is longer than `MAX_VISIBILITY_S`.
    async fn receive(&self, max: u8, visibility_s: u32) -> Result<Vec<Received>, PortError>;

    /// Hides a received message for `visibility_s` seconds from now; 0 shows it at once. False if
    /// it is not hidden by this receipt any more: it was deleted, or has come back.
    ///
    /// # Errors
    /// [`PortError`] if the queue does not answer, or the visibility is longer than
    /// `MAX_VISIBILITY_S`.
    async fn change_visibility(
        &self,
        receipt: &Receipt,
        visibility_s: u32,
    ) -> Result<bool, PortError>;

    /// Deletes a received message. Repeating it is a success. A message that has been received
    /// again since may stay.
    ///
    /// # Errors
    /// [`PortError`] if the queue does not answer.
    async fn delete(&self, receipt: &Receipt) -> Result<(), PortError>;
}

/// Refuses a body that queues do not take.
///
/// # Errors
/// A permanent [`PortError`].
pub fn check_body(body: &str) -> Result<(), PortError> {
    if (1..=MAX_MESSAGE_BYTES).contains(&body.len()) {
        return Ok(());
    }
    let bytes = body.len();
    let why = format!("a message has 1 to {MAX_MESSAGE_BYTES} bytes, this one has {bytes}");
    Err(PortError::permanent(why))
}

/// Refuses to receive more at once than queues give.
///
/// # Errors
/// A permanent [`PortError`].
pub fn check_max(max: u8) -> Result<(), PortError> {
    if (1..=MAX_RECEIVED_MESSAGES).contains(&max) {
        return Ok(());
    }
    let why = format!("1 to {MAX_RECEIVED_MESSAGES} messages are received at once, not {max}");
    Err(PortError::permanent(why))
}

/// Refuses to hide a message for longer than queues do.
///
/// # Errors
/// A permanent [`PortError`].
pub fn check_visibility(visibility_s: u32) -> Result<(), PortError> {
    if visibility_s <= MAX_VISIBILITY_S {
        return Ok(());
    }
    let why = format!("a message is hidden for up to {MAX_VISIBILITY_S} s, not {visibility_s}");
    Err(PortError::permanent(why))
}
