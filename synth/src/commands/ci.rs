//! `synth ci init`: writes GitHub Actions workflows that post diffs on pull requests, and deploy.

use std::fs;
use std::path::{Path, PathBuf};

use handlebars::Handlebars;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{CiCommand, CiInitArguments, Output};
use crate::difference::marker;
use crate::error::SynthError;
use crate::output_file::write_output;
use crate::project::{CONFIG_FILE, ConfigSelection, Project};

/// Workflow file names and Handlebars templates.
const WORKFLOWS: [(&str, &str); 2] = [
    ("cellar-diff", include_str!("../../../templates/ci/cellar-diff.yml.hbs")),
    ("cellar-deploy", include_str!("../../../templates/ci/cellar-deploy.yml.hbs")),
];
/// Workflow directory, relative to the repository root.
const FOLDER: &str = ".github/workflows";
/// GitHub environment of the deploy job, which can be configured to require approval.
const ENVIRONMENT: &str = "production";

/// Workflow template variables. Strings that may need quoting are stored as quoted YAML scalars.
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

/// Runs a `ci` subcommand.
pub(crate) fn run(
    config: ConfigSelection<'_>,
    command: &CiCommand,
    output: &Output,
) -> Result<(), SynthError> {
    match command {
        CiCommand::Init(arguments) => init(&Project::find(config)?, arguments, output),
    }
}

fn init(project: &Project, arguments: &CiInitArguments, output: &Output) -> Result<(), SynthError> {
    let root = repository_root(&project.folder);
    let files = render_workflows(project, &root, &arguments.branch)?;
    if arguments.print {
        print_files(&files, output);
        return Ok(());
    }
    // Check all files before writing the first one, so that either all or none are written.
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists() && !arguments.force) {
        return Err(SynthError::Exists { path: path.clone() });
    }
    for (path, text) in &files {
        write_workflow(path, text)?;
    }
    let written: Vec<&PathBuf> = files.iter().map(|(path, _)| path).collect();
    let listed: Vec<String> = written.iter().map(|path| format!("  {}", path.display())).collect();
    let text = format!(
        "Wrote\n{}\n\nThe first workflow posts the diff of a pull request. The second deploys each push to \
         {}; it\nneeds the variables CELLAR_DEPLOY_ROLE_ARN and CELLAR_REGION, and the environment \
         {ENVIRONMENT}: see\nthe comment at its top.",
        listed.join("\n"),
        arguments.branch,
    );
    output.print_result(&json!({ "written": written }), &text);
    Ok(())
}

fn print_files(files: &[(PathBuf, String)], output: &Output) {
    let mut values = Vec::new();
    let mut texts = Vec::new();
    for (path, text) in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        texts.push(format!("# {FOLDER}/{name}\n{text}"));
        values.push(json!({ "name": name, "yaml": text }));
    }
    output.print_result(&json!({ "files": values }), &texts.join("\n"));
}

/// Renders the workflows and returns their paths and contents. `root` is the repository root.
fn render_workflows(
    project: &Project,
    root: &Path,
    branch: &str,
) -> Result<Vec<(PathBuf, String)>, SynthError> {
    let stack = &project.config.stack;
    let config = project.config_file.strip_prefix(root).unwrap_or(Path::new(CONFIG_FILE));
    let view = WorkflowView {
        diff_name: yaml_scalar(&format!("Cellar: diff of {stack}")),
        deploy_name: yaml_scalar(&format!("Cellar: deploy {stack}")),
        diff_group: format!("cellar-diff-{stack}"),
        deploy_group: format!("cellar-deploy-{stack}"),
        marker: yaml_scalar(&marker(stack)),
        config: yaml_scalar(&config.to_string_lossy()),
        stage: project.stage.as_deref().map(yaml_scalar),
        branch: yaml_scalar(branch),
        environment: ENVIRONMENT,
        rust_version: env!("CARGO_PKG_RUST_VERSION"),
    };
    let mut templates = Handlebars::new();
    templates.register_escape_fn(handlebars::no_escape);
    let folder = root.join(FOLDER);
    WORKFLOWS
        .into_iter()
        .map(|(name, template)| {
            let file_name = match &project.stage {
                Some(stage) => format!("{name}-{stage}.yml"),
                None => format!("{name}.yml"),
            };
            Ok((folder.join(file_name), templates.render_template(template, &view)?))
        })
        .collect()
}

/// Quotes text as a YAML scalar, using a JSON string, which is valid YAML. Breaks up `${{`, which
/// GitHub would evaluate as the start of an expression.
fn yaml_scalar(text: &str) -> String {
    Value::from(text.replace("${{", "$ {{")).to_string()
}

/// Returns the root of the git repository that contains `folder`, or `folder` itself if there is
/// none.
fn repository_root(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(folder).to_owned()
}

fn write_workflow(path: &Path, text: &str) -> Result<(), SynthError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|cause| SynthError::Io {
            operation: "write",
            path: path.to_owned(),
            cause,
        })?;
    }
    write_output(path, true, text.as_bytes())
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
        let project = Project { config_file, folder: folder.clone(), config, stage };
        render_workflows(&project, &folder, "main").unwrap()
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
    }

    #[test]
    fn no_script_contains_an_expression() {
        // An expression may insert attacker-controlled text, such as a pull request title.
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
