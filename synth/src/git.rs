//! Reads from the git repository of a project.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use cellar_stacks::template::limits::TEMPLATE_BYTES_MAX;
use miette::Diagnostic;
use serde::{Deserialize, Serialize};

#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("cannot read {revision:?} from git: {message}")]
#[diagnostic(
    code(synth::revision),
    help("pass a revision such as main, or a file in a revision such as main:infra/template.json")
)]
pub(crate) struct GitError {
    pub(crate) revision: String,
    pub(crate) message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Commit {
    pub(crate) id: String,
    /// Whether tracked files have uncommitted changes.
    pub(crate) changed: bool,
}

/// Returns `None` if the directory is in no repository or if git is not installed.
pub(crate) fn checked_out_commit(folder: &Path) -> Option<Commit> {
    let id = run_git(folder, "HEAD", &["rev-parse", "--verify", "HEAD^{commit}"]).ok()?;
    let status_arguments = ["status", "--porcelain", "--untracked-files=no"];
    let changes = run_git(folder, "HEAD", &status_arguments).ok()?;
    Some(Commit { id: id.trim().to_owned(), changed: !changes.trim().is_empty() })
}

/// `revision` is used only in error messages.
///
/// # Errors
///
/// Returns [`GitError`] if git fails or if its output has more than [`TEMPLATE_BYTES_MAX`] bytes.
pub(crate) fn run_git(
    folder: &Path,
    revision: &str,
    arguments: &[&str],
) -> Result<String, GitError> {
    let git_error = |message: String| GitError { revision: revision.to_owned(), message };
    let cannot_run = |cause: std::io::Error| git_error(format!("cannot run git: {cause}"));
    let mut child = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot_run)?;
    let mut stdout_bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        // Read one byte more than the limit, to find out whether the output is too long.
        let read_limit = u64::try_from(TEMPLATE_BYTES_MAX + 1).unwrap_or(u64::MAX);
        stdout.take(read_limit).read_to_end(&mut stdout_bytes).map_err(cannot_run)?;
    }
    if stdout_bytes.len() > TEMPLATE_BYTES_MAX {
        // The pipe is now closed, so git exits when it writes again.
        let _ = child.wait();
        return Err(git_error(format!("the file has more than {TEMPLATE_BYTES_MAX} bytes")));
    }
    let exit = child.wait_with_output().map_err(cannot_run)?;
    if !exit.status.success() {
        return Err(git_error(first_error_line(&exit.stderr)));
    }
    Ok(String::from_utf8_lossy(&stdout_bytes).into_owned())
}

fn first_error_line(stderr_bytes: &[u8]) -> String {
    let stderr_text = String::from_utf8_lossy(stderr_bytes);
    let first_line = stderr_text.lines().next().unwrap_or("git failed");
    first_line.trim_start_matches("fatal: ").to_owned()
}
