//! The tokens that `cellar login` saves, one per stack, in a file in the user's configuration
//! folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::{FileError, FileLock, StateFile, create_private_folder, read_json, write_json};
use crate::owner;
use crate::profile::without_trailing_slashes;

const FOLDER: &str = "cellar";
const FILE: &str = "tokens.json";
const LOCK: &str = "tokens.lock";
/// Environment variable with the absolute path of the user's configuration folder.
const CONFIG_VARIABLE: &str = "XDG_CONFIG_HOME";
const DEFAULT_CONFIG_FOLDER: &str = ".config";

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Logins {
    /// URL of the most recent login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// Tokens, keyed by URL without a trailing slash.
    #[serde(default)]
    tokens: BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) url: String,
    pub(super) token: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Login").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Logins {
    /// Returns the path of the file, or `None` if the user has no home folder.
    pub(super) fn default_path() -> Option<PathBuf> {
        let configured = std::env::var_os(CONFIG_VARIABLE).map(PathBuf::from);
        let config_folder = match configured.filter(|folder| folder.is_absolute()) {
            Some(folder) => folder,
            None => std::env::home_dir()?.join(DEFAULT_CONFIG_FOLDER),
        };
        Some(config_folder.join(FOLDER).join(FILE))
    }

    /// Reads the logins. Returns none if the file does not exist.
    pub(super) fn read(path: &Path) -> Result<Self, FileError> {
        if !path.exists() {
            return Ok(Self::default());
        }
        owner::check_trusted(path)
            .map_err(|untrusted| FileError::Foreign { path: path.to_owned(), untrusted })?;
        Ok(read_json(path, StateFile::Logins)?.unwrap_or_default())
    }

    /// Reads the logins, changes them and writes them back. Waits while another process changes
    /// them.
    pub(super) fn change<T>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, FileError> {
        create_private_folder(crate::file_target::parent_folder(path))?;
        let _lock = FileLock::acquire(&path.with_file_name(LOCK))?;
        let mut logins = Self::read(path)?;
        let result = change(&mut logins);
        write_json(path, &logins)?;
        Ok(result)
    }

    /// Returns the login for the stack at `url`, or the most recent login if `url` is `None`.
    pub(super) fn find(&self, url: Option<&str>) -> Option<Login> {
        let url = without_trailing_slashes(url.or(self.last.as_deref())?).to_owned();
        let token = self.tokens.get(&url)?.clone();
        Some(Login { url, token })
    }

    pub(super) fn insert(&mut self, url: &str, token: &str) {
        let url = without_trailing_slashes(url).to_owned();
        self.last = Some(url.clone());
        self.tokens.insert(url, token.to_owned());
    }

    /// Removes the login for the stack at `url`, or the most recent login if `url` is `None`.
    /// Returns the URL of the removed login.
    pub(super) fn remove(&mut self, url: Option<&str>) -> Option<String> {
        let Login { url, .. } = self.find(url)?;
        self.tokens.remove(&url);
        if self.last.as_ref() == Some(&url) {
            self.last = None;
        }
        Some(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(logins: &Logins, url: Option<&str>) -> Option<(String, String)> {
        logins.find(url).map(|login| (login.url, login.token))
    }

    #[test]
    fn each_url_has_one_token() {
        let mut logins = Logins::default();
        assert_eq!(found(&logins, None), None);
        logins.insert("https://one/", "a");
        logins.insert("https://two", "b");
        logins.insert("https://one", "c");
        let one = Some(("https://one".to_owned(), "c".to_owned()));
        assert_eq!(
            (found(&logins, Some("https://one//")), found(&logins, None)),
            (one.clone(), one)
        );
        assert_eq!(logins.remove(Some("https://three")), None);
        assert_eq!(logins.remove(None).as_deref(), Some("https://one"));
        assert_eq!((logins.remove(None), found(&logins, None)), (None, None), "no last login");
        assert_eq!(logins.remove(Some("https://two/")).as_deref(), Some("https://two"));
        assert!(
            !format!("{:?}", Login { url: "u".into(), token: "secret".into() }).contains("secret")
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_file_and_its_folder_are_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("config").join(FOLDER).join(FILE);
        let folder = path.parent().unwrap();
        std::fs::create_dir_all(folder).unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        Logins::change(&path, |logins| logins.insert("https://one", "a")).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(folder), mode(&path)), (0o700, 0o600));
        assert_eq!(Logins::read(&path).unwrap().find(None).unwrap().token, "a");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(Logins::read(&path), Err(FileError::Foreign { .. })));
    }

    #[test]
    fn a_malformed_file_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(FILE);
        assert!(Logins::read(&path).unwrap().find(None).is_none());
        std::fs::write(&path, "{\"token\": 1}").unwrap();
        let malformed = Logins::read(&path).err();
        assert!(matches!(malformed, Some(FileError::Malformed { .. })), "{malformed:?}");
    }
}
