//! Tells what happens to a stack until it is over.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use cellar_stacks::template::Place;
use tokio::time::sleep;

use crate::aws::{Aws, AwsError, StackState};
use crate::cli::{Output, ResourceList};
use crate::deployment::{
    DeploymentProgress, End, Failure, Ground, end, failure, ground, last_failure,
};
use crate::error::SynthError;

/// How often AWS is asked.
const POLL: Duration = Duration::from_secs(2);
/// How often in a row AWS may not answer: the deployment goes on without us.
const MAX_SILENCES: u32 = 30;

/// Who watches what becomes of a stack.
#[derive(Clone, Copy)]
pub(super) struct Follower<'a> {
    /// Where the stack is.
    pub(super) aws: &'a Aws,
    /// Who is told.
    pub(super) output: &'a Output,
    /// The stack's name.
    pub(super) stack: &'a str,
    /// The command that follows: it goes on where it was interrupted.
    pub(super) command: &'static str,
    /// Where in the source each resource was made, as far as that is known.
    pub(super) made_in: &'a BTreeMap<String, Place>,
}

/// What it is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// What was begun has ended.
    Ended,
    /// Something else can be begun, too: nothing is cleaned up any longer.
    Free,
}

impl Follower<'_> {
    /// Begins something with the stack, and follows it to its end; anything but `wanted` is an error,
    /// with its cause.
    pub(super) async fn follow(
        &self,
        stack_id: &str,
        begin: impl Future<Output = Result<(), AwsError>>,
        wanted: End,
    ) -> Result<StackState, SynthError> {
        let mut progress = DeploymentProgress::after(&self.aws.events(stack_id, |_| false).await?);
        match begin.await {
            Ok(()) => {}
            // It may have begun: only its answer was lost.
            Err(cause @ AwsError::Unreachable { .. }) => return Err(self.lost_sight(cause)),
            Err(error) => return Err(error.into()),
        }
        let (end, state) = self.ended(stack_id, &mut progress, Until::Ended).await?;
        if end == wanted { Ok(state) } else { Err(self.failed(&state, &progress, end)) }
    }

    /// Does what a change set says.
    pub(super) async fn execute(
        &self,
        change_set: &str,
        stack_id: &str,
    ) -> Result<StackState, SynthError> {
        let token = uuid::Uuid::new_v4().to_string();
        let begin = Box::pin(self.aws.execute_change_set(change_set, &token));
        self.follow(stack_id, begin, End::Done).await
    }

    /// Deletes the stack.
    pub(super) async fn delete_stack(&self, state: &StackState) -> Result<(), SynthError> {
        let token = uuid::Uuid::new_v4().to_string();
        let begin = Box::pin(self.aws.delete_stack(&state.id, &token));
        self.follow(&state.id, begin, End::Deleted).await.map(drop)
    }

    /// Follows what somebody else has begun, however it ends.
    pub(super) async fn wait(&self, state: &StackState) -> Result<(), SynthError> {
        let mut progress =
            DeploymentProgress::underway(&self.aws.events(&state.id, |_| false).await?);
        self.ended(&state.id, &mut progress, Until::Free).await.map(drop)
    }

    /// Tells what happens until what was begun has ended.
    async fn ended(
        &self,
        stack_id: &str,
        progress: &mut DeploymentProgress,
        until: Until,
    ) -> Result<(End, StackState), SynthError> {
        let poll = self.aws.poll_interval(POLL);
        let (mut list, mut silences) = (self.output.resources(), 0);
        loop {
            match look(self.aws, stack_id, progress, &mut list).await {
                Ok(state) => {
                    silences = 0;
                    // What is read may be from before it began.
                    let end = end(&state.status).filter(|_| progress.has_begun());
                    let is_busy = ground(Some(&state.status)) == Ground::Busy;
                    if let Some(end) = end.filter(|_| until == Until::Ended || !is_busy) {
                        return Ok((end, state));
                    }
                }
                Err(error) if silences < MAX_SILENCES && !error.is_final() => silences += 1,
                Err(error) => return Err(self.lost_sight(error)),
            }
            list.beat(progress.done());
            sleep(poll).await;
        }
    }

    /// Why nothing can be done with the stack that CloudFormation left half-way.
    pub(super) async fn stuck(&self, state: &StackState) -> Result<SynthError, SynthError> {
        let found = last_failure(&self.aws.events(&state.id, |_| false).await?);
        let cause = found
            .as_ref()
            .map(|found| format!("{}: {}", name(found, self.stack, self.made_in), found.reason));
        let advice = found.map_or_else(
            || "the stack's events in CloudFormation's console say why".to_owned(),
            |found| found.advice(),
        );
        let help = format!("{advice}, then {}", way_out(self.stack, &state.status));
        let (stack, status) = (self.stack.to_owned(), state.status.clone());
        Ok(SynthError::StackStuck { stack, status, cause, help })
    }

    fn lost_sight(&self, cause: AwsError) -> SynthError {
        SynthError::LostSight { stack: self.stack.to_owned(), command: self.command, cause }
    }

    /// Why it is not as it was wanted.
    fn failed(&self, state: &StackState, progress: &DeploymentProgress, end: End) -> SynthError {
        let found = failure(progress.failures()).unwrap_or_else(|| Failure {
            logical_id: None,
            resource_type: String::new(),
            reason: state.reason.clone().unwrap_or_else(|| state.status.clone()),
        });
        let (stack, command) = (self.stack, self.command);
        SynthError::DeployFailed {
            what: name(&found, stack, self.made_in),
            done: match command {
                "destroy" => "deleted",
                "restore" => "taken into the stack",
                _ => "deployed",
            },
            help: match state.status.as_str() {
                status @ "UPDATE_ROLLBACK_FAILED" => {
                    let way_out = way_out(stack, status);
                    format!("{}, then {way_out}; the stack is half changed", found.advice())
                }
                status => {
                    let left = left(stack, status, end);
                    format!("{}, then run `synth {command}` again; {left}", found.advice())
                }
            },
            reason: found.reason,
        }
    }
}

