//! Writes files in `.cellar/` atomically and locks them. The files contain the profile and other
//! local state.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::file_target::{FileTarget, parent_folder, sync_folder};
use crate::owner::UntrustedFile;

/// Name of the directory for local state. It is created in the directory of a project.
pub const STATE_FOLDER: &str = ".cellar";
/// Maximum length of a state file, in bytes.
pub const MAX_STATE_BYTES: u64 = 16 * 1024 * 1024;
#[cfg(unix)]
const PRIVATE_FOLDER_MODE: u32 = 0o700;

/// A local state file cannot be used. The file was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Operating system error.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Operating system error.
        source: io::Error,
    },
    /// The file is malformed.
    #[error("{} is invalid: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Expected contents of the file.
        contents: StateFile,
        /// Reason why the file is malformed.
        why: String,
    },
    /// The file was written by a version of the client with another format.
    #[error("{} is invalid: {why}", path.display())]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Reason why the contents cannot be decoded.
        why: String,
    },
    /// The contents of the file are untrusted, because another user owns the file or can write to
    /// it.
    #[error("{} was not read: {untrusted}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Reason why the file is untrusted.
        untrusted: UntrustedFile,
    },
    /// The file is locked by another process.
    #[error("{} is locked by another cellar command", path.display())]
    InUse {
        /// The lock file.
        path: PathBuf,
    },
}

impl FileError {
    pub(crate) fn malformed(path: &Path, contents: StateFile, why: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_owned(), contents, why: why.into() }
    }
}

/// The kind of data in a local state file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateFile {
    /// The API URL, token and current spreadsheet.
    Profile,
    /// Edits that may not have been sent.
    UnsentEdits,
    /// The object of a large edit that may not have been sent.
    UnsentLargeEdit,
    /// The tokens that `cellar login` saves.
    Logins,
    /// The progress of a feed subscription.
    FeedCheckpoint,
    /// The journal of an import as edits.
    EditImport,
    /// The journal of an import of sheets.
    SheetImport,
    /// Anything else.
    Other,
}

/// Reads a JSON file. Returns `None` if the file does not exist. If the file is malformed, the
/// error contains `contents`, which describes what the file should contain.
///
/// # Errors
///
/// Returns a [`FileError`] if the file cannot be read or is malformed.
pub fn read_json<T: DeserializeOwned>(
    path: &Path,
    contents: StateFile,
) -> Result<Option<T>, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let malformed = |why: String| FileError::malformed(path, contents, why);
    let Some(file) = open_if_exists(path).map_err(unreadable)? else { return Ok(None) };
    let file_bytes = file.metadata().map_err(unreadable)?.len();
    if file_bytes > MAX_STATE_BYTES {
        return Err(malformed(format!(
            "the file has {file_bytes} bytes, but at most {MAX_STATE_BYTES} are allowed"
        )));
    }
    let mut json = Vec::new();
    file.take(MAX_STATE_BYTES).read_to_end(&mut json).map_err(unreadable)?;
    let content = serde_json::from_slice(&json).map_err(|error| malformed(error.to_string()))?;
    Ok(Some(content))
}

fn open_if_exists(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a value as JSON, using [`write_private`].
///
/// # Errors
///
/// Returns [`FileError::Unwritable`] if the file cannot be written.
pub fn write_json(path: &Path, content: &impl Serialize) -> Result<(), FileError> {
    let mut json = serde_json::to_vec_pretty(content)
        .map_err(|error| FileError::Unwritable { path: path.to_owned(), source: error.into() })?;
    json.push(b'\n');
    write_private(path, &json)
}

/// Writes a file atomically and durably. After a crash, the file has either its old or its new
/// contents. On Unix, only the owner can read the file. Missing directories are created. If `path`
/// is a symbolic link, its target is replaced.
///
/// # Errors
///
/// Returns [`FileError::Unwritable`] if the file cannot be written.
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let unwritable = |source| FileError::Unwritable { path: path.to_owned(), source };
    create_folder(parent_folder(path))?;
    let target_path = resolve_replaceable_file(path).map_err(unwritable)?;
    let folder = parent_folder(&target_path);
    // The temporary file has mode 0600, which the rename preserves.
    let mut temporary_file = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    temporary_file.write_all(content).map_err(unwritable)?;
    temporary_file.as_file().sync_all().map_err(unwritable)?;
    temporary_file.persist(&target_path).map_err(|failed| unwritable(failed.error))?;
    sync_folder(folder).map_err(unwritable)
}

/// Fails if the file is a pipe or a device, which cannot be replaced.
fn resolve_replaceable_file(path: &Path) -> io::Result<PathBuf> {
    match FileTarget::resolve(path)? {
        FileTarget::Missing(target_path) | FileTarget::Regular(target_path, _) => Ok(target_path),
        FileTarget::Special(..) => {
            let message = "a regular file is required, but this is a pipe or a device";
            Err(io::Error::new(ErrorKind::InvalidInput, message))
        }
    }
}

/// Because `.cellar/` may contain whole spreadsheets, new directories in it are private on Unix,
/// and a `.gitignore` excludes it from version control. The modes of existing directories are not
/// changed.
pub(crate) fn create_folder(folder: &Path) -> Result<(), FileError> {
    let unwritable = |source| FileError::Unwritable { path: folder.to_owned(), source };
    let Some(state_folder) = folder.ancestors().find(|ancestor| ancestor.ends_with(STATE_FOLDER))
    else {
        return std::fs::create_dir_all(folder).map_err(unwritable);
    };
    // The directories above `.cellar/` belong to the project, so they get the default mode.
    if let Some(project_folder) = state_folder.parent() {
        std::fs::create_dir_all(project_folder).map_err(unwritable)?;
    }
    create_private_folders(folder).map_err(unwritable)?;
    create_gitignore(state_folder).map_err(unwritable)
}

