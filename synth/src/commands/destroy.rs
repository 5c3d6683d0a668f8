//! `synth destroy`: of the stack on this machine; `destroy_aws` is the one in AWS.

use serde_json::json;

use super::confirm::confirm;
use super::destroy_aws;
use crate::cli::{DestroyArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::stop;
use crate::project::{Named, Project};

/// Ends the local cloud; deletes its data only if told to.
pub(crate) async fn run(
    config: Named<'_>,
    arguments: &DestroyArguments,
    output: &Output,
) -> Result<(), SynthError> {
    if !arguments.local {
        return destroy_aws::run(config, arguments, output).await;
    }
    let folder = Project::find_folder(config)?.local_state();
    if arguments.delete_data && !arguments.yes {
        // Where it really is: a folder above may be a link.
        let real = folder.path().canonicalize();
        let real = real.as_deref().unwrap_or(folder.path());
        let question = format!("Delete everything in {}?", real.display());
        confirm("deleting the data", &question).await?;
    }
    let stopped = stop(&folder).await?;
    let real = folder.path().canonicalize();
    let data = real.as_deref().unwrap_or(folder.path());
    let deleted = arguments.delete_data && data.exists();
    if deleted {
        // Takes the folder first: nobody can have started on it meanwhile.
        folder.delete()?;
    }
    let ended = match &stopped {
        Some(running) => format!("Ended the local cloud at {}.", running.url),
        None => "No local cloud was running.".to_owned(),
    };
    let kept = match (deleted, folder.exists()) {
        (true, _) => format!(" Deleted {}.", data.display()),
        (false, true) => format!(" Its data stays in {}.", data.display()),
        (false, false) => String::new(),
    };
    let result = json!({ "stopped": stopped, "deleted": deleted, "state": data });
    output.result(&result, &(ended + &kept));
    Ok(())
}
