//! Runs cargo, and shows what it says.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use super::messages::{executable, status};
use super::{BINARY, BundleError};
use crate::bundle::limits::MAX_SAID_LINES;
use crate::cli::ProgressStep;

/// Builds, and says where the binary is.
pub(super) fn run(
    mut command: Command,
    program: &'static str,
    step: &ProgressStep,
) -> Result<PathBuf, BundleError> {
    let cargo = PathBuf::from(command.get_program());
    let failed = |cause| BundleError::Cargo { program: cargo.clone(), cause };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut said = VecDeque::new();
    // Both pipes at once: cargo stops when either is full.
    let found = thread::scope(|scope| {
        let found = scope.spawn(|| {
            let mut found = None;
            each_line(stdout, |line| found = executable(line, BINARY).or(found.take()))?;
            Ok(found)
        });
        let heard = each_line(stderr, |line| show(line, step, &mut said));
        let found = found.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        heard.and(found)
    });
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        let said = said.into_iter().collect::<Vec<_>>().join("\n");
        return Err(BundleError::Build { program, status, said });
    }
    found.map_err(failed)?.ok_or(BundleError::Nothing { program })
}

/// Shows what cargo does for as long as it does it, and keeps what anybody else says.
fn show(line: &str, step: &ProgressStep, said: &mut VecDeque<String>) {
    match status(line) {
        Some(doing) => step.does(doing),
        None => step.says(line),
    }
    if said.len() == MAX_SAID_LINES {
        said.pop_front();
    }
    said.push_back(line.to_owned());
}

fn each_line(pipe: Option<impl Read>, mut heard: impl FnMut(&str)) -> io::Result<()> {
    let Some(pipe) = pipe else { return Ok(()) };
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        heard(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    Ok(())
}