/// Name of the file that excludes the local state directory from version control.
pub(crate) const GITIGNORE: &str = ".gitignore";

/// Excludes the local state directory from version control, because it contains tokens. An existing
/// `.gitignore` is not changed.
fn create_gitignore(state_folder: &Path) -> io::Result<()> {
    let path = state_folder.join(GITIGNORE);
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a folder that only the user can read, or makes an existing one private. On operating
/// systems other than Unix, the folder has the default permissions.
#[cfg(feature = "cli")]
pub(crate) fn create_private_folder(folder: &Path) -> Result<(), FileError> {
    let unwritable = |source| FileError::Unwritable { path: folder.to_owned(), source };
    create_private_folders(folder).map_err(unwritable)?;
    #[cfg(unix)]
    {
        let private = std::os::unix::fs::PermissionsExt::from_mode(PRIVATE_FOLDER_MODE);
        std::fs::set_permissions(folder, private).map_err(unwritable)?;
    }
    Ok(())
}

fn create_private_folders(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, PRIVATE_FOLDER_MODE);
    builder.create(folder)
}

/// A lock on a file that excludes other processes. It is released when it is dropped or the process
/// ends.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Locks a file, which is created if it is missing. Blocks the thread until the lock is
    /// available.
    ///
    /// # Errors
    ///
    /// Returns [`FileError::Unwritable`] if the lock file cannot be created or locked.
    pub fn acquire(path: &Path) -> Result<Self, FileError> {
        let unwritable = |source| FileError::Unwritable { path: path.to_owned(), source };
        loop {
            let file = open_lock_file(path)?;
            file.lock().map_err(unwritable)?;
            if is_file_at_path(&file, path).map_err(unwritable)? {
                return Ok(Self { file });
            }
        }
    }

    /// Locks a file without blocking. The file is created if it is missing.
    ///
    /// # Errors
    ///
    /// Returns [`FileError::InUse`] if another process has locked the file, or
    /// [`FileError::Unwritable`] if the lock file cannot be created or locked.
    pub fn try_acquire(path: &Path) -> Result<Self, FileError> {
        let unwritable = |source| FileError::Unwritable { path: path.to_owned(), source };
        loop {
            let file = open_lock_file(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(FileError::InUse { path: path.to_owned() });
                }
                Err(TryLockError::Error(source)) => return Err(unwritable(source)),
            }
            if is_file_at_path(&file, path).map_err(unwritable)? {
                return Ok(Self { file });
            }
        }
    }

    /// Deletes the lock file and releases the lock. If the file cannot be deleted, or on operating
    /// systems other than Unix, an empty lock file remains.
    pub fn release_and_delete(self, path: &Path) {
        // Delete the file before releasing the lock. A process that has already opened the file
        // uses `is_file_at_path` to detect that it was deleted.
        if cfg!(unix) && is_file_at_path(&self.file, path).unwrap_or(false) {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn open_lock_file(path: &Path) -> Result<File, FileError> {
    create_folder(parent_folder(path))?;
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(|source| FileError::Unwritable { path: path.to_owned(), source })
}

/// If another process has deleted the file, a lock on it has no effect on processes that open
/// `path` later.
#[cfg(unix)]
fn is_file_at_path(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let open_file = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(current_file) => {
            Ok(current_file.dev() == open_file.dev() && current_file.ino() == open_file.ino())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Lock files are deleted only on Unix.
#[cfg(not(unix))]
fn is_file_at_path(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_files_are_private_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".cellar/clients/x.json");
        assert_eq!(read_json::<Vec<u32>>(&path, StateFile::Other).unwrap(), None);
        write_json(&path, &vec![1, 2]).unwrap();
        write_json(&path, &vec![3]).unwrap();
        assert_eq!(read_json::<Vec<u32>>(&path, StateFile::Other).unwrap(), Some(vec![3]));
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
    fn only_new_folders_in_the_state_folder_are_private() {
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
        let _lock =
            FileLock::try_acquire(&root.path().join("project/.cellar/imports/x.lock")).unwrap();
        assert_eq!((mode("project/.cellar"), mode("project/.cellar/imports")), (0o755, 0o700));
    }

    #[test]
    fn a_malformed_file_is_reported_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        std::fs::write(&path, "{").unwrap();
        let error = read_json::<Vec<u32>>(&path, StateFile::Profile).unwrap_err();
        assert!(error.to_string().contains("state.json"));
        assert!(matches!(error, FileError::Malformed { contents: StateFile::Profile, .. }));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
    }

    #[test]
    fn a_lock_is_exclusive_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.lock");
        let lock = FileLock::acquire(&path).unwrap();
        assert!(matches!(FileLock::try_acquire(&path), Err(FileError::InUse { .. })));
        drop(lock);
        assert!(FileLock::try_acquire(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_deleted_lock_file_never_allows_two_locks() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("import.lock");
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let lock = FileLock::acquire(&path).unwrap();
                        assert_eq!(
                            inside.fetch_add(1, Ordering::SeqCst),
                            0,
                            "two threads have the lock"
                        );
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        lock.release_and_delete(&path);
                    }
                });
            }
        });
        assert!(!path.exists());
        FileLock::try_acquire(&path).unwrap().release_and_delete(&path);
        assert!(!path.exists());
    }
}
