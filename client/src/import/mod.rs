//! CSV into cells, without losing a character, and so that an interrupted import goes on where
//! it was (design `3-snapshots.md` §8: small files go in as ordinary edits).
//!
//! `read` takes the file apart, `typing` finds numbers, dates and booleans, `plan` and
//! `batches` cut the cells into mutations, `journal` keeps what was sent, `run` sends.

mod batches;
mod encoding;
mod error;
mod journal;
mod plan;
mod quotes;
mod read;
mod run;
mod typing;

pub use error::ImportError;
pub use journal::{Journal, JournalKey, Step};
pub use plan::{ImportOptions, Plan};
pub use run::{Imported, Progress, Target, run};
pub use typing::{ColumnKind, ColumnTyping};

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Bytes of a file that can be imported.
pub const IMPORT_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Cells that are not empty which one import can set.
pub const IMPORT_MAX_CELLS: usize = 100_000;

/// Reads a file that is to be imported.
///
/// # Errors
/// [`ImportError`] if it cannot be read or is larger than `IMPORT_MAX_BYTES`.
pub fn read_file(path: &Path) -> Result<Vec<u8>, ImportError> {
    let fault = |source| ImportError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(fault)?;
    let mut bytes = Vec::new();
    // One more than allowed: a file may grow while it is read.
    file.take(IMPORT_MAX_BYTES + 1).read_to_end(&mut bytes).map_err(fault)?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > IMPORT_MAX_BYTES {
        return Err(ImportError::FileTooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.csv");
        let file = File::create(&path).unwrap();
        file.set_len(IMPORT_MAX_BYTES).unwrap();
        assert_eq!(read_file(&path).unwrap().len() as u64, IMPORT_MAX_BYTES);
        file.set_len(IMPORT_MAX_BYTES + 1).unwrap();
        assert!(matches!(read_file(&path), Err(ImportError::FileTooLarge { .. })));
        let missing = read_file(&folder.path().join("none.csv"));
        assert!(matches!(missing, Err(ImportError::Unreadable { .. })));
    }
}
