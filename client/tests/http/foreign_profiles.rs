//! Folders from other people, with a profile that contains the URL of an untrusted API.

use std::path::Path;
use std::process::{Command, Output};

use cellar::profile::Profile;

use super::fake::Fake;

/// Returns a folder with a profile, such as a downloaded repository.
fn folder_with_profile(url: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    Profile::new(url).save(folder.path()).unwrap();
    folder
}

/// Runs `cellar list` with a token in the environment.
fn list(folder: &Path, url: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cellar"));
    for name in ["CELLAR_URL", "CELLAR_SPREADSHEET"] {
        command.env_remove(name);
    }
    command.env("CELLAR_TOKEN", "my-token").current_dir(folder).args(["head", "-s"]);
    command.arg("00000000-0000-4000-8000-000000000000");
    command.args(url.iter().flat_map(|url| ["--url", url])).output().unwrap()
}

#[test]
fn the_token_in_the_environment_is_not_sent_to_the_url_of_a_profile() {
    let stranger = Fake::start();
    let url = stranger.url.clone();
    let folder = folder_with_profile(&url);
    let refused = list(folder.path(), None);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{error}");
    assert!(error.contains("refused to send the token") && error.contains("--url"), "{error}");
    assert!(error.contains(&url) && !error.contains("my-token"), "{error}");
    assert_eq!(stranger.requests(), Vec::<String>::new());
    // The token is sent to a URL of an option.
    list(folder.path(), Some(&url));
    assert_eq!(stranger.requests(), ["GET head"]);
}

#[cfg(unix)]
#[test]
fn a_profile_that_others_can_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let stranger = Fake::start();
    let folder = folder_with_profile(&stranger.url);
    let open = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(Profile::path(folder.path()), open).unwrap();
    let refused = list(folder.path(), None);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("other accounts can write") && error.contains("chmod"), "{error}");
    assert_eq!(stranger.requests(), Vec::<String>::new());
}

#[test]
fn no_token_is_sent_over_an_unencrypted_connection() {
    let folder = tempfile::tempdir().unwrap();
    // An unused address: a request would time out with another error.
    let refused = list(folder.path(), Some("http://192.0.2.1"));
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{error}");
    assert!(error.contains("refused to send a token to http://192.0.2.1"), "{error}");
    assert!(error.contains("use https"), "{error}");
}
