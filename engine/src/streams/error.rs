//! What can go wrong with a stream.

use cellar_catalog::stream::append::AppendFault;
use cellar_catalog::stream::{PayloadError, RebuildFault};

use crate::ports::PortError;

/// Why an operation on a stream failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The append was refused or given up.
    #[error(transparent)]
    Append(#[from] AppendFault),
    /// No state can be made of it.
    #[error(transparent)]
    Rebuild(#[from] RebuildFault),
    /// An event or a state that is too long to be stored.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Others appended again and again.
    #[error("too many concurrent writers; retry the unchanged request")]
    Contention,
    /// The store does not answer or refuses.
    #[error("the store failed: {0}")]
    Store(#[from] PortError),
}

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransactError<R> {
    /// The decider refuses it, on a state that was read consistently.
    #[error("the command is refused")]
    Rejected(R),
    /// The stream failed.
    #[error(transparent)]
    Stream(#[from] StreamError),
}
