//! Stores the objects of large edits in separate files, in the same directory as the outbox's state
//! file.

use std::path::{Path, PathBuf};

use cellar_base::limits::MAX_UPLOAD_BYTES;

use super::pending_edit::UploadBody;
use crate::client::sha256;
use crate::files::{FileError, StateFile, write_private};

const EXTENSION: &str = "body";
const HASH_PREFIX_CHARACTERS: usize = 16;

fn body_path(state_path: &Path, sha256: &str) -> PathBuf {
    let hash_prefix: String = sha256.chars().take(HASH_PREFIX_CHARACTERS).collect();
    state_path.with_extension(format!("{hash_prefix}.{EXTENSION}"))
}

/// Must be called before a state that refers to the object is written, so that the object is never
/// missing after a crash.
pub(crate) fn write_body(
    state_path: &Path,
    body: &UploadBody,
    object: &[u8],
) -> Result<(), FileError> {
    write_private(&body_path(state_path, &body.sha256), object)
}

/// Reads an object and verifies its SHA-256 hash.
pub(crate) fn read_body(state_path: &Path, body: &UploadBody) -> Result<Vec<u8>, FileError> {
    let path = body_path(state_path, &body.sha256);
    let unreadable = |source| FileError::Unreadable { path: path.clone(), source };
    let file_bytes = std::fs::metadata(&path).map_err(unreadable)?.len();
    if usize::try_from(file_bytes).is_ok_and(|file_bytes| file_bytes <= MAX_UPLOAD_BYTES) {
        let object = std::fs::read(&path).map_err(unreadable)?;
        if sha256(&object) == body.sha256 {
            return Ok(object);
        }
    }
    let why = "the contents were changed after cellar wrote the file";
    Err(FileError::malformed(&path, StateFile::UnsentLargeEdit, why))
}

/// If a file cannot be deleted, the next call tries again.
pub(crate) fn delete_unreferenced_bodies<'a>(
    state_path: &Path,
    referenced_bodies: impl Iterator<Item = &'a UploadBody>,
) {
    let referenced_paths: Vec<PathBuf> =
        referenced_bodies.map(|body| body_path(state_path, &body.sha256)).collect();
    let (Some(stem), Some(folder)) = (state_path.file_stem(), state_path.parent()) else { return };
    let prefix = format!("{}.", stem.to_string_lossy());
    let suffix = format!(".{EXTENSION}");
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let file_name = file.file_name().to_string_lossy().into_owned();
        let is_body = file_name.starts_with(&prefix) && file_name.ends_with(&suffix);
        if is_body && !referenced_paths.contains(&file.path()) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}
