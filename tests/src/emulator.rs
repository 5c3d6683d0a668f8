//! An AWS emulator that others wrote: ministack, in a process of its own.
//!
//! It checks our adapters against an understanding of AWS that is not ours. What it demonstrably
//! gets wrong is no measure (lifecycle rules, consumed units, expiry of records, partial failures
//! of streams): those expectations are for our own local cloud, and for AWS.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::python;

const PACKAGE: &str = "ministack==1.5.33";
/// How it is started.
const SERVE: &str = include_str!("emulator/serve.py");
const START_TIMEOUT: Duration = Duration::from_secs(60);
const END_TIMEOUT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(50);

/// A running emulator; it ends when this is dropped.
pub struct Emulator {
    /// The endpoint of all its services.
    pub url: String,
    process: Child,
    folder: tempfile::TempDir,
}

impl Emulator {
    /// Starts an empty one on a free port. It is installed into `folder`, the first time.
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
            // What its functions are told.
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
        // Not waited for yet: the id is still this process's own.
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
