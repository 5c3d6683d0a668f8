//! Files as they were at a revision of git. Nothing is checked out: git only prints them.

use std::path::Path;

use crate::error::SynthError;
use crate::git::git;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Revision<'a> {
    /// `REV:PATH`, as git writes it: a file at a revision.
    File(&'a str),
    /// `REV`.
    Commit(&'a str),
}

impl<'a> Revision<'a> {
    /// From the command line. What begins with `-` would be an option of git.
    pub(super) fn parse(text: &'a str) -> Result<Self, SynthError> {
        let is_option = text.is_empty() || text.starts_with('-');
        match text.split_once(':') {
            _ if is_option => Err(SynthError::Revision {
                revision: text.to_owned(),
                message: "it is no name of a revision".to_owned(),
            }),
            Some(_) => Ok(Self::File(text)),
            None => Ok(Self::Commit(text)),
        }
    }
}

/// The file `object`, which is `REV:PATH`; `./` in it is `folder`.
pub(super) fn read(folder: &Path, object: &str) -> Result<String, SynthError> {
    git(folder, object, &["cat-file", "blob", object])
}

/// A file in `folder` as it was at a revision; `None` if it was not there.
pub(super) fn read_beside(
    folder: &Path,
    commit: &str,
    name: &str,
) -> Result<Option<String>, SynthError> {
    git(folder, commit, &["rev-parse", "--verify", &format!("{commit}^{{commit}}")])?;
    let listed = git(folder, commit, &["ls-tree", "--name-only", commit, "--", name])?;
    if listed.is_empty() {
        return Ok(None);
    }
    read(folder, &format!("{commit}:./{name}")).map(Some)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use cellar_stacks::template::limits::TEMPLATE_BYTES_MAX;

    use super::*;

    #[test]
    fn a_colon_tells_files_from_revisions() {
        assert_eq!(Revision::parse("HEAD~2").unwrap(), Revision::Commit("HEAD~2"));
        assert_eq!(Revision::parse("main:a/b.json").unwrap(), Revision::File("main:a/b.json"));
        for bad in ["", "--output=x", "-"] {
            assert!(Revision::parse(bad).is_err(), "{bad}");
        }
    }

    fn run(folder: &Path, arguments: &[&str]) {
        let user = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let status = Command::new("git").arg("-C").arg(folder).args(user).args(arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }

    #[test]
    fn files_are_read_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let (root, inner) = (folder.path(), folder.path().join("a"));
        std::fs::create_dir(&inner).unwrap();
        run(root, &["init", "--quiet"]);
        run(root, &["commit", "--quiet", "--allow-empty", "--message", "empty"]);
        std::fs::write(inner.join("cellar.yaml"), "stack: old\n").unwrap();
        run(root, &["add", "."]);
        run(root, &["commit", "--quiet", "--message", "one"]);
        std::fs::write(inner.join("cellar.yaml"), "stack: new\n").unwrap();
        let old = read_beside(&inner, "HEAD", "cellar.yaml").unwrap();
        assert_eq!(old.as_deref(), Some("stack: old\n"));
        assert_eq!(read_beside(&inner, "HEAD~1", "cellar.yaml").unwrap(), None);
        assert_eq!(read(root, "HEAD:a/cellar.yaml").unwrap(), "stack: old\n");
        for (object, message) in [("HEAD:none", "none"), ("HEAD:a", "HEAD:a"), ("x:y", "x")] {
            let error = read(root, object).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(read_beside(&inner, "nonsense", "cellar.yaml").is_err());
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &["init", "--quiet"]);
        for (name, bytes) in [("fits", TEMPLATE_BYTES_MAX), ("more", TEMPLATE_BYTES_MAX + 1)] {
            std::fs::write(folder.path().join(name), " ".repeat(bytes)).unwrap();
        }
        run(folder.path(), &["add", "."]);
        run(folder.path(), &["commit", "--quiet", "--message", "large"]);
        assert_eq!(read(folder.path(), "HEAD:fits").unwrap().len(), TEMPLATE_BYTES_MAX);
        let error = read(folder.path(), "HEAD:more").unwrap_err().to_string();
        assert!(error.contains("more than 1000000 bytes"), "{error}");
    }
}
