//! The files with the objects of large edits, beside the state that refers to them.

use std::path::{Path, PathBuf};

use cellar_base::limits::MAX_UPLOAD_BYTES;

use super::pending::Body;
use crate::client::sha256;
use crate::files::{FileError, write_private};

/// How the file of an object ends.
const EXTENSION: &str = "body";
/// Characters of the object's SHA-256 in the name of its file.
const NAME_CHARACTERS: usize = 16;

/// The file of an object, for the state at `state`.
fn path(state: &Path, sha256: &str) -> PathBuf {
    let name: String = sha256.chars().take(NAME_CHARACTERS).collect();
    state.with_extension(format!("{name}.{EXTENSION}"))
}

/// Writes an object, durably: before the state that refers to it.
pub(crate) fn write(state: &Path, body: &Body, object: &[u8]) -> Result<(), FileError> {
    write_private(&path(state, &body.sha256), object)
}

/// Reads an object; one that is not what was written is an error.
pub(crate) fn read(state: &Path, body: &Body) -> Result<Vec<u8>, FileError> {
    let path = path(state, &body.sha256);
    let fault = |source| FileError::Unreadable { path: path.clone(), source };
    let length = std::fs::metadata(&path).map_err(fault)?.len();
    let too_long = length > u64::try_from(MAX_UPLOAD_BYTES).unwrap_or(u64::MAX);
    let object = if too_long { Vec::new() } else { std::fs::read(&path).map_err(fault)? };
    if sha256(&object) == body.sha256 {
        return Ok(object);
    }
    let why = "it is not the edit that was put there".to_owned();
    let advice = "it holds an edit that may not have been sent: put the file back as it was, or \
                  move it and the .json file beside it away"
        .to_owned();
    Err(FileError::Malformed { path, why, advice })
}

/// Removes the objects that the state does not refer to any more. It is only tidying up: what
/// cannot be removed stays until the next time.
pub(crate) fn sweep<'a>(state: &Path, kept: impl Iterator<Item = &'a Body>) {
    let kept: Vec<PathBuf> = kept.map(|body| path(state, &body.sha256)).collect();
    let stem = state.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let (Some(stem), Some(folder)) = (stem, state.parent()) else { return };
    let own = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        name.starts_with(&format!("{stem}.")) && name.ends_with(&format!(".{EXTENSION}"))
    };
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let files = files.filter_map(|file| Some(file.ok()?.path()));
    for file in files.filter(own).filter(|file| !kept.contains(file)) {
        let _ = std::fs::remove_file(file);
    }
}
