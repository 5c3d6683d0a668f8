//! `synth ci init`: writes GitHub Actions workflows, which post diffs on pull requests and deploy
//! the stack.

use std::fs;
use std::path::{Path, PathBuf};

use handlebars::Handlebars;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{CiCommand, CiInitArguments, Output};
use crate::difference::marker;
use crate::error::SynthError;
use crate::output_file::{IfExists, write_output};
use crate::project::{CONFIG_FILE, ConfigSelection, Project};

/// File name (without extension) and Handlebars template of each workflow.
const WORKFLOWS: [(&str, &str); 2] = [
    ("cellar-diff", include_str!("../../../templates/ci/cellar-diff.yml.hbs")),
    ("cellar-deploy", include_str!("../../../templates/ci/cellar-deploy.yml.hbs")),
];
/// Directory of the workflows, relative to the root of the repository.
const WORKFLOW_FOLDER: &str = ".github/workflows";
/// The environment can be configured to require approval.
const DEPLOY_ENVIRONMENT: &str = "production";

/// Characters that start a GitHub expression. In inserted text, they are replaced by
/// [`BROKEN_EXPRESSION_START`], so that GitHub does not evaluate the text.
const EXPRESSION_START: &str = "${{";
const BROKEN_EXPRESSION_START: &str = "$ {{";

/// Strings that may need quotes are stored as quoted YAML scalars.
#[derive(Serialize)]
struct WorkflowView {
    diff_name: String,
    deploy_name: String,
    diff_group: String,
    deploy_group: String,
    marker: String,
    config: String,
    stage: Option<String>,
    branch: String,
    environment: &'static str,
    rust_version: &'static str,
}

struct WorkflowFile {
    path: PathBuf,
    yaml: String,
}

pub(crate) fn run_ci_command(
    config_selection: ConfigSelection<'_>,
    command: &CiCommand,
    output: &Output,
) -> Result<(), SynthError> {
    match command {
        CiCommand::Init(arguments) => {
            write_workflows(&Project::find(config_selection)?, arguments, output)
        }
    }
}

fn write_workflows(
    project: &Project,
    arguments: &CiInitArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let workflows = render_workflows(project, &arguments.branch)?;
    if arguments.print {
        print_workflows(&workflows, output);
        return Ok(());
    }
    if !arguments.force {
        check_none_exists(&workflows)?;
    }
    for workflow in &workflows {
        write_workflow(workflow)?;
    }
    let written_paths: Vec<&PathBuf> = workflows.iter().map(|workflow| &workflow.path).collect();
    let path_lines: Vec<String> =
        written_paths.iter().map(|path| format!("  {}", path.display())).collect();
    let text = format!(
        "Wrote\n{}\n\nThe first workflow posts the diff of a pull request. The second deploys each push to \
         {}; it\nneeds the variables CELLAR_DEPLOY_ROLE_ARN and CELLAR_REGION, and the environment \
         {DEPLOY_ENVIRONMENT}: see\nthe comment at its top.",
        path_lines.join("\n"),
        arguments.branch,
    );
    output.print_result(&json!({ "written": written_paths }), &text);
    Ok(())
}

/// Check all files before writing the first one, so that either all files are written or none.
fn check_none_exists(workflows: &[WorkflowFile]) -> Result<(), SynthError> {
    match workflows.iter().find(|workflow| workflow.path.exists()) {
        Some(existing) => Err(SynthError::Exists { path: existing.path.clone() }),
        None => Ok(()),
    }
}

fn print_workflows(workflows: &[WorkflowFile], output: &Output) {
    let mut json_files = Vec::new();
    let mut texts = Vec::new();
    for WorkflowFile { path, yaml } in workflows {
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        texts.push(format!("# {WORKFLOW_FOLDER}/{file_name}\n{yaml}"));
        json_files.push(json!({ "name": file_name, "yaml": yaml }));
    }
    output.print_result(&json!({ "files": json_files }), &texts.join("\n"));
}

fn render_workflows(project: &Project, branch: &str) -> Result<Vec<WorkflowFile>, SynthError> {
    let repository = repository_root(&project.folder);
    let view = WorkflowView::new(project, &repository, branch);
    let mut templates = Handlebars::new();
    templates.register_escape_fn(handlebars::no_escape);
    let mut workflows = Vec::with_capacity(WORKFLOWS.len());
    for (name, template) in WORKFLOWS {
        let file_name = match &project.stage {
            Some(stage) => format!("{name}-{stage}.yml"),
            None => format!("{name}.yml"),
        };
        let path = repository.join(WORKFLOW_FOLDER).join(file_name);
        let yaml = templates.render_template(template, &view)?;
        workflows.push(WorkflowFile { path, yaml });
    }
    Ok(workflows)
}

impl WorkflowView {
    fn new(project: &Project, repository: &Path, branch: &str) -> Self {
        let stack_name = &project.config.stack;
        let config_path =
            project.config_file.strip_prefix(repository).unwrap_or(Path::new(CONFIG_FILE));
        Self {
            diff_name: yaml_scalar(&format!("Cellar: diff of {stack_name}")),
            deploy_name: yaml_scalar(&format!("Cellar: deploy {stack_name}")),
            diff_group: format!("cellar-diff-{stack_name}"),
            deploy_group: format!("cellar-deploy-{stack_name}"),
            marker: yaml_scalar(&marker(stack_name)),
            config: yaml_scalar(&config_path.to_string_lossy()),
            stage: project.stage.as_deref().map(yaml_scalar),
            branch: yaml_scalar(branch),
            environment: DEPLOY_ENVIRONMENT,
            rust_version: env!("CARGO_PKG_RUST_VERSION"),
        }
    }
}

