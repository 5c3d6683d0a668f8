use std::path::PathBuf;

use cellar_stacks::Config;
use serde_json::json;

use super::*;
use crate::ci::PinnedCellar;
use crate::project::Project;

const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";

/// Renders the workflows of Cellar's own repository.
fn render(stack: &str, config_file: &str) -> Vec<(PathBuf, String)> {
    render_stage(stack, config_file, None, None)
}

/// Renders the workflows of a repository that contains only a configuration.
fn render_customer(config_file: &str) -> Vec<(PathBuf, String)> {
    let cellar = format!("octocat/cellar@{REVISION}").parse().unwrap();
    render_stage("books", config_file, None, Some(&cellar))
}

fn render_stage(
    stack: &str,
    file: &str,
    stage: Option<&str>,
    cellar: Option<&PinnedCellar>,
) -> Vec<(PathBuf, String)> {
    let config = Config { stack: stack.to_owned(), ..Config::default() };
    let folder = PathBuf::from("/repository");
    let (config_file, stage) = (folder.join(file), stage.map(str::to_owned));
    let project = Project { config_file, folder: folder.clone(), config, stage };
    let files = RepositoryFiles { project: &project, root: &folder, cellar, branch: "main" };
    let workflows = render_workflows(&files).unwrap();
    workflows.into_iter().map(|workflow| (workflow.path, workflow.text)).collect()
}

fn steps<'a>(workflow: &'a Value, job: &str) -> &'a Vec<Value> {
    workflow["jobs"][job]["steps"].as_array().unwrap()
}

/// Returns the index of the only step whose script or action contains `part`.
fn index_of(steps: &[Value], part: &str) -> usize {
    let has_part = |step: &Value| {
        ["run", "uses"].iter().any(|key| step[key].as_str().is_some_and(|text| text.contains(part)))
    };
    let found: Vec<usize> = (0..steps.len()).filter(|index| has_part(&steps[*index])).collect();
    assert_eq!(found.len(), 1, "{part}");
    found[0]
}

#[test]
fn each_stage_has_its_own_workflows() {
    for (path, text) in render_stage("books-prod", "cellar.yaml", Some("prod"), None) {
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
    for files in [render("books", "infra/cellar.yaml"), render_customer("infra/cellar.yaml")] {
        for (path, text) in &files {
            let value: Value = serde_yaml::from_str(text).unwrap();
            assert_eq!(value["permissions"], json!({}), "{}", path.display());
            assert!(text.contains(r#"CONFIG: "infra/cellar.yaml""#), "{text}");
            assert!(!text.contains("\\{{") && text.contains("${{ "), "{text}");
            for uses in text.lines().filter_map(|line| line.split_once("uses: ")) {
                let (_, version) = uses.1.split_once("@v").unwrap();
                assert!(version.parse::<u32>().is_ok(), "{uses:?}");
            }
            // Without this line, a later step could read the token of the workflow.
            let checkouts = text.matches("uses: actions/checkout@").count();
            assert_eq!(text.matches("persist-credentials: false").count(), checkouts, "{text}");
        }
        let diff: Value = serde_yaml::from_str(&files[0].1).unwrap();
        assert_eq!(diff["jobs"]["diff"]["permissions"], json!({"contents": "read"}));
        assert_eq!(diff["jobs"]["comment"]["permissions"], json!({"pull-requests": "write"}));
        let script = &diff["jobs"]["comment"]["steps"][1];
        assert_eq!(script["env"]["MARKER"], "<!-- cellar-diff: books -->");
        let group = "cellar-diff-books-${{ github.event.pull_request.number }}";
        assert_eq!(diff["concurrency"]["group"], group);
        let deploy: Value = serde_yaml::from_str(&files[1].1).unwrap();
        let expected = json!({"contents": "read", "id-token": "write"});
        assert_eq!(deploy["jobs"]["deploy"]["permissions"], expected);
        assert_eq!(deploy["on"]["push"]["branches"], json!(["main"]));
    }
}

#[test]
fn everything_is_built_before_the_job_has_credentials() {
    for files in [render("books", "cellar.yaml"), render_customer("cellar.yaml")] {
        let deploy: Value = serde_yaml::from_str(&files[1].1).unwrap();
        let steps = steps(&deploy, "deploy");
        // The glibc of the runner is newer than that of Lambda.
        let zig = index_of(steps, "install cargo-zigbuild");
        let build = index_of(steps, "cargo build");
        let credentials = index_of(steps, "configure-aws-credentials");
        assert!(zig < build && build < credentials);
        assert!(steps[build]["run"].as_str().unwrap().contains(" bundle "), "{:?}", steps[build]);
        let later = steps.get(credentials + 1..).unwrap();
        assert_eq!(later.len(), 1, "only the deployment has credentials");
        let script = later[0]["run"].as_str().unwrap();
        assert!(script.contains("deploy --yes --bundle") && !script.contains("cargo"), "{script}");
    }
}

#[test]
fn no_script_contains_an_expression() {
    // An expression could insert text of an attacker, such as a pull request title.
    let own = render("books", "cellar.yaml");
    for (path, text) in own.into_iter().chain(render_customer("cellar.yaml")) {
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
    let file = "a\" b: ${{ x }}\n.yaml";
    for (_, text) in render("books", file).into_iter().chain(render_customer(file)) {
        let value: Value = serde_yaml::from_str(&text).unwrap();
        let jobs = &value["jobs"];
        let job = if jobs["diff"].is_null() { &jobs["deploy"] } else { &jobs["diff"] };
        assert_eq!(job["env"]["CONFIG"], "a\" b: $ {{ x }}\n.yaml");
    }
}

#[test]
fn only_the_pinned_repository_is_built_and_its_revision_is_checked_first() {
    for ((_, text), job) in render_customer("cellar.yaml").iter().zip(["diff", "deploy"]) {
        assert!(!text.contains(REVISION), "the revision is only in {REVISION_FILE}: {text}");
        let workflow: Value = serde_yaml::from_str(text).unwrap();
        let steps = steps(&workflow, job);
        let check = index_of(steps, "^[0-9a-f]{40}$");
        let is_of_cellar = |step: &Value| step["with"]["repository"] == "octocat/cellar";
        let checkouts: Vec<usize> =
            (0..steps.len()).filter(|index| is_of_cellar(&steps[*index])).collect();
        assert_eq!(checkouts.len(), if job == "diff" { 2 } else { 1 });
        let branches = index_of(steps, "for-each-ref");
        let build = steps
            .iter()
            .position(|step| step["run"].as_str().is_some_and(|run| run.contains("cargo build")));
        for checkout in checkouts {
            let reference = steps[checkout]["with"]["ref"].as_str().unwrap();
            assert!(reference.starts_with("${{ steps.cellar.outputs."), "{reference}");
            assert!(check < checkout && checkout < branches && Some(branches) < build);
        }
    }
    for (_, text) in render("books", "cellar.yaml") {
        assert!(!text.contains("repository:") && !text.contains(REVISION_FILE), "{text}");
    }
}

#[test]
fn the_marker_matches_the_comment() {
    assert_eq!(marker("books"), "<!-- cellar-diff: books -->");
}
