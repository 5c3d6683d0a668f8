//! Notifies clients that a log has grown. Notifications are optional hints. Without them, clients
//! poll the log.

use std::sync::Arc;

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use tokio::sync::watch;

/// A client's subscription to notifications about a log.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// Latest position of which the client was notified. Positions may be skipped.
    pub newest: watch::Receiver<Position>,
    /// Counts as a connection of the subject until it is dropped.
    pub slot: Arc<()>,
}

/// Reason why a log cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FollowError {
    /// The server does not push changes.
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
        /// Maximum number of connections per subject.
        max: usize,
    },
}

/// Notifies clients that a log has grown. A notification is only a hint and may be lost.
pub trait Pokes: Send + Sync {
    /// Returns whether clients can subscribe.
    fn are_supported(&self) -> bool {
        true
    }

    /// Notifies the subscribed clients that the log has an entry at `head`.
    fn poke(&self, log_id: LogId, head: Position);

    /// Subscribes a subject to notifications about a log. Earlier notifications are not repeated.
    /// The subscription ends when its sender is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`FollowError`] if the server does not push changes or a connection limit is
    /// reached.
    fn follow(&self, log_id: LogId, subject: SubjectKey) -> Result<Subscription, FollowError>;
}

/// Sends no notifications. Used in serverless functions, since notifying a client between requests
/// would require a server that runs permanently and incurs costs while idle.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPokes;

impl Pokes for NoPokes {
    fn are_supported(&self) -> bool {
        false
    }

    fn poke(&self, _: LogId, _: Position) {}

    fn follow(&self, _: LogId, _: SubjectKey) -> Result<Subscription, FollowError> {
        Err(FollowError::NoPokes)
    }
}
