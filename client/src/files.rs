//! Small files that must never be half-written: the profile and the state under `.cellar/`.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::owner::Stranger;
use crate::user_file::behind_links;

/// The folder for local state, in the directory of a project.
pub const STATE_FOLDER: &str = ".cellar";
/// Bytes of a state file that are read at most.
pub const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;

/// Why a file of the local state cannot be used. Nothing was overwritten.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum FileError {
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    #[diagnostic(code(cellar::file_unreadable), help("check that you may read it"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    #[diagnostic(
        code(cellar::file_unwritable),
        help("check that you may write to its folder and that the disk has room")
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It does not hold what it should.
    #[error("{} is not understood: {why}", path.display())]
    #[diagnostic(code(cellar::file_malformed))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
        /// What to do.
        #[help]
        advice: String,
    },
    /// Another account has it, or may write it: what is in it is that account's to say.
    #[error("{} is not used: {stranger}", path.display())]
    #[diagnostic(
        code(cellar::file_foreign),
        help(
            "if you trust what is in it, make it yours (chown, chmod go-w); if not, work in another \
             folder, or give --url and --token"
        )
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        stranger: Stranger,
    },
    /// Another process holds its lock and must not be waited for.
    #[error("{} is in use by another cellar command", path.display())]
    #[diagnostic(code(cellar::file_locked), help("wait until that command has ended"))]
    InUse {
        /// The lock file.
        path: PathBuf,
    },
}

/// Reads a JSON file; `None` if there is none.
///
/// # Errors
/// [`FileError`]; `advice` says what to do with a malformed file.
pub fn read_json<T: DeserializeOwned>(path: &Path, advice: &str) -> Result<Option<T>, FileError> {
    let fault = |source| FileError::Unreadable { path: path.to_owned(), source };
    let malformed = |why: String| FileError::Malformed {
        path: path.to_owned(),
        why,
        advice: advice.to_owned(),
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(error)),
    };
    let length = file.metadata().map_err(fault)?.len();
    if length > MAX_STATE_BYTES {
        return Err(malformed(format!("it has {length} bytes, more than any such file")));
    }
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_STATE_BYTES), &mut text)
        .map_err(fault)?;
    serde_json::from_slice(&text).map(Some).map_err(|error| malformed(error.to_string()))
}

/// Writes a JSON file so that, whatever happens, the old or the new content is there, whole.
/// On Unix only its owner may read it.
///
/// # Errors
/// [`FileError::Unwritable`].
pub fn write_json(path: &Path, content: &impl Serialize) -> Result<(), FileError> {
    let mut text = serde_json::to_vec_pretty(content)
        .map_err(|error| FileError::Unwritable { path: path.to_owned(), source: error.into() })?;
    text.push(b'\n');
    write_private(path, &text)
}

/// Writes a file as [`write_json`] does: whole or not at all, and only for its owner to read. A link
/// stays, and leads to the new file.
///
/// # Errors
/// [`FileError::Unwritable`].
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let fault = |source| FileError::Unwritable { path: path.to_owned(), source };
    create_folder(folder_of(path))?;
    let path = &behind_links(path).map_err(fault)?;
    let folder = folder_of(path);
    // A temporary file is made with mode 0600, which the rename keeps.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fault)?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(fault)?;
    file.persist(path).map_err(|error| fault(error.error))?;
    sync_folder(folder).map_err(fault)
}

/// The folder that a file is in: of a name alone, the working directory.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Makes a folder below `.cellar/`, and keeps `.cellar/` out of version control. On Unix nobody
/// else may enter a folder that is made from `.cellar/` on: whole spreadsheets may lie in it, in
/// files with any mode. Folders that are there already are left as they are.
pub(crate) fn create_folder(folder: &Path) -> Result<(), FileError> {
    let fault = |source| FileError::Unwritable { path: folder.to_owned(), source };
    let is_state = |folder: &&Path| folder.file_name().is_some_and(|name| name == STATE_FOLDER);
    let Some(state) = folder.ancestors().find(is_state) else {
        return std::fs::create_dir_all(folder).map_err(fault);
    };
    // What is above belongs to the project and has the modes that its owner chose.
    if let Some(above) = state.parent() {
        std::fs::create_dir_all(above).map_err(fault)?;
    }
    create_private(folder).map_err(fault)?;
    // Tokens live there. Somebody's own file is left as it is.
    match OpenOptions::new().write(true).create_new(true).open(state.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n").map_err(fault),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(fault(error)),
    }
}

fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes a rename in `folder` durable, where the system can.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// An exclusive lock between processes, held until it is dropped.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Waits for the lock. Blocks the thread.
    ///
    /// # Errors
    /// [`FileError::Unwritable`] if the lock file cannot be made or locked.
    pub fn wait(path: &Path) -> Result<Self, FileError> {
        let fault = |source| FileError::Unwritable { path: path.to_owned(), source };
        loop {
            let file = Self::open(path)?;
            file.lock().map_err(fault)?;
            if is_still_at(&file, path).map_err(fault)? {
                return Ok(Self { file });
            }
        }
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// [`FileError::InUse`] if it is not, [`FileError::Unwritable`] if it cannot be made.
    pub fn take(path: &Path) -> Result<Self, FileError> {
        let fault = |source| FileError::Unwritable { path: path.to_owned(), source };
        loop {
            let file = Self::open(path)?;
            match file.try_lock() {
                Ok(()) if is_still_at(&file, path).map_err(fault)? => return Ok(Self { file }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(FileError::InUse { path: path.to_owned() });
                }
                Err(TryLockError::Error(source)) => return Err(fault(source)),
            }
        }
    }

    /// Removes the lock file and frees the lock, where the system can tell a removed file from a
    /// new one of the same name; elsewhere the empty file stays. It is only tidying up: what
    /// cannot be removed stays, too.
    pub fn remove(self, path: &Path) {
        // Removed while it is held: whoever opened it before finds out when the lock is theirs.
        if cfg!(unix) && is_still_at(&self.file, path).unwrap_or(false) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn open(path: &Path) -> Result<File, FileError> {
        create_folder(folder_of(path))?;
        let fault = |source| FileError::Unwritable { path: path.to_owned(), source };
        OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(fault)
    }
}

/// Whether an open file is the one at `path`: otherwise somebody removed it after it was opened,
/// and its lock keeps nobody out who opens the path now.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let opened = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Lock files are never removed here.
#[cfg(not(unix))]
fn is_still_at(_file: &File, _path: &Path) -> std::io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".cellar/clients/x.json");
        assert_eq!(read_json::<Vec<u32>>(&path, "").unwrap(), None);
        write_json(&path, &vec![1, 2]).unwrap();
        write_json(&path, &vec![3]).unwrap();
        assert_eq!(read_json::<Vec<u32>>(&path, "").unwrap(), Some(vec![3]));
        let ignored = std::fs::read_to_string(folder.path().join(".cellar/.gitignore")).unwrap();
        assert_eq!(ignored, "*\n");
        let left: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "a temporary file was left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[cfg(unix)]
    #[test]
    fn folders_from_the_state_folder_on_are_private_and_others_are_left_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let mode = |path: &str| {
            std::fs::metadata(root.path().join(path)).unwrap().permissions().mode() & 0o777
        };
        std::fs::create_dir(root.path().join("plain")).unwrap();
        write_private(&root.path().join("project/.cellar/local/x"), b"x").unwrap();
        assert_eq!(mode("project"), mode("plain"));
        assert_eq!((mode("project/.cellar"), mode("project/.cellar/local")), (0o700, 0o700));
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(root.path().join("project/.cellar"), open).unwrap();
        let _lock = FileLock::take(&root.path().join("project/.cellar/imports/x.lock")).unwrap();
        assert_eq!((mode("project/.cellar"), mode("project/.cellar/imports")), (0o755, 0o700));
    }

    #[test]
    fn a_malformed_file_is_named_with_the_advice() {
        use miette::Diagnostic as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        std::fs::write(&path, "{").unwrap();
        let error = read_json::<Vec<u32>>(&path, "delete it").unwrap_err();
        assert!(error.to_string().contains("state.json"));
        assert_eq!(error.help().unwrap().to_string(), "delete it");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
    }

    #[test]
    fn a_lock_is_exclusive_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.lock");
        let lock = FileLock::wait(&path).unwrap();
        assert!(matches!(FileLock::take(&path), Err(FileError::InUse { .. })));
        drop(lock);
        assert!(FileLock::take(&path).is_ok());
    }
    #[cfg(unix)]
    #[test]
    fn a_removed_lock_file_never_gives_the_lock_to_two() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("import.lock");
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let lock = FileLock::wait(&path).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two have the lock");
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        lock.remove(&path);
                    }
                });
            }
        });
        assert!(!path.exists());
        FileLock::take(&path).unwrap().remove(&path);
        assert!(!path.exists());
    }
}
