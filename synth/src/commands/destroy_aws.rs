//! `synth destroy` for a stack in AWS.

use std::cell::Cell;
use std::collections::BTreeMap;

use cellar_stacks::Config;
use cellar_stacks::cellar::{OUTPUT_BUCKET, OUTPUT_FEED_TABLE, OUTPUT_TABLES};
use serde_json::json;

use super::confirm::confirm;
use super::follow::Follower;
use super::interrupt::interruptible;
use crate::aws::{Aws, StackState};
use crate::cli::{DestroyArguments, Output};
use crate::deployment::{DeploymentPhase, is_cellar_stack};
use crate::error::SynthError;
use crate::project::{ConfigSelection, Project};

/// Deletes the stack. Tables and bucket are retained unless `--delete-data` is given.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &DestroyArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let phase = Cell::new(DeploymentPhase::Preparing);
    let config = Project::find(config)?.config;
    let work = Box::pin(destroy(&config, arguments, output, &phase));
    interruptible(&config.stack, &phase, work).await
}

async fn destroy(
    config: &Config,
    arguments: &DestroyArguments,
    output: &Output,
    phase: &Cell<DeploymentPhase>,
) -> Result<(), SynthError> {
    let name = &config.stack;
    let aws = Aws::connect(config, arguments.endpoint_url.as_deref()).await?;
    let place = aws.place();
    let Some(state) = aws.stack(name).await? else {
        let result = json!({ "stack": name, "deleted": false });
        output.print_result(&result, &format!("Stack {name} does not exist in {place}."));
        return Ok(());
    };
    if !is_cellar_stack(name, &state) {
        return Err(SynthError::ForeignStack { stack: name.clone(), place });
    }
    let data_names = data_names(&state);
    if !arguments.yes {
        let question = if arguments.delete_data {
            let list = data_names.join(", ");
            format!("Permanently delete stack {name} in {place} and ALL ITS DATA ({list})?")
        } else {
            format!("Delete stack {name} in {place}? Its tables and its bucket are kept.")
        };
        confirm("deleting the stack", &question).await?;
    }
    phase.set(DeploymentPhase::Deleting);
    // Delete the data before the stack: table and bucket names come from the stack outputs, so an
    // interrupted deletion can be resumed.
    if arguments.delete_data {
        delete_data(&aws, &state, output).await?;
    }
    let sources = BTreeMap::new();
    let follower =
        Follower { aws: &aws, output, stack: name, command: "destroy", sources: &sources };
    follower.delete_stack(&state).await?;
    let (kept, text) = if arguments.delete_data {
        (Vec::new(), format!("Deleted stack {name} and all its data."))
    } else {
        let text = format!(
            "Deleted stack {name}. Its data is kept outside any stack: {}.\nStorage costs money; delete \
             the tables and the bucket in the AWS console if you do not need them.",
            data_names.join(", ")
        );
        (data_names, text)
    };
    output.print_result(&json!({ "stack": name, "deleted": true, "kept": kept }), &text);
    Ok(())
}

/// Returns the names of the stack outputs that contain table names.
fn table_outputs() -> impl Iterator<Item = &'static str> {
    OUTPUT_TABLES.into_iter().chain([OUTPUT_FEED_TABLE])
}

/// Returns the physical names of the stack's tables and bucket.
fn data_names(state: &StackState) -> Vec<String> {
    let outputs = table_outputs().chain([OUTPUT_BUCKET]);
    outputs.filter_map(|output| state.outputs.get(output).cloned()).collect()
}

async fn delete_data(aws: &Aws, state: &StackState, output: &Output) -> Result<(), SynthError> {
    for table in table_outputs().filter_map(|output| state.outputs.get(output)) {
        let step = output.step("Delete a table");
        let deleted = aws.delete_table(table).await.map_err(SynthError::from);
        step.finish(deleted, |()| table.clone())?;
    }
    if let Some(bucket) = state.outputs.get(OUTPUT_BUCKET) {
        let step = output.step("Delete the bucket");
        let mut versions = 0;
        let deleted = aws.delete_bucket(bucket, |deleted_so_far| versions = deleted_so_far).await;
        step.finish(deleted.map_err(SynthError::from), |()| {
            format!("{bucket}, {versions} object versions")
        })?;
    }
    Ok(())
}
