//! Runs cargo and shows its output.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use super::messages::{parse_executable, parse_status};
use crate::bundle::error::BundleError;
use crate::bundle::limits::MAX_OUTPUT_LINES;
use crate::cli::ProgressStep;

/// `program` is the name of the build command for error messages.
pub(super) fn run_build(
    mut command: Command,
    program: &'static str,
    binary_name: &str,
    step: &ProgressStep,
) -> Result<PathBuf, BundleError> {
    let cargo = PathBuf::from(command.get_program());
    let cargo_error = |cause| BundleError::Cargo { program: cargo.clone(), cause };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(cargo_error)?;
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    // Read both pipes concurrently, because cargo blocks if either pipe is full.
    let (stdout_result, stderr_result) = thread::scope(|scope| {
        let stdout_reader = scope.spawn(|| find_executable(stdout, binary_name));
        let stderr_result = show_and_keep_last_lines(stderr, step);
        let stdout_result =
            stdout_reader.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        (stdout_result, stderr_result)
    });
    let status = child.wait().map_err(cargo_error)?;
    let last_lines = stderr_result.map_err(cargo_error)?;
    if !status.success() {
        return Err(BundleError::Build { program, status, last_lines: last_lines.join("\n") });
    }
    let executable = stdout_result.map_err(cargo_error)?;
    executable.ok_or(BundleError::NoBinary { program })
}

fn show_and_keep_last_lines(
    stderr: Option<impl Read>,
    step: &ProgressStep,
) -> io::Result<Vec<String>> {
    let mut last_lines = VecDeque::new();
    for_each_line(stderr, |line| {
        show_line(line, step);
        if last_lines.len() == MAX_OUTPUT_LINES {
            last_lines.pop_front();
        }
        last_lines.push_back(line.to_owned());
    })?;
    Ok(last_lines.into())
}

fn find_executable(stdout: Option<impl Read>, binary: &str) -> io::Result<Option<PathBuf>> {
    let mut executable = None;
    for_each_line(stdout, |line| {
        if let Some(path) = parse_executable(line, binary) {
            executable = Some(path);
        }
    })?;
    Ok(executable)
}

/// Shows a status line of cargo as the current activity of `step`. Prints any other line, such as a
/// compiler message, so that it remains visible.
fn show_line(line: &str, step: &ProgressStep) {
    match parse_status(line) {
        Some(activity) => step.update(activity),
        None => step.print(line),
    }
}

fn for_each_line(pipe: Option<impl Read>, mut handle_line: impl FnMut(&str)) -> io::Result<()> {
    let Some(pipe) = pipe else { return Ok(()) };
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        handle_line(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    Ok(())
}
