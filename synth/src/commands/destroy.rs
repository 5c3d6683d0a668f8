//! `synth destroy`: of the stack on this machine; `destroy_aws` is the one in AWS.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use serde_json::json;

use super::destroy_aws;
use crate::cli::{DestroyArguments, Output};
use crate::error::SynthError;
use crate::local_cloud::stop;
use crate::project::Project;

/// Ends the local cloud; deletes its data only if told to.
pub(crate) async fn run(
    config: Option<&Path>,
    arguments: &DestroyArguments,
    output: &Output,
) -> Result<(), SynthError> {
    if !arguments.local {
        return destroy_aws::run(config, arguments, output).await;
    }
    let folder = Project::find_folder(config)?.local_state();
    if arguments.delete_data && !arguments.yes {
        confirm(folder.path())?;
    }
    let stopped = stop(&folder).await?;
    let data = folder.path();
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

fn confirm(data: &Path) -> Result<(), SynthError> {
    let refused = SynthError::Unconfirmed { what: "deleting the data" };
    if !std::io::stdin().is_terminal() {
        return Err(refused);
    }
    let _ = write!(std::io::stderr(), "Delete everything in {}? Type yes: ", data.display());
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(SynthError::Process)?;
    if answer.trim() == "yes" { Ok(()) } else { Err(refused) }
}
