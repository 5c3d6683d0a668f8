//! The directory with a client's local state.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tempfile::TempDir;

use crate::files::FileError;

/// The directory whose `.cellar/` contains a client's local state.
#[derive(Debug, Clone)]
pub(super) enum StateFolder {
    /// A directory chosen by the caller. It is never deleted.
    Permanent(PathBuf),
    /// A temporary directory. It is created when it is first needed, and deleted when the last
    /// clone of the client is dropped.
    Temporary(Arc<OnceLock<TempDir>>),
}

impl StateFolder {
    pub(super) fn temporary() -> Self {
        Self::Temporary(Arc::default())
    }

    /// Creates the temporary directory if it does not exist yet.
    pub(super) fn path(&self) -> Result<&Path, FileError> {
        let cell = match self {
            Self::Permanent(path) => return Ok(path),
            Self::Temporary(cell) => cell,
        };
        if let Some(folder) = cell.get() {
            return Ok(folder.path());
        }
        let created = tempfile::tempdir()
            .map_err(|source| FileError::Unwritable { path: std::env::temp_dir(), source })?;
        // If another thread has created the directory in the meantime, that directory is used, and
        // this one is deleted.
        Ok(cell.get_or_init(|| created).path())
    }
}
