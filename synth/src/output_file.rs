//! Files that a command writes where the user says.

use std::io::{self, Write as _};
use std::path::Path;

use cellar::user_file::{UserFileError, write_user_file};

use crate::error::SynthError;

/// Writes a file; one that is there only if `replace` is set.
pub(crate) fn write_output(path: &Path, replace: bool, bytes: &[u8]) -> Result<(), SynthError> {
    let written = write_user_file(path, replace, |file| file.write_all(bytes));
    let failed = |cause: io::Error| SynthError::Io { what: "write", path: path.to_owned(), cause };
    written.map_err(|error| match error {
        UserFileError::Exists => SynthError::Exists { path: path.to_owned() },
        UserFileError::Io(cause) | UserFileError::Content(cause) => failed(cause),
    })
}
