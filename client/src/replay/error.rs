//! Replay errors.

use cellar_base::identity::LogId;
use cellar_base::position::Position;

use crate::ClientError;

/// A replay failed. The fork and its source have not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A request failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The spreadsheet is not a fork, or the token grants no access to its source.
    #[error("spreadsheet {id} is not a fork, or you have no access to its source")]
    NotAFork {
        /// The spreadsheet.
        id: LogId,
    },
    /// The target position is out of range.
    #[error(
        "cannot replay onto {onto}: the fork was created at {from}, and the newest position is {newest}"
    )]
    Onto {
        /// Requested position.
        onto: Position,
        /// Position at which the fork was created.
        from: Position,
        /// The source's newest position.
        newest: Position,
    },
    /// The edits exceed the memory limit.
    #[error("the edits of the fork are larger than {max_bytes} bytes, the limit of a replay")]
    TooLarge {
        /// Maximum size of all edits, in bytes.
        max_bytes: usize,
    },
    /// The server returned an unexpected response.
    #[error("unexpected response from the server: {why}")]
    NotUnderstood {
        /// Description of the unexpected response.
        why: &'static str,
    },
}
