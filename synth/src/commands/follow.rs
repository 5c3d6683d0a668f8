//! Tells what happens to a stack until it is over.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::aws::{Aws, AwsError, StackState};
use crate::cli::Output;
use crate::deployment::{End, Progress, end};
use crate::error::SynthError;

/// How often AWS is asked.
const POLL: Duration = Duration::from_secs(2);
/// The same for an emulator, which is faster.
const EMULATOR_POLL: Duration = Duration::from_millis(200);
/// How long nothing is said before something is.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// How often in a row AWS may not answer: the deployment goes on without us.
const MAX_SILENCES: u32 = 30;

/// Follows a stack until what was begun has ended.
pub(super) async fn follow(
    aws: &Aws,
    stack_id: &str,
    progress: &mut Progress,
    output: &Output,
) -> Result<(End, StackState), SynthError> {
    let poll = if aws.is_emulator() { EMULATOR_POLL } else { POLL };
    let begun = Instant::now();
    let (mut said, mut silences) = (begun, 0);
    loop {
        match look(aws, stack_id, progress, output, &mut said).await {
            Ok(Some(ended)) => return Ok(ended),
            Ok(None) => silences = 0,
            Err(_) if silences < MAX_SILENCES => silences += 1,
            Err(error) => return Err(error.into()),
        }
        if said.elapsed() >= HEARTBEAT {
            said = Instant::now();
            let elapsed = Duration::from_secs(begun.elapsed().as_secs());
            let elapsed = humantime::format_duration(elapsed);
            output.note(&format!("  … {elapsed}, {} resources done", progress.done()));
        }
        sleep(poll).await;
    }
}

async fn look(
    aws: &Aws,
    stack_id: &str,
    progress: &mut Progress,
    output: &Output,
    said: &mut Instant,
) -> Result<Option<(End, StackState)>, AwsError> {
    // The state first: what it says has its events.
    let state = aws.stack(stack_id).await?;
    let events = aws.events(stack_id, |id| progress.knows(id)).await?;
    for line in progress.take(events) {
        *said = Instant::now();
        output.line(&line);
    }
    let state = state.ok_or(AwsError::Reply { missing: "the stack" })?;
    // What is read may be from before it began.
    let end = end(&state.status).filter(|_| progress.has_begun());
    Ok(end.map(|end| (end, state)))
}
