//! Finds symbolic links in a state directory. Deleting the directory would not delete the data to
//! which they point.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Does not follow links.
pub(super) fn find_link(path: &Path) -> io::Result<Option<PathBuf>> {
    let root_type = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if root_type.is_symlink() {
        return Ok(Some(path.to_owned()));
    }
    let mut unvisited_folders = Vec::new();
    if root_type.is_dir() {
        unvisited_folders.push(path.to_owned());
    }
    while let Some(folder) = unvisited_folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let entry_type = entry.file_type()?;
            if entry_type.is_symlink() {
                return Ok(Some(entry.path()));
            }
            if entry_type.is_dir() {
                unvisited_folders.push(entry.path());
            }
        }
    }
    Ok(None)
}
