//! `synth destroy`: stops the local stack, or deletes the stack in AWS with `destroy_aws`.

use serde_json::json;

use super::confirm::confirm;
use super::destroy_aws;
use crate::cli::{DestroyArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::stop;
use crate::project::{ConfigSelection, Project};

/// Stops the local stack, or deletes the stack in AWS. The data is retained unless `--delete-data`
/// is given.
pub(crate) async fn run(
    config: ConfigSelection<'_>,
    arguments: &DestroyArguments,
    output: &Output,
) -> Result<(), SynthError> {
    if !arguments.local {
        return destroy_aws::run(config, arguments, output).await;
    }
    let folder = Project::find_folder(config)?.local_state();
    // Show the resolved path, because a parent directory may be a symbolic link.
    let canonical = folder.path().canonicalize();
    let data = canonical.as_deref().unwrap_or(folder.path());
    if arguments.delete_data && !arguments.yes {
        let question = format!("Permanently delete everything in {}?", data.display());
        confirm("deleting the data", &question).await?;
    }
    let stopped = stop(&folder).await?;
    let deleted = arguments.delete_data && data.exists();
    if deleted {
        // Lock the directory before deleting it, so that no other process can use it.
        folder.delete()?;
    }
    let mut text = match &stopped {
        Some(running) => format!("Stopped the local stack at {}.", running.url),
        None => "No local stack was running.".to_owned(),
    };
    if deleted {
        text.push_str(&format!(" Deleted {}.", data.display()));
    } else if folder.exists() {
        text.push_str(&format!(" Its data is kept in {}.", data.display()));
    }
    let result = json!({ "stopped": stopped, "deleted": deleted, "state": data });
    output.print_result(&result, &text);
    Ok(())
}
