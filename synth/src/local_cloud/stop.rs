//! Ends the process of a local cloud.

use std::time::{Duration, Instant};

use cellar_local::{Running, StateFolder};
use rustix::process::{Pid, Signal, kill_process};

use crate::error::SynthError;

/// How long requests under way may take to be answered.
const GRACE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);

/// Asks the process to end, and ends it if it does not. Nothing acknowledged is lost either way.
pub(crate) async fn stop(folder: &StateFolder) -> Result<Option<Running>, SynthError> {
    let Some(running) = folder.running()? else { return Ok(None) };
    for signal in [Signal::TERM, Signal::KILL] {
        send(&running, signal)?;
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            // Its lock ends with it: nothing else says for certain that it is gone.
            if folder.running()?.is_none() {
                return Ok(Some(running));
            }
            tokio::time::sleep(POLL).await;
        }
    }
    Err(SynthError::Stop { pid: running.pid, why: "it holds its state folder still".to_owned() })
}

fn send(running: &Running, signal: Signal) -> Result<(), SynthError> {
    let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw);
    let fault = |why: String| SynthError::Stop { pid: running.pid, why };
    let pid = pid.ok_or_else(|| fault("this is no process id".to_owned()))?;
    match kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(fault(error.to_string())),
    }
}
