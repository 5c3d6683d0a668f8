//! The pull request flow of a customer's repository, which contains only `cellar.yaml`: the scripts
//! of the generated workflows, run with bash.

mod comment;
mod workflow;

use std::fs;
use std::path::{Path, PathBuf};

use cellar_tests::emulator::Emulator;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use self::workflow::{Runner, git};
use crate::journey::{Project, Run};

const REVISION_FILE: &str = ".github/cellar-revision";
const CELLAR: &str = "octocat/cellar";

/// A customer's repository, and the repository of Cellar with the commit that it pins.
struct Customer {
    project: Project,
    /// Configuration without the changes of a test.
    config: String,
    cellar: tempfile::TempDir,
    revision: String,
}

impl Customer {
    /// Commits a configuration and the files of `synth ci init`.
    fn new() -> Self {
        let cellar = tempfile::tempdir().unwrap();
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").display().to_string();
        let target = cellar.path().display().to_string();
        git(&["clone", "--quiet", "--bare", "--shared", &workspace, &target]);
        // The workspace may be on no branch.
        let revision = git(&["-C", &workspace, "rev-parse", "HEAD"]);
        git(&["-C", &target, "update-ref", "refs/heads/main", &revision]);
        git(&["-C", &target, "symbolic-ref", "HEAD", "refs/heads/main"]);

        let project = Project::new();
        git(&[
            "init",
            "--quiet",
            "--initial-branch",
            "main",
            &project.path("").display().to_string(),
        ]);
        fs::write(project.path("cellar.yaml"), "stack: books\n").unwrap();
        let token = project.synth(&["token", "init"]);
        assert_eq!(token.code, 0, "{token:?}");
        let config = fs::read_to_string(project.path("cellar.yaml")).unwrap();
        let customer = Self { project, config, cellar, revision };
        let init = customer.init(&customer.revision, &[]);
        assert_eq!(init.code, 0, "{init:?}");
        assert!(init.stdout.contains("aws cloudformation deploy --stack-name books-deploy-role"));
        customer.commit();
        customer
    }

    fn folder(&self) -> String {
        self.project.path("").display().to_string()
    }

    fn init(&self, revision: &str, options: &[&str]) -> Run {
        let pin = format!("{CELLAR}@{revision}");
        self.project.synth(&[&["ci", "init", "--cellar", &pin], options].concat())
    }

    /// Commits everything but the state of `synth` and returns the id of the commit.
    fn commit(&self) -> String {
        let folder = self.folder();
        git(&["-C", &folder, "add", "cellar.yaml", ".github"]);
        git(&["-C", &folder, "commit", "--quiet", "--allow-empty", "--message", "change"]);
        git(&["-C", &folder, "rev-parse", "HEAD"])
    }

    /// Commits more configuration. Returns the id of the commit.
    fn commit_config(&self, more: &str) -> String {
        fs::write(self.project.path("cellar.yaml"), format!("{}{more}", self.config)).unwrap();
        self.commit()
    }

    /// Adds an empty commit to Cellar's repository. Returns its id. Without a branch, the commit
    /// is like one of a fork, which GitHub serves under the name of the repository.
    fn release(&self, branch: Option<&str>) -> String {
        let cellar = self.cellar.path().display().to_string();
        let tree = format!("{}^{{tree}}", self.revision);
        let message = branch.unwrap_or("of a fork");
        let id = git(&["-C", &cellar, "commit-tree", "-p", &self.revision, "-m", message, &tree]);
        if let Some(branch) = branch {
            git(&["-C", &cellar, "update-ref", &format!("refs/heads/{branch}"), &id]);
        }
        id
    }

    fn runner(&self) -> Runner {
        let mut runner = Runner::new(self.project.path(""));
        runner.repositories.insert(CELLAR.to_owned(), self.cellar.path().to_owned());
        runner
    }

    /// Runs the diff of a pull request from the newest commit to `base`.
    fn diff(&self, base: &str) -> (Runner, Run) {
        let mut runner = self.runner();
        let base_value = "github.event.pull_request.base.sha".to_owned();
        runner.values.insert(base_value, base.to_owned());
        let run = runner.run(&self.workflow("cellar-diff"), "diff");
        (runner, run)
    }

