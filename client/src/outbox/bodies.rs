//! Stores the objects of large edits as separate files next to the outbox's state file.

use std::path::{Path, PathBuf};

use cellar_base::limits::MAX_UPLOAD_BYTES;

use super::pending_edit::UploadBody;
use crate::client::sha256;
use crate::files::{FileError, StateFile, write_private};

/// File extension of an object file.
const EXTENSION: &str = "body";
/// Number of characters of the object's SHA-256 in the file name.
const NAME_CHARACTERS: usize = 16;

/// Returns the path of an object file next to the state file at `state_path`.
fn body_path(state_path: &Path, sha256: &str) -> PathBuf {
    let name: String = sha256.chars().take(NAME_CHARACTERS).collect();
    state_path.with_extension(format!("{name}.{EXTENSION}"))
}

/// Writes an object durably. Must be called before writing a state that refers to the object.
pub(crate) fn write(state_path: &Path, body: &UploadBody, object: &[u8]) -> Result<(), FileError> {
    write_private(&body_path(state_path, &body.sha256), object)
}

/// Reads an object and verifies its SHA-256 hash.
pub(crate) fn read(state_path: &Path, body: &UploadBody) -> Result<Vec<u8>, FileError> {
    let path = body_path(state_path, &body.sha256);
    let unreadable = |source| FileError::Unreadable { path: path.clone(), source };
    let length = std::fs::metadata(&path).map_err(unreadable)?.len();
    if usize::try_from(length).is_ok_and(|length| length <= MAX_UPLOAD_BYTES) {
        let object = std::fs::read(&path).map_err(unreadable)?;
        if sha256(&object) == body.sha256 {
            return Ok(object);
        }
    }
    Err(FileError::Malformed {
        path,
        contents: StateFile::UnsentLargeEdit,
        why: "the contents were changed after cellar wrote the file".to_owned(),
    })
}

/// Deletes the object files of bodies that are not in `referenced`. The next call retries failed
/// deletions.
pub(crate) fn delete_unreferenced<'a>(
    state_path: &Path,
    referenced: impl Iterator<Item = &'a UploadBody>,
) {
    let referenced: Vec<PathBuf> =
        referenced.map(|body| body_path(state_path, &body.sha256)).collect();
    let (Some(stem), Some(folder)) = (state_path.file_stem(), state_path.parent()) else { return };
    let prefix = format!("{}.", stem.to_string_lossy());
    let suffix = format!(".{EXTENSION}");
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let is_body = name.starts_with(&prefix) && name.ends_with(&suffix);
        if is_body && !referenced.contains(&file.path()) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}
