//! Pokes, which are hints to a spreadsheet's followers that its log has grown. Optional: without
//! pokes, clients poll the log's head.

use std::sync::Arc;

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use tokio::sync::watch;

/// Subscription to the pokes (change hints) of a log.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// Latest announced position. Some positions may be skipped.
    pub newest: watch::Receiver<Position>,
    /// Guard that counts as one of the subject's connections until it is dropped.
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

/// Notifies the followers of a log that the log has grown. A poke is only a hint and may be lost.
pub trait Pokes: Send + Sync {
    /// Announces that the log has an entry at `head`.
    fn poke(&self, log_id: LogId, head: Position);

    /// Subscribes a subject to a log. Pokes sent before the subscription are not repeated. The
    /// subscription ends when its sender is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`FollowError`] if the server does not push changes or a connection limit is
    /// reached.
    fn follow(&self, log_id: LogId, subject: SubjectKey) -> Result<Subscription, FollowError>;
}

/// Implementation without pokes, for serverless functions. Notifying a function between requests
/// would require a permanently running component, which would incur costs while idle.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPokes;

impl Pokes for NoPokes {
    fn poke(&self, _: LogId, _: Position) {}

    fn follow(&self, _: LogId, _: SubjectKey) -> Result<Subscription, FollowError> {
        Err(FollowError::NoPokes)
    }
}
