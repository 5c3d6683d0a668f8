//! Pokes: who follows a spreadsheet learns at once that it has grown. Never needed: whoever is not poked polls.

use std::sync::Arc;

use cellar_base::identity::{LogId, SubjectKey};
use cellar_base::position::Position;
use tokio::sync::watch;

/// One who follows.
#[derive(Debug, Clone)]
pub struct Followed {
    /// The newest position that was poked: what came between is not told.
    pub newest: watch::Receiver<Position>,
    /// The place that it takes of its subject's, until it is dropped.
    pub place: Arc<()>,
}

/// Why nobody is poked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotFollowed {
    /// Nobody ever is: ask for the head instead.
    #[error("nothing is pushed here: ask for the head now and then")]
    NoPokes,
    /// Too many follow already.
    #[error("{max} follow already: ask for the head now and then, or try again later")]
    TooMany {
        /// The most that may.
        max: usize,
    },
    /// The same one follows too often already.
    #[error(
        "you have {max} connections that follow already: close one, or ask for the head now and then"
    )]
    TooManyOfOne {
        /// The most that one subject may have.
        max: usize,
    },
}

/// Tells followers of a log that it has grown: a hint, which may be lost.
pub trait Pokes: Send + Sync {
    /// Tells that the log has an entry at `head`.
    fn poke(&self, log: LogId, head: Position);

    /// Follows a log for a subject. What was poked before is not told. It ends when the receiver's sender is gone.
    ///
    /// # Errors
    /// [`NotFollowed`].
    fn follow(&self, log: LogId, by: SubjectKey) -> Result<Followed, NotFollowed>;
}

/// Nobody is poked: a function that is called for each request could not, without something that runs
/// – and costs – while idle.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPokes;

impl Pokes for NoPokes {
    fn poke(&self, _: LogId, _: Position) {}

    fn follow(&self, _: LogId, _: SubjectKey) -> Result<Followed, NotFollowed> {
        Err(NotFollowed::NoPokes)
    }
}
