//! Starts a local cloud in the background and waits until it is ready.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cellar_local::{Occupancy, Running, StateFolder};
use serde_json::Value;

use crate::error::SynthError;

const READY_TIMEOUT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// Starts this very program again and hands it the template; it makes itself independent of the
/// terminal, and what it says is added to the log.
pub(crate) async fn start_detached(
    template: &str,
    folder: &StateFolder,
    stack: &str,
    port: u16,
    log: &Path,
) -> Result<Running, SynthError> {
    let (mut child, said_before) = spawn(template, folder, stack, port, log)?;
    let started = Instant::now();
    loop {
        // Another process may have been faster: only the child's own record counts.
        if let Occupancy::By(running) = folder.occupancy()?
            && running.pid == child.id()
        {
            return Ok(running);
        }
        let ended = child.try_wait().map_err(SynthError::Process)?;
        if ended.is_some() || started.elapsed() > READY_TIMEOUT {
            return Err(failure(log, said_before));
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The child, and how long the log was before it.
fn spawn(
    template: &str,
    folder: &StateFolder,
    stack: &str,
    port: u16,
    log: &Path,
) -> Result<(Child, u64), SynthError> {
    let fault = |cause| SynthError::Io { what: "write", path: log.to_owned(), cause };
    let file = OpenOptions::new().create(true).append(true).open(log).map_err(fault)?;
    let said_before = file.metadata().map_err(fault)?.len();
    let mut child = Command::new(env::current_exe().map_err(SynthError::Process)?)
        .args(["--json", "local-cloud", "--stack", stack, "--port", &port.to_string()])
        .arg("--folder")
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(file.try_clone().map_err(fault)?)
        .stderr(file)
        .spawn()
        .map_err(SynthError::Process)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that ended at once says why in its log.
        let _ = stdin.write_all(template.as_bytes());
    }
    Ok((child, said_before))
}

/// What the child said last: its error, as JSON.
fn failure(log: &Path, said_before: u64) -> SynthError {
    let text = fs::read(log).unwrap_or_default();
    let skip = usize::try_from(said_before).unwrap_or(usize::MAX);
    let said = String::from_utf8_lossy(text.get(skip..).unwrap_or_default()).into_owned();
    let last = said.lines().last().unwrap_or("it says nothing").to_owned();
    let see_log = format!("its log is {}", log.display());
    let error = serde_json::from_str::<Value>(&last).ok().and_then(|line| {
        let text = |field: &str| Some(line.get("error")?.get(field)?.as_str()?.to_owned());
        Some((text("message")?, text("help").unwrap_or_else(|| see_log.clone())))
    });
    let (message, help) = error
        .unwrap_or_else(|| (format!("the local cloud did not start: {last}"), see_log.clone()));
    SynthError::Detached { message, help }
}
