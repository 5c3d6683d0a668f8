//! Lists the outboxes in a folder, of all stacks, spreadsheets and subjects (users).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::NAME_CHARACTERS;
use crate::files::FileError;

/// Returns the paths of the state files in a folder, or none if the folder does not exist.
pub(crate) fn list_state_files(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let unreadable = |source| FileError::Unreadable { path: folder.to_owned(), source };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if is_state_file(&path) {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// The names of locks, caches, objects and edits that were set aside have further parts.
fn is_state_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let stem = name.and_then(|name| name.strip_suffix(".json")).unwrap_or_default();
    stem.len() == NAME_CHARACTERS && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
}
