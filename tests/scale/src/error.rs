//! Errors that prevent a measurement.

use std::io;
use std::path::{Path, PathBuf};

/// An error that prevents a measurement.
#[derive(Debug, thiserror::Error)]
pub enum ScaleError {
    /// A file or directory cannot be used.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// Operating system error.
        source: io::Error,
    },
    /// The local stack did not print its URL.
    #[error("the local stack does not start: {output}")]
    NotStarted {
        /// Output of the stack.
        output: String,
    },
    /// A command failed.
    #[error("`cellar {arguments}` failed: {output}")]
    Command {
        /// Arguments of the command.
        arguments: String,
        /// Output of the command.
        output: String,
    },
    /// A command succeeded with a wrong result.
    #[error("wrong result of {step}: {why}")]
    WrongResult {
        /// Label of the step.
        step: &'static str,
        /// Description of the difference.
        why: String,
    },
    /// Resource usage cannot be read: only Linux has it in `/proc`.
    #[error("the resource usage of process {pid} cannot be read from /proc")]
    NoUsage {
        /// Process id.
        pid: u32,
    },
}

impl ScaleError {
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }
}
