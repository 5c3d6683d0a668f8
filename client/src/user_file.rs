//! Writes the output files of commands. Symbolic links are followed. Pipes and devices are written
//! to, whereas regular files are replaced.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek as _};
use std::path::Path;

use crate::file_target::{FileTarget, parent_folder, sync_folder};

/// The umask is applied to this mode.
#[cfg(unix)]
const NEW_FILE_MODE: u32 = 0o666;

/// Why an output file was not written. If a regular file already existed, it has not changed.
#[derive(Debug, thiserror::Error)]
pub enum UserFileError<E> {
    /// The file already exists and must not be overwritten.
    #[error("the file already exists")]
    Exists,
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The contents could not be produced.
    #[error(transparent)]
    Content(E),
}

/// Returns whether writing to `path` would overwrite data. This is the case for regular files and
/// disks, but not for pipes and terminals.
#[must_use]
pub fn replaces_data(path: &Path) -> bool {
    FileTarget::resolve(path).is_ok_and(|target| contains_data(&target))
}

fn contains_data(target: &FileTarget) -> bool {
    match target {
        FileTarget::Regular(..) => true,
        FileTarget::Special(_, metadata) => is_disk(metadata),
        FileTarget::Missing(_) => false,
    }
}

/// Writes an output file. A regular file is replaced atomically and keeps its mode. If `path` is a
/// symbolic link, its target is replaced and the link remains. Nothing is written to a pipe or
/// device before the complete contents were produced.
///
/// # Errors
///
/// Returns [`UserFileError::Exists`] if the write would destroy data and `replace` is not set.
/// Returns another variant if the file cannot be written or `write_contents` fails.
pub fn write_user_file<T, E>(
    path: &Path,
    replace: bool,
    write_contents: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, UserFileError<E>> {
    let target = FileTarget::resolve(path)?;
    if contains_data(&target) && !replace {
        return Err(UserFileError::Exists);
    }
    match target {
        FileTarget::Regular(target_path, metadata) => {
            write_atomically(&target_path, Some(&metadata), write_contents)
        }
        FileTarget::Missing(target_path) => write_atomically(&target_path, None, write_contents),
        FileTarget::Special(target_path, _) => write_to_device(&target_path, write_contents),
    }
}

#[cfg(unix)]
fn is_disk(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_disk(_metadata: &Metadata) -> bool {
    false
}

/// `replaced_file` is the metadata of the file to replace. If it is `None`, `path` must not exist
/// yet.
fn write_atomically<T, E>(
    path: &Path,
    replaced_file: Option<&Metadata>,
    write_contents: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, UserFileError<E>> {
    let folder = parent_folder(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cellar-output-");
    // Temporary files are private by default, but output files get the usual mode.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(NEW_FILE_MODE));
    let mut temporary_file = builder.tempfile_in(folder)?;
    if let Some(replaced_file) = replaced_file {
        temporary_file.as_file().set_permissions(replaced_file.permissions())?;
    }
    let content_summary =
        write_contents(temporary_file.as_file_mut()).map_err(UserFileError::Content)?;
    temporary_file.as_file().sync_all()?;
    let rename_result = match replaced_file {
        Some(_) => temporary_file.persist(path),
        None => temporary_file.persist_noclobber(path),
    };
    rename_result.map_err(|failed| match failed.error.kind() {
        io::ErrorKind::AlreadyExists => UserFileError::Exists,
        _ => UserFileError::Io(failed.error),
    })?;
    sync_folder(folder)?;
    Ok(content_summary)
}

/// Produces the complete contents and then writes them to a pipe or device.
fn write_to_device<T, E>(
    path: &Path,
    write_contents: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, UserFileError<E>> {
    let mut buffer = tempfile::tempfile()?;
    let content_summary = write_contents(&mut buffer).map_err(UserFileError::Content)?;
    buffer.rewind()?;
    let mut device = OpenOptions::new().write(true).open(path)?;
    io::copy(&mut buffer, &mut device)?;
    Ok(content_summary)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};

    use super::*;

    fn put(path: &Path, replace: bool, text: &str) -> Result<(), UserFileError<io::Error>> {
        write_user_file(path, replace, |file| file.write_all(text.as_bytes()))
    }

    #[test]
    fn existing_files_are_replaced_only_if_requested() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        put(&path, false, "1").unwrap();
        assert!(matches!(put(&path, false, "2"), Err(UserFileError::Exists)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "1");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        put(&path, true, "3").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "3");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let failed = write_user_file(&path, true, |_| Err::<(), _>("no"));
        assert!(matches!(failed, Err(UserFileError::Content("no"))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "3");
        assert!(put(folder.path(), true, "4").is_err(), "a folder");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file was left");
    }

    #[test]
    fn links_are_kept_and_their_targets_written() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, file] = ["one", "two", "sub/file"].map(|name| folder.path().join(name));
        fs::create_dir(folder.path().join("sub")).unwrap();
        symlink("two", &one).unwrap();
        symlink("sub/file", &two).unwrap();
        assert!(!replaces_data(&one), "a link to a missing file");
        put(&one, false, "1").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "1");
        assert!(replaces_data(&one) && matches!(put(&one, false, ""), Err(UserFileError::Exists)));
        put(&one, true, "2").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "2");
        for link in [&one, &two] {
            assert!(link.symlink_metadata().unwrap().is_symlink());
        }
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(matches!(put(&circle, true, "3"), Err(UserFileError::Io(_))));
    }

    #[test]
    fn pipes_and_devices_are_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        symlink("pipe", &link).unwrap();
        for (path, replace) in [(&pipe, true), (&link, false)] {
            assert!(!replaces_data(path));
            let (reader, (send, read)) = (pipe.clone(), std::sync::mpsc::channel());
            std::thread::spawn(move || {
                let mut text = String::new();
                File::open(reader).unwrap().read_to_string(&mut text).unwrap();
                send.send(text)
            });
            put(path, replace, "through").unwrap();
            assert_eq!(read.recv_timeout(std::time::Duration::from_secs(60)).unwrap(), "through");
            assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        }
        put(Path::new("/dev/null"), true, "gone").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
