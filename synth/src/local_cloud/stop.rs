//! Ends the process of a local cloud.

use std::time::{Duration, Instant};

use cellar_local::{Occupancy, Running, StateFolder};

use crate::error::SynthError;

/// How long requests under way may take to be answered.
const GRACE: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(50);

/// Asks the process to end and waits until it is gone: only its lock says that for certain.
pub(crate) async fn stop(folder: &StateFolder) -> Result<Option<Running>, SynthError> {
    let mut asked_of = None;
    let started = Instant::now();
    while started.elapsed() < GRACE {
        match folder.occupancy()? {
            Occupancy::Free => return Ok(asked_of),
            Occupancy::By(running) if asked_of.as_ref() != Some(&running) => {
                folder.request_stop()?;
                asked_of = Some(running);
            }
            // It ends, or it starts: then it can be asked in a moment.
            Occupancy::By(_) | Occupancy::Unknown => {}
        }
        tokio::time::sleep(POLL).await;
    }
    let (grace_s, pid) = (GRACE.as_secs(), asked_of.map(|running| running.pid));
    Err(SynthError::Stop { grace_s, advice: end_by_hand(pid) })
}

fn end_by_hand(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("end it with `kill -KILL {pid}`: nothing acknowledged is lost"),
        None => "find out which program holds the file `lock` in the state folder".to_owned(),
    }
}