/// Quotes text as a YAML scalar by encoding the text as a JSON string, which is valid YAML. If the
/// text contains the start of a GitHub expression, breaks it up, so that GitHub does not evaluate
/// the expression.
fn yaml_scalar(text: &str) -> String {
    Value::from(text.replace(EXPRESSION_START, BROKEN_EXPRESSION_START)).to_string()
}

/// Returns `folder` itself if it is in no repository.
fn repository_root(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(folder).to_owned()
}

fn write_workflow(workflow: &WorkflowFile) -> Result<(), SynthError> {
    if let Some(folder) = workflow.path.parent() {
        fs::create_dir_all(folder).map_err(|cause| SynthError::Io {
            operation: "write",
            path: workflow.path.clone(),
            cause,
        })?;
    }
    write_output(&workflow.path, IfExists::Replace, workflow.yaml.as_bytes())
}

#[cfg(test)]
mod tests {
    use cellar_stacks::Config;

    use super::*;

    fn render(stack: &str, config_file: &str) -> Vec<(PathBuf, String)> {
        render_stage(stack, config_file, None)
    }

    fn render_stage(stack: &str, file: &str, stage: Option<&str>) -> Vec<(PathBuf, String)> {
        let config = Config { stack: stack.to_owned(), ..Config::default() };
        let folder = PathBuf::from("/repository");
        let (config_file, stage) = (folder.join(file), stage.map(str::to_owned));
        let project = Project { config_file, folder, config, stage };
        render_workflows(&project, "main")
            .unwrap()
            .into_iter()
            .map(|workflow| (workflow.path, workflow.yaml))
            .collect()
    }

    #[test]
    fn each_stage_has_its_own_workflows() {
        for (path, text) in render_stage("books-prod", "cellar.yaml", Some("prod")) {
            assert!(path.display().to_string().ends_with("-prod.yml"), "{}", path.display());
            assert_eq!(text.matches("CELLAR_STAGE: \"prod\"\n").count(), 1, "{text}");
            serde_yaml::from_str::<Value>(&text).unwrap();
        }
        for (path, text) in render("books", "cellar.yaml") {
            assert!(!text.contains("CELLAR_STAGE"), "{}", path.display());
        }
    }

    #[test]
    fn workflows_are_valid_yaml_with_minimal_permissions() {
        let files = render("books", "infra/cellar.yaml");
        for (path, text) in &files {
            let value: Value = serde_yaml::from_str(text).unwrap();
            assert_eq!(value["permissions"], json!({}), "{}", path.display());
            assert!(text.contains(r#"CONFIG: "infra/cellar.yaml""#), "{text}");
            assert!(!text.contains("\\{{") && text.contains("${{ "), "{text}");
            for uses in text.lines().filter_map(|line| line.split_once("uses: ")) {
                let (_, version) = uses.1.split_once("@v").unwrap();
                assert!(version.parse::<u32>().is_ok(), "{uses:?}");
            }
        }
        let diff: Value = serde_yaml::from_str(&files[0].1).unwrap();
        assert_eq!(diff["jobs"]["diff"]["permissions"], json!({"contents": "read"}));
        assert_eq!(diff["jobs"]["comment"]["permissions"], json!({"pull-requests": "write"}));
        let script = &diff["jobs"]["comment"]["steps"][1];
        assert_eq!(script["env"]["MARKER"], "<!-- cellar-diff: books -->");
        assert_eq!(
            diff["concurrency"]["group"],
            "cellar-diff-books-${{ github.event.pull_request.number }}"
        );
        let deploy: Value = serde_yaml::from_str(&files[1].1).unwrap();
        assert_eq!(
            deploy["jobs"]["deploy"]["permissions"],
            json!({"contents": "read", "id-token": "write"})
        );
        assert_eq!(deploy["on"]["push"]["branches"], json!(["main"]));
        // The glibc of the runner is newer than that of Lambda.
        let steps = deploy["jobs"]["deploy"]["steps"].as_array().unwrap();
        let index_of = |part: &str| {
            let has_part =
                |step: &Value| step["run"].as_str().is_some_and(|run| run.contains(part));
            steps.iter().position(has_part).unwrap()
        };
        assert!(index_of("install cargo-zigbuild") < index_of("cargo build"));
    }

    #[test]
    fn no_script_contains_an_expression() {
        // An expression could insert text of an attacker, such as a pull request title.
        for (path, text) in render("books", "cellar.yaml") {
            let value: Value = serde_yaml::from_str(&text).unwrap();
            for job in value["jobs"].as_object().unwrap().values() {
                for step in job["steps"].as_array().unwrap() {
                    for script in [&step["run"], &step["with"]["script"]] {
                        let script = script.as_str().unwrap_or_default();
                        assert!(!script.contains("${{"), "{}: {script}", path.display());
                    }
                }
            }
        }
    }

    #[test]
    fn special_characters_are_quoted() {
        for (_, text) in render("books", "a\" b: ${{ x }}\n.yaml") {
            let value: Value = serde_yaml::from_str(&text).unwrap();
            let job = value["jobs"].as_object().unwrap().values().next().unwrap().clone();
            let job =
                if job["env"]["CONFIG"].is_null() { value["jobs"]["diff"].clone() } else { job };
            assert_eq!(job["env"]["CONFIG"], "a\" b: $ {{ x }}\n.yaml");
        }
    }

    #[test]
    fn the_marker_matches_the_comment() {
        assert_eq!(marker("books"), "<!-- cellar-diff: books -->");
    }
}
