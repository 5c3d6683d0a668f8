//! `synth ci init`: writes the files with which GitHub Actions posts diffs on pull requests and
//! deploys the stack.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::ci::{
    CiFile, DEPLOY_ENVIRONMENT, GithubRepository, PinnedCellar, RepositoryFiles,
    has_cellar_workspace, repository_root,
};
use crate::cli::{CiCommand, CiInitArguments, Output};
use crate::error::SynthError;
use crate::output_file::{IfExists, write_output};
use crate::project::{ConfigSelection, Project};

pub(crate) fn run_ci_command(
    config_selection: ConfigSelection<'_>,
    command: &CiCommand,
    output: &Output,
) -> Result<(), SynthError> {
    match command {
        CiCommand::Init(arguments) => {
            write_files(&Project::find(config_selection)?, arguments, output)
        }
    }
}

fn write_files(
    project: &Project,
    arguments: &CiInitArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let root = repository_root(&project.folder);
    let cellar = choose_cellar(&root, arguments, output)?;
    let branch = arguments.branch.as_str();
    let repository = RepositoryFiles { project, root: &root, cellar: cellar.as_ref(), branch };
    let files = repository.render()?;
    if arguments.print {
        print_files(&files, output);
        return Ok(());
    }
    if !arguments.force {
        check_none_differs(&root, &files)?;
    }
    let (unchanged, changed): (Vec<&CiFile>, Vec<&CiFile>) =
        files.iter().partition(|file| is_unchanged(&root, file));
    for file in &changed {
        write_file(&root.join(&file.path), &file.text)?;
    }
    if project.config.tokens.keys.is_empty() {
        output.print_note(
            "The configuration has no key that verifies tokens, so each deployment by a workflow would \
             create another one and lose it. Run `synth token init`, and commit cellar.yaml.",
        );
    }
    print_report(&repository, &changed, &unchanged, output);
    Ok(())
}

/// Returns `None` if the workflows build the Cellar workspace that is in the repository.
fn choose_cellar(
    root: &Path,
    arguments: &CiInitArguments,
    output: &Output,
) -> Result<Option<PinnedCellar>, SynthError> {
    if arguments.cellar.is_some() {
        return Ok(arguments.cellar.clone());
    }
    if has_cellar_workspace(root) {
        return Ok(None);
    }
    let (cellar, note) = PinnedCellar::of_this_checkout(root)?;
    output.print_note(&note);
    Ok(Some(cellar))
}

/// Check all files before writing the first one, so that either all files are written or none.
fn check_none_differs(root: &Path, files: &[CiFile]) -> Result<(), SynthError> {
    for file in files {
        let path = root.join(&file.path);
        if path.exists() && !is_unchanged(root, file) {
            return Err(SynthError::Exists { path });
        }
    }
    Ok(())
}

fn is_unchanged(root: &Path, file: &CiFile) -> bool {
    fs::read_to_string(root.join(&file.path)).is_ok_and(|text| text == file.text)
}

fn print_files(files: &[CiFile], output: &Output) {
    let json_files: Vec<_> =
        files.iter().map(|CiFile { path, text }| json!({ "path": path, "text": text })).collect();
    let texts: Vec<String> =
        files.iter().map(|CiFile { path, text }| format!("# {}\n{text}", path.display())).collect();
    output.print_result(&json!({ "files": json_files }), &texts.join("\n"));
}

fn print_report(
    repository: &RepositoryFiles<'_>,
    written: &[&CiFile],
    unchanged: &[&CiFile],
    output: &Output,
) {
    let github = GithubRepository::of_origin(repository.root);
    let commands = repository.deploy_role(github.as_ref()).commands(&repository.role_path());
    let text = format!(
        "{}{}\n{}",
        list_paths("Wrote:", &paths_of(repository.root, written)),
        list_paths("Unchanged:", &paths_of(repository.root, unchanged)),
        next_steps(repository.branch, &commands),
    );
    let report = json!({
        "written": paths_of(repository.root, written),
        "unchanged": paths_of(repository.root, unchanged),
        "cellar": repository.cellar.map(ToString::to_string),
        "commands": commands,
    });
    output.print_result(&report, &text);
}

fn paths_of(root: &Path, files: &[&CiFile]) -> Vec<PathBuf> {
    files.iter().map(|file| root.join(&file.path)).collect()
}

fn list_paths(heading: &str, paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = paths.iter().map(|path| format!("  {}\n", path.display())).collect();
    format!("{heading}\n{}", lines.concat())
}

fn next_steps(branch: &str, commands: &[String]) -> String {
    let command_lines: Vec<String> = commands
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| format!("     {line}\n"))
        .collect();
    format!(
        "The first workflow posts the diff of each pull request. It needs no AWS account. The second deploys each\n\
         push to {branch}, in the environment {DEPLOY_ENVIRONMENT}.\n\n\
         Next steps:\n\
         \x20 1. Commit cellar.yaml and .github, and push them.\n\
         \x20 2. In the settings of the repository, make the check `diff` a required status check of {branch}. GitHub\n\
         \x20    lists it after its first run. Otherwise, a pull request can be merged although its check fails.\n\
         \x20 3. To deploy, create the role that the second workflow assumes, once:\n\n{}",
        command_lines.concat(),
    )
}

fn write_file(path: &Path, text: &str) -> Result<(), SynthError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|cause| SynthError::Io {
            operation: "write",
            path: path.to_owned(),
            cause,
        })?;
    }
    write_output(path, IfExists::Replace, text.as_bytes())
}
