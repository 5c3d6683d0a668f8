//! `synth stop`: stops the local stack and keeps its data.

use std::path::PathBuf;

use cellar_local::{RunningStack, StateFolder};
use serde_json::json;

use crate::cli::Output;
use crate::error::SynthError;
use crate::local_cloud::stop_running_stack;
use crate::project::{ConfigSelection, Project};

pub(crate) async fn stop_stack(
    config_selection: ConfigSelection<'_>,
    output: &Output,
) -> Result<(), SynthError> {
    let folder = Project::find_or_use_defaults(config_selection)?.local_state();
    let stopped_stack = stop_running_stack(&folder).await?;
    let text = describe_kept(&folder, stopped_stack.as_ref());
    let result = json!({ "stopped": stopped_stack, "state": shown_path(&folder) });
    output.print_result(&result, &text);
    Ok(())
}

/// Returns the path without symbolic links, because a parent directory may be a link to another
/// place.
pub(super) fn shown_path(folder: &StateFolder) -> PathBuf {
    folder.path().canonicalize().unwrap_or_else(|_| folder.path().to_owned())
}

pub(super) fn describe_stopped(stopped_stack: Option<&RunningStack>) -> String {
    match stopped_stack {
        Some(running) => {
            format!("Stopped the local stack at {}.", running.url)
        }
        None => "No local stack was running.".to_owned(),
    }
}

pub(super) fn describe_kept(folder: &StateFolder, stopped_stack: Option<&RunningStack>) -> String {
    let stopped = describe_stopped(stopped_stack);
    if folder.exists() {
        format!("{stopped} Its data is kept in {}.", shown_path(folder).display())
    } else {
        stopped
    }
}
