//! Writes the output of commands to paths given by the user.

use std::io::Write as _;
use std::path::Path;

use cellar::user_file::{UserFileError, write_user_file};

use crate::error::SynthError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfExists {
    Replace,
    Fail,
}

/// Writes an output file atomically.
pub(crate) fn write_output(
    path: &Path,
    if_exists: IfExists,
    bytes: &[u8],
) -> Result<(), SynthError> {
    let overwrite = if_exists == IfExists::Replace;
    let result = write_user_file(path, overwrite, |file| file.write_all(bytes));
    result.map_err(|error| match error {
        UserFileError::Exists => SynthError::Exists { path: path.to_owned() },
        UserFileError::Io(cause) | UserFileError::Content(cause) => {
            SynthError::Io { operation: "write", path: path.to_owned(), cause }
        }
    })
}
