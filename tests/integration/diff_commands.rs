//! `synth diff` and `synth ci init` as processes: their inputs, output and exit codes.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::journey::Project;

fn git(project: &Project, arguments: &[&str]) {
    let user = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    command.arg("-C").arg(project.path("")).args(user).args(arguments);
    assert!(command.status().unwrap().success(), "{arguments:?}");
}

fn configure(project: &Project, text: &str) {
    fs::write(project.path("cellar.yaml"), text).unwrap();
}

#[test]
fn a_difference_from_a_file_is_shown_and_told_by_the_exit_code() {
    let project = Project::new();
    for (name, format) in [("old.json", "json"), ("old.yaml", "yaml")] {
        let written = project.synth(&["template", "--format", format, "--output", name]);
        assert_eq!(written.code, 0, "{written:?}");
        let run = project.synth(&["diff", "--against", name]);
        assert!(run.code == 0 && run.stdout.contains("no difference"), "{run:?}");
    }
    configure(&project, "api: {memory_mb: 1024}\n");
    let run = project.synth(&["diff", "--against", "old.yaml"]);
    assert!(run.code == 2 && run.stderr.is_empty(), "{run:?}");
    assert!(run.stdout.contains("~ /Properties/MemorySize: 512 -> 1024"), "{run:?}");
    assert!(!run.stdout.contains('\u{1b}'), "no terminal, no colours");
    let mild = ["diff", "--against", "old.json", "--fail-on", "broadening"];
    assert_eq!(project.synth(&mild).code, 2, "the difference is less severe");

    configure(&project, "deletion_protection: false\n");
    let broadening_diff = ["diff", "--against", "old.json", "--fail-on", "broadening"];
    let run = project.synth(&broadening_diff);
    assert!(run.code == 1 && run.stdout.contains("Data at risk"), "{run:?}");
    assert!(run.stderr.contains("a change has the severity destructive"), "{run:?}");
    let json = project.synth(&["--json", "diff", "--against", "old.json"]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.code, &report["severity"]), (2, &"destructive".into()));
    assert_eq!(report["counts"]["destructive"], 5);
    assert_eq!(report["resources"][0]["risks"][0]["kind"], "weakened");
    let comment = project.synth(&["diff", "--against", "old.json", "--format", "markdown"]);
    assert!(comment.code == 2 && comment.stdout.starts_with("<!-- cellar-diff: cellar -->\n"));
}

#[test]
fn the_stack_and_its_changes_are_drawn() {
    let project = Project::new();
    let drawn = project.synth(&["template", "--format", "mermaid"]);
    assert!(drawn.code == 0 && drawn.stdout.starts_with("flowchart LR\n"), "{drawn:?}");
    let written = project.synth(&["template", "--format", "mermaid", "--output", "stack.mmd"]);
    assert_eq!(written.code, 0, "{written:?}");
    assert_eq!(fs::read_to_string(project.path("stack.mmd")).unwrap(), drawn.stdout);
    let json = project.synth(&["--json", "template", "--format", "mermaid"]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["mermaid"], drawn.stdout.as_str());

    assert_eq!(project.synth(&["template", "--output", "old.json"]).code, 0);
    configure(&project, "dashboard: true\n");
    let comment = project.synth(&["diff", "--against", "old.json", "--format", "markdown"]);
    assert!(comment.code == 2 && comment.stdout.contains("```mermaid\nflowchart LR\n"));
    assert!(comment.stdout.contains("[\"Dashboard<br>added\"]"), "{comment:?}");
}

