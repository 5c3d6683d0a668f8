//! A project folder that deploys to a fake AWS account with the real command, and the output that a
//! user sees.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::fake::Fake;
use super::transcript::{self, Run};

/// Timeout of a command. No fault may make a command hang.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A folder to deploy from, isolated from the settings of the machine.
pub(super) struct Account {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
    endpoint: Option<String>,
}

/// A running command.
pub(super) struct Running {
    child: Child,
    arguments: Vec<String>,
    files: [PathBuf; 2],
}

impl Account {
    /// Creates an account with credentials, a region, and an AWS endpoint.
    pub(super) fn at(endpoint: &str) -> Self {
        Self::without_credentials()
            .reached_at(endpoint)
            .with("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
            .with("AWS_SECRET_ACCESS_KEY", "none")
            .with("AWS_REGION", "eu-west-1")
    }

    /// Creates an account that uses the real AWS endpoints, without credentials.
    pub(super) fn without_credentials() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let nothing = folder.path().join("nothing").display().to_string();
        let variables = vec![
            ("AWS_CONFIG_FILE", nothing.clone()),
            ("AWS_SHARED_CREDENTIALS_FILE", nothing),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
            // Without retries, so that tests do not wait for missing services.
            ("AWS_MAX_ATTEMPTS", "1".to_owned()),
        ];
        Self { folder, variables, endpoint: None }
    }

    /// Sets the AWS endpoint.
    pub(super) fn reached_at(self, endpoint: &str) -> Self {
        Self { endpoint: Some(endpoint.to_owned()), ..self }
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.retain(|(it, _)| *it != name);
        self.variables.push((name, value.to_owned()));
        self
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command until it exits.
    pub(super) async fn run(&self, arguments: &[&str]) -> Run {
        self.begin(arguments).ended().await
    }

    /// Runs `synth deploy` with a confirmation and without a smoke test, because the fake serves no
    /// API.
    pub(super) async fn deploy(&self) -> Run {
        self.run(&DEPLOY).await
    }

    pub(super) fn begin(&self, arguments: &[&str]) -> Running {
        let files = ["stdout", "stderr"].map(|name| {
            let id = uuid::Uuid::new_v4();
            self.path(&format!("{name}-{id}"))
        });
        let mut command = Command::new(env!("CARGO_BIN_EXE_test-synth"));
        command.current_dir(self.folder.path()).args(arguments).env_clear();
        if matches!(arguments.first(), Some(&"deploy" | &"plan")) && !arguments.contains(&"--plan")
        {
            command.args(["--bundle", env!("CARGO_BIN_EXE_test-bootstrap")]);
        }
        if matches!(arguments.first(), Some(&"deploy" | &"plan" | &"destroy")) {
            command.args(self.endpoint.iter().flat_map(|url| ["--endpoint-url", url.as_str()]));
        }
        command.env("HOME", self.folder.path()).env("PATH", std::env::var_os("PATH").unwrap());
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        let [stdout, stderr] = files.each_ref().map(|path| File::create(path).unwrap());
        let child = command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn().unwrap();
        let arguments = arguments.iter().map(|it| (*it).to_owned()).collect();
        Running { child, arguments, files }
    }

    /// Compares the output of runs with a committed transcript.
    pub(super) fn check(&self, name: &str, runs: &[&Run]) {
        transcript::check(name, self.folder.path(), runs);
    }
}

/// The command of most tests.
pub(super) const DEPLOY: [&str; 3] = ["deploy", "--yes", "--no-smoke"];

impl Running {
    /// Waits until the output contains `text`.
    pub(super) async fn says(&self, text: &str) {
        let started = Instant::now();
        while !read(&self.files[1]).contains(text) {
            assert!(started.elapsed() < TIMEOUT, "{text:?} is not printed");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Sends Ctrl-C.
    pub(super) fn interrupt(&self) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(id, Signal::INT).unwrap();
    }

    /// Waits until the command exits.
    pub(super) async fn ended(mut self) -> Run {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > TIMEOUT {
                self.child.kill().unwrap();
                panic!("{:?} hangs: {}", self.arguments, read(&self.files[1]));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let [stdout, stderr] = self.files.each_ref().map(|path| read(path));
        let code = status.code().expect("the process exits with a code");
        Run { arguments: self.arguments, code, stdout, stderr }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Starts a fake, and returns it with an account that uses it.
pub(super) async fn faked() -> (Fake, Account) {
    let fake = Fake::start().await;
    let account = Account::at(&fake.url);
    (fake, account)
}
