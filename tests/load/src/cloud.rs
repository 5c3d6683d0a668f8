//! The local cloud in a separate process, and tokens for it.

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

/// Path of the cloud's state in the folder of the run.
const STATE: &str = ".cellar/local";
/// File name of the cloud's log output.
const LOG: &str = "cloud.log";
/// File name of the cloud's standard output, which contains its URL.
const DEPLOYED: &str = "deployed.json";
/// Maximum start time, also on a busy machine.
const START: Duration = Duration::from_secs(120);
/// Polling interval of the start.
const POLL: Duration = Duration::from_millis(20);
/// Ports outside of the range for outgoing connections. From that range, a client that calls while
/// no server listens could be connected to itself.
const PORTS: Range<u16> = 20_000..30_000;
/// Validity of tokens in seconds: longer than a run, even with a fast clock.
const TOKEN_S: u64 = 30 * 24 * 60 * 60;
/// Maximum length of the cloud's output in an error, in characters.
const SAID_CHARACTERS: usize = 500;

/// The command `synth` and its environment.
#[derive(Debug, Clone)]
pub struct Program {
    /// Path of the executable.
    pub path: PathBuf,
    /// Environment variables of the process.
    pub variables: Vec<(String, String)>,
}

/// The output of `synth deploy --local`.
#[derive(Deserialize)]
struct Deployed {
    url: String,
}

/// A running cloud that can be killed and restarted. Dropping it kills the process and deletes the
/// folder.
pub(crate) struct Cloud {
    program: Program,
    port: u16,
    url: String,
    process: Child,
    folder: TempDir,
}

impl Cloud {
    /// Starts a cloud without data.
    pub(crate) async fn start(program: &Program, plan: &Plan) -> Result<Self, LoadError> {
        let system = |cause| LoadError::File { path: std::env::temp_dir(), cause };
        let folder = tempfile::Builder::new().prefix("cellar-load").tempdir().map_err(system)?;
        let snapshots = (plan.snapshot_entries, plan.segment_entries);
        let config =
            format!("snapshots:\n  entries: {}\n  segment_entries: {}\n", snapshots.0, snapshots.1);
        write(&folder.path().join("cellar.yaml"), &config)?;
        let port = free_port()?;
        let (process, url) = spawn(program, folder.path(), port).await?;
        Ok(Self { program: program.clone(), port, url, process, folder })
    }

    /// Kills the process without a shutdown.
    pub(crate) fn kill(&mut self) -> Result<(), LoadError> {
        let killed = self.process.kill().and_then(|()| self.process.wait());
        killed.map(drop).map_err(|error| LoadError::Part { why: error.to_string() })
    }

    /// Restarts the cloud from its state on the disk, at the same port.
    pub(crate) async fn start_again(&mut self) -> Result<(), LoadError> {
        (self.process, self.url) = spawn(&self.program, self.folder.path(), self.port).await?;
        Ok(())
    }

    /// Returns the URL of the cloud's API.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Returns the state folder.
    pub(crate) fn state(&self) -> StateFolder {
        StateFolder::new(self.folder.path().join(STATE))
    }

    /// Signs a token for each subject, with write access to all spreadsheets.
    pub(crate) fn tokens(
        &self,
        subjects: impl Iterator<Item = String>,
    ) -> Result<Vec<String>, LoadError> {
        let path = self.state().path().join("token-key.pem");
        let pem = fs::read_to_string(&path).map_err(|cause| LoadError::File { path, cause })?;
        let (pair, config) = (KeyPair::from_pem(&pem)?, Config::default());
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let token = |sub| {
            let claims = Claims {
                iss: config.tokens.issuer.clone(),
                aud: config.tokens.audience.clone(),
                sub,
                exp: now_s.saturating_add(TOKEN_S),
                nbf: None,
                iat: now_s,
                jti: uuid::Uuid::new_v4().to_string(),
                role: Role::Editor,
                spreadsheets: Spreadsheets::all(),
            };
            Ok(pair.sign(&claims)?)
        };
        subjects.map(token).collect()
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        // The process may have ended already, and errors cannot be reported here.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts the process, and waits until it has printed its URL.
async fn spawn(program: &Program, folder: &Path, port: u16) -> Result<(Child, String), LoadError> {
    let (report_progress, log) = (folder.join(DEPLOYED), folder.join(LOG));
    let create = |path: &Path| {
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
        .stdout(create(&report_progress)?)
        .stderr(create(&log)?)
        .spawn()
        .map_err(|error| LoadError::NotStarted { why: error.to_string() })?;
    let begun = Instant::now();
    loop {
        let text = fs::read(&report_progress).unwrap_or_default();
        if let Ok(Deployed { url }) = serde_json::from_slice(&text) {
            return Ok((process, url));
        }
        let ended = process.try_wait().ok().flatten();
        if ended.is_some() || begun.elapsed() > START {
            let _ = process.kill();
            let report_progress = fs::read_to_string(&log).unwrap_or_default();
            let why = report_progress.trim().chars().take(SAID_CHARACTERS).collect();
            return Err(LoadError::NotStarted { why });
        }
        tokio::time::sleep(POLL).await;
    }
}

fn write(path: &Path, text: &str) -> Result<(), LoadError> {
    fs::write(path, text).map_err(|cause| LoadError::File { path: path.to_owned(), cause })
}

/// Returns a port at which no server listens.
fn free_port() -> Result<u16, LoadError> {
    let candidates = std::iter::repeat_with(|| fastrand::u16(PORTS)).take(PORTS.len());
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let free = { candidates }.find(is_free);
    free.ok_or_else(|| LoadError::NotStarted { why: "no port is free".to_owned() })
}
