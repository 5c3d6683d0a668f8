//! Stops the process that runs the local stack.

use std::time::{Duration, Instant};

use cellar_local::{Occupancy, Running, StateFolder};

use crate::error::SynthError;

/// Time in which the process may finish the requests in flight.
const GRACE: Duration = Duration::from_secs(15);
/// Interval at which the lock of the state directory is polled.
const POLL: Duration = Duration::from_millis(50);

/// Stops the process of the local stack and waits until it has released the lock of the state
/// directory. Returns the process that was running, or `None` if no process was running.
///
/// # Errors
/// Returns [`SynthError::Stop`] if the process does not exit in time.
pub(crate) async fn stop(folder: &StateFolder) -> Result<Option<Running>, SynthError> {
    let mut stopping = None;
    let started = Instant::now();
    while started.elapsed() < GRACE {
        match folder.occupancy()? {
            Occupancy::Free => return Ok(stopping),
            Occupancy::By(running) if stopping.as_ref() != Some(&running) => {
                folder.request_stop()?;
                stopping = Some(running);
            }
            // The process is stopping or is not yet fully started.
            Occupancy::By(_) | Occupancy::Unknown => {}
        }
        tokio::time::sleep(POLL).await;
    }
    let pid = stopping.map(|running| running.pid);
    Err(SynthError::Stop { grace_s: GRACE.as_secs(), advice: kill_advice(pid) })
}

fn kill_advice(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("end it with `kill -KILL {pid}`: acknowledged edits are not lost"),
        None => "find the process that has locked the file `lock` in the state folder".to_owned(),
    }
}
