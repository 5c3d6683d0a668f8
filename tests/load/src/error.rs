//! Why a run could not be made. What a run finds wrong with the cloud is in its report instead.

use std::io;
use std::path::PathBuf;

use cellar::ClientError;
use cellar_engine::ports::PortError;
use cellar_local::LocalError;
use cellar_runtime::token::MintError;

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or a folder of the run.
    #[error("{path}: {cause}")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The process of the cloud could not be started, or ended before it said where it is.
    #[error("the local cloud does not start: {why}")]
    NotStarted {
        /// What it said, or what the system says.
        why: String,
    },
    /// The state folder of the cloud cannot be used.
    #[error(transparent)]
    State(#[from] LocalError),
    /// No token could be made.
    #[error(transparent)]
    Token(#[from] MintError),
    /// A request of the run itself failed for good.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The tables of the cloud could not be read.
    #[error("the tables cannot be read: {0}")]
    Tables(#[from] PortError),
    /// A part of the run ended before its time.
    #[error("a part of the run failed: {why}")]
    Part {
        /// What is known of it.
        why: String,
    },
}

impl From<tokio::task::JoinError> for LoadError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Part { why: error.to_string() }
    }
}
