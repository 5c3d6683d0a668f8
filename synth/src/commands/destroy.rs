//! `synth destroy`: stops the local stack. For AWS, `destroy_aws` deletes the stack.

use serde_json::json;

use super::confirm::confirm;
use super::destroy_aws;
use crate::cli::{DestroyArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::stop_running_stack;
use crate::project::{ConfigSelection, Project};

/// Retains the data unless `--delete-data` is given.
pub(crate) async fn destroy_stack(
    config_selection: ConfigSelection<'_>,
    arguments: &DestroyArguments,
    output: &Output,
) -> Result<(), SynthError> {
    if arguments.local {
        stop_local_stack(config_selection, arguments, output).await
    } else {
        destroy_aws::destroy_in_aws(config_selection, arguments, output).await
    }
}

async fn stop_local_stack(
    config_selection: ConfigSelection<'_>,
    arguments: &DestroyArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let folder = Project::find_or_use_defaults(config_selection)?.local_state();
    // Show the path without symbolic links, because a parent directory may be a link to another
    // place.
    let data_path = folder.path().canonicalize().unwrap_or_else(|_| folder.path().to_owned());
    if arguments.delete_data && !arguments.yes {
        let question = format!("Permanently delete everything in {}?", data_path.display());
        confirm("deleting the data", &question).await?;
    }
    let stopped_stack = stop_running_stack(&folder).await?;
    let deletes_data = arguments.delete_data && data_path.exists();
    if deletes_data {
        // Lock the directory before deleting it, so that no other process uses the directory.
        folder.delete()?;
    }
    let mut text = match &stopped_stack {
        Some(running) => format!("Stopped the local stack at {}.", running.url),
        None => "No local stack was running.".to_owned(),
    };
    if deletes_data {
        text.push_str(&format!(" Deleted {}.", data_path.display()));
    } else if folder.exists() {
        text.push_str(&format!(" Its data is kept in {}.", data_path.display()));
    }
    let result = json!({ "stopped": stopped_stack, "deleted": deletes_data, "state": data_path });
    output.print_result(&result, &text);
    Ok(())
}
