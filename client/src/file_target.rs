//! Resolves an output path, following symbolic links and distinguishing regular files from pipes
//! and devices.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of symbolic links to follow, the same as on Linux.
const MAX_LINKS: usize = 40;

/// Target of a path after following all symbolic links.
pub(crate) enum FileTarget {
    /// The target does not exist, but can be created at this path.
    Missing(PathBuf),
    /// A regular file.
    Regular(PathBuf, Metadata),
    /// A pipe, device or other special file that cannot be replaced.
    Special(PathBuf, Metadata),
}

impl FileTarget {
    /// Resolves `path` by following symbolic links.
    pub(crate) fn resolve(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let metadata = match path.symlink_metadata() {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self::Missing(path));
                }
                Err(error) => return Err(error),
            };
            if !metadata.is_symlink() {
                return Self::classify(path, metadata);
            }
            // The /proc link of an open pipe does not contain a valid path.
            if let Ok(target) = path.metadata()
                && !target.is_file()
            {
                return Self::classify(path, target);
            }
            let target = path.read_link()?;
            path = parent_folder(&path).join(target);
        }
        Err(io::Error::other(format!("more than {MAX_LINKS} symbolic links")))
    }

    fn classify(path: PathBuf, metadata: Metadata) -> io::Result<Self> {
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

/// Returns a file's parent directory, or the working directory for a bare file name.
pub(crate) fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes renames in a directory durable, if supported by the operating system.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
