//! Follows an AWS stack operation: reports stack events until the operation has ended.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use cellar_stacks::template::SourceLine;
use tokio::time::sleep;

use crate::aws::{Aws, AwsError, StackState};
use crate::cli::{Output, ResourceList};
use crate::deployment::{
    DeploymentFailure, DeploymentProgress, OperationResult, StackCondition, first_failure,
    last_operation_failure, operation_result, stack_condition,
};
use crate::error::SynthError;

/// Polling interval for stack events.
const POLL: Duration = Duration::from_secs(2);
/// Maximum number of consecutive failed polls. The operation continues in AWS regardless.
const MAX_FAILED_READS: u32 = 30;

/// Reports and awaits stack operations.
#[derive(Clone, Copy)]
pub(super) struct Follower<'a> {
    /// AWS clients for the stack's account and region.
    pub(super) aws: &'a Aws,
    /// Printer for progress and results.
    pub(super) output: &'a Output,
    /// Name of the stack.
    pub(super) stack: &'a str,
    /// Name of the running command, without `synth`. Rerunning the command resumes the operation.
    pub(super) command: &'static str,
    /// Source location of each resource definition, by logical id.
    pub(super) sources: &'a BTreeMap<String, SourceLine>,
}

/// Condition under which [`Follower::wait_until`] returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitUntil {
    /// The operation has ended, though CloudFormation's cleanup may still be in progress.
    Ended,
    /// Operation and cleanup have ended, so the next operation can start.
    Idle,
}

