//! Pokes: notify the followers of a spreadsheet that it has grown. Optional: followers without
//! pokes poll.

use std::sync::Arc;

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use tokio::sync::watch;

/// A subscription to the pokes of a log.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// The newest position that was poked; intermediate positions are skipped.
    pub newest: watch::Receiver<Position>,
    /// Keeps the subscription counted for its subject until it is dropped.
    pub slot: Arc<()>,
}

/// Reason why a log cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FollowError {
    /// The server does not push.
    #[error("this server does not push changes; poll the head instead")]
    NoPokes,
    /// The server has too many followers.
    #[error("{max} clients are already connected; poll the head, or retry later")]
    TooMany {
        /// Maximum number of followers.
        max: usize,
    },
    /// The subject has too many connections.
    #[error("you already have {max} open connections; close one, or poll the head")]
    TooManyOfOne {
        /// Maximum number of connections of one subject.
        max: usize,
    },
}

/// Notifies followers of a log that it has grown. A poke is a hint and may be lost.
pub trait Pokes: Send + Sync {
    /// Announces an entry at `head`.
    fn poke(&self, log: LogId, head: Position);

    /// Subscribes a subject to a log. Earlier pokes are not repeated. The subscription ends when
    /// its sender is dropped.
    ///
    /// # Errors
    /// [`FollowError`].
    fn follow(&self, log: LogId, subject: SubjectKey) -> Result<Subscription, FollowError>;
}

/// Pokes nobody. A serverless function is not notified between requests without a component that
/// runs, and costs, while idle.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPokes;

impl Pokes for NoPokes {
    fn poke(&self, _: LogId, _: Position) {}

    fn follow(&self, _: LogId, _: SubjectKey) -> Result<Subscription, FollowError> {
        Err(FollowError::NoPokes)
    }
}
