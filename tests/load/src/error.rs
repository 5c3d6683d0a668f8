//! Errors that prevent a run. The report contains the violations that a run finds.

use std::io;
use std::path::PathBuf;

use cellar::ClientError;
use cellar_engine::ports::PortError;
use cellar_local::LocalError;
use cellar_runtime::token::MintError;

/// An error that prevents a run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or directory of the run cannot be used.
    #[error("{path}: {cause}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The I/O error.
        cause: io::Error,
    },
    /// The stack's process could not be started, or it ended before it printed its URL.
    #[error("the local cloud does not start: {why}")]
    NotStarted {
        /// The process's output, or the system error.
        why: String,
    },
    /// The stack's state directory cannot be used.
    #[error(transparent)]
    State(#[from] LocalError),
    /// A token cannot be signed.
    #[error(transparent)]
    Token(#[from] MintError),
    /// A request that the load test itself sent failed permanently.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The stack's tables cannot be read.
    #[error("the tables cannot be read: {0}")]
    Tables(#[from] PortError),
    /// A part of the run failed.
    #[error("a part of the run failed: {why}")]
    Part {
        /// Description of the failure.
        why: String,
    },
}

impl From<tokio::task::JoinError> for LoadError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Part { why: error.to_string() }
    }
}
