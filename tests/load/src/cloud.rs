//! The local cloud, a process of its own, and tokens for it.

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

/// Where it keeps what it knows, in the folder of the run.
const STATE: &str = ".cellar/local";
/// What it says.
const LOG: &str = "cloud.log";
/// What it says of itself when it is there.
const DEPLOYED: &str = "deployed.json";
/// How long it may take to start, on a machine that does much else.
const START: Duration = Duration::from_secs(120);
/// Between two looks whether it is there.
const POLL: Duration = Duration::from_millis(20);
/// Ports that no system gives to outgoing connections: a client that calls while nobody listens would
/// be connected to itself otherwise.
const PORTS: Range<u16> = 20_000..30_000;
/// How long tokens are valid, seconds: longer than a run by a clock of whatever speed.
const TOKEN_S: u64 = 30 * 24 * 60 * 60;
/// Characters of what it said that an error shows.
const SAID_CHARACTERS: usize = 500;

/// The command `synth`, and what its process is told.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// Variables of its process.
    pub variables: Vec<(String, String)>,
}

/// What `synth deploy --local` says.
#[derive(Deserialize)]
struct Deployed {
    url: String,
}

/// A cloud that runs, and can be killed and started again. It is killed at the latest when this is
/// dropped, and its folder goes.
pub(crate) struct Cloud {
    program: Program,
    port: u16,
    url: String,
    process: Child,
    folder: TempDir,
}

impl Cloud {
    /// Starts an empty one.
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

    /// Kills it as hard as can be.
    pub(crate) fn kill(&mut self) -> Result<(), LoadError> {
        let killed = self.process.kill().and_then(|()| self.process.wait());
        killed.map(drop).map_err(|error| LoadError::Part { why: error.to_string() })
    }

    /// Starts it again on what is on the disk, at the same port.
    pub(crate) async fn start_again(&mut self) -> Result<(), LoadError> {
        (self.process, self.url) = spawn(&self.program, self.folder.path(), self.port).await?;
        Ok(())
    }

    /// The URL of its API.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Its state folder.
    pub(crate) fn state(&self) -> StateFolder {
        StateFolder::new(self.folder.path().join(STATE))
    }

    /// Signs a token for each of these subjects: who may write everywhere.
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
        // It may be gone already, and there is nobody to tell.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts the process, and waits until it says where it is.
async fn spawn(program: &Program, folder: &Path, port: u16) -> Result<(Child, String), LoadError> {
    let (said, log) = (folder.join(DEPLOYED), folder.join(LOG));
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
        .stdout(create(&said)?)
        .stderr(create(&log)?)
        .spawn()
        .map_err(|error| LoadError::NotStarted { why: error.to_string() })?;
    let begun = Instant::now();
    loop {
        let text = fs::read(&said).unwrap_or_default();
        if let Ok(Deployed { url }) = serde_json::from_slice(&text) {
            return Ok((process, url));
        }
        let ended = process.try_wait().ok().flatten();
        if ended.is_some() || begun.elapsed() > START {
            let _ = process.kill();
            let said = fs::read_to_string(&log).unwrap_or_default();
            let why = said.trim().chars().take(SAID_CHARACTERS).collect();
            return Err(LoadError::NotStarted { why });
        }
        tokio::time::sleep(POLL).await;
    }
}

fn write(path: &Path, text: &str) -> Result<(), LoadError> {
    fs::write(path, text).map_err(|cause| LoadError::File { path: path.to_owned(), cause })
}

/// A port at which nobody listens.
fn free_port() -> Result<u16, LoadError> {
    let candidates = std::iter::repeat_with(|| fastrand::u16(PORTS)).take(PORTS.len());
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let free = { candidates }.find(is_free);
    free.ok_or_else(|| LoadError::NotStarted { why: "no port is free".to_owned() })
}
