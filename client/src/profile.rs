//! The profile stores the API URL, the token and the current spreadsheet of a project.
//!
//! The profile file is `.cellar/profile.json` in the working directory or in the nearest parent
//! directory that contains one. `synth deploy` creates the file. `cellar` reads it and updates the
//! current spreadsheet.

use std::path::{Path, PathBuf};

use cellar_base::identity::LogId;
use serde::{Deserialize, Serialize};

use crate::files::{FileError, FileLock, STATE_FOLDER, StateFile, read_json, write_json};
use crate::owner;

const FILE_NAME: &str = "profile.json";
const LOCK_NAME: &str = "profile.lock";

/// Contents of `.cellar/profile.json`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// URL of the API.
    pub url: String,
    /// Name of the stack, under which unsent edits are stored (see [`crate::Client::identity`]).
    /// Unlike the URL, the name does not change when a local stack uses another port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Stack name for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Bearer token. The token is not part of the `Debug` output, and the file mode protects it
    /// from other users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Token of the share link with which the current spreadsheet was selected. It is used for this
    /// spreadsheet, before the other token, and is not part of the `Debug` output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The current spreadsheet, which commands use if `-s` is not passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spreadsheet: Option<LogId>,
    /// Name of the current spreadsheet when it was last read, for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spreadsheet_name: Option<String>,
}

/// Returns whether two URLs are equal except for trailing slashes and surrounding whitespace.
#[must_use]
pub fn is_same_url(left: &str, right: &str) -> bool {
    without_trailing_slashes(left) == without_trailing_slashes(right)
}

/// Removes trailing slashes and surrounding whitespace.
pub(crate) fn without_trailing_slashes(url: &str) -> &str {
    url.trim().trim_end_matches('/')
}

/// Why a command cannot use the profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The user passed a token but no URL. The token was not sent to the URL in the profile,
    /// because that URL may be untrusted.
    #[error("refused to send the token to {url}, the URL in {}", path.display())]
    TokenWithoutUrl {
        /// Profile path.
        path: PathBuf,
        /// URL in the profile.
        url: String,
    },
}

impl std::fmt::Debug for Profile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Profile")
            .field("url", &self.url)
            .field("identity", &self.identity)
            .field("stack", &self.stack)
            .field("has_token", &self.token.is_some())
            .field("has_link", &self.link.is_some())
            .field("spreadsheet", &self.spreadsheet)
            .field("spreadsheet_name", &self.spreadsheet_name)
            .finish()
    }
}

