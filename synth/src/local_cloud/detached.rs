//! Starts a local cloud in the background and waits until it is ready.

use std::env;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cellar_local::{Running, StateFolder};

use crate::error::SynthError;

const READY_TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);
/// Lines of the log that an error shows.
const LOG_LINES: usize = 12;

/// Starts this very program again, in a process group of its own so that Ctrl-C does not reach it.
pub(crate) async fn start_detached(
    template: &Path,
    folder: &StateFolder,
    stack: &str,
    port: u16,
    log: &Path,
) -> Result<Running, SynthError> {
    let program = env::current_exe().map_err(SynthError::Process)?;
    let open = || File::create(log);
    let fault = |source| SynthError::Io { what: "write", path: log.to_owned(), source };
    let file = open().map_err(fault)?;
    let mut child = Command::new(program)
        .args(["local-cloud", "--stack", stack, "--port", &port.to_string()])
        .arg("--folder")
        .arg(folder.path())
        .arg("--template")
        .arg(template)
        .stdin(Stdio::null())
        .stdout(file.try_clone().map_err(fault)?)
        .stderr(file)
        .process_group(0)
        .spawn()
        .map_err(SynthError::Process)?;
    let started = Instant::now();
    loop {
        // The record of an earlier process may still be there.
        if let Some(running) = folder.running()?.filter(|running| running.pid == child.id()) {
            return Ok(running);
        }
        let ended = child.try_wait().map_err(SynthError::Process)?;
        if ended.is_some() || started.elapsed() > READY_TIMEOUT {
            let why = last_lines(log).unwrap_or_else(|| "it says nothing".to_owned());
            return Err(SynthError::Detached { why, log: log.to_owned() });
        }
        tokio::time::sleep(POLL).await;
    }
}

fn last_lines(log: &Path) -> Option<String> {
    let text = fs::read_to_string(log).ok()?;
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LOG_LINES);
    let last = lines.get(from..)?.join("\n");
    (!last.trim().is_empty()).then_some(last)
}
