//! Stops the process that runs the local stack.

use std::time::{Duration, Instant};

use cellar_local::{Occupancy, RunningStack, StateFolder};

use crate::error::SynthError;

/// Time that in-flight requests have to complete.
const GRACE_PERIOD: Duration = Duration::from_secs(15);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Stops the process of the local stack and waits until the process has released the lock on the
/// state directory. Returns the stopped process, or `None` if no process was running.
pub(crate) async fn stop_running_stack(
    folder: &StateFolder,
) -> Result<Option<RunningStack>, SynthError> {
    let mut stopping_process: Option<RunningStack> = None;
    let started = Instant::now();
    while started.elapsed() < GRACE_PERIOD {
        match folder.occupancy()? {
            Occupancy::Free => return Ok(stopping_process),
            Occupancy::Running(running) => {
                if stopping_process.as_ref() != Some(&running) {
                    folder.request_stop()?;
                    stopping_process = Some(running);
                }
            }
            // The process is still starting, or is already stopping.
            Occupancy::StartingOrStopping => {}
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let pid = stopping_process.map(|process| process.pid);
    Err(SynthError::Stop { grace_s: GRACE_PERIOD.as_secs(), advice: kill_advice(pid) })
}

fn kill_advice(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("end it with `kill -KILL {pid}`: acknowledged edits are not lost"),
        None => "find the process that has locked the file `lock` in the state folder".to_owned(),
    }
}
