//! `synth destroy` for a stack in AWS.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use cellar_stacks::Config;
use cellar_stacks::cellar::{OUTPUT_BUCKET, OUTPUT_FEED_TABLE, OUTPUT_TABLES};
use serde_json::json;
use tokio::time::sleep;

use super::confirm::confirm;
use super::follow::Follower;
use super::interrupt::run_interruptibly;
use crate::aws::{Aws, StackState};
use crate::cli::{DestroyArguments, Output};
use crate::deployment::{
    DeploymentPhase, MAX_TABLE_READS, TableDeletionStep, is_cellar_stack, next_deletion_step,
};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};

const TABLE_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Retains the tables and the bucket unless `--delete-data` is given.
pub(crate) async fn destroy_in_aws(
    config_selection: ConfigSelection<'_>,
    arguments: &DestroyArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let phase = Cell::new(DeploymentPhase::Preparing);
    let config = Project::find(config_selection)?.config;
    let deletion = Box::pin(delete_stack(&config, arguments, output, &phase));
    run_interruptibly(&config.stack, &phase, deletion).await
}

async fn delete_stack(
    config: &Config,
    arguments: &DestroyArguments,
    output: &Output,
    phase: &Cell<DeploymentPhase>,
) -> Result<(), SynthError> {
    let stack_name = &config.stack;
    let aws = Aws::connect(config, arguments.endpoint_url.as_deref()).await?;
    let account_and_region = aws.account_and_region();
    match aws.find_stack(stack_name).await? {
        None => {
            let result = json!({ "stack": stack_name, "deleted": false });
            let text = format!("Stack {stack_name} does not exist in {account_and_region}.");
            output.print_result(&result, &text);
            Ok(())
        }
        Some(stack) if !is_cellar_stack(stack_name, &stack) => {
            Err(SynthError::ForeignStack { stack: stack_name.clone(), account_and_region })
        }
        Some(stack) => {
            delete_cellar_stack(stack_name, &aws, &stack, arguments, output, phase).await
        }
    }
}

async fn delete_cellar_stack(
    stack_name: &str,
    aws: &Aws,
    stack: &StackState,
    arguments: &DestroyArguments,
    output: &Output,
    phase: &Cell<DeploymentPhase>,
) -> Result<(), SynthError> {
    let data_names = data_names(stack);
    if !arguments.yes {
        confirm_deletion(stack_name, aws, stack, arguments.delete_data).await?;
    }
    phase.set(DeploymentPhase::Deleting);
    if stack.termination_protection {
        let step = output.start_step("Turn off the termination protection");
        let result = aws.set_termination_protection(&stack.id, false).await;
        step.finish(result, |()| stack_name.to_owned())?;
    }
    // Delete the data before the stack. The names of the tables and the bucket come from the
    // outputs of the stack, so an interrupted deletion can be resumed.
    if arguments.delete_data {
        delete_data(aws, stack, output).await?;
    }
    let sources = BTreeMap::new();
    let follower = Follower { aws, output, stack_name, command: "destroy", sources: &sources };
    follower.delete_stack(stack).await?;
    let kept_names = if arguments.delete_data { Vec::new() } else { data_names };
    print_deletion(stack_name, &kept_names, arguments.delete_data, output);
    Ok(())
}

/// Returns [`SynthError::ProtectedStack`] or [`SynthError::Unconfirmed`] if the user does not
/// confirm.
async fn confirm_deletion(
    stack_name: &str,
    aws: &Aws,
    stack: &StackState,
    deletes_data: bool,
) -> Result<(), SynthError> {
    let stack_and_account = format!("{stack_name} in {}", aws.account_and_region());
    let mut question = if deletes_data {
        let data_list = data_names(stack).join(", ");
        format!("Permanently delete stack {stack_and_account} and ALL ITS DATA ({data_list})?")
    } else {
        format!("Delete stack {stack_and_account}? Its tables and its bucket are kept.")
    };
    if stack.termination_protection {
        question.push_str(" Its termination protection is turned off first.");
    }
    let result = confirm("deleting the stack", &question).await;
    result.map_err(|error| match error {
        SynthError::Unconfirmed { .. } if stack.termination_protection => {
            SynthError::ProtectedStack { stack: stack_name.to_owned() }
        }
        other => other,
    })
}

fn print_deletion(stack_name: &str, kept_names: &[String], data_is_deleted: bool, output: &Output) {
    let text = if data_is_deleted {
        format!("Deleted stack {stack_name} and all its data.")
    } else {
        format!(
            "Deleted stack {stack_name}. Its data is kept outside any stack: {}.\nStorage costs money; \
             delete the tables and the bucket in the AWS console if you do not need them.",
            kept_names.join(", ")
        )
    };
    let result = json!({ "stack": stack_name, "deleted": true, "kept": kept_names });
    output.print_result(&result, &text);
}

fn table_output_names() -> impl Iterator<Item = &'static str> {
    OUTPUT_TABLES.into_iter().chain([OUTPUT_FEED_TABLE])
}

fn data_names(stack: &StackState) -> Vec<String> {
    let output_names = table_output_names().chain([OUTPUT_BUCKET]);
    output_names.filter_map(|name| stack.outputs.get(name).cloned()).collect()
}

async fn delete_data(aws: &Aws, stack: &StackState, output: &Output) -> Result<(), SynthError> {
    for table_name in table_output_names().filter_map(|name| stack.outputs.get(name)) {
        let step = output.start_step("Delete a table");
        let result = delete_table(aws, table_name).await;
        step.finish(result, |()| table_name.clone())?;
    }
    if let Some(bucket) = stack.outputs.get(OUTPUT_BUCKET) {
        let step = output.start_step("Delete the bucket");
        let mut version_count = 0;
        let result = aws.delete_bucket(bucket, |count| version_count = count).await;
        step.finish(result, |()| format!("{bucket}, {version_count} object versions"))?;
    }
    Ok(())
}

/// Does nothing if the table does not exist.
async fn delete_table(aws: &Aws, table_name: &str) -> Result<(), SynthError> {
    let poll_interval = aws.poll_interval(TABLE_POLL_INTERVAL);
    let mut read_count = 0;
    loop {
        let table = aws.describe_table(table_name).await?;
        read_count += 1;
        match next_deletion_step(table.as_ref(), read_count) {
            TableDeletionStep::Finish => return Ok(()),
            TableDeletionStep::GiveUp => {
                return Err(SynthError::TableNotDeleted {
                    table: table_name.to_owned(),
                    waited: poll_interval * MAX_TABLE_READS,
                });
            }
            TableDeletionStep::Unprotect => aws.unprotect_table(table_name).await?,
            TableDeletionStep::Delete => aws.request_table_deletion(table_name).await?,
            TableDeletionStep::Wait => {}
        }
        sleep(poll_interval).await;
    }
}