    /// Runs the deployment of the newest commit. `endpoint` is the URL of an emulator.
    fn deploy(&self, endpoint: &str) -> (Runner, Run) {
        let mut runner = self.runner();
        runner.variables.insert("TEST_ENDPOINT".to_owned(), endpoint.to_owned());
        let run = runner.run(&self.workflow("cellar-deploy"), "deploy");
        (runner, run)
    }

    fn workflow(&self, name: &str) -> PathBuf {
        self.project.path(&format!(".github/workflows/{name}.yml"))
    }
}

/// Returns the builds and the commands of a job.
fn commands(runner: &Runner) -> Vec<String> {
    let is_command = |line: &String| !line.starts_with("rustup") && !line.starts_with("pip");
    runner.log().into_iter().filter(is_command).collect()
}

/// Returns the comment of a diff.
fn comment(runner: &Runner) -> String {
    fs::read_to_string(runner.path("temp/diff/comment.md")).unwrap()
}

#[test]
fn a_pull_request_shows_the_changes_of_the_configuration() {
    let customer = Customer::new();
    let base = customer.commit_config("api:\n  memory_mb: 512\n");
    customer.commit_config("api:\n  memory_mb: 1024\n");
    let (runner, run) = customer.diff(&base);
    assert_eq!(run.code, 0, "{run:?}");
    let comment = comment(&runner);
    assert!(comment.starts_with("<!-- cellar-diff: books -->"), "{comment}");
    assert!(comment.contains("MemorySize") && comment.contains("1024"), "{comment}");
    // Both sides are synthesized by the same commit, which is checked out once.
    assert!(!runner.path("workspace/cellar-base").exists());
    let revision = &customer.revision;
    let options = "--against base.json --format markdown --fail-on destructive";
    let expected = [
        format!("build {revision}"),
        format!("{revision} synth --config base/cellar.yaml template --output base.json"),
        format!("build {revision}"),
        format!("{revision} synth --config head/cellar.yaml diff {options}"),
    ];
    assert_eq!(commands(&runner), expected);
}

#[test]
fn an_upgrade_is_compared_with_the_template_of_the_former_revision() {
    let customer = Customer::new();
    let base = customer.commit_config("dashboard: true\n");
    let newer = customer.release(Some("next"));
    let refused = customer.init(&newer, &[]);
    assert!(refused.code == 1 && refused.stderr.contains("already exists"));
    let init = customer.init(&newer, &["--force"]);
    assert_eq!(init.code, 0, "{init:?}");
    customer.commit();
    let changed = git(&["-C", &customer.folder(), "diff", "--name-only", &base, "HEAD"]);
    assert_eq!(changed, REVISION_FILE, "the revision is in one file");
    let (runner, run) = customer.diff(&base);
    assert_eq!(run.code, 0, "{run:?}");
    let log = commands(&runner);
    assert_eq!(log[0], format!("build {}", customer.revision));
    assert!(log[1].starts_with(&format!("{} synth --config base/", customer.revision)), "{log:?}");
    assert_eq!(log[2], format!("build {newer}"));
    assert!(log[3].starts_with(&format!("{newer} synth --config head/")), "{log:?}");
}

#[test]
fn the_pull_request_that_adds_the_stack_shows_all_its_resources() {
    let customer = Customer::new();
    let folder = customer.folder();
    git(&["-C", &folder, "checkout", "--quiet", "--orphan", "empty"]);
    git(&["-C", &folder, "rm", "--quiet", "-r", "--cached", "."]);
    git(&["-C", &folder, "commit", "--quiet", "--allow-empty", "--message", "empty"]);
    let base = git(&["-C", &folder, "rev-parse", "HEAD"]);
    git(&["-C", &folder, "checkout", "--quiet", "--force", "main"]);
    let (runner, run) = customer.diff(&base);
    assert_eq!(run.code, 0, "{run:?}");
    let comment = comment(&runner);
    assert!(comment.contains("EntryTable"), "{comment}");
}

