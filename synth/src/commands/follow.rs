//! Follows an operation on an AWS stack: reports the stack events until the operation has ended.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use cellar_stacks::template::SourceLine;
use tokio::time::sleep;

use crate::aws::{Aws, AwsError, DeploymentEvent, StackState};
use crate::cli::{Output, ResourceList};
use crate::deployment::{
    DeploymentFailure, DeploymentProgress, OperationResult, StackCondition, first_failure,
    last_operation_failure, operation_result, stack_condition,
};
use crate::error::SynthError;

const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum number of consecutive failed polls. After that, the command stops waiting, although the
/// operation continues in AWS.
const MAX_FAILED_READS: u32 = 30;

#[derive(Clone, Copy)]
pub(super) struct Follower<'a> {
    pub(super) aws: &'a Aws,
    pub(super) output: &'a Output,
    pub(super) stack_name: &'a str,
    /// Name of the running command, such as "deploy". The user can run it again to resume an
    /// operation.
    pub(super) command: &'static str,
    pub(super) sources: &'a BTreeMap<String, SourceLine>,
}

struct EndedOperation {
    result: OperationResult,
    stack: StackState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitUntil {
    /// The operation has ended. CloudFormation's cleanup may still be in progress.
    Ended,
    /// The operation and the cleanup have ended, so the next operation can start.
    Idle,
}

impl WaitUntil {
    fn is_met_by(self, stack: &StackState) -> bool {
        match self {
            Self::Ended => true,
            Self::Idle => stack_condition(Some(&stack.status)) != StackCondition::Busy,
        }
    }
}

impl Follower<'_> {
    pub(super) async fn execute_change_set(
        &self,
        change_set_id: &str,
        stack_id: &str,
    ) -> Result<StackState, SynthError> {
        let request_token = uuid::Uuid::new_v4().to_string();
        let start_request = Box::pin(self.aws.execute_change_set(change_set_id, &request_token));
        self.run_operation(stack_id, start_request, OperationResult::Succeeded).await
    }

    pub(super) async fn delete_stack(&self, stack: &StackState) -> Result<(), SynthError> {
        let request_token = uuid::Uuid::new_v4().to_string();
        let start_request = Box::pin(self.aws.delete_stack(&stack.id, &request_token));
        self.run_operation(&stack.id, start_request, OperationResult::Deleted).await?;
        Ok(())
    }

    /// Waits until an operation that another process started has ended, whether it succeeds or
    /// fails.
    pub(super) async fn wait_until_idle(&self, stack: &StackState) -> Result<(), SynthError> {
        let events = self.aws.all_events(&stack.id).await?;
        let mut progress = DeploymentProgress::in_progress(&events);
        self.report_until(&stack.id, &mut progress, WaitUntil::Idle).await?;
        Ok(())
    }

    /// Returns [`SynthError::DeployFailed`] if the outcome is not `expected_result`. Returns
    /// [`SynthError::ConnectionLost`] if AWS becomes unreachable while waiting.
    async fn run_operation(
        &self,
        stack_id: &str,
        start_request: impl Future<Output = Result<(), AwsError>>,
        expected_result: OperationResult,
    ) -> Result<StackState, SynthError> {
        let earlier_events = self.aws.all_events(stack_id).await?;
        let mut progress = DeploymentProgress::starting_after(&earlier_events);
        if let Err(error) = start_request.await {
            // The operation may have started, even though its response was lost.
            let may_have_started = matches!(error, AwsError::Unreachable { .. });
            return Err(if may_have_started { self.connection_lost(error) } else { error.into() });
        }
        let EndedOperation { result, stack } =
            self.report_until(stack_id, &mut progress, WaitUntil::Ended).await?;
        if result != expected_result {
            return Err(self.operation_error(&stack, &progress, result));
        }
        Ok(stack)
    }

    async fn report_until(
        &self,
        stack_id: &str,
        progress: &mut DeploymentProgress,
        condition: WaitUntil,
    ) -> Result<EndedOperation, SynthError> {
        let poll_interval = self.aws.poll_interval(POLL_INTERVAL);
        let mut resource_list = ResourceList::new(*self.output);
        let mut failed_reads = 0;
        loop {
            match self.print_new_events(stack_id, progress, &mut resource_list).await {
                Ok(stack) => {
                    failed_reads = 0;
                    // Until the first event arrives, the stack has the status of the previous
                    // operation.
                    if progress.has_started()
                        && condition.is_met_by(&stack)
                        && let Some(result) = operation_result(&stack.status)
                    {
                        return Ok(EndedOperation { result, stack });
                    }
                }
                Err(error) => {
                    if error.is_final() || failed_reads >= MAX_FAILED_READS {
                        return Err(self.connection_lost(error));
                    }
                    failed_reads += 1;
                }
            }
            resource_list.print_heartbeat(progress.finished_resources());
            sleep(poll_interval).await;
        }
    }

