//! Replay errors.

use cellar_base::identity::LogId;
use cellar_base::position::Position;

use crate::ClientError;

/// Replay error. The fork and its source are unchanged.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ReplayError {
    /// A request failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(#[from] ClientError),
    /// The spreadsheet is not a fork, or the token grants no access to its source.
    #[error("spreadsheet {id} is not a fork, or you have no access to its source")]
    #[diagnostic(
        code(cellar::replay::not_a_fork),
        help("`cellar forks -s ID` lists the forks of a spreadsheet")
    )]
    NotAFork {
        /// The spreadsheet.
        id: LogId,
    },
    /// The target position is out of range.
    #[error(
        "cannot replay onto {onto}: the fork was created at {from}, and the newest position is {newest}"
    )]
    #[diagnostic(
        code(cellar::replay::onto),
        help(
            "pass a position in this range; `cellar history -s SOURCE` lists the positions of the source"
        )
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
    #[error("the edits of the fork have more than {max_bytes} bytes, the maximum of a replay")]
    #[diagnostic(
        code(cellar::replay::too_large),
        help("export the fork and import the file instead: cellar export FILE.xlsx")
    )]
    TooLarge {
        /// Maximum size of all edits, in bytes.
        max_bytes: usize,
    },
    /// An operation does not fit in a request and cannot be split.
    #[error("the edit at {position} of the fork has {bytes} bytes, too many for one request")]
    #[diagnostic(
        code(cellar::replay::too_large),
        help(
            "undo the edit in the fork with `cellar undo`, repeat it in smaller steps, then replay"
        )
    )]
    OperationTooLarge {
        /// Position of the log entry in the fork.
        position: Position,
        /// Size in bytes.
        bytes: usize,
    },
    /// The server returned an unexpected response.
    #[error("unexpected reply of the server: {why}")]
    #[diagnostic(
        code(cellar::replay::not_understood),
        help(
            "check that client and server have the same version, then run the command again with the same --onto to \
             resume"
        )
    )]
    NotUnderstood {
        /// Description of the unexpected response.
        why: &'static str,
    },
}
