//! `synth ci init`: workflows that show differences on pull requests, and that deploy.

use std::fs;
use std::path::{Path, PathBuf};

use handlebars::Handlebars;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{CiCommand, CiInitArguments, Output};
use crate::difference::marker;
use crate::error::SynthError;
use crate::output_file::write_output;
use crate::project::{CONFIG_FILE, Named, Project};

/// The workflows by what their files are called.
const WORKFLOWS: [(&str, &str); 2] = [
    ("cellar-diff", include_str!("../../../templates/ci/cellar-diff.yml.hbs")),
    ("cellar-deploy", include_str!("../../../templates/ci/cellar-deploy.yml.hbs")),
];
/// Where GitHub looks for them.
const FOLDER: &str = ".github/workflows";
/// The environment of GitHub that is deployed to: it may ask somebody first.
const ENVIRONMENT: &str = "production";

/// What the templates show. All texts are scalars of YAML with their quotation marks.
#[derive(Serialize)]
struct Workflow {
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

/// Does what is asked for.
pub(crate) fn run(
    config: Named<'_>,
    command: &CiCommand,
    output: &Output,
) -> Result<(), SynthError> {
    match command {
        CiCommand::Init(arguments) => init(&Project::find(config)?, arguments, output),
    }
}

fn init(project: &Project, arguments: &CiInitArguments, output: &Output) -> Result<(), SynthError> {
    let root = repository(&project.folder);
    let files = workflows(project, &root, &arguments.branch)?;
    if arguments.print {
        let (names, text): (Vec<_>, Vec<_>) = files
            .iter()
            .map(|(path, text)| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (json!({ "name": name, "yaml": text }), format!("# {FOLDER}/{name}\n{text}"))
            })
            .unzip();
        output.result(&json!({ "files": names }), &text.join("\n"));
        return Ok(());
    }
    // All or none of them.
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists() && !arguments.force) {
        return Err(SynthError::Exists { path: path.clone() });
    }
    for (path, text) in &files {
        write(path, text)?;
    }
    let written: Vec<&PathBuf> = files.iter().map(|(path, _)| path).collect();
    let listed: Vec<String> = written.iter().map(|path| format!("  {}", path.display())).collect();
    let text = format!(
        "Wrote\n{}\n\nThe first shows differences on pull requests. The second deploys what is merged \
         into {}: it wants\nthe variables CELLAR_DEPLOY_ROLE_ARN and CELLAR_REGION, and the \
         environment {ENVIRONMENT}, as it says at its top.",
        listed.join("\n"),
        arguments.branch,
    );
    output.result(&json!({ "written": written }), &text);
    Ok(())
}

/// The workflows with their paths.
fn workflows(
    project: &Project,
    root: &Path,
    branch: &str,
) -> Result<Vec<(PathBuf, String)>, SynthError> {
    let stack = &project.config.stack;
    let config = project.config_file.strip_prefix(root).unwrap_or(Path::new(CONFIG_FILE));
    let workflow = Workflow {
        diff_name: scalar(&format!("Cellar: difference of {stack}")),
        deploy_name: scalar(&format!("Cellar: deploy {stack}")),
        diff_group: format!("cellar-diff-{stack}"),
        deploy_group: format!("cellar-deploy-{stack}"),
        marker: scalar(&marker(stack)),
        config: scalar(&config.to_string_lossy()),
        stage: project.stage.as_deref().map(scalar),
        branch: scalar(branch),
        environment: ENVIRONMENT,
        rust_version: env!("CARGO_PKG_RUST_VERSION"),
    };
    let mut templates = Handlebars::new();
    templates.register_escape_fn(handlebars::no_escape);
    let folder = root.join(FOLDER);
    WORKFLOWS
        .into_iter()
        .map(|(name, template)| {
            // Each stage has its own.
            let name = match &project.stage {
                Some(stage) => format!("{name}-{stage}.yml"),
                None => format!("{name}.yml"),
            };
            Ok((folder.join(name), templates.render_template(template, &workflow)?))
        })
        .collect()
}

/// A text in YAML: JSON's quotation marks are YAML's too. GitHub would evaluate `${{ }}` in it.
fn scalar(text: &str) -> String {
    Value::from(text.replace("${{", "$ {{")).to_string()
}

/// The folder of the repository, or else that of the configuration.
fn repository(folder: &Path) -> PathBuf {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists());
    root.unwrap_or(folder).to_owned()
}

fn write(path: &Path, text: &str) -> Result<(), SynthError> {
    let fault = |cause| SynthError::Io { what: "write", path: path.to_owned(), cause };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fault)?;
    }
    write_output(path, true, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use cellar_stacks::Config;

    use super::*;

    fn rendered(stack: &str, config_file: &str) -> Vec<(PathBuf, String)> {
        rendered_for(stack, config_file, None)
    }

    fn rendered_for(stack: &str, file: &str, stage: Option<&str>) -> Vec<(PathBuf, String)> {
        let config = Config { stack: stack.to_owned(), ..Config::default() };
        let folder = PathBuf::from("/repository");
        let (config_file, stage) = (folder.join(file), stage.map(str::to_owned));
        let project = Project { config_file, folder: folder.clone(), config, stage };
        workflows(&project, &folder, "main").unwrap()
    }

    #[test]
    fn each_stage_has_workflows_of_its_own() {
        for (path, text) in rendered_for("books-prod", "cellar.yaml", Some("prod")) {
            assert!(path.display().to_string().ends_with("-prod.yml"), "{}", path.display());
            assert_eq!(text.matches("CELLAR_STAGE: \"prod\"\n").count(), 1, "{text}");
            serde_yaml::from_str::<Value>(&text).unwrap();
        }
        for (path, text) in rendered("books", "cellar.yaml") {
            assert!(!text.contains("CELLAR_STAGE"), "{}", path.display());
        }
    }

    #[test]
    fn both_workflows_are_yaml_and_ask_for_little() {
        let files = rendered("books", "infra/cellar.yaml");
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
    fn no_script_holds_an_expression() {
        // What GitHub puts into a script may come from the title of a pull request.
        for (path, text) in rendered("books", "cellar.yaml") {
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
    fn names_stay_texts() {
        for (_, text) in rendered("books", "a\" b: ${{ x }}\n.yaml") {
            let value: Value = serde_yaml::from_str(&text).unwrap();
            let job = value["jobs"].as_object().unwrap().values().next().unwrap().clone();
            let job =
                if job["env"]["CONFIG"].is_null() { value["jobs"]["diff"].clone() } else { job };
            assert_eq!(job["env"]["CONFIG"], "a\" b: $ {{ x }}\n.yaml");
        }
    }

    #[test]
    fn the_marker_is_that_of_the_comment() {
        assert_eq!(marker("books"), "<!-- cellar-diff: books -->");
    }
}