    async fn print_new_events(
        &self,
        stack_id: &str,
        progress: &mut DeploymentProgress,
        resource_list: &mut ResourceList,
    ) -> Result<StackState, AwsError> {
        // Read the state before the events, so that the events are at least as recent as the state.
        let stack = self.aws.find_stack(stack_id).await?;
        let new_events = self.aws.events_since_known(stack_id, |id| progress.has_seen(id)).await?;
        for line in progress.add_events(new_events) {
            resource_list.print_event(&line);
        }
        stack.ok_or(AwsError::IncompleteReply { missing: "the stack" })
    }

    pub(super) fn stuck_stack_error(
        &self,
        stack: &StackState,
        events: &[DeploymentEvent],
    ) -> SynthError {
        let (cause, advice) = match last_operation_failure(events) {
            Some(failure) => {
                let cause = format!("{}: {}", self.describe_resource(&failure), failure.reason);
                (Some(cause), failure.advice())
            }
            None => (None, "find the cause in the stack's events in the AWS console".to_owned()),
        };
        let repair_commands = repair_commands(self.stack_name, &stack.status);
        SynthError::StackStuck {
            stack: self.stack_name.to_owned(),
            status: stack.status.clone(),
            cause,
            help: format!("{advice}, then {repair_commands}"),
        }
    }

    fn connection_lost(&self, cause: AwsError) -> SynthError {
        let stack = self.stack_name.to_owned();
        SynthError::ConnectionLost { stack, command: self.command, cause }
    }

    fn operation_error(
        &self,
        stack: &StackState,
        progress: &DeploymentProgress,
        result: OperationResult,
    ) -> SynthError {
        let failure = first_failure(progress.failures()).unwrap_or_else(|| DeploymentFailure {
            logical_id: None,
            resource_type: String::new(),
            reason: stack.reason.clone().unwrap_or_else(|| stack.status.clone()),
        });
        let next_step =
            if matches!(stack.status.as_str(), "UPDATE_FAILED" | "UPDATE_ROLLBACK_FAILED") {
                let repair_commands = repair_commands(self.stack_name, &stack.status);
                format!("{repair_commands}; until then, the stack is only partly updated")
            } else {
                let stack_state = describe_state(self.stack_name, &stack.status, result);
                format!("run `synth {}` again; {stack_state}", self.command)
            };
        let unfinished_action = match self.command {
            "destroy" => "deleted",
            "restore" => "imported",
            _ => "deployed",
        };
        SynthError::DeployFailed {
            resource: self.describe_resource(&failure),
            done: unfinished_action,
            help: format!("{}, then {next_step}", failure.advice()),
            reason: failure.reason,
        }
    }

    fn describe_resource(&self, failure: &DeploymentFailure) -> String {
        let Some(id) = &failure.logical_id else { return format!("the stack {}", self.stack_name) };
        match self.sources.get(id) {
            Some(source) => format!("{id} ({}, defined in {source})", failure.resource_type),
            None => format!("{id} ({})", failure.resource_type),
        }
    }
}

fn describe_state(stack_name: &str, status: &str, result: OperationResult) -> String {
    match (result, status) {
        (OperationResult::RolledBack, "ROLLBACK_COMPLETE") => format!(
            "the creation of stack {stack_name} was rolled back, and the next deployment creates it again; \
             protected tables that were already created are kept, empty"
        ),
        (OperationResult::RolledBack, _) => {
            format!("stack {stack_name} was rolled back to its previous state")
        }
        _ => format!("stack {stack_name} has the status {status}"),
    }
}

fn repair_commands(stack_name: &str, status: &str) -> String {
    match status {
        "DELETE_FAILED" => {
            "run `synth destroy` to delete the rest, and `synth deploy` to create the \
                            stack again"
                .to_owned()
        }
        "UPDATE_ROLLBACK_FAILED" => format!(
            "run `aws cloudformation continue-update-rollback --stack-name {stack_name}`, then `synth deploy`"
        ),
        "UPDATE_FAILED" => format!(
            "run `aws cloudformation rollback-stack --stack-name {stack_name}`, then `synth deploy`; if AWS \
             refuses the rollback because the stack was updated in express mode, deploy the last working \
             template instead, with `aws cloudformation update-stack --stack-name {stack_name} \
             --deployment-config Mode=EXPRESS,DisableRollback=true`"
        ),
        _ => format!(
            "run `aws cloudformation describe-stack-events --stack-name {stack_name}`, fix the last failure, \
             and run `synth deploy`"
        ),
    }
}
