//! A third-party AWS emulator, ministack, in a separate process.
//!
//! The emulator checks the adapters against an independent implementation of AWS. Features that the
//! emulator does not implement correctly (lifecycle rules, consumed units, expiry of records,
//! partial failures of streams) are tested only with the local stack and with AWS.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::python;

const PACKAGE: &str = "ministack==1.5.33";
/// Program that starts the emulator.
const SERVE: &str = include_str!("emulator/serve.py");
const START_TIMEOUT: Duration = Duration::from_secs(60);
const END_TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);

/// A running emulator. Dropping it stops the emulator.
pub struct Emulator {
    /// Endpoint of all emulated services.
    pub url: String,
    process: Child,
    folder: tempfile::TempDir,
}

impl Emulator {
    /// Starts an emulator without data on a free port. The first start installs the emulator into
    /// `folder`.
    pub async fn start(folder: &Path) -> Self {
        let python = python::with_package(folder, PACKAGE);
        let data = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = File::create(data.path().join("log")).unwrap();
        let process = Command::new(python)
            .args(["-c", SERVE])
            .current_dir(data.path())
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", data.path())
            .env("TMPDIR", data.path())
            .env("BIND_HOST", "127.0.0.1")
            .env("GATEWAY_PORT", port.to_string())
            // The endpoint that the emulator's functions use.
            .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let mut emulator = Self { url, process, folder: data };
        emulator.wait_until_healthy().await;
        emulator
    }

    async fn wait_until_healthy(&mut self) {
        let health = format!("{}/_ministack/health", self.url);
        let started = Instant::now();
        while !reqwest::get(&health).await.is_ok_and(|reply| reply.status() == 200) {
            let ended = self.process.try_wait().unwrap();
            let late = started.elapsed() > START_TIMEOUT;
            if ended.is_some() || late {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("the emulator did not start ({ended:?}): {log}");
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // Nobody has waited for the process yet, so its id cannot have been reused.
        let id = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        let asked = id.map(|id| kill_process(id, Signal::TERM));
        let started = Instant::now();
        while asked == Some(Ok(())) && started.elapsed() < END_TIMEOUT {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(POLL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
