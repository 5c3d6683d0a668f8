//! Errors of event streams.

use cellar_catalog::stream::append::AppendFault;
use cellar_catalog::stream::{PayloadError, RebuildFault};

use crate::ports::PortError;

/// Error of an event stream operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The append state machine refused the events or gave up.
    #[error(transparent)]
    Append(#[from] AppendFault),
    /// The state cannot be rebuilt from the events.
    #[error(transparent)]
    Rebuild(#[from] RebuildFault),
    /// An event or a cached state is too large to be stored.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Other events were appended first in every attempt.
    #[error("too many concurrent writers; retry the unchanged request")]
    Contention,
    /// A store request failed.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
}

/// Error of a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransactError<R> {
    /// The decider rejected the command. The decision is based on a strongly consistent state.
    #[error("{0}")]
    Rejected(R),
    /// The event stream could not be read or written.
    #[error(transparent)]
    Stream(#[from] StreamError),
}
