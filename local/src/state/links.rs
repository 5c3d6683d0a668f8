//! Finds symbolic links in a state directory. Deleting a link would not delete the data that it
//! points to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the first symbolic link at or below `path`. Does not follow links.
pub(super) fn find_link(path: &Path) -> io::Result<Option<PathBuf>> {
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if kind.is_symlink() {
        return Ok(Some(path.to_owned()));
    }
    let mut folders = Vec::new();
    if kind.is_dir() {
        folders.push(path.to_owned());
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                return Ok(Some(entry.path()));
            }
            if kind.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(None)
}
