//! `synth destroy`: stops the local stack. For AWS, `destroy_aws` deletes the stack.

use std::path::Path;

use cellar::stack_files::StackFiles;
use cellar_base::count::count;
use cellar_local::RunningStack;
use serde_json::json;

use super::confirm::confirm;
use super::destroy_aws;
use super::stop::{describe_kept, describe_stopped, shown_path};
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
    let project = Project::find_or_use_defaults(config_selection)?;
    if arguments.delete_data && project.local_state().path().exists() {
        return delete_local_stack(&project, arguments, output).await;
    }
    let folder = project.local_state();
    let stopped_stack = stop_running_stack(&folder).await?;
    let text = describe_kept(&folder, stopped_stack.as_ref());
    print_destroyed(output, stopped_stack.as_ref(), None, &shown_path(&folder), &text);
    Ok(())
}

async fn delete_local_stack(
    project: &Project,
    arguments: &DestroyArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let folder = project.local_state();
    let data_path = shown_path(&folder);
    // The identity of a damaged stack is unknown, but its data can be deleted nevertheless.
    let identity = folder.identity().ok().flatten();
    let client_files = match &identity {
        Some(identity) => Some(StackFiles::find(&project.folder, identity)?),
        None => None,
    };
    let unsent_edits = client_files.as_ref().map_or(0, StackFiles::count_unsent_edits);
    if !arguments.yes {
        let question = deletion_question(&data_path, client_files.as_ref(), unsent_edits);
        confirm("deleting the data", &question).await?;
    }
    let stopped_stack = stop_running_stack(&folder).await?;
    // Lock all files before anything is deleted, so that no other process uses them.
    let client_files = client_files.map(StackFiles::lock).transpose()?;
    folder.delete()?;
    let mut text =
        format!("{} Deleted {}", describe_stopped(stopped_stack.as_ref()), data_path.display());
    if let Some(client_files) = client_files {
        client_files.delete()?;
        text.push_str(", and the cells and tokens that `cellar` kept");
    }
    text.push_str(&match unsent_edits {
        0 => ".".to_owned(),
        _ => format!(", with {}.", count_unsent(unsent_edits)),
    });
    print_destroyed(output, stopped_stack.as_ref(), Some(unsent_edits), &data_path, &text);
    Ok(())
}

fn deletion_question(
    data_path: &Path,
    client_files: Option<&StackFiles>,
    unsent_edits: usize,
) -> String {
    let mut question = format!("Permanently delete everything in {}", data_path.display());
    if let Some(client_files) = client_files {
        let folder = client_files.folder().display();
        question.push_str(&format!(", and the cells and tokens that `cellar` keeps in {folder}"));
    }
    if unsent_edits > 0 {
        question.push_str(&format!(", with {}", count_unsent(unsent_edits)));
    }
    question.push('?');
    question
}

fn count_unsent(unsent_edits: usize) -> String {
    count(unsent_edits, "edit that was not sent", "edits that were not sent")
}

/// `lost_edits` is `None` if the data is kept.
fn print_destroyed(
    output: &Output,
    stopped_stack: Option<&RunningStack>,
    lost_edits: Option<usize>,
    data_path: &Path,
    text: &str,
) {
    let result = json!({
        "stopped": stopped_stack,
        "deleted": lost_edits.is_some(),
        "lost_edits": lost_edits.unwrap_or(0),
        "state": data_path,
    });
    output.print_result(&result, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_names_what_is_lost() {
        let path = Path::new("/p/.cellar/local");
        let damaged = deletion_question(path, None, 0);
        assert_eq!(damaged, "Permanently delete everything in /p/.cellar/local?");
        let files = StackFiles::find(Path::new("/p"), "local-1").unwrap();
        let question = deletion_question(path, Some(&files), 2);
        let kept = "and the cells and tokens that `cellar` keeps in /p/.cellar";
        assert!(question.contains(kept), "{question}");
        assert!(question.ends_with("with 2 edits that were not sent?"), "{question}");
    }
}
