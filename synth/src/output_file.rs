//! Writes command output to user-supplied paths.

use std::io::Write as _;
use std::path::Path;

use cellar::user_file::{UserFileError, write_user_file};

use crate::error::SynthError;

/// Writes an output file atomically. Replaces an existing file only if `overwrite` is set.
pub(crate) fn write_output(path: &Path, overwrite: bool, bytes: &[u8]) -> Result<(), SynthError> {
    let written = write_user_file(path, overwrite, |file| file.write_all(bytes));
    written.map_err(|error| match error {
        UserFileError::Exists => SynthError::Exists { path: path.to_owned() },
        UserFileError::Io(cause) | UserFileError::Content(cause) => {
            SynthError::Io { operation: "write", path: path.to_owned(), cause }
        }
    })
}
