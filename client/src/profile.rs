//! The profile: where the API is, how to get in, and the current spreadsheet.
//!
//! `deploy` writes it, `cellar` reads it and remembers the current spreadsheet in it. It is the
//! file `.cellar/profile.json`, found upwards from the working directory.

use std::path::{Path, PathBuf};

use cellar_base::identity::LogId;
use serde::{Deserialize, Serialize};

use crate::files::{FileError, STATE_FOLDER, read_json, write_json};
use crate::owner;

/// The profile's file name, in the state folder.
const FILE_NAME: &str = "profile.json";

/// What `.cellar/profile.json` holds.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The API's URL.
    pub url: String,
    /// A stable name of the cloud, which a local cloud keeps when its port changes; `deploy`
    /// writes it. What is still to be sent is kept under this name, see [`crate::Client::identity`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// The name of the stack, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// The bearer token. Kept from `Debug` output, and from other users by the file's mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The current spreadsheet: what commands without `-s` are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spreadsheet: Option<LogId>,
}

/// Whether both are the URL of the same API: one may have been typed without its slash.
#[must_use]
pub fn same_api(left: &str, right: &str) -> bool {
    let bare = |url: &str| url.trim().trim_end_matches('/').to_owned();
    bare(left) == bare(right)
}

/// Why a command has no profile to begin with.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ProfileError {
    /// The file cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// A token was given without the URL that it is for.
    #[error("the token was not sent: only {} says that it is for {url}", path.display())]
    #[diagnostic(
        code(cellar::token_without_url),
        help(
            "if you trust that URL, give it beside the token: --url {url} (or CELLAR_URL); to use the \
             profile's own token, leave out --token and unset CELLAR_TOKEN"
        )
    )]
    TokenWithoutUrl {
        /// The profile.
        path: PathBuf,
        /// The profile's URL.
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
            .field("spreadsheet", &self.spreadsheet)
            .finish()
    }
}

impl Profile {
    /// A profile with nothing but a URL.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), identity: None, stack: None, token: None, spreadsheet: None }
    }

    /// The nearest profile from `start_dir` upwards, and the directory whose `.cellar/` it is in:
    /// what [`Profile::save`] takes.
    ///
    /// # Errors
    /// [`FileError`] if the nearest one cannot be read, is malformed, or may be written by another
    /// account: it is never skipped.
    pub fn find(start_dir: &Path) -> Result<Option<(PathBuf, Self)>, FileError> {
        for directory in start_dir.ancestors() {
            if let Some(profile) = Self::read(directory)? {
                return Ok(Some((directory.to_owned(), profile)));
            }
        }
        Ok(None)
    }

    /// The profile of this very directory.
    ///
    /// # Errors
    /// [`FileError`] as [`Profile::find`].
    pub fn read(dir: &Path) -> Result<Option<Self>, FileError> {
        let path = Self::path(dir);
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(source) => return Err(FileError::Unreadable { path, source }),
        }
        // Before it is opened: another account may have put a pipe there, which never ends.
        if let Err(stranger) = owner::check(&path) {
            return Err(FileError::Foreign { path, stranger });
        }
        let advice = "correct it or delete it; `cargo run -p synth -- deploy` (or \
                      `deploy --local`) writes a new one";
        read_json(&path, advice)
    }

    /// The nearest profile, for a command that was given a URL, a token, both or neither.
    ///
    /// A token goes only where its owner sends it. A profile may come with a folder from a stranger, so
    /// its URL gets no token but the profile's own.
    ///
    /// # Errors
    /// [`ProfileError::TokenWithoutUrl`] if a token without a URL would go to the profile's URL;
    /// [`ProfileError::File`] as [`Profile::find`], but with a URL another account's profile is passed
    /// over.
    pub fn for_command(
        start_dir: &Path,
        given_url: Option<&str>,
        given_token: Option<&str>,
    ) -> Result<Option<(PathBuf, Self)>, ProfileError> {
        let found = match Self::find(start_dir) {
            Err(FileError::Foreign { .. }) if given_url.is_some() => None,
            found => found?,
        };
        match &found {
            Some((directory, profile))
                if given_url.is_none()
                    && given_token.is_some_and(|given| profile.token.as_deref() != Some(given)) =>
            {
                let (path, url) = (Self::path(directory), crate::table::escape(&profile.url));
                Err(ProfileError::TokenWithoutUrl { path, url })
            }
            _ => Ok(found),
        }
    }

    /// Writes the profile to `dir/.cellar/profile.json`: the old or the new one is there, whole,
    /// whatever happens; on Unix with mode 0600.
    ///
    /// # Errors
    /// [`FileError::Unwritable`].
    pub fn save(&self, dir: &Path) -> Result<(), FileError> {
        write_json(&Self::path(dir), self)
    }

    /// Where the profile of a directory is.
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
            spreadsheet: Some(LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]))),
        }
    }

    #[test]
    fn the_nearest_profile_upwards_is_found() {
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
    fn a_given_token_goes_to_a_given_url_only() {
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
    fn a_profile_that_others_may_write_is_refused_and_with_a_url_passed_over() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        profile().save(root.path()).unwrap();
        let path = Profile::path(root.path());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        let error = Profile::find(root.path()).unwrap_err();
        assert!(matches!(error, FileError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains("other accounts may write"), "{error}");
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
