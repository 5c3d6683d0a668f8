//! Reads files at a git revision without a checkout.

use std::path::Path;

use crate::git::{GitError, run_git};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Revision<'a> {
    /// A file at a revision, written as `REV:PATH`.
    File(&'a str),
    Commit(&'a str),
}

impl<'a> Revision<'a> {
    /// Returns [`GitError`] if the revision is empty or starts with `-`. Git would interpret a
    /// revision that starts with `-` as an option.
    pub(super) fn parse(revision: &'a str) -> Result<Self, GitError> {
        if revision.is_empty() || revision.starts_with('-') {
            let message = "not a valid revision".to_owned();
            return Err(GitError { revision: revision.to_owned(), message });
        }
        Ok(if revision.contains(':') { Self::File(revision) } else { Self::Commit(revision) })
    }
}

/// If `PATH` starts with `./`, it is relative to `folder`.
pub(super) fn read_file_at(folder: &Path, revision_and_path: &str) -> Result<String, GitError> {
    run_git(folder, revision_and_path, &["cat-file", "blob", revision_and_path])
}

/// Returns `None` if the file does not exist at that commit.
pub(super) fn read_file_in_folder_at(
    folder: &Path,
    commit: &str,
    file_name: &str,
) -> Result<Option<String>, GitError> {
    // Return an error if the commit does not exist.
    run_git(folder, commit, &["rev-parse", "--verify", &format!("{commit}^{{commit}}")])?;
    let listed_names =
        run_git(folder, commit, &["ls-tree", "--name-only", commit, "--", file_name])?;
    if listed_names.is_empty() {
        return Ok(None);
    }
    read_file_at(folder, &format!("{commit}:./{file_name}")).map(Some)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use cellar_stacks::template::limits::TEMPLATE_BYTES_MAX;

    use super::*;

    #[test]
    fn a_colon_separates_revision_and_file() {
        assert_eq!(Revision::parse("HEAD~2").unwrap(), Revision::Commit("HEAD~2"));
        assert_eq!(Revision::parse("main:a/b.json").unwrap(), Revision::File("main:a/b.json"));
        for bad in ["", "--output=x", "-"] {
            assert!(Revision::parse(bad).is_err(), "{bad}");
        }
    }

    fn run_as_user(folder: &Path, arguments: &[&str]) {
        let user = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let status = Command::new("git").arg("-C").arg(folder).args(user).args(arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }

    #[test]
    fn reads_files_at_a_commit() {
        let folder = tempfile::tempdir().unwrap();
        let (root, inner) = (folder.path(), folder.path().join("a"));
        std::fs::create_dir(&inner).unwrap();
        run_as_user(root, &["init", "--quiet"]);
        run_as_user(root, &["commit", "--quiet", "--allow-empty", "--message", "empty"]);
        std::fs::write(inner.join("cellar.yaml"), "stack: old\n").unwrap();
        run_as_user(root, &["add", "."]);
        run_as_user(root, &["commit", "--quiet", "--message", "one"]);
        std::fs::write(inner.join("cellar.yaml"), "stack: new\n").unwrap();
        let old = read_file_in_folder_at(&inner, "HEAD", "cellar.yaml").unwrap();
        assert_eq!(old.as_deref(), Some("stack: old\n"));
        assert_eq!(read_file_in_folder_at(&inner, "HEAD~1", "cellar.yaml").unwrap(), None);
        assert_eq!(read_file_at(root, "HEAD:a/cellar.yaml").unwrap(), "stack: old\n");
        for (object, message) in [("HEAD:none", "none"), ("HEAD:a", "HEAD:a"), ("x:y", "x")] {
            let error = read_file_at(root, object).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(read_file_in_folder_at(&inner, "nonsense", "cellar.yaml").is_err());
    }

    #[test]
    fn rejects_a_file_that_is_too_large() {
        let folder = tempfile::tempdir().unwrap();
        run_as_user(folder.path(), &["init", "--quiet"]);
        for (name, bytes) in [("fits", TEMPLATE_BYTES_MAX), ("more", TEMPLATE_BYTES_MAX + 1)] {
            std::fs::write(folder.path().join(name), " ".repeat(bytes)).unwrap();
        }
        run_as_user(folder.path(), &["add", "."]);
        run_as_user(folder.path(), &["commit", "--quiet", "--message", "large"]);
        assert_eq!(read_file_at(folder.path(), "HEAD:fits").unwrap().len(), TEMPLATE_BYTES_MAX);
        let error = read_file_at(folder.path(), "HEAD:more").unwrap_err().to_string();
        assert!(error.contains("more than 1000000 bytes"), "{error}");
    }
}
