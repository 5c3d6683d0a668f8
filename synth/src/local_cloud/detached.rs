//! Starts the local stack in the background and waits until it is ready.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cellar_local::{Occupancy, Running, StateFolder};
use serde_json::Value;

use crate::error::SynthError;

/// Startup timeout for the background process.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// Polling interval for the state of the background process.
const POLL: Duration = Duration::from_millis(50);

/// A newly started background process.
struct BackgroundProcess {
    child: Child,
    /// Log file length before the process was started, in bytes.
    log_start: u64,
}

/// Runs a template in a new background process of this program, which appends its output to `log`.
///
/// # Errors
/// Returns [`SynthError::Detached`] if the process exits or is not ready in time. The error
/// contains the process's last message.
pub(crate) async fn start_detached(
    template: &str,
    folder: &StateFolder,
    stack: &str,
    port: u16,
    log: &Path,
) -> Result<Running, SynthError> {
    let mut process = spawn(template, folder, stack, port, log)?;
    let started = Instant::now();
    loop {
        // Compare the process id, because another process may have locked the directory.
        if let Occupancy::By(running) = folder.occupancy()?
            && running.pid == process.child.id()
        {
            return Ok(running);
        }
        let exit_status = process.child.try_wait().map_err(SynthError::Process)?;
        if exit_status.is_some() || started.elapsed() > READY_TIMEOUT {
            return Err(start_error(log, process.log_start));
        }
        tokio::time::sleep(POLL).await;
    }
}

fn spawn(
    template: &str,
    folder: &StateFolder,
    stack: &str,
    port: u16,
    log: &Path,
) -> Result<BackgroundProcess, SynthError> {
    let log_error = |cause| SynthError::Io { operation: "write", path: log.to_owned(), cause };
    let file = OpenOptions::new().create(true).append(true).open(log).map_err(log_error)?;
    let log_start = file.metadata().map_err(log_error)?.len();
    let mut child = Command::new(env::current_exe().map_err(SynthError::Process)?)
        .args(["--json", "local-cloud", "--stack", stack, "--port", &port.to_string()])
        .arg("--folder")
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(file.try_clone().map_err(log_error)?)
        .stderr(file)
        .spawn()
        .map_err(SynthError::Process)?;
    if let Some(mut stdin) = child.stdin.take() {
        // Writing fails only if the process has already exited, and the log contains the reason.
        let _ = stdin.write_all(template.as_bytes());
    }
    Ok(BackgroundProcess { child, log_start })
}

/// Returns the last message in a background process's log: a JSON-encoded error.
fn start_error(log: &Path, log_start: u64) -> SynthError {
    let log_hint = format!("its log is {}", log.display());
    let bytes = fs::read(log).unwrap_or_default();
    let start = usize::try_from(log_start).unwrap_or(usize::MAX);
    let text = String::from_utf8_lossy(bytes.get(start..).unwrap_or_default());
    let last_line = text.lines().last().unwrap_or("it printed no message");
    let json: Value = serde_json::from_str(last_line).unwrap_or_default();
    let error_field = |name: &str| json.get("error")?.get(name)?.as_str().map(str::to_owned);
    let message = error_field("message")
        .unwrap_or_else(|| format!("the local stack did not start: {last_line}"));
    SynthError::Detached { message, help: error_field("help").unwrap_or(log_hint) }
}
