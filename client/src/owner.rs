//! Checks that other users cannot change a file, before its contents are trusted.

use std::path::{Path, PathBuf};

use crate::file_target::parent_folder;

/// Why a file or directory is untrusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UntrustedFile {
    /// Another user owns the file or directory.
    #[error("{} belongs to another account (uid {owner})", path.display())]
    Owner {
        /// The file or directory.
        path: PathBuf,
        /// User id of the owner.
        owner: u32,
    },
    /// Other users can write to the file or directory.
    #[error("other accounts can write to {} (mode {mode:o})", path.display())]
    Writable {
        /// The file or directory.
        path: PathBuf,
        /// Mode of the file or directory.
        mode: u32,
    },
    /// The owner or mode could not be read.
    #[error("cannot determine the owner of {}: {why}", path.display())]
    Unknown {
        /// The file or directory.
        path: PathBuf,
        /// Operating system error.
        why: String,
    },
}

/// Checks that only the current user and root can change or replace a file or directory. The parent
/// directory is also checked. For a symbolic link, its target and the target's parent directory are
/// checked as well.
///
/// # Errors
///
/// Returns an [`UntrustedFile`] if another user can change the file, or if its owner cannot be
/// determined.
pub fn check_trusted(path: &Path) -> Result<(), UntrustedFile> {
    let target = path.canonicalize().map_err(|error| unknown_owner(path, &error))?;
    check_owner_and_mode(&target)?;
    for checked_path in [path, &target] {
        let is_file_system_root = checked_path.parent().is_none();
        if !is_file_system_root {
            check_owner_and_mode(parent_folder(checked_path))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn check_owner_and_mode(path: &Path) -> Result<(), UntrustedFile> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(path).map_err(|error| unknown_owner(path, &error))?;
    let ownership =
        Ownership { owner: metadata.uid(), group: metadata.gid(), mode: metadata.mode() };
    let own_uid = rustix::process::geteuid().as_raw();
    let own_gid = rustix::process::getegid().as_raw();
    ownership.check_writers(path, metadata.is_dir(), own_uid, own_gid)
}

/// The owner of a file can be determined only on Unix.
#[cfg(not(unix))]
fn check_owner_and_mode(_path: &Path) -> Result<(), UntrustedFile> {
    Ok(())
}

fn unknown_owner(path: &Path, error: &std::io::Error) -> UntrustedFile {
    UntrustedFile::Unknown { path: path.to_owned(), why: error.to_string() }
}

/// User and group id of root.
#[cfg(unix)]
const ROOT: u32 = 0;
#[cfg(unix)]
const WRITABLE_BY_GROUP: u32 = 0o020;
#[cfg(unix)]
const WRITABLE_BY_ALL: u32 = 0o002;
/// If this bit of a directory is set, only the owner of a file can delete or replace the file.
#[cfg(unix)]
const STICKY: u32 = 0o1000;
#[cfg(unix)]
const PERMISSION_BITS: u32 = 0o7777;

#[cfg(unix)]
struct Ownership {
    owner: u32,
    group: u32,
    mode: u32,
}

#[cfg(unix)]
impl Ownership {
    /// Fails if a user other than `own_uid` and root can write to the file. The group `own_gid` is
    /// allowed to write, because on most systems it has no other members.
    fn check_writers(
        &self,
        path: &Path,
        is_folder: bool,
        own_uid: u32,
        own_gid: u32,
    ) -> Result<(), UntrustedFile> {
        if self.owner != own_uid && self.owner != ROOT {
            return Err(UntrustedFile::Owner { path: path.to_owned(), owner: self.owner });
        }
        let is_foreign_group = self.group != own_gid && self.group != ROOT;
        let foreign_group_can_write = is_foreign_group && self.mode & WRITABLE_BY_GROUP != 0;
        let everyone_can_write = self.mode & WRITABLE_BY_ALL != 0;
        let is_sticky_folder = is_folder && self.mode & STICKY != 0;
        if (foreign_group_can_write || everyone_can_write) && !is_sticky_folder {
            let mode = self.mode & PERMISSION_BITS;
            return Err(UntrustedFile::Writable { path: path.to_owned(), mode });
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_the_own_account_and_root_may_write() {
        const OWN_ID: u32 = 1_000;
        for (owner, group, mode, is_folder, good) in [
            (1_000, 1_000, 0o644, false, true),
            (1_000, 1_000, 0o664, false, true),
            (0, 0, 0o664, false, true),
            (0, 1_000, 0o775, true, true),
            (1_001, 1_000, 0o600, false, false),
            (1_001, 1_001, 0o700, true, false),
            (1_000, 50, 0o664, false, false),
            (1_000, 50, 0o775, true, false),
            (1_000, 50, 0o644, false, true),
            (1_000, 1_000, 0o646, false, false),
            (1_000, 1_000, 0o777, true, false),
            (0, 0, 0o1777, true, true),
            (0, 50, 0o1775, true, true),
            (1_000, 1_000, 0o1666, false, false),
            (1_001, 1_001, 0o1777, true, false),
        ] {
            let ownership = Ownership { owner, group, mode };
            let checked = ownership.check_writers(Path::new("x"), is_folder, OWN_ID, OWN_ID);
            assert_eq!(checked.is_ok(), good, "{owner}:{group} {mode:o} {is_folder}");
        }
    }

    #[test]
    fn checks_files_folders_and_link_targets() {
        let root = tempfile::tempdir().unwrap();
        let (folder, other) = (root.path().join("a"), root.path().join("b"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&other).unwrap();
        let (file, link) = (folder.join("f"), other.join("l"));
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let set =
            |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for path in [&file, &link, &folder] {
            assert_eq!(check_trusted(path), Ok(()), "{}", path.display());
        }
        for (open, good) in [(&file, 0o644), (&folder, 0o755)] {
            set(open, 0o777);
            for path in [&file, &link] {
                let found =
                    UntrustedFile::Writable { path: open.canonicalize().unwrap(), mode: 0o777 };
                let checked = check_trusted(path).unwrap_err();
                assert_eq!(checked.to_string(), found.to_string(), "{}", path.display());
            }
            set(open, good);
        }
        set(&other, 0o777);
        assert!(
            check_trusted(&link).is_err() && check_trusted(&file).is_ok(),
            "the folder of the link"
        );
        assert!(matches!(check_trusted(&folder.join("none")), Err(UntrustedFile::Unknown { .. })));
    }
}