impl Follower<'_> {
    /// Executes a change set and waits until the execution has ended.
    pub(super) async fn execute(
        &self,
        change_set: &str,
        stack_id: &str,
    ) -> Result<StackState, SynthError> {
        let token = uuid::Uuid::new_v4().to_string();
        let start = Box::pin(self.aws.execute_change_set(change_set, &token));
        self.run_operation(stack_id, start, OperationResult::Succeeded).await
    }

    /// Deletes the stack and waits until the deletion has ended.
    pub(super) async fn delete_stack(&self, state: &StackState) -> Result<(), SynthError> {
        let token = uuid::Uuid::new_v4().to_string();
        let start = Box::pin(self.aws.delete_stack(&state.id, &token));
        self.run_operation(&state.id, start, OperationResult::Deleted).await.map(drop)
    }

    /// Waits until an operation started by another process has ended, regardless of its result.
    pub(super) async fn wait(&self, state: &StackState) -> Result<(), SynthError> {
        let events = self.aws.events(&state.id, |_| false).await?;
        let mut progress = DeploymentProgress::in_progress(&events);
        self.wait_until(&state.id, &mut progress, WaitUntil::Idle).await.map(drop)
    }

    /// Starts an operation and waits for it to end.
    ///
    /// # Errors
    /// Returns [`SynthError::DeployFailed`] if the result is not `expected`. Returns
    /// [`SynthError::ConnectionLost`] if AWS becomes unreachable during the wait.
    async fn run_operation(
        &self,
        stack_id: &str,
        start: impl Future<Output = Result<(), AwsError>>,
        expected: OperationResult,
    ) -> Result<StackState, SynthError> {
        let earlier_events = self.aws.events(stack_id, |_| false).await?;
        let mut progress = DeploymentProgress::starting_after(&earlier_events);
        match start.await {
            Ok(()) => {}
            // The operation may have started although the response was lost.
            Err(cause @ AwsError::Unreachable { .. }) => return Err(self.connection_lost(cause)),
            Err(error) => return Err(error.into()),
        }
        let (result, state) = self.wait_until(stack_id, &mut progress, WaitUntil::Ended).await?;
        if result != expected {
            return Err(self.operation_error(&state, &progress, result));
        }
        Ok(state)
    }

    /// Reports events until the condition `until` is met.
    async fn wait_until(
        &self,
        stack_id: &str,
        progress: &mut DeploymentProgress,
        until: WaitUntil,
    ) -> Result<(OperationResult, StackState), SynthError> {
        let poll = self.aws.poll_interval(POLL);
        let mut list = ResourceList::new(*self.output);
        let mut failed_reads = 0;
        loop {
            match self.report_events(stack_id, progress, &mut list).await {
                Ok(state) => {
                    failed_reads = 0;
                    let is_busy = stack_condition(Some(&state.status)) == StackCondition::Busy;
                    let can_stop = until == WaitUntil::Ended || !is_busy;
                    // Before the first event, the stack still has the status of the previous
                    // operation.
                    if let Some(result) = operation_result(&state.status)
                        && progress.has_started()
                        && can_stop
                    {
                        return Ok((result, state));
                    }
                }
                Err(error) if failed_reads < MAX_FAILED_READS && !error.is_final() => {
                    failed_reads += 1;
                }
                Err(error) => return Err(self.connection_lost(error)),
            }
            list.print_heartbeat(progress.finished_resources());
            sleep(poll).await;
        }
    }

    /// Prints new events and returns the stack state.
    async fn report_events(
        &self,
        stack_id: &str,
        progress: &mut DeploymentProgress,
        list: &mut ResourceList,
    ) -> Result<StackState, AwsError> {
        // Read the state before the events, so that the events are at least as recent.
        let state = self.aws.stack(stack_id).await?;
        let events = self.aws.events(stack_id, |id| progress.has_seen(id)).await?;
        for line in progress.add_events(events) {
            list.print(&line);
        }
        state.ok_or(AwsError::Reply { missing: "the stack" })
    }

    /// Creates the error for a stack whose rollback or deletion failed in CloudFormation.
    pub(super) async fn stuck_error(&self, state: &StackState) -> Result<SynthError, SynthError> {
        let events = self.aws.events(&state.id, |_| false).await?;
        let (cause, advice) = match last_operation_failure(&events) {
            Some(failure) => {
                let cause = format!("{}: {}", self.describe(&failure), failure.reason);
                (Some(cause), failure.advice())
            }
            None => (None, "find the cause in the stack's events in the AWS console".to_owned()),
        };
        let help = format!("{advice}, then {}", unstick_commands(self.stack, &state.status));
        let (stack, status) = (self.stack.to_owned(), state.status.clone());
        Ok(SynthError::StackStuck { stack, status, cause, help })
    }

    fn connection_lost(&self, cause: AwsError) -> SynthError {
        SynthError::ConnectionLost { stack: self.stack.to_owned(), command: self.command, cause }
    }

    /// Creates the error for an operation with an unexpected result.
    fn operation_error(
        &self,
        state: &StackState,
        progress: &DeploymentProgress,
        result: OperationResult,
    ) -> SynthError {
        let failure = first_failure(progress.failures()).unwrap_or_else(|| DeploymentFailure {
            logical_id: None,
            resource_type: String::new(),
            reason: state.reason.clone().unwrap_or_else(|| state.status.clone()),
        });
        let (stack, command, advice) = (self.stack, self.command, failure.advice());
        let help = if state.status == "UPDATE_ROLLBACK_FAILED" {
            let commands = unstick_commands(stack, &state.status);
            format!("{advice}, then {commands}; the update is only partly rolled back")
        } else {
            let stack_state = describe_state(stack, &state.status, result);
            format!("{advice}, then run `synth {command}` again; {stack_state}")
        };
        let done = match command {
            "destroy" => "deleted",
            "restore" => "imported",
            _ => "deployed",
        };
        SynthError::DeployFailed {
            resource: self.describe(&failure),
            done,
            reason: failure.reason,
            help,
        }
    }

    /// Describes the failed resource: logical id, type and source location.
    fn describe(&self, failure: &DeploymentFailure) -> String {
        let Some(id) = &failure.logical_id else { return format!("the stack {}", self.stack) };
        match self.sources.get(id) {
            Some(source) => format!("{id} ({}, defined in {source})", failure.resource_type),
            None => format!("{id} ({})", failure.resource_type),
        }
    }
}

/// Describes the stack state after a failed operation.
fn describe_state(stack: &str, status: &str, result: OperationResult) -> String {
    match (result, status) {
        (OperationResult::RolledBack, "ROLLBACK_COMPLETE") => format!(
            "the creation of stack {stack} was rolled back, and the next deployment creates it again; \
             protected tables that were already created are kept, empty"
        ),
        (OperationResult::RolledBack, _) => {
            format!("stack {stack} was rolled back to its previous state")
        }
        _ => format!("stack {stack} has the status {status}"),
    }
}

/// Returns the commands that repair a stack whose rollback or deletion failed.
fn unstick_commands(stack: &str, status: &str) -> String {
    match status {
        "DELETE_FAILED" => {
            "run `synth destroy` to delete the rest, and `synth deploy` to create the \
                            stack again"
                .to_owned()
        }
        "UPDATE_ROLLBACK_FAILED" => format!(
            "run `aws cloudformation continue-update-rollback --stack-name {stack}`, then `synth deploy`"
        ),
        _ => format!(
            "run `aws cloudformation describe-stack-events --stack-name {stack}`, fix the last failure, \
             and run `synth deploy`"
        ),
    }
}
