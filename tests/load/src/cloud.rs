//! The local stack, which runs in a separate process, and tokens for it.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cellar_catalog::access::Role;
use cellar_local::StateFolder;
use cellar_runtime::token::{Claims, KeyPair, Spreadsheets};
use cellar_stacks::Config;
use serde::Deserialize;
use tempfile::TempDir;

use crate::LoadError;
use crate::plan::Plan;

/// Path of the stack's state within the directory of the run.
const STATE_PATH: &str = ".cellar/local";
/// File name of the stack's log output.
const LOG_FILE: &str = "cloud.log";
/// File name of the stack's standard output, which contains the URL.
const DEPLOY_OUTPUT_FILE: &str = "deployed.json";
/// Maximum time for the start, sufficient even on a busy machine.
const MAX_START: Duration = Duration::from_secs(120);
/// Interval at which the start is polled.
const START_POLL_PERIOD: Duration = Duration::from_millis(20);
/// Range of ports, chosen outside the range for outgoing connections. With a port from that range,
/// a client that connects while no server listens could be connected to itself.
const PORTS: Range<u16> = 20_000..30_000;
/// Validity of tokens in seconds. Longer than a run, even with a fast clock.
const TOKEN_S: u64 = 30 * 24 * 60 * 60;
/// Maximum number of characters of the stack's output in an error message.
const MAX_ERROR_CHARACTERS: usize = 500;

/// The `synth` program and its environment.
#[derive(Debug, Clone)]
pub struct Program {
    /// Path of the executable.
    pub path: PathBuf,
    /// Environment variables for the process.
    pub variables: Vec<(String, String)>,
}

/// The output of `synth deploy --local`.
#[derive(Deserialize)]
struct Deployed {
    url: String,
}

/// A running local stack that can be killed and restarted. Dropping it kills the process and
/// deletes the directory.
pub(crate) struct Cloud {
    program: Program,
    port: u16,
    url: String,
    process: Child,
    folder: TempDir,
}

impl Cloud {
    /// Starts a local stack without data.
    pub(crate) async fn start(program: &Program, plan: &Plan) -> Result<Self, LoadError> {
        let folder = tempfile::Builder::new()
            .prefix("cellar-load")
            .tempdir()
            .map_err(|cause| LoadError::File { path: std::env::temp_dir(), cause })?;
        let config = format!(
            "snapshots:\n  entries: {}\n  segment_entries: {}\n",
            plan.snapshot_entries, plan.segment_entries
        );
        write_file(&folder.path().join("cellar.yaml"), &config)?;
        let port = free_port()?;
        let (process, url) = spawn(program, folder.path(), port).await?;
        Ok(Self { program: program.clone(), port, url, process, folder })
    }

    /// Kills the process without a shutdown.
    pub(crate) fn kill(&mut self) -> Result<(), LoadError> {
        match self.process.kill().and_then(|()| self.process.wait()) {
            Ok(_exit_status) => Ok(()),
            Err(error) => Err(LoadError::Part { why: error.to_string() }),
        }
    }

    /// Restarts the stack from its state on disk, on the same port.
    pub(crate) async fn restart(&mut self) -> Result<(), LoadError> {
        (self.process, self.url) = spawn(&self.program, self.folder.path(), self.port).await?;
        Ok(())
    }

    /// Returns the URL of the stack's API.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns the state directory.
    pub(crate) fn state(&self) -> StateFolder {
        StateFolder::new(self.folder.path().join(STATE_PATH))
    }

    /// Signs a token for each subject. The tokens grant write access to all spreadsheets.
    pub(crate) fn sign_tokens(
        &self,
        subjects: impl Iterator<Item = String>,
    ) -> Result<Vec<String>, LoadError> {
        let path = self.state().path().join("token-key.pem");
        let pem = fs::read_to_string(&path).map_err(|cause| LoadError::File { path, cause })?;
        let key_pair = KeyPair::from_pem(&pem)?;
        let config = Config::default();
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut tokens = Vec::new();
        for subject in subjects {
            let claims = Claims {
                iss: config.tokens.issuer.clone(),
                aud: config.tokens.audience.clone(),
                sub: subject,
                exp: now_s.saturating_add(TOKEN_S),
                nbf: None,
                iat: now_s,
                jti: uuid::Uuid::new_v4().to_string(),
                role: Role::Editor,
                spreadsheets: Spreadsheets::all(),
            };
            tokens.push(key_pair.sign(&claims)?);
        }
        Ok(tokens)
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        // The process may already have ended, and no error can be reported from here.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts the process and waits until it has printed its URL.
async fn spawn(program: &Program, folder: &Path, port: u16) -> Result<(Child, String), LoadError> {
    let output_path = folder.join(DEPLOY_OUTPUT_FILE);
    let log_path = folder.join(LOG_FILE);
    let create_file = |path: &Path| {
        File::create(path).map_err(|cause| LoadError::File { path: path.to_owned(), cause })
    };
    let mut command = Command::new(&program.path);
    for variable in ["CELLAR_URL", "CELLAR_TOKEN", "CELLAR_SPREADSHEET", "CELLAR_STAGE"] {
        command.env_remove(variable);
    }
    let mut process = command
        .envs(program.variables.iter().cloned())
        .current_dir(folder)
        .args(["--json", "deploy", "--local", "--no-smoke", "--port", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(create_file(&output_path)?)
        .stderr(create_file(&log_path)?)
        .spawn()
        .map_err(|error| LoadError::NotStarted { why: error.to_string() })?;
    let begun_at = Instant::now();
    loop {
        let output = fs::read(&output_path).unwrap_or_default();
        if let Ok(Deployed { url }) = serde_json::from_slice(&output) {
            return Ok((process, url));
        }
        let has_ended = process.try_wait().is_ok_and(|exit_status| exit_status.is_some());
        if has_ended || begun_at.elapsed() > MAX_START {
            let _ = process.kill();
            let log = fs::read_to_string(&log_path).unwrap_or_default();
            let why = log.trim().chars().take(MAX_ERROR_CHARACTERS).collect();
            return Err(LoadError::NotStarted { why });
        }
        tokio::time::sleep(START_POLL_PERIOD).await;
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), LoadError> {
    fs::write(path, text).map_err(|cause| LoadError::File { path: path.to_owned(), cause })
}

/// Returns a port on which no server listens.
fn free_port() -> Result<u16, LoadError> {
    for _attempt in 0..PORTS.len() {
        let port = fastrand::u16(PORTS);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(LoadError::NotStarted { why: "no port is free".to_owned() })
}
