//! The steps of the README: deploy, import, read, edit, export, kill, and start again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

const FILES: [&str; 3] = ["airports.csv", "seattle-weather.csv", "us-employment.csv"];

/// Result of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns the result that the command printed as JSON.
pub(crate) fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

/// A folder in which commands run. Its cloud is stopped when it is dropped.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    /// Sets an environment variable for all commands.
    pub(crate) fn with_variable(mut self, name: &'static str, value: String) -> Self {
        self.variables.push((name, value));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn synth(&self, arguments: &[&str]) -> Run {
        self.run(env!("CARGO_BIN_EXE_test-synth"), arguments)
    }

    pub(crate) fn cellar(&self, arguments: &[&str]) -> Run {
        self.run(env!("CARGO_BIN_EXE_test-cellar"), arguments)
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        for variable in ["CELLAR_URL", "CELLAR_TOKEN", "CELLAR_SPREADSHEET", "CELLAR_STAGE"] {
            command.env_remove(variable);
        }
        // Logins of the person who runs the tests are not used.
        command.env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        command.envs(self.variables.iter().cloned());
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Run {
        let Output { status, stdout, stderr } =
            self.command(program).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Deploys in the background on a free port.
    pub(crate) fn try_deploy(&self) -> Run {
        self.synth(&["--json", "deploy", "--local", "--detach", "--port", "0"])
    }

    pub(crate) fn deploy(&self) -> Value {
        let run = self.try_deploy();
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// Returns the process id of the running local cloud.
    fn pid(&self) -> Option<u64> {
        let status: Value =
            serde_json::from_str(&self.synth(&["--json", "status"]).stdout).unwrap();
        status["running"]["pid"].as_u64()
    }

    /// Kills the local cloud with SIGKILL, and waits until the process has exited.
    pub(crate) fn kill(&self) {
        let pid = self.pid().expect("it runs").to_string();
        assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
        let killed = Instant::now();
        while self.pid().is_some() {
            assert!(killed.elapsed() < Duration::from_secs(10), "the process does not exit");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        self.synth(&["destroy", "--local"]);
    }
}

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// Returns the fields of a CSV file, with missing fields at the end of a row as empty texts.
fn fields(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn real_files_survive_import_edit_kill_and_export() {
    let project = Project::new();
    let deployed = project.deploy();
    assert!(deployed["url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    assert!(!deployed["token"].as_str().unwrap().is_empty());
    for name in FILES {
        let input = data(name);
        let imported = project.cellar(&["import", input.to_str().unwrap()]);
        assert_eq!(imported.code, 0, "{imported:?}");
        let shown = project.cellar(&["get", "--range", "A1:G20"]);
        let first = &fields(&input)[0][0];
        assert!(shown.stdout.contains(first.as_str()), "{shown:?}");

        let exported = project.cellar(&["export", "before.csv", "--force"]);
        assert_eq!(exported.code, 0, "{exported:?}");
        assert_eq!(fields(&project.path("before.csv")), fields(&input), "{name}");

        let set = project.cellar(&["set", "B2", "new"]);
        assert_eq!(set.code, 0, "{set:?}");
        let history = project.cellar(&["history"]);
        assert!(history.stdout.contains("B2 = \"new\""), "{history:?}");
        project.cellar(&["export", "edited.csv", "--force"]);

        project.kill();
        let down = project.cellar(&["get"]);
        assert!(down.code == 1 && down.stderr.contains("deploy --local"), "{down:?}");
        project.deploy();

        let exported = project.cellar(&["export", "after.csv", "--force"]);
        assert_eq!(exported.code, 0, "{exported:?}");
        let read = |name: &str| fs::read(project.path(name)).unwrap();
        assert_eq!(read("after.csv"), read("edited.csv"), "{name}");
        let mut expected = fields(&input);
        expected[1][1] = "new".to_owned();
        assert_eq!(fields(&project.path("after.csv")), expected, "{name}");
        // The position before the edit is still readable.
        let at = history_position(&history, 1);
        project.cellar(&["export", "past.csv", "--force", "--at", &at]);
        assert_eq!(read("past.csv"), read("before.csv"), "{name}");
    }
}

/// Returns the position on a line of a history, which is sorted newest first.
fn history_position(history: &Run, line: usize) -> String {
    history.stdout.lines().nth(line).unwrap().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn an_import_that_was_interrupted_is_finished_by_running_it_again() {
    let project = Project::new();
    project.deploy();
    let input = data("airports.csv");
    let mut killed = 0;
    // Kill the import after ever longer delays, until one run completes.
    for delay_ms in (0..).step_by(15) {
        let mut import = project.command(env!("CARGO_BIN_EXE_test-cellar"));
        let mut import = import.arg("import").arg(&input).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay_ms));
        if import.try_wait().unwrap().is_some_and(|status| status.success()) {
            break;
        }
        killed += u32::from(import.kill().is_ok());
        if import.wait().unwrap().success() {
            break;
        }
    }
    assert!(killed > 2, "the import was killed only {killed} times");
    let exported = project.cellar(&["export", "out.csv"]);
    assert_eq!(exported.code, 0, "{exported:?}");
    assert_eq!(fields(&project.path("out.csv")), fields(&input));
    assert_imported_once(&project);
}

/// Checks that the log has one import after its first entry, regardless of the number of attempts.
fn assert_imported_once(project: &Project) {
    let history = project.cellar(&["--json", "history"]);
    let history: Value = serde_json::from_str(&history.stdout).unwrap();
    assert_eq!(history["entries"].as_array().unwrap().len(), 2, "{history}");
    assert_eq!(history.to_string().matches("\"importSheet\":").count(), 1, "{history}");
}

#[test]
fn the_cloud_killed_during_an_import_loses_nothing_acknowledged() {
    let project = Project::new();
    // The same port after the kill, so that the client finds the cloud.
    let port = free_port();
    let deploy = || {
        let run = project.synth(&["deploy", "--local", "--detach", "--no-smoke", "--port", &port]);
        assert_eq!(run.code, 0, "{run:?}");
    };
    deploy();
    let input = data("airports.csv");
    let mut import = project.command(env!("CARGO_BIN_EXE_test-cellar"));
    let mut import = import.arg("import").arg(&input).spawn().unwrap();
    for delay_ms in [60, 40, 25] {
        std::thread::sleep(Duration::from_millis(delay_ms));
        project.kill();
        deploy();
    }
    // If the client gave up during the kills, another run completes the import.
    if !import.wait().unwrap().success() {
        let again = project.cellar(&["import", input.to_str().unwrap()]);
        assert_eq!(again.code, 0, "{again:?}");
    }
    let exported = project.cellar(&["export", "out.csv"]);
    assert_eq!(exported.code, 0, "{exported:?}");
    assert_eq!(fields(&project.path("out.csv")), fields(&input));
}

pub(crate) fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

#[test]
fn an_import_goes_on_after_the_cloud_came_back_on_another_port() {
    let project = Project::new();
    project.deploy();
    let input = data("airports.csv");
    let mut import = project.command(env!("CARGO_BIN_EXE_test-cellar"));
    let mut import = import.arg("import").arg(&input).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(70));
    let finished = import.try_wait().unwrap().is_some();
    import.kill().unwrap();
    import.wait().unwrap();
    project.kill();
    project.deploy();
    if !finished {
        let again = project.cellar(&["import", input.to_str().unwrap()]);
        assert_eq!(again.code, 0, "{again:?}");
    }
    let exported = project.cellar(&["export", "out.csv"]);
    assert_eq!(exported.code, 0, "{exported:?}");
    assert_eq!(fields(&project.path("out.csv")), fields(&input));
    assert_imported_once(&project);
}
