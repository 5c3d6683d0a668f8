//! Tells what happens to a stack until it is over.

use std::future::Future;
use std::time::Duration;

use tokio::time::sleep;

use crate::aws::{Aws, AwsError, StackState};
use crate::cli::{Output, ResourceList};
use crate::deployment::{End, Progress, end, failure};
use crate::error::SynthError;

/// How often AWS is asked.
const POLL: Duration = Duration::from_secs(2);
/// The same for an emulator, which is faster.
const EMULATOR_POLL: Duration = Duration::from_millis(200);
/// How often in a row AWS may not answer: the deployment goes on without us.
const MAX_SILENCES: u32 = 30;

/// Begins something with a stack, and follows it to its end; anything but `wanted` is an error, with
/// its cause.
pub(super) async fn follow(
    aws: &Aws,
    stack_id: &str,
    begin: impl Future<Output = Result<(), AwsError>>,
    wanted: End,
    output: &Output,
) -> Result<StackState, SynthError> {
    let mut progress = Progress::after(&aws.events(stack_id, |_| false).await?);
    begin.await?;
    let (end, state) = ended(aws, stack_id, &mut progress, output).await?;
    if end == wanted { Ok(state) } else { Err(failed(&state, &progress, end)) }
}

/// Deletes a stack.
pub(super) async fn delete_stack(
    aws: &Aws,
    state: &StackState,
    output: &Output,
) -> Result<(), SynthError> {
    let token = uuid::Uuid::new_v4().to_string();
    let begin = Box::pin(aws.delete_stack(&state.id, &token));
    follow(aws, &state.id, begin, End::Deleted, output).await.map(drop)
}

/// Follows what somebody else has begun, however it ends.
pub(super) async fn wait(aws: &Aws, state: &StackState, output: &Output) -> Result<(), SynthError> {
    let mut progress = Progress::underway(&aws.events(&state.id, |_| false).await?);
    ended(aws, &state.id, &mut progress, output).await.map(drop)
}

/// Tells what happens until what was begun has ended.
async fn ended(
    aws: &Aws,
    stack_id: &str,
    progress: &mut Progress,
    output: &Output,
) -> Result<(End, StackState), SynthError> {
    let poll = if aws.is_emulator() { EMULATOR_POLL } else { POLL };
    let (mut list, mut silences) = (output.resources(), 0);
    loop {
        match look(aws, stack_id, progress, &mut list).await {
            Ok(Some(ended)) => return Ok(ended),
            Ok(None) => silences = 0,
            Err(_) if silences < MAX_SILENCES => silences += 1,
            Err(error) => return Err(error.into()),
        }
        list.beat(progress.done());
        sleep(poll).await;
    }
}

async fn look(
    aws: &Aws,
    stack_id: &str,
    progress: &mut Progress,
    list: &mut ResourceList,
) -> Result<Option<(End, StackState)>, AwsError> {
    // The state first: what it says has its events.
    let state = aws.stack(stack_id).await?;
    let events = aws.events(stack_id, |id| progress.knows(id)).await?;
    for line in progress.take(events) {
        list.tell(&line);
    }
    let state = state.ok_or(AwsError::Reply { missing: "the stack" })?;
    // What is read may be from before it began.
    let end = end(&state.status).filter(|_| progress.has_begun());
    Ok(end.map(|end| (end, state)))
}

/// Why it is not as it was wanted.
fn failed(state: &StackState, progress: &Progress, end: End) -> SynthError {
    let found = failure(progress.failures());
    let reason = state.reason.clone().unwrap_or_else(|| state.status.clone());
    SynthError::DeployFailed {
        what: found
            .as_ref()
            .and_then(|found| found.logical_id.clone())
            .unwrap_or_else(|| "the stack".to_owned()),
        reason: found.as_ref().map_or(reason, |found| found.reason.clone()),
        help: format!(
            "{}; the stack {}",
            found.map_or("look at the events", |found| found.advice),
            match end {
                End::RolledBack => "is as it was before".to_owned(),
                _ => format!("is {}", state.status),
            }
        ),
    }
}
