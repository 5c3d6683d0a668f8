//! Errors that prevent a run. Violations by the cloud are in the report instead.

use std::io;
use std::path::PathBuf;

use cellar::ClientError;
use cellar_engine::ports::PortError;
use cellar_local::LocalError;
use cellar_runtime::token::MintError;

/// An error that prevents a run.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or folder of the run cannot be used.
    #[error("{path}: {cause}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The I/O error.
        cause: io::Error,
    },
    /// The process of the cloud could not be started, or ended before it printed its URL.
    #[error("the local cloud does not start: {why}")]
    NotStarted {
        /// The output of the process, or the system error.
        why: String,
    },
    /// The state folder of the cloud cannot be used.
    #[error(transparent)]
    State(#[from] LocalError),
    /// A token cannot be signed.
    #[error(transparent)]
    Token(#[from] MintError),
    /// A request of the run itself failed permanently.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The tables of the cloud cannot be read.
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
