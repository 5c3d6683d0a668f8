//! Runs the jobs of a workflow as a runner of GitHub does, as far as the workflows of `synth ci
//! init` need it.
//!
//! Scripts run unchanged in bash. A checkout is a clone. The tools in the folder `tools` replace
//! cargo, rustup and Python, because a build takes minutes: cargo "builds" the binaries of the
//! test run. Caches and artifacts are skipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::journey::Run;

const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/integration/customer_repository/tools");
/// Actions that do nothing here.
const SKIPPED: [&str; 3] =
    ["actions/cache", "actions/upload-artifact", "actions/download-artifact"];
const CREDENTIALS: &str = "aws-actions/configure-aws-credentials";
const CHECKOUT: &str = "actions/checkout";

/// A runner of one job.
pub(super) struct Runner {
    folder: tempfile::TempDir,
    /// Repositories by name. The empty name is that of the workflow's own repository.
    pub(super) repositories: BTreeMap<String, PathBuf>,
    /// Values of expressions such as `github.event.pull_request.base.sha`.
    pub(super) values: BTreeMap<String, String>,
    /// Variables of each script.
    pub(super) variables: BTreeMap<String, String>,
}

impl Runner {
    /// `repository` is the workflow's own repository.
    pub(super) fn new(repository: PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["workspace", "temp", "home"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let path = |name: &str| folder.path().join(name).display().to_string();
        let values = [("github.workspace", path("workspace")), ("runner.temp", path("temp"))];
        let system_path = std::env::var("PATH").unwrap();
        let variables = [
            ("PATH", format!("{TOOLS}:{system_path}")),
            ("HOME", path("home")),
            ("RUNNER_TEMP", path("temp")),
            ("GITHUB_OUTPUT", path("output")),
            ("GITHUB_PATH", path("path")),
            ("GITHUB_STEP_SUMMARY", path("summary")),
            ("TEST_LOG", path("log")),
            ("TEST_SYNTH", env!("CARGO_BIN_EXE_test-synth").to_owned()),
            ("TEST_BOOTSTRAP", env!("CARGO_BIN_EXE_test-bootstrap").to_owned()),
        ];
        let owned = |(name, value): (&str, String)| (name.to_owned(), value);
        let repositories = BTreeMap::from([(String::new(), repository)]);
        let values = values.into_iter().map(owned).collect();
        let variables = variables.into_iter().map(owned).collect();
        Self { folder, repositories, values, variables }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns what the tools did, one line each.
    pub(super) fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Runs a job up to its end, or up to the first script that fails. Returns the last script.
    pub(super) fn run(&mut self, workflow: &Path, job: &str) -> Run {
        let text = fs::read_to_string(workflow).unwrap();
        let workflow: Value = serde_yaml::from_str(&text).unwrap();
        let job = &workflow["jobs"][job];
        for (name, value) in job["env"].as_object().into_iter().flatten() {
            let value = self.evaluated(value.as_str().unwrap());
            self.variables.insert(name.clone(), value);
        }
        let mut last = Run { code: 0, stdout: String::new(), stderr: String::new() };
        for step in job["steps"].as_array().unwrap() {
            if !self.is_due(step) {
                continue;
            }
            if let Some(action) = step["uses"].as_str() {
                self.act(action.split('@').next().unwrap(), step);
                continue;
            }
            last = self.run_script(step);
            if last.code != 0 {
                return last;
            }
        }
        last
    }

    fn is_due(&self, step: &Value) -> bool {
        let Some(condition) = step["if"].as_str() else { return true };
        let (left, right) = condition.split_once(" != ").expect(condition);
        self.values[left] != self.values[right]
    }

    /// Replaces the expressions in a text.
    fn evaluated(&self, text: &str) -> String {
        let Some((before, rest)) = text.split_once("${{") else { return text.to_owned() };
        let (expression, after) = rest.split_once("}}").unwrap();
        let value = self.values.get(expression.trim());
        let value = value.unwrap_or_else(|| panic!("{expression} has no value"));
        format!("{before}{value}{}", self.evaluated(after))
    }

    fn act(&mut self, action: &str, step: &Value) {
        match action {
            CHECKOUT => self.check_out(&step["with"]),
            CREDENTIALS => {
                for (name, value) in [
                    ("AWS_ACCESS_KEY_ID", "test"),
                    ("AWS_SECRET_ACCESS_KEY", "test"),
                    ("AWS_REGION", "us-east-1"),
                ] {
                    self.variables.insert(name.to_owned(), value.to_owned());
                }
            }
            _ => assert!(SKIPPED.contains(&action), "{action} is not imitated"),
        }
    }

    fn check_out(&self, inputs: &Value) {
        let input = |name: &str| self.evaluated(inputs[name].as_str().unwrap_or_default());
        let source = &self.repositories[&input("repository")];
        let target = self.path("workspace").join(input("path"));
        let (source, target) = (source.display().to_string(), target.display().to_string());
        git(&["clone", "--quiet", "--no-checkout", &source, &target]);
        let reference = input("ref");
        let reference = if reference.is_empty() { "HEAD".to_owned() } else { reference };
        // As the action does, also gets a commit that is on no branch.
        git(&["-C", &target, "fetch", "--quiet", "origin", &reference]);
        git(&["-C", &target, "checkout", "--quiet", "--detach", "FETCH_HEAD"]);
    }

    fn run_script(&mut self, step: &Value) -> Run {
        let script = self.path("temp").join("script.sh");
        fs::write(&script, step["run"].as_str().unwrap()).unwrap();
        fs::write(self.path("output"), "").unwrap();
        let output = Command::new("bash")
            .arg("-e")
            .arg(&script)
            .current_dir(self.path("workspace"))
            .env_clear()
            .envs(&self.variables)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        self.read_outputs(step);
        self.read_paths();
        let code = output.status.code().unwrap();
        Run { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    fn read_outputs(&mut self, step: &Value) {
        for line in fs::read_to_string(self.path("output")).unwrap().lines() {
            let (name, value) = line.split_once('=').unwrap();
            let id = step["id"].as_str().unwrap();
            self.values.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
        }
    }

    fn read_paths(&mut self) {
        let added = fs::read_to_string(self.path("path")).unwrap_or_default();
        let _ = fs::remove_file(self.path("path"));
        let path = self.variables.get_mut("PATH").unwrap();
        for line in added.lines() {
            *path = format!("{line}:{path}");
        }
    }
}

/// Runs git and returns its output.
pub(super) fn git(arguments: &[&str]) -> String {
    let user = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").args(user).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
