//! Determines which file is written when a program writes to a path. Symbolic links are followed,
//! and regular files are distinguished from pipes and devices.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Linux has the same limit.
const MAX_LINKS: usize = 40;

/// The file to which a path leads after all symbolic links have been followed.
pub(crate) enum FileTarget {
    /// No file exists, but one can be created at this path.
    Missing(PathBuf),
    Regular(PathBuf, Metadata),
    /// A pipe, device or other special file that cannot be replaced.
    Special(PathBuf, Metadata),
}

impl FileTarget {
    pub(crate) fn resolve(path: &Path) -> io::Result<Self> {
        let mut current_path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let metadata = match current_path.symlink_metadata() {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self::Missing(current_path));
                }
                Err(error) => return Err(error),
            };
            if !metadata.is_symlink() {
                return Self::from_metadata(current_path, metadata);
            }
            // Do not follow the link of an open pipe in `/proc`, because it contains no valid path.
            if let Ok(target_metadata) = current_path.metadata()
                && !target_metadata.is_file()
            {
                return Self::from_metadata(current_path, target_metadata);
            }
            let link_target = current_path.read_link()?;
            current_path = parent_folder(&current_path).join(link_target);
        }
        Err(io::Error::other(format!("more than {MAX_LINKS} symbolic links")))
    }

    fn from_metadata(path: PathBuf, metadata: Metadata) -> io::Result<Self> {
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if metadata.is_file() {
            Ok(Self::Regular(path, metadata))
        } else {
            Ok(Self::Special(path, metadata))
        }
    }
}

/// If the path is only a file name, this is the working directory.
pub(crate) fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes renames in a directory durable if the operating system supports this.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
