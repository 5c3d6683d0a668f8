//! Files of other programs, in.
//!
//! A file becomes sheets of their own ([`sheets`]): its cells are written into chunks here, the server
//! checks them, and one entry of the log names them; any size. Or its cells go into a sheet that is
//! there ([`edits`]), as ordinary edits; of those a bounded number. Either way an interrupted import is
//! finished when it is run again, and nothing happens twice.

pub mod edits;
mod error;
mod file;
pub mod sheets;

pub use cellar_exchange::{ColumnKind, ColumnTypes, ColumnTyping, Survey, TypeChoice};
pub use error::ImportError;
pub use file::{FileKind, ReadOptions, delimiter_hint};

use std::path::Path;

use crate::file_target::sync_folder;
use crate::files::FileError;

/// Removes a journal, durably: if it came back, the next import of the file would be taken for
/// this one.
fn remove_journal(path: &Path) -> Result<(), FileError> {
    let fault = |source| FileError::Unwritable { path: path.to_owned(), source };
    match std::fs::remove_file(path) {
        Ok(()) => sync_folder(path.parent().unwrap_or(Path::new("."))).map_err(fault),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(fault(error)),
    }
}

/// A name for what makes two runs the same import.
fn journal_name(context: &str, parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().chars().take(32).collect()
}
