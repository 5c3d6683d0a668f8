//! Imports files of other programs.
//!
//! [`sheets`] adds each sheet of a file as a new sheet of any size: the client packs the cells into
//! chunks, the server verifies the chunks, and one log entry refers to them. [`edits`] writes a
//! limited number of cells into an existing sheet as ordinary edits. Running an interrupted import
//! again resumes it, and each import takes effect exactly once.

pub mod edits;
mod error;
mod file;
pub mod sheets;
mod whole_file;

pub use cellar_exchange::{ColumnKind, ColumnTypes, ColumnTyping, FileFormat, Survey, TypeChoice};
pub use error::{ImportError, OneSheetPurpose};
pub use file::{ReadOptions, detect_format, likely_delimiter};
#[cfg(feature = "cli")]
pub(crate) use whole_file::name_of_file;

use std::path::Path;

use crate::file_target::{parent_folder, sync_folder};
use crate::files::FileError;

/// Number of hexadecimal digits in a journal's file name.
const JOURNAL_NAME_CHARACTERS: usize = 32;

/// Deletes a journal durably. If the journal reappeared after a crash, the next import of the file
/// would resume an import that has already finished.
fn delete_journal(path: &Path) -> Result<(), FileError> {
    let unwritable = |source| FileError::Unwritable { path: path.to_owned(), source };
    match std::fs::remove_file(path) {
        Ok(()) => sync_folder(parent_folder(path)).map_err(unwritable),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unwritable(error)),
    }
}

/// Returns the file name of a journal: a hash of the values that identify the import.
fn journal_name(context: &str, parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().chars().take(JOURNAL_NAME_CHARACTERS).collect()
}