impl Profile {
    /// Creates a profile with only a URL.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            identity: None,
            stack: None,
            token: None,
            link: None,
            spreadsheet: None,
            spreadsheet_name: None,
        }
    }

    /// Returns whether two profiles have the same URL or the same identity.
    #[cfg(feature = "cli")]
    pub(crate) fn is_of_same_stack(&self, other: &Self) -> bool {
        let identity = self.identity.as_deref().filter(|identity| !identity.is_empty());
        let is_same_identity = identity.is_some() && identity == other.identity.as_deref();
        is_same_identity || is_same_url(&self.url, &other.url)
    }

    /// Finds the profile in `start_dir` or in the nearest parent directory that contains one. Also
    /// returns the directory in which it was found, which [`Profile::save`] requires.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the nearest profile cannot be read, is malformed, or can be
    /// changed by another user. The search does not continue after an invalid profile.
    pub fn find(start_dir: &Path) -> Result<Option<(PathBuf, Self)>, FileError> {
        for directory in start_dir.ancestors() {
            if let Some(profile) = Self::read(directory)? {
                return Ok(Some((directory.to_owned(), profile)));
            }
        }
        Ok(None)
    }

    /// Reads the profile in `dir`. Parent directories are not searched.
    ///
    /// # Errors
    ///
    /// Returns a [`FileError`] if the profile cannot be read, is malformed, or can be changed by
    /// another user.
    pub fn read(dir: &Path) -> Result<Option<Self>, FileError> {
        let path = Self::path(dir);
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(source) => return Err(FileError::Unreadable { path, source }),
        }
        // Check the owner before opening the file, because another user may have created a pipe at
        // this path, and reading it would block.
        if let Err(untrusted) = owner::check_trusted(&path) {
            return Err(FileError::Foreign { path, untrusted });
        }
        read_json(&path, StateFile::Profile)
    }

    /// Finds the profile for a command whose user may also have passed a URL and a token as options
    /// or in the environment.
    ///
    /// A profile may be part of a downloaded directory, so the user's token is never sent to the
    /// profile's URL. If the user has passed a URL, an untrusted profile is ignored.
    ///
    /// # Errors
    ///
    /// Returns [`ProfileError::TokenWithoutUrl`] if the user passed a token without a URL, or
    /// [`ProfileError::File`] if [`Profile::find`] fails.
    pub fn for_command(
        start_dir: &Path,
        user_url: Option<&str>,
        user_token: Option<&str>,
    ) -> Result<Option<(PathBuf, Self)>, ProfileError> {
        let nearest_profile = match Self::find(start_dir) {
            Err(FileError::Foreign { .. }) if user_url.is_some() => None,
            result => result?,
        };
        if let Some((directory, profile)) = &nearest_profile
            && user_url.is_none()
            && user_token.is_some_and(|user_token| profile.token.as_deref() != Some(user_token))
        {
            let path = Self::path(directory);
            let url = crate::text::escape(&profile.url);
            return Err(ProfileError::TokenWithoutUrl { path, url });
        }
        Ok(nearest_profile)
    }

    /// Writes the profile to `dir/.cellar/profile.json` atomically. On Unix, only the owner can
    /// read the file.
    ///
    /// # Errors
    ///
    /// Returns [`FileError::Unwritable`] if the file cannot be written.
    pub fn save(&self, dir: &Path) -> Result<(), FileError> {
        write_json(&Self::path(dir), self)
    }

    /// Calls `change` with the profile in `dir`, and writes and returns the profile that it returns, if
    /// any. No other update runs in the meantime, so none is lost: `synth deploy` changes the URL and
    /// the token, and `cellar` the current spreadsheet.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Profile::read`] and [`Profile::save`], or [`FileError::Unwritable`] if
    /// the profile cannot be locked.
    pub fn update(
        dir: &Path,
        change: impl FnOnce(Option<Self>) -> Option<Self>,
    ) -> Result<Option<Self>, FileError> {
        let lock_path = dir.join(STATE_FOLDER).join(LOCK_NAME);
        let lock = FileLock::acquire(&lock_path)?;
        let updated = Self::read(dir).map(change).and_then(|profile| {
            profile.iter().try_for_each(|profile| profile.save(dir))?;
            Ok(profile)
        });
        lock.release_and_delete(&lock_path);
        updated
    }

    /// Returns the profile path in a directory.
    #[must_use]
    pub fn path(dir: &Path) -> PathBuf {
        dir.join(STATE_FOLDER).join(FILE_NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        Profile {
            url: "http://127.0.0.1:8080".into(),
            identity: Some("local-1".into()),
            stack: Some("local".into()),
            token: Some("very-secret".into()),
            link: Some("very-secret-link".into()),
            spreadsheet: Some(LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]))),
            spreadsheet_name: Some("Budget".into()),
        }
    }

    #[test]
    fn finds_the_nearest_profile() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        profile().save(root.path()).unwrap();
        let (found_in, found) = Profile::find(&deep).unwrap().unwrap();
        assert_eq!((found_in.as_path(), found), (root.path(), profile()));

        let nearer = Profile::new("https://example.com");
        nearer.save(&root.path().join("a/b")).unwrap();
        let (found_in, found) = Profile::find(&deep).unwrap().unwrap();
        assert_eq!((found_in, found), (root.path().join("a/b"), nearer));
    }

    #[test]
    fn no_update_is_lost() {
        let root = tempfile::tempdir().unwrap();
        let rename = |current: Option<Profile>| {
            let profile = current.unwrap_or_else(|| Profile::new("http://h"));
            let name = profile.spreadsheet_name.clone().unwrap_or_default() + "x";
            Some(Profile { spreadsheet_name: Some(name), ..profile })
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        Profile::update(root.path(), rename).unwrap();
                    }
                });
            }
        });
        let profile = Profile::read(root.path()).unwrap().unwrap();
        assert_eq!(profile.spreadsheet_name.unwrap().len(), 100);
        assert!(Profile::update(root.path(), |_| None).unwrap().is_none());
        let lock_path = root.path().join(STATE_FOLDER).join(LOCK_NAME);
        assert!(cfg!(not(unix)) || !lock_path.exists());
    }

    #[test]
    fn a_profile_without_an_identity_is_read_and_written_without_one() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join(STATE_FOLDER)).unwrap();
        std::fs::write(Profile::path(root.path()), r#"{"url":"http://h"}"#).unwrap();
        let (_, read) = Profile::find(root.path()).unwrap().unwrap();
        assert_eq!(read, Profile::new("http://h"));
        read.save(root.path()).unwrap();
        let written = std::fs::read_to_string(Profile::path(root.path())).unwrap();
        assert!(!written.contains("identity"), "{written}");
    }

    #[test]
    fn a_malformed_profile_is_an_error_and_not_skipped() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("inner");
        profile().save(root.path()).unwrap();
        for text in ["", "{}", "[1]", r#"{"url":"http://h","tokn":"x"}"#, r#"{"url":1}"#] {
            std::fs::create_dir_all(inner.join(STATE_FOLDER)).unwrap();
            std::fs::write(Profile::path(&inner), text).unwrap();
            let error = Profile::find(&inner).unwrap_err();
            assert!(matches!(error, FileError::Malformed { .. }), "{text}");
            assert!(error.to_string().contains("profile.json"));
        }
    }

    #[test]
    fn a_passed_token_is_sent_to_a_passed_url_only() {
        let root = tempfile::tempdir().unwrap();
        let of = |url, token| Profile::for_command(root.path(), url, token);
        assert!(of(None, Some("mine")).unwrap().is_none(), "without a URL, no token is sent");
        profile().save(root.path()).unwrap();
        for (url, token, used) in [
            (None, None, true),
            (None, Some("very-secret"), true),
            (None, Some("mine"), false),
            (Some("http://127.0.0.1:8080"), Some("mine"), true),
            (Some("https://example.com"), Some("mine"), true),
            (Some("https://example.com"), None, true),
        ] {
            match of(url, token) {
                Ok(found) => assert!(used && found.unwrap().1 == profile(), "{url:?} {token:?}"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(!used && matches!(error, ProfileError::TokenWithoutUrl { .. }));
                    assert!(text.contains("profile.json") && text.contains("127.0.0.1:8080"));
                    assert!(!text.contains("mine"), "{text}");
                }
            }
        }
        Profile { token: None, ..profile() }.save(root.path()).unwrap();
        assert!(of(None, Some("mine")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn an_untrusted_profile_is_refused_or_ignored_with_a_url() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        profile().save(root.path()).unwrap();
        let path = Profile::path(root.path());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        let error = Profile::find(root.path()).unwrap_err();
        assert!(matches!(error, FileError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains("other accounts can write"), "{error}");
        assert!(Profile::for_command(root.path(), None, None).is_err());
        let with_url = Profile::for_command(root.path(), Some("https://example.com"), None);
        assert!(with_url.unwrap().is_none());
    }

    #[test]
    fn the_token_is_not_in_debug_output_and_the_file_is_private() {
        assert!(!format!("{:?}", profile()).contains("very-secret"));
        let root = tempfile::tempdir().unwrap();
        profile().save(root.path()).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(Profile::path(root.path())).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