#[test]
#[ignore = "it runs the script of the workflow with Node"]
fn the_comment_on_a_renamed_stack_says_that_another_stack_is_created() {
    let customer = Customer::new();
    let base = customer.commit_config("");
    let renamed = customer.config.replace("stack: books", "stack: ledgers");
    fs::write(customer.project.path("cellar.yaml"), renamed).unwrap();
    customer.commit();
    let (runner, run) = customer.diff(&base);
    assert_eq!(run.code, 1, "{run:?}");
    let text = comment(&runner);
    for part in ["another stack is created", "Severity: **destructive**", "synth ci init --force"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The workflow still has the name of the old stack.
    let posted = comment::post(&customer.workflow("cellar-diff"), &text, &[]);
    let body = posted["created"][0]["body"].as_str().unwrap();
    assert!(body.starts_with("<!-- cellar-diff: books -->\n"), "{body}");
    assert!(body.contains("another stack is created") && posted["failed"] == Value::Null);
    let updated = comment::post(&customer.workflow("cellar-diff"), &text, &["other", body]);
    assert_eq!(
        (&updated["updated"][0]["comment_id"], &updated["created"]),
        (&json!(1), &json!([]))
    );
    for forged in ["hello", "<!-- cellar-diff: books --> hello", ""] {
        let refused = comment::post(&customer.workflow("cellar-diff"), forged, &[]);
        assert_eq!(refused["failed"], "comment.md was not written by synth diff", "{forged}");
    }
    for (length, is_posted) in [(65_536, true), (65_537, false)] {
        let marker = "<!-- cellar-diff: books -->\n";
        let long = format!("{marker}{}", "x".repeat(length - marker.len()));
        let posted = comment::post(&customer.workflow("cellar-diff"), &long, &[]);
        assert_eq!(posted["failed"].is_null(), is_posted, "{length}");
    }
}

#[test]
fn a_change_that_puts_data_at_risk_fails_the_check() {
    let customer = Customer::new();
    let base = customer.commit_config("");
    customer.commit_config("deletion_protection: false\n");
    let (runner, run) = customer.diff(&base);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(comment(&runner).contains("DeletionProtectionEnabled"));
}

#[test]
fn nothing_but_a_commit_of_cellar_is_built() {
    let customer = Customer::new();
    let base = customer.commit_config("");
    let file = customer.project.path(REVISION_FILE);
    let revision = customer.revision.clone();
    for text in [
        String::new(),
        "main\n".to_owned(),
        revision.to_uppercase(),
        format!("{revision}0\n"),
        format!("{revision}\nx\n"),
        format!("refs/{revision}\n"),
        "$(touch here)\n".to_owned(),
    ] {
        fs::write(&file, &text).unwrap();
        customer.commit();
        for (runner, run) in [customer.diff(&base), customer.deploy("")] {
            assert_eq!(run.code, 1, "{text:?}: {run:?}");
            assert!(run.stdout.contains("must contain a full commit id"), "{run:?}");
            assert_eq!(runner.log(), [""; 0], "{text:?}");
        }
    }
    fs::write(&file, customer.release(None)).unwrap();
    customer.commit();
    for (runner, run) in [customer.diff(&base), customer.deploy("")] {
        assert!(run.code == 1 && run.stdout.contains("is on no branch of octocat/cellar"));
        assert_eq!(runner.log(), [""; 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "installs an emulator"]
async fn a_push_deploys_the_stack() {
    let customer = Customer::new();
    let emulator = Emulator::start(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    customer.commit_config("api:\n  memory_mb: 1024\n");
    let deploy = || block_in_place(|| customer.deploy(&emulator.url));
    let (runner, run) = deploy();
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("books create complete (AWS::CloudFormation::Stack)"), "{run:?}");
    let log = commands(&runner);
    let position = |part: &str| {
        log.iter().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {log:?}"))
    };
    // All builds come before the deployment, which has credentials.
    let deployment = position("synth --config repository/cellar.yaml deploy --yes --bundle ");
    assert!(position(&format!("build {}", customer.revision)) < position("build bootstrap"));
    assert_eq!((position("build bootstrap") + 1, deployment), (deployment, log.len() - 1));
    // The stack is that of the configuration, although the working directory has none.
    let endpoint = ["--endpoint-url", emulator.url.as_str()];
    let diff = block_in_place(|| customer.project.synth(&[&["diff"], &endpoint[..]].concat()));
    assert!(diff.code == 0 && diff.stdout.contains("no difference"), "{diff:?}");
    // The second push changes nothing.
    let (_, again) = deploy();
    assert!(again.code == 0 && again.stderr.contains("Compute the changes: none"), "{again:?}");
}
