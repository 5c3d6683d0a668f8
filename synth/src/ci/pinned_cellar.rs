//! The commit of Cellar that the workflows of another repository build.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use super::REVISION_FILE;
use super::github::GithubRepository;
use crate::error::SynthError;
use crate::git::{Commit, checked_out_commit};
use crate::sources::source_folder;

/// Digits of a full commit id. GitHub checks out no commit by a shorter one.
const REVISION_DIGITS: usize = 40;

/// A commit of a Cellar repository, such as `octocat/cellar@0123…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PinnedCellar {
    pub(crate) repository: GithubRepository,
    /// Full commit id: 40 lower-case hexadecimal digits.
    pub(crate) revision: String,
}

impl PinnedCellar {
    /// The repository is the remote `origin` of the checkout that built this program. The revision
    /// is the one that the repository at `root` has already pinned, or else the checked out commit.
    /// Also returns a note about a choice that may be wrong.
    ///
    /// # Errors
    ///
    /// Returns [`SynthError::UnknownCellar`] if this checkout does not exist, has no commit, or has
    /// no `origin` on GitHub.
    pub(crate) fn of_this_checkout(root: &Path) -> Result<(Self, String), SynthError> {
        let checkout = source_folder();
        // A parent directory may belong to another repository.
        let commit =
            if checkout.join(".git").exists() { checked_out_commit(&checkout) } else { None };
        let Some(Commit { id, changed }) = commit else {
            return Err(SynthError::UnknownCellar {
                missing: "is no checkout with git",
                commit: None,
            });
        };
        let Some(repository) = GithubRepository::of_origin(&checkout) else {
            let missing = "has no remote `origin` on GitHub";
            return Err(SynthError::UnknownCellar { missing, commit: Some(id) });
        };
        let pinned_revision = read_revision(root);
        let is_new = pinned_revision.is_none();
        let pinned = Self { repository, revision: pinned_revision.unwrap_or(id) };
        let note = note_on_choice(&pinned, is_new, changed);
        Ok((pinned, note))
    }
}

fn note_on_choice(pinned: &PinnedCellar, is_new: bool, has_changes: bool) -> String {
    if !is_new {
        return format!("The workflows build {pinned}, as before. To change it, pass --cellar.");
    }
    let changes = if has_changes { ", without its uncommitted changes" } else { "" };
    format!(
        "The workflows build {pinned}, the commit from which this command was built{changes}. It must \
         exist on GitHub. To build another one, pass --cellar."
    )
}

/// Returns `None` if the file does not exist or contains no revision.
fn read_revision(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join(REVISION_FILE)).ok()?;
    let revision = text.trim_end();
    is_revision(revision).then(|| revision.to_owned())
}

fn is_revision(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == REVISION_DIGITS && text.bytes().all(is_digit)
}

impl FromStr for PinnedCellar {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (repository, revision) =
            text.split_once('@').ok_or("expected OWNER/NAME@COMMIT, with a full commit id")?;
        if !is_revision(revision) {
            return Err(format!(
                "{revision:?} is not a full commit id: {REVISION_DIGITS} digits from 0 to 9 and a to f, as \
                 printed by `git rev-parse HEAD`"
            ));
        }
        Ok(Self { repository: repository.parse()?, revision: revision.to_owned() })
    }
}

impl fmt::Display for PinnedCellar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.repository, self.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_commit_id_is_accepted() {
        let parse = |text: &str| text.parse::<PinnedCellar>();
        let id = "0123abcd".repeat(5);
        let short_id = id.split_at(1).1;
        let text = format!("octocat/cellar@{id}");
        assert_eq!(parse(&text).unwrap().to_string(), text);
        for bad in [
            "octocat/cellar".to_owned(),
            "octocat/cellar@main".to_owned(),
            format!("octocat/cellar@{id}0"),
            format!("octocat/cellar@{}", short_id),
            format!("octocat/cellar@{}", id.to_uppercase()),
            format!("octocat/cellar@{}\n", short_id),
            format!("cellar@{id}"),
        ] {
            assert!(parse(&bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_unknown_repository_is_named_by_an_option_with_the_known_commit() {
        let help = |commit: Option<&str>| {
            let commit = commit.map(str::to_owned);
            let missing = "has no remote `origin` on GitHub";
            let error = SynthError::UnknownCellar { missing, commit };
            miette::Diagnostic::help(&error).unwrap().to_string()
        };
        let id = "a".repeat(REVISION_DIGITS);
        assert!(help(Some(&id)).ends_with(&format!("synth ci init --cellar OWNER/NAME@{id}")));
        assert!(help(None).contains("--cellar OWNER/NAME@COMMIT"));
    }

    #[test]
    fn a_pinned_revision_is_kept() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(read_revision(root.path()), None);
        fs::create_dir(root.path().join(".github")).unwrap();
        let id = "a".repeat(REVISION_DIGITS);
        for (text, expected) in [(format!("{id}\n"), Some(id)), ("main\n".to_owned(), None)] {
            fs::write(root.path().join(REVISION_FILE), text).unwrap();
            assert_eq!(read_revision(root.path()), expected);
        }
    }

    #[test]
    fn the_note_tells_what_the_commit_lacks() {
        let pinned: PinnedCellar = format!("a/b@{}", "0".repeat(40)).parse().unwrap();
        assert!(note_on_choice(&pinned, true, true).contains("without its uncommitted changes"));
        assert!(!note_on_choice(&pinned, true, false).contains("uncommitted"));
        assert!(note_on_choice(&pinned, false, true).contains("as before"));
    }
}
