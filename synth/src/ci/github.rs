//! Names of repositories on GitHub.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::git::run_git;

/// Limits of GitHub.
const OWNER_CHARS_MAX: usize = 39;
const NAME_CHARS_MAX: usize = 100;
/// Forms of a remote's URL before `OWNER/NAME`.
const REMOTE_PREFIXES: [&str; 5] = [
    "https://github.com/",
    "http://github.com/",
    "ssh://git@github.com/",
    "git://github.com/",
    "git@github.com:",
];

/// A repository on GitHub, such as `octocat/sheets`. The text contains no character that has a
/// meaning in YAML, a shell or a GitHub expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GithubRepository(String);

impl GithubRepository {
    /// Returns `None` if the repository has no remote `origin` on GitHub.
    pub(crate) fn of_origin(folder: &Path) -> Option<Self> {
        let url = run_git(folder, "origin", &["remote", "get-url", "origin"]).ok()?;
        Self::of_remote(url.trim())
    }

    fn of_remote(url: &str) -> Option<Self> {
        let path = REMOTE_PREFIXES.iter().find_map(|prefix| url.strip_prefix(prefix))?;
        let path = path.trim_end_matches('/');
        path.strip_suffix(".git").unwrap_or(path).parse().ok()
    }
}

impl FromStr for GithubRepository {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/') {
            Some((owner, name)) if is_owner(owner) && is_name(name) => Ok(Self(text.to_owned())),
            _ => Err(format!("{text:?} is not a repository on GitHub such as octocat/sheets")),
        }
    }
}

impl fmt::Display for GithubRepository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_owner(text: &str) -> bool {
    (1..=OWNER_CHARS_MAX).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=NAME_CHARS_MAX).contains(&text.len())
        && ![".", ".."].contains(&text)
        && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_on_github_are_recognized() {
        for url in [
            "https://github.com/octocat/my.sheets",
            "https://github.com/octocat/my.sheets.git",
            "https://github.com/octocat/my.sheets/",
            "git@github.com:octocat/my.sheets.git",
            "ssh://git@github.com/octocat/my.sheets.git",
        ] {
            let repository = GithubRepository::of_remote(url).unwrap();
            assert_eq!(repository.to_string(), "octocat/my.sheets", "{url}");
        }
        for url in [
            "",
            "/srv/git/sheets",
            "https://gitlab.com/octocat/sheets",
            "https://github.com.example/octocat/sheets",
            "https://github.com/octocat",
            "https://github.com/octocat/sheets/wiki",
        ] {
            assert_eq!(GithubRepository::of_remote(url), None, "{url}");
        }
    }

    #[test]
    fn names_are_bounded_and_have_no_special_characters() {
        let parse = |text: &str| text.parse::<GithubRepository>();
        let (owner, name) = ("o".repeat(OWNER_CHARS_MAX), "n".repeat(NAME_CHARS_MAX));
        assert!(parse(&format!("{owner}/{name}")).is_ok());
        assert!(parse(&format!("{owner}o/{name}")).is_err());
        assert!(parse(&format!("{owner}/{name}n")).is_err());
        for bad in
            ["", "a", "/a", "a/", "-a/b", "a/..", "a/b/c", "a/b c", "a/${{x}}", "a\n/b", "é/b"]
        {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
