//! Starts the local stack in the background and waits until it is ready.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cellar_local::{Occupancy, RunningStack, StateFolder};
use serde_json::Value;

use crate::error::SynthError;

const READY_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

struct BackgroundProcess {
    child: Child,
    /// Length of the log file before the process was started, in bytes.
    log_start: u64,
}

pub(crate) struct DetachedStack<'a> {
    pub(crate) template: &'a str,
    pub(crate) folder: &'a StateFolder,
    pub(crate) stack_name: &'a str,
    pub(crate) port: u16,
    pub(crate) log_file: &'a Path,
}

impl DetachedStack<'_> {
    /// Returns [`SynthError::Detached`] if the process exits or is not ready in time. The error
    /// contains the last message of the process.
    pub(crate) async fn start(&self) -> Result<RunningStack, SynthError> {
        let mut process = self.spawn()?;
        let started = Instant::now();
        loop {
            // Compare the process ids, because another process may have locked the directory.
            if let Occupancy::Running(running) = self.folder.occupancy()?
                && running.pid == process.child.id()
            {
                return Ok(running);
            }
            let exit_status = process.child.try_wait().map_err(SynthError::Process)?;
            if exit_status.is_some() || started.elapsed() > READY_TIMEOUT {
                return Err(start_error(self.log_file, process.log_start));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    fn spawn(&self) -> Result<BackgroundProcess, SynthError> {
        let log_error =
            |cause| SynthError::Io { operation: "write", path: self.log_file.to_owned(), cause };
        let log =
            OpenOptions::new().create(true).append(true).open(self.log_file).map_err(log_error)?;
        let log_start = log.metadata().map_err(log_error)?.len();
        let port = self.port.to_string();
        let mut child = Command::new(env::current_exe().map_err(SynthError::Process)?)
            .args(["--json", "local-cloud", "--stack", self.stack_name, "--port", &port])
            .arg("--folder")
            .arg(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(log.try_clone().map_err(log_error)?)
            .stderr(log)
            .spawn()
            .map_err(SynthError::Process)?;
        if let Some(mut stdin) = child.stdin.take() {
            // Ignore the error: writing fails only if the process has already exited. In that case,
            // the log contains the reason.
            let _ = stdin.write_all(self.template.as_bytes());
        }
        Ok(BackgroundProcess { child, log_start })
    }
}

/// The last message in the log of the process is the error, encoded as JSON.
fn start_error(log_file: &Path, log_start: u64) -> SynthError {
    let log_hint = format!("its log is {}", log_file.display());
    let log_bytes = fs::read(log_file).unwrap_or_default();
    let start_index = usize::try_from(log_start).unwrap_or(usize::MAX);
    let new_log = String::from_utf8_lossy(log_bytes.get(start_index..).unwrap_or_default());
    let last_line = new_log.lines().last().unwrap_or("it printed no message");
    let last_message: Value = serde_json::from_str(last_line).unwrap_or_default();
    let error_field =
        |name: &str| last_message.get("error")?.get(name)?.as_str().map(str::to_owned);
    let message = error_field("message")
        .unwrap_or_else(|| format!("the local stack did not start: {last_line}"));
    SynthError::Detached { message, help: error_field("help").unwrap_or(log_hint) }
}
