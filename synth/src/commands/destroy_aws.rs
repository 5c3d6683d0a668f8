//! `synth destroy` of a stack in AWS.

use std::cell::Cell;
use std::collections::BTreeMap;

use cellar_stacks::Config;
use cellar_stacks::cellar::{OUTPUT_BUCKET, OUTPUT_FEED_TABLE, OUTPUT_TABLES};
use serde_json::json;

use super::confirm::confirm;
use super::follow::Follower;
use super::interrupt::{Stage, interruptible};
use crate::aws::{Aws, StackState};
use crate::cli::{DestroyArguments, Output};
use crate::deployment::is_ours;
use crate::error::SynthError;
use crate::project::{Named, Project};

/// Deletes the stack; its tables and its bucket only if told to.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &DestroyArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let stage = Cell::new(Stage::Before);
    let config = Project::find(config)?.config;
    let work = Box::pin(destroy(&config, arguments, output, &stage));
    interruptible(&config.stack, &stage, work).await
}

async fn destroy(
    config: &Config,
    arguments: &DestroyArguments,
    output: &Output,
    stage: &Cell<Stage>,
) -> Result<(), SynthError> {
    let name = &config.stack;
    let aws = Aws::connect(config, arguments.endpoint_url.as_deref()).await?;
    let place = aws.place();
    let Some(state) = aws.stack(name).await? else {
        let result = json!({ "stack": name, "deleted": false });
        output.result(&result, &format!("There is no stack {name} in {place}."));
        return Ok(());
    };
    if !is_ours(name, &state) {
        return Err(SynthError::ForeignStack { stack: name.clone(), place });
    }
    let data = data(&state);
    if !arguments.yes {
        let fate = if arguments.delete_data {
            format!("with ALL ITS DATA, for ever ({})", data.join(", "))
        } else {
            "(its tables and its bucket stay)".to_owned()
        };
        confirm("deleting the stack", &format!("Delete {name} in {place} {fate}?")).await?;
    }
    stage.set(Stage::Deleting);
    // Data first: as long as there is the stack, it says what is its own, and this can be repeated.
    if arguments.delete_data {
        delete_data(&aws, &state, output).await?;
    }
    let made_in = BTreeMap::new();
    let follower =
        Follower { aws: &aws, output, stack: name, command: "destroy", made_in: &made_in };
    follower.delete_stack(&state).await?;
    let text = match arguments.delete_data {
        true => format!("Deleted {name} and all its data."),
        false => format!(
            "Deleted {name}. Its data stays, and is no longer managed: {}.\nWhat is stored costs \
             what it costs; delete it in the console if it is not needed.",
            data.join(", ")
        ),
    };
    let kept = if arguments.delete_data { &[][..] } else { data.as_slice() };
    output.result(&json!({ "stack": name, "deleted": true, "kept": kept }), &text);
    Ok(())
}

/// The outputs that name tables, the one that is made of the others too.
fn all_tables() -> impl Iterator<Item = &'static str> {
    OUTPUT_TABLES.into_iter().chain([OUTPUT_FEED_TABLE])
}

/// The names of what holds data.
fn data(state: &StackState) -> Vec<String> {
    let named = all_tables().chain([OUTPUT_BUCKET]);
    named.filter_map(|output| state.outputs.get(output).cloned()).collect()
}

async fn delete_data(aws: &Aws, state: &StackState, output: &Output) -> Result<(), SynthError> {
    for table in all_tables().filter_map(|output| state.outputs.get(output)) {
        let step = output.step("Delete a table");
        let deleted = aws.delete_table(table).await.map_err(SynthError::from);
        step.ended(deleted, |()| table.clone())?;
    }
    if let Some(bucket) = state.outputs.get(OUTPUT_BUCKET) {
        let step = output.step("Delete the bucket");
        let mut objects = 0;
        let deleted = aws.delete_bucket(bucket, |so_far| objects = so_far).await;
        let deleted = deleted.map_err(SynthError::from);
        step.ended(deleted, |()| format!("{bucket}, {objects} versions of objects"))?;
    }
    Ok(())
}
