//! Errors of event streams.

use cellar_catalog::stream::append::AppendFault;
use cellar_catalog::stream::{PayloadError, RebuildFault};

use crate::ports::PortError;

/// Error of an operation on an event stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The append state machine refused or abandoned the append.
    #[error(transparent)]
    Append(#[from] AppendFault),
    /// The state cannot be rebuilt from the events.
    #[error(transparent)]
    Rebuild(#[from] RebuildFault),
    /// An event or a state is too long to be stored.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Other appends were first in every attempt.
    #[error("too many concurrent writers; retry the unchanged request")]
    Contention,
    /// A request to the store failed.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
}

/// Error of a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransactError<R> {
    /// The decider rejected the command, based on a strongly consistent state.
    #[error("the command was rejected")]
    Rejected(R),
    /// Reading or writing the event stream failed.
    #[error(transparent)]
    Stream(#[from] StreamError),
}