#[test]
fn the_cost_is_shown_if_it_changes() {
    let project = Project::new();
    git(&project, &["init", "--quiet"]);
    configure(&project, "stack: books\n");
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message", "one"]);
    configure(&project, "stack: books\ndashboard: true\n");
    let text = project.synth(&["diff", "--against-revision", "HEAD"]);
    let cost = "Cost: an idle month costs $3.00 instead of $0.00 (estimated";
    assert!(text.code == 2 && text.stdout.contains(cost), "{text:?}");
    let json = project.synth(&["--json", "diff", "--against-revision", "HEAD"]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    let expected = serde_json::json!({"idle_month_dollars": {"old": "0", "new": "3"}});
    assert_eq!(report["cost"], expected);
    configure(&project, "stack: books\nlog_retention: 7d\n");
    let json = project.synth(&["--json", "diff", "--against-revision", "HEAD"]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["cost"]["idle_month_dollars"], Value::Null, "{report}");
}

#[test]
fn another_name_or_region_is_another_stack_without_data() {
    let project = Project::new();
    git(&project, &["init", "--quiet"]);
    configure(&project, "stack: cellar\nregion: eu-central-1\n");
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message", "one"]);
    assert_eq!(project.synth(&["template", "--output", "base.json"]).code, 0);
    let same = project.synth(&["diff", "--against-revision", "HEAD"]);
    assert!(same.code == 0 && same.stdout.contains("no difference"), "{same:?}");
    for (config, place) in [
        ("stack: books\nregion: eu-central-1\n", "books in eu-central-1"),
        ("stack: cellar\nregion: eu-west-1\n", "cellar in eu-west-1"),
    ] {
        configure(&project, config);
        let note = format!(
            "a deployment creates another stack, {place}, without spreadsheets. The stack cellar in \
             eu-central-1 and its data stay as they are."
        );
        for against in [["--against-revision", "HEAD"], ["--against", "base.json"]] {
            let arguments = [&["diff"][..], &against].concat();
            let text = project.synth(&arguments);
            assert!(text.code == 2 && text.stdout.contains(&note), "{text:?}");
            let title = "base: another stack is created\nSeverity: destructive\n";
            let title = title.replace("base", against[1]);
            assert!(text.stdout.contains(&title), "{text:?}");
            let strict = [&arguments[..], &["--format", "markdown", "--fail-on", "destructive"]];
            let comment = project.synth(&strict.concat());
            assert!(comment.code == 1 && comment.stdout.contains(&note), "{comment:?}");
        }
    }
}

#[test]
fn what_cannot_be_compared_is_named() {
    let project = Project::new();
    fs::write(project.path("odd.json"), "{}").unwrap();
    for (arguments, message) in [
        (&["diff", "--against", "none.json"][..], "none.json"),
        (&["diff", "--against", "odd.json"], "the section `Resources` is missing"),
        (&["diff", "--against-revision", "main"], "cannot read \"main\" from git"),
        (&["diff", "--against-revision=--output=x:y"], "not a valid revision"),
        (&["diff", "--endpoint-url", "http://127.0.0.1:1"], "127.0.0.1:1"),
    ] {
        let run = project.synth(arguments);
        assert!(run.code == 1 && run.stdout.is_empty(), "{run:?}");
        assert!(run.stderr.contains(message), "{run:?}");
    }
    let help = help_without_aws(&project);
    for part in ["AWS_REGION", "synth diff --local", "--against-revision"] {
        assert!(help.contains(part), "{part}: {help}");
    }
    let both = project.synth(&["diff", "--local", "--against", "odd.json"]);
    assert_eq!(both.code, 64, "{both:?}");
    let help = project.synth(&["diff", "--help"]);
    assert!(help.code == 0 && help.stdout.contains("Exit codes"), "{help:?}");
}

#[test]
fn the_local_stack_is_compared_with_what_it_was_deployed_with() {
    let project = Project::new();
    let run = project.synth(&["diff", "--local"]);
    assert!(run.code == 2 && run.stdout.contains("compared with nothing"), "{run:?}");
    project.deploy();
    let run = project.synth(&["diff", "--local"]);
    assert_eq!(run.code, 0, "a generated key is not a difference: {run:?}");
    configure(&project, "cors_origins: [\"https://a.example\"]\n");
    let run = project.synth(&["diff", "--local"]);
    assert!(run.code == 2 && run.stdout.contains("Broadened permissions"), "{run:?}");
}

#[test]
fn a_revision_is_compared_by_its_configuration_or_by_a_committed_template() {
    let project = Project::new();
    git(&project, &["init", "--quiet"]);
    git(&project, &["commit", "--quiet", "--allow-empty", "--message", "empty"]);
    configure(&project, "log_retention: 7d\n");
    assert_eq!(project.synth(&["template", "--output", "template.json"]).code, 0);
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message", "one"]);
    for revision in ["HEAD", "HEAD:template.json", "HEAD:./template.json"] {
        let run = project.synth(&["diff", "--against-revision", revision]);
        assert!(run.code == 0 && run.stdout.contains("no difference"), "{run:?}");
    }
    configure(&project, "log_retention: 14d\n");
    for revision in ["HEAD", "HEAD:template.json"] {
        let run = project.synth(&["diff", "--against-revision", revision]);
        assert!(run.code == 2 && run.stdout.contains("RetentionInDays: 7 -> 14"), "{run:?}");
        assert_eq!(run.stdout.contains("by this version of Cellar"), revision == "HEAD");
    }
    let run = project.synth(&["diff", "--against-revision", "HEAD~1"]);
    assert!(run.stdout.contains("HEAD~1 does not contain cellar.yaml"), "{run:?}");
}

/// A pinned commit of Cellar.
/// Returns the error of `synth diff` on a machine without a configuration of AWS.
fn help_without_aws(project: &Project) -> String {
    let mut command = project.command(env!("CARGO_BIN_EXE_test-synth"));
    for variable in ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"] {
        command.env_remove(variable);
    }
    let none = project.path("none");
    command.env("AWS_CONFIG_FILE", &none).env("AWS_SHARED_CREDENTIALS_FILE", &none);
    command.env("AWS_EC2_METADATA_DISABLED", "true");
    let output = command.arg("diff").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

const CELLAR: &str = "octocat/cellar@0123456789abcdef0123456789abcdef01234567";

#[test]
fn workflows_are_written_once_into_the_repository() {
    let project = Project::new();
    git(&project, &["init", "--quiet"]);
    let init = |more: &[&str]| project.synth(&[&["ci", "init", "--cellar", CELLAR], more].concat());
    let printed = init(&["--print"]);
    assert!(printed.code == 0 && printed.stdout.contains("cellar-deploy.yml"), "{printed:?}");
    let folder = project.path(".github/workflows");
    assert!(!folder.exists());
    let written = init(&[]);
    assert!(written.code == 0 && written.stderr.contains("`synth token init`"), "{written:?}");
    let role = fs::read_to_string(project.path(".github/cellar-deploy-role.yaml")).unwrap();
    assert!(role.contains("Type: AWS::IAM::Role"), "{role}");
    assert!(written.stdout.starts_with("Wrote:\n") && !written.stdout.contains("Unchanged:"));
    let steps = ["needs no AWS account", "Commit cellar.yaml and .github", "required status check"];
    assert!(steps.iter().all(|step| written.stdout.contains(step)), "{written:?}");
    let again = init(&[]);
    assert_eq!(again.code, 0, "equal files are no conflict");
    assert!(again.stdout.starts_with("Unchanged:\n") && !again.stdout.contains("Wrote:"));
    let deploy = folder.join("cellar-deploy.yml");
    fs::write(&deploy, "mine\n").unwrap();
    fs::remove_file(folder.join("cellar-diff.yml")).unwrap();
    let run = init(&[]);
    assert!(run.code == 1 && run.stderr.contains("--force"), "{run:?}");
    assert!(!folder.join("cellar-diff.yml").exists(), "either all files or none are written");
    assert_eq!(fs::read_to_string(&deploy).unwrap(), "mine\n");
    assert_eq!(init(&["--force"]).code, 0);
    assert_ne!(fs::read_to_string(&deploy).unwrap(), "mine\n");
    let report = project.synth(&["--json", "ci", "init", "--cellar", CELLAR]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let counts = ["written", "unchanged"].map(|name| report[name].as_array().unwrap().len());
    assert_eq!(counts, [0, 4], "{report}");
}

#[test]
fn a_repository_with_cellars_workspace_pins_no_commit() {
    let project = Project::new();
    git(&project, &["init", "--quiet"]);
    git(&project, &["remote", "add", "origin", "git@github.com:octocat/sheets.git"]);
    fs::create_dir(project.path("synth")).unwrap();
    fs::write(project.path("synth/Cargo.toml"), "[package]\nname = \"synth\"\n").unwrap();
    let run = project.synth(&["--json", "ci", "init"]);
    assert_eq!(run.code, 0, "{run:?}");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let written = report["written"].as_array().unwrap();
    assert!(written.len() == 3 && report["cellar"].is_null(), "{report}");
    assert!(!project.path(".github/cellar-revision").exists());
    assert!(report["commands"][1].as_str().unwrap().contains("Repository=octocat/sheets "));
    let bad = project.synth(&["ci", "init", "--cellar", "octocat/cellar@main"]);
    assert!(bad.code == 64 && bad.stderr.contains("not a full commit id"), "{bad:?}");
}
