//! Creates clients from environment variables or a profile.

use std::path::{Path, PathBuf};

use crate::profile::{Profile, ProfileError, is_same_url};
use crate::{Client, ClientError};

const URL_VARIABLE: &str = "CELLAR_URL";
const TOKEN_VARIABLE: &str = "CELLAR_TOKEN";

/// Reason why a client cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The API URL is set neither in the environment nor in a profile.
    #[error("no API URL is configured: CELLAR_URL is not set, and .cellar/profile.json was not found from {} on", dir.display())]
    NoUrl {
        /// The directory in which the search for a profile has started.
        dir: PathBuf,
    },
    /// The working directory cannot be determined.
    #[error("cannot determine the working directory: {0}")]
    WorkingDirectory(std::io::Error),
    /// The profile cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The URL or the token is invalid.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl Client {
    /// Creates a client from the environment variables `CELLAR_URL` and `CELLAR_TOKEN` or from the
    /// profile. The variables take precedence. No request is sent.
    ///
    /// `synth deploy` writes the profile to `.cellar/profile.json`. It is searched for in the
    /// working directory and then in the parent directories. The directory in which it is found
    /// becomes the client's folder ([`Client::with_folder`]). Without a profile, the working
    /// directory becomes the client's folder.
    ///
    /// # Errors
    ///
    /// Returns a [`ConnectError`] if no URL is configured, or if the profile, the URL or the token
    /// cannot be used.
    pub fn from_env() -> Result<Self, ConnectError> {
        let dir = std::env::current_dir().map_err(ConnectError::WorkingDirectory)?;
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        connect(&dir, variable(URL_VARIABLE).as_deref(), variable(TOKEN_VARIABLE).as_deref())
    }

    /// Creates a client from the profile in `dir` or in the nearest parent directory that contains
    /// one. Environment variables are ignored. No request is sent.
    ///
    /// # Errors
    ///
    /// Returns a [`ConnectError`] if there is no profile, or if it cannot be used.
    pub fn from_profile(dir: impl AsRef<Path>) -> Result<Self, ConnectError> {
        connect(dir.as_ref(), None, None)
    }
}

/// The user's values take precedence over the profile. The profile's token is never sent to a URL
/// other than the profile's.
fn connect(dir: &Path, url: Option<&str>, token: Option<&str>) -> Result<Client, ConnectError> {
    let (folder, profile) = match Profile::for_command(dir, url, token)? {
        Some((folder, profile)) => (folder, Some(profile)),
        None => (dir.to_owned(), None),
    };
    let matching_profile = profile.filter(|profile| match url {
        Some(url) => is_same_url(&profile.url, url),
        None => true,
    });
    let client = match (matching_profile, url) {
        (Some(profile), url) => {
            let url_or_default = url.unwrap_or(&profile.url);
            let token_or_default = token.or(profile.token.as_deref());
            let client = Client::new(url_or_default, token_or_default)?;
            client.with_identity(profile.identity.as_deref())
        }
        (None, Some(url)) => Client::new(url, token)?,
        (None, None) => return Err(ConnectError::NoUrl { dir: dir.to_owned() }),
    };
    Ok(client.with_folder(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved_profile() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut profile = Profile::new("http://127.0.0.1:1");
        profile.token = Some("of-the-profile".into());
        profile.identity = Some("local-1".into());
        profile.save(folder.path()).unwrap();
        folder
    }

    #[test]
    fn the_profile_is_used_for_its_own_url() {
        let folder = saved_profile();
        let with_token =
            |token| Client::new("http://127.0.0.1:1", token).unwrap().subject().to_owned();
        let client = Client::from_profile(folder.path()).unwrap();
        assert_eq!((client.url(), client.identity()), ("http://127.0.0.1:1", "local-1"));
        assert_eq!(client.subject(), with_token(Some("of-the-profile")));
        assert_eq!(client.folder().unwrap(), folder.path());
        let other = connect(folder.path(), Some("http://127.0.0.1:2"), None).unwrap();
        assert_eq!((other.url(), other.identity()), ("http://127.0.0.1:2", "http://127.0.0.1:2"));
        assert_eq!(other.subject(), with_token(None));
    }

    #[test]
    fn a_missing_url_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = Client::from_profile(folder.path()).unwrap_err();
        assert!(matches!(error, ConnectError::NoUrl { .. }), "{error}");
        let refused = connect(saved_profile().path(), None, Some("mine")).unwrap_err();
        assert!(matches!(refused, ConnectError::Profile(_)), "{refused}");
    }
}
