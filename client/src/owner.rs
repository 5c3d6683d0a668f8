//! Whose a file is that a command found by itself, and who else may write it.

use std::path::{Path, PathBuf};

/// A file or a folder that another account has, or may write: what is in it is that account's to say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stranger {
    /// Another account has it.
    #[error("{} belongs to another account (its number is {owner})", path.display())]
    Owner {
        /// The file or the folder.
        path: PathBuf,
        /// The account.
        owner: u32,
    },
    /// Other accounts may write it.
    #[error("other accounts may write {} (its mode is {mode:o})", path.display())]
    Writable {
        /// The file or the folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// That cannot be found out.
    #[error("it cannot be found out whose {} is: {why}", path.display())]
    Unknown {
        /// The file or the folder.
        path: PathBuf,
        /// The system's error.
        why: String,
    },
}

/// Checks that a file or a folder is this account's, or the administrator's, and that no other account may
/// write it or put another one in its place: where it is found, and where links lead from there.
///
/// # Errors
/// [`Stranger`].
pub fn check(path: &Path) -> Result<(), Stranger> {
    let real = path.canonicalize().map_err(|error| unknown(path, &error))?;
    let folders = [path, &real].into_iter().filter_map(|path| {
        let above = path.parent()?;
        Some(if above.as_os_str().is_empty() { Path::new(".") } else { above })
    });
    [real.as_path()].into_iter().chain(folders).try_for_each(check_one)
}

#[cfg(unix)]
fn check_one(path: &Path) -> Result<(), Stranger> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(path).map_err(|error| unknown(path, &error))?;
    let found = Found { owner: metadata.uid(), group: metadata.gid(), mode: metadata.mode() };
    let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    found.check(path, metadata.is_dir(), own)
}

/// This system does not say which account a file has.
#[cfg(not(unix))]
fn check_one(_path: &Path) -> Result<(), Stranger> {
    Ok(())
}

fn unknown(path: &Path, error: &std::io::Error) -> Stranger {
    Stranger::Unknown { path: path.to_owned(), why: error.to_string() }
}

/// The account that may do everything anyway.
#[cfg(unix)]
const ADMINISTRATOR: u32 = 0;
#[cfg(unix)]
const WRITABLE_BY_GROUP: u32 = 0o020;
#[cfg(unix)]
const WRITABLE_BY_ALL: u32 = 0o002;
/// In a folder with it, only the owner of a file removes or replaces it.
#[cfg(unix)]
const STICKY: u32 = 0o1000;

/// The owner and the mode of a file or a folder.
#[cfg(unix)]
struct Found {
    owner: u32,
    group: u32,
    mode: u32,
}

#[cfg(unix)]
impl Found {
    /// Checks it for an account and its first group, which on most systems no other account is in.
    fn check(&self, path: &Path, is_folder: bool, own: (u32, u32)) -> Result<(), Stranger> {
        let (account, group) = own;
        if self.owner != account && self.owner != ADMINISTRATOR {
            return Err(Stranger::Owner { path: path.to_owned(), owner: self.owner });
        }
        let by_group = self.mode & WRITABLE_BY_GROUP != 0
            && self.group != group
            && self.group != ADMINISTRATOR;
        let by_others = by_group || self.mode & WRITABLE_BY_ALL != 0;
        if by_others && !(is_folder && self.mode & STICKY != 0) {
            let mode = self.mode & 0o7777;
            return Err(Stranger::Writable { path: path.to_owned(), mode });
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
    fn who_may_write_is_oneself_or_the_administrator() {
        let own = (1_000, 1_000);
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
            let checked = Found { owner, group, mode }.check(Path::new("x"), is_folder, own);
            assert_eq!(checked.is_ok(), good, "{owner}:{group} {mode:o} {is_folder}");
        }
    }

    #[test]
    fn a_file_its_folder_and_what_a_link_leads_to_are_looked_at() {
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
            assert_eq!(check(path), Ok(()), "{}", path.display());
        }
        for (open, good) in [(&file, 0o644), (&folder, 0o755)] {
            set(open, 0o777);
            for path in [&file, &link] {
                let found = Stranger::Writable { path: open.canonicalize().unwrap(), mode: 0o777 };
                let checked = check(path).unwrap_err();
                assert_eq!(checked.to_string(), found.to_string(), "{}", path.display());
            }
            set(open, good);
        }
        set(&other, 0o777);
        assert!(check(&link).is_err() && check(&file).is_ok(), "the folder of the link");
        assert!(matches!(check(&folder.join("none")), Err(Stranger::Unknown { .. })));
    }
}
