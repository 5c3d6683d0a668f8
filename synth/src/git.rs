//! What git knows of the project.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use cellar_stacks::template::limits::TEMPLATE_BYTES_MAX;
use serde::{Deserialize, Serialize};

use crate::error::SynthError;

/// The commit that a folder is at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Commit {
    /// Its name, hexadecimal.
    pub(crate) id: String,
    /// Whether files that git follows were changed since.
    pub(crate) changed: bool,
}

/// The commit of a folder; `None` if it is in no repository, or there is no git.
pub(crate) fn commit(folder: &Path) -> Option<Commit> {
    let id = git(folder, "HEAD", &["rev-parse", "--verify", "HEAD^{commit}"]).ok()?;
    let status = ["status", "--porcelain", "--untracked-files=no"];
    let changed = git(folder, "HEAD", &status).ok()?;
    Some(Commit { id: id.trim().to_owned(), changed: !changed.trim().is_empty() })
}

/// What git prints, as far as anybody reads it.
pub(crate) fn git(folder: &Path, revision: &str, arguments: &[&str]) -> Result<String, SynthError> {
    let fault = |message: String| SynthError::Revision { revision: revision.to_owned(), message };
    let cannot_run = |cause: std::io::Error| fault(format!("git cannot run: {cause}"));
    let mut child = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot_run)?;
    let mut printed = Vec::new();
    let bytes_max = u64::try_from(TEMPLATE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    if let Some(stdout) = child.stdout.take() {
        stdout.take(bytes_max).read_to_end(&mut printed).map_err(cannot_run)?;
    }
    if printed.len() > TEMPLATE_BYTES_MAX {
        // Git would write for ever to nobody; it ends when its output is gone.
        let _ = child.wait();
        return Err(fault(format!("the file has more than {TEMPLATE_BYTES_MAX} bytes")));
    }
    let ended = child.wait_with_output().map_err(cannot_run)?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        let first = said.lines().next().unwrap_or("git failed");
        return Err(fault(first.trim_start_matches("fatal: ").to_owned()));
    }
    Ok(String::from_utf8_lossy(&printed).into_owned())
}