async fn look(
    aws: &Aws,
    stack_id: &str,
    progress: &mut DeploymentProgress,
    list: &mut ResourceList,
) -> Result<StackState, AwsError> {
    // The state first: what it says has its events.
    let state = aws.stack(stack_id).await?;
    let events = aws.events(stack_id, |id| progress.knows(id)).await?;
    for line in progress.take(events) {
        list.tell(&line);
    }
    state.ok_or(AwsError::Reply { missing: "the stack" })
}

/// The resource at fault: its name in the stack, its type, and the line that made it.
fn name(found: &Failure, stack: &str, made_in: &BTreeMap<String, Place>) -> String {
    let Some(id) = &found.logical_id else { return format!("the stack {stack}") };
    let place = made_in.get(id).map(|place| format!(", made in {place}"));
    format!("{id} ({}{})", found.resource_type, place.unwrap_or_default())
}

/// How a stack was left.
fn left(stack: &str, status: &str, end: End) -> String {
    match (end, status) {
        (End::RolledBack, "ROLLBACK_COMPLETE") => format!(
            "nothing of the stack {stack} runs, and the next deployment makes it anew; protected tables \
             that it had made already stay, empty"
        ),
        (End::RolledBack, _) => format!("the stack {stack} is as it was before"),
        _ => format!("the stack {stack} is in {status}"),
    }
}

/// The commands out of such a status.
fn way_out(stack: &str, status: &str) -> String {
    match status {
        "DELETE_FAILED" => {
            "run `synth destroy`, which deletes the rest, and `synth deploy` if the \
                            stack is wanted"
                .to_owned()
        }
        "UPDATE_ROLLBACK_FAILED" => format!(
            "run `aws cloudformation continue-update-rollback --stack-name {stack}`, and then `synth \
             deploy`"
        ),
        _ => format!(
            "run `aws cloudformation describe-stack-events --stack-name {stack}`, mend what failed \
             last, and run `synth deploy`"
        ),
    }
}
