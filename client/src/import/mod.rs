//! Imports files of other programs.
//!
//! [`sheets`] adds each sheet of a file as a new sheet, which may have any size. The client packs
//! the cells into chunks, the server verifies the chunks, and a log entry refers to them. [`edits`]
//! writes a limited number of cells into an existing sheet as ordinary edits.
//!
//! If an import is interrupted, importing the same file again resumes the import. Each import takes
//! effect exactly once.

pub mod edits;
mod error;
mod file;
pub mod sheets;
mod whole_file;

pub use cellar_exchange::{
    ColumnKind, ColumnTypes, ColumnTyping, FileFormat, NotImported, Omission, Survey, TextEncoding,
    TypeChoice,
};
pub use error::{ImportError, OneSheetPurpose};
pub(crate) use file::SheetReader;
pub use file::{ReadOptions, detect_format, likely_delimiter};
#[cfg(feature = "cli")]
pub(crate) use whole_file::name_of_file;

use std::path::{Path, PathBuf};

use crate::file_target::{parent_folder, sync_folder};
use crate::files::{FileError, STATE_FOLDER};

const JOURNAL_NAME_CHARACTERS: usize = 32;

fn require_all_imported(not_imported: &NotImported) -> Result<(), ImportError> {
    if not_imported.is_empty() {
        return Ok(());
    }
    Err(ImportError::Incomplete { not_imported: Box::new(*not_imported) })
}

/// If the file reappeared after a crash, the next import of the same file would be mistaken for a
/// continuation of the finished import.
fn delete_journal(path: &Path) -> Result<(), FileError> {
    let unwritable = |source| FileError::Unwritable { path: path.to_owned(), source };
    match std::fs::remove_file(path) {
        Ok(()) => sync_folder(parent_folder(path)).map_err(unwritable),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unwritable(error)),
    }
}

/// The directory of the journals in `.cellar/`.
pub(crate) const IMPORTS_FOLDER: &str = "imports";

/// The file name is a hash of the imported file's path and `other_fields`, which together identify
/// the import.
fn journal_path(dir: &Path, context: &str, file: &Path, other_fields: &str) -> PathBuf {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in [other_fields.as_bytes(), file.as_os_str().as_encoded_bytes()] {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part);
    }
    let hash = hasher.finalize().to_hex();
    let file_stem: String = hash.chars().take(JOURNAL_NAME_CHARACTERS).collect();
    dir.join(STATE_FOLDER).join(IMPORTS_FOLDER).join(format!("{file_stem}.json"))
}
