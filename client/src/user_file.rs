//! Files that a user names for output: links are followed, and what is no regular file is written through.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};

use crate::files::{folder_of, sync_folder};

/// Links that are followed from one name at most, as on Linux.
const MAX_LINKS: usize = 40;

/// Why a file was not written. A regular file is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum UserFileError<E> {
    /// A file is there that must not be replaced.
    #[error("it exists already")]
    Exists,
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The writer of the content failed.
    #[error(transparent)]
    Content(E),
}

/// The place that a name leads to, after all links.
enum Place {
    /// Nothing: a file of this path can be made.
    Free(PathBuf),
    /// A regular file.
    Regular(PathBuf, Metadata),
    /// A pipe or a device.
    Through(PathBuf, Metadata),
}

/// Whether writing to `path` takes something away that is there: a regular file, or what is on a disk.
/// Pipes, terminals and the like lose nothing.
#[must_use]
pub fn replaces_something(path: &Path) -> bool {
    match place(path) {
        Ok(Place::Regular(..)) => true,
        Ok(Place::Through(_, metadata)) => is_disk(&metadata),
        Ok(Place::Free(_)) | Err(_) => false,
    }
}

/// Writes a file that a user named.
///
/// A regular file is always whole, the old one or the new one, and keeps its mode. A link stays, and leads to the new file. A pipe or a device stays, and gets the bytes.
///
/// # Errors
/// [`UserFileError::Exists`] if something would be replaced and `replace` is not set; the others of
/// [`UserFileError`].
pub fn write_user_file<T, E>(
    path: &Path,
    replace: bool,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, UserFileError<E>> {
    match place(path)? {
        Place::Regular(..) if !replace => Err(UserFileError::Exists),
        Place::Regular(path, metadata) => beside(&path, Some(&metadata), write),
        Place::Free(path) => beside(&path, None, write),
        Place::Through(_, metadata) if is_disk(&metadata) && !replace => Err(UserFileError::Exists),
        Place::Through(path, _) => through(&path, write),
    }
}

/// Follows the links from a name.
fn place(path: &Path) -> io::Result<Place> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Place::Free(path)),
            Err(error) => return Err(error),
        };
        if !metadata.is_symlink() {
            return found(path, metadata);
        }
        // A link in /proc to an open pipe has no path to follow.
        if let Ok(behind) = path.metadata()
            && !behind.is_file()
        {
            return found(path, behind);
        }
        let target = path.read_link()?;
        path = folder_of(&path).join(target);
    }
    Err(io::Error::other("more links lead on from it than are followed"))
}

fn found(path: PathBuf, metadata: Metadata) -> io::Result<Place> {
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let is_regular = metadata.is_file();
    Ok(if is_regular { Place::Regular(path, metadata) } else { Place::Through(path, metadata) })
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

/// Writes a temporary file beside its place, and moves it there.
fn beside<T, E>(
    path: &Path,
    old: Option<&Metadata>,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, UserFileError<E>> {
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cellar-output-");
    // The mode of any new file, not the private one of a temporary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    let written = write(file.as_file_mut()).map_err(UserFileError::Content)?;
    file.as_file().sync_all()?;
    let moved = if old.is_some() { file.persist(path) } else { file.persist_noclobber(path) };
    moved.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => UserFileError::Exists,
        _ => UserFileError::Io(error.error),
    })?;
    sync_folder(folder)?;
    Ok(written)
}

/// The path to write a state file at, after all links.
///
/// # Errors
/// The system's; and [`io::ErrorKind::InvalidInput`] for what is no regular file and cannot be replaced.
pub(crate) fn behind_links(path: &Path) -> io::Result<PathBuf> {
    match place(path)? {
        Place::Free(path) | Place::Regular(path, _) => Ok(path),
        Place::Through(..) => {
            let why = "it is a pipe or a device, and a file is needed";
            Err(io::Error::new(io::ErrorKind::InvalidInput, why))
        }
    }
}

/// Writes to what is there, which keeps its place. The bytes are all there before the first is sent.
fn through<T, E>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, UserFileError<E>> {
    let mut whole = tempfile::tempfile()?;
    let written = write(&mut whole).map_err(UserFileError::Content)?;
    whole.rewind()?;
    let mut target = OpenOptions::new().write(true).open(path)?;
    io::copy(&mut whole, &mut target)?;
    Ok(written)
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
    fn a_new_file_is_made_and_an_old_one_is_replaced_only_when_told() {
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
    fn links_stay_and_lead_to_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, file] = ["one", "two", "sub/file"].map(|name| folder.path().join(name));
        fs::create_dir(folder.path().join("sub")).unwrap();
        symlink("two", &one).unwrap();
        symlink("sub/file", &two).unwrap();
        assert!(!replaces_something(&one), "a link that leads nowhere yet");
        put(&one, false, "1").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "1");
        assert!(
            replaces_something(&one) && matches!(put(&one, false, ""), Err(UserFileError::Exists))
        );
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
    fn pipes_and_devices_get_the_bytes_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        symlink("pipe", &link).unwrap();
        for (path, replace) in [(&pipe, true), (&link, false)] {
            assert!(!replaces_something(path));
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
