//! Why a fork is not rebased.

use cellar_core::identity::LogId;
use cellar_core::position::Position;

use crate::ClientError;

/// Why a rebase failed. The fork and the spreadsheet that it comes from are as they were.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum RebaseError {
    /// A request failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Client(#[from] ClientError),
    /// It comes from nowhere, or from what the token does not cover.
    #[error("{id} is no fork, or the token does not cover what it comes from")]
    #[diagnostic(
        code(cellar::rebase::not_a_fork),
        help("`cellar forks -s ID` lists the forks of a spreadsheet")
    )]
    NotAFork {
        /// The spreadsheet.
        id: LogId,
    },
    /// A position that the source does not have behind the fork's.
    #[error(
        "it was forked at {from}: it can be moved to that position or a later one, up to {newest}, not to {onto}"
    )]
    #[diagnostic(
        code(cellar::rebase::onto),
        help("`cellar history` of the spreadsheet that was forked lists its positions")
    )]
    Onto {
        /// The position asked for.
        onto: Position,
        /// Where it was forked.
        from: Position,
        /// The newest of the source.
        newest: Position,
    },
    /// More than is held in memory at once.
    #[error("the fork has more edits of its own than can be replayed: over {max_bytes} bytes")]
    #[diagnostic(
        code(cellar::rebase::too_large),
        help("what was edited can be exported and imported: cellar export FILE.xlsx")
    )]
    TooLarge {
        /// The most bytes.
        max_bytes: usize,
    },
    /// An operation that does not fit a request and cannot be split.
    #[error("what {position} of the fork did is too large for one request: {bytes} bytes")]
    #[diagnostic(
        code(cellar::rebase::too_large),
        help(
            "take it back in the fork with `cellar undo`, do it again in several steps, and rebase"
        )
    )]
    OperationTooLarge {
        /// The entry of the fork.
        position: Position,
        /// Its bytes.
        bytes: usize,
    },
    /// The server answers something that it cannot.
    #[error("the server's answer is not understood: {why}")]
    #[diagnostic(
        code(cellar::rebase::not_understood),
        help("is it a newer Cellar? run the same command again, with the same --onto: it goes on")
    )]
    NotUnderstood {
        /// What is wrong.
        why: &'static str,
    },
}
