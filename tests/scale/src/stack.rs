//! A local stack in a directory, and the `cellar` commands of a client beside it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tempfile::TempDir;

use crate::ScaleError;
use crate::process::{read_peak_bytes, read_stat, reset_peak_bytes};

/// Edits between two snapshots, the minimum of `cellar.yaml`.
const SNAPSHOT_ENTRIES: u32 = 10;
const BUCKETS_PATH: &str = ".cellar/local/buckets";
const CHUNK_CACHE_PATH: &str = ".cellar/chunks";
/// Prefix of the keys of uploads, which the bucket deletes when they are some days old.
const UPLOADS_PREFIX: &str = "uploads/";
/// Maximum time for the start, sufficient even on a busy machine.
const MAX_START: Duration = Duration::from_secs(120);
const START_POLL_PERIOD: Duration = Duration::from_millis(20);
/// The stack is idle if it has used at most `IDLE_CPU_S` of processor time in this period.
const IDLE_PERIOD: Duration = Duration::from_millis(300);
const IDLE_CPU_S: f64 = 0.02;
/// Maximum wait until the stack is idle.
const MAX_BUSY: Duration = Duration::from_secs(60);

/// Paths of the programs.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The `synth` command.
    pub synth: PathBuf,
    /// The `cellar` command.
    pub cellar: PathBuf,
}

/// A running local stack. Dropping it kills the process and deletes the directory.
pub(crate) struct Stack {
    programs: Programs,
    process: Child,
    folder: TempDir,
    /// Records that were already read. A key that contains the hash of an object never changes its
    /// length.
    known_records: RefCell<BTreeMap<PathBuf, StoredObjects>>,
}

/// Number and bytes of stored objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StoredObjects {
    pub(crate) objects: u64,
    pub(crate) bytes: u64,
}

impl StoredObjects {
    /// Returns the objects that were added since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            objects: self.objects.saturating_sub(earlier.objects),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

/// Metadata of a stored object.
#[derive(Deserialize)]
struct ObjectRecord {
    key: String,
    length: u64,
}

impl Stack {
    /// Starts a local stack without data in a new directory within `parent`.
    pub(crate) fn start(programs: &Programs, parent: &Path) -> Result<Self, ScaleError> {
        let folder = tempfile::Builder::new()
            .prefix("cellar-scale")
            .tempdir_in(parent)
            .map_err(|source| ScaleError::file(parent, source))?;
        let config = format!("snapshots:\n  entries: {SNAPSHOT_ENTRIES}\n");
        let config_path = folder.path().join("cellar.yaml");
        fs::write(&config_path, config).map_err(|source| ScaleError::file(&config_path, source))?;
        let process = start_process(&programs.synth, folder.path())?;
        let stack =
            Self { programs: programs.clone(), process, folder, known_records: RefCell::default() };
        stack.wait_until_started()?;
        Ok(stack)
    }

    fn wait_until_started(&self) -> Result<(), ScaleError> {
        let profile = self.folder.path().join(".cellar/profile.json");
        let begun_at = Instant::now();
        while !profile.exists() {
            let has_ended = read_stat(self.process.id()).is_none_or(|stat| stat.has_ended);
            if has_ended || begun_at.elapsed() > MAX_START {
                let output = fs::read_to_string(self.log_path()).unwrap_or_default();
                return Err(ScaleError::NotStarted { output });
            }
            thread::sleep(START_POLL_PERIOD);
        }
        Ok(())
    }

    fn log_path(&self) -> PathBuf {
        log_path(self.folder.path())
    }

    /// Returns the directory of the stack, in which commands run.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a `cellar` command for this stack.
    pub(crate) fn cellar(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.programs.cellar);
        command.current_dir(self.folder.path()).args(arguments);
        remove_settings(&mut command);
        command
    }

    /// Deletes the chunks that the client has loaded.
    pub(crate) fn clear_client_cache(&self) -> Result<(), ScaleError> {
        let path = self.folder.path().join(CHUNK_CACHE_PATH);
        if !path.exists() {
            return Ok(());
        }
        fs::remove_dir_all(&path).map_err(|source| ScaleError::file(&path, source))
    }

    /// Returns the processor time since the start of the stack, in seconds.
    pub(crate) fn cpu_s(&self) -> Result<f64, ScaleError> {
        let pid = self.process.id();
        read_stat(pid).map(|stat| stat.cpu_s).ok_or(ScaleError::NoUsage { pid })
    }

    /// Starts a new peak of memory.
    pub(crate) fn reset_peak(&self) -> Result<(), ScaleError> {
        reset_peak_bytes(self.process.id())
    }

    /// Returns the peak of the memory since the last reset.
    pub(crate) fn peak_bytes(&self) -> Result<u64, ScaleError> {
        let pid = self.process.id();
        read_peak_bytes(pid).ok_or(ScaleError::NoUsage { pid })
    }

    /// Waits until the stack has done the work that follows a request, such as the feed.
    pub(crate) fn wait_until_idle(&self) -> Result<(), ScaleError> {
        let begun_at = Instant::now();
        loop {
            let before = self.cpu_s()?;
            thread::sleep(IDLE_PERIOD);
            if self.cpu_s()? - before <= IDLE_CPU_S || begun_at.elapsed() > MAX_BUSY {
                return Ok(());
            }
        }
    }

    /// Counts the objects in the bucket, except uploads.
    pub(crate) fn stored_objects(&self) -> Result<StoredObjects, ScaleError> {
        let mut stored = StoredObjects::default();
        let mut known_records = self.known_records.borrow_mut();
        for bucket in list(&self.folder.path().join(BUCKETS_PATH))? {
            for path in list(&bucket.join("objects"))? {
                let record = match known_records.get(&path) {
                    Some(record) => *record,
                    None => {
                        let Some(record) = read_record(&path) else { continue };
                        known_records.insert(path, record);
                        record
                    }
                };
                stored.objects += record.objects;
                stored.bytes += record.bytes;
            }
        }
        Ok(stored)
    }
}

/// Returns `None` if the record was deleted or is being written.
fn read_record(path: &Path) -> Option<StoredObjects> {
    let text = fs::read_to_string(path).ok()?;
    let record: ObjectRecord = serde_json::from_str(&text).ok()?;
    if record.key.starts_with(UPLOADS_PREFIX) {
        return Some(StoredObjects::default());
    }
    Some(StoredObjects { objects: 1, bytes: record.length })
}

impl Drop for Stack {
    fn drop(&mut self) {
        // The process may already have ended, and no error can be reported from here.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start_process(synth: &Path, folder: &Path) -> Result<Child, ScaleError> {
    let log_path = log_path(folder);
    let log = File::create(&log_path).map_err(|source| ScaleError::file(&log_path, source))?;
    let mut command = Command::new(synth);
    remove_settings(&mut command);
    command
        .current_dir(folder)
        .args(["deploy", "--local", "--no-smoke", "--port", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(|source| ScaleError::file(synth, source))
}

fn log_path(folder: &Path) -> PathBuf {
    folder.join("stack.log")
}

fn remove_settings(command: &mut Command) {
    for variable in ["CELLAR_URL", "CELLAR_TOKEN", "CELLAR_SPREADSHEET", "CELLAR_STAGE"] {
        command.env_remove(variable);
    }
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, ScaleError> {
    let file_error = |source| ScaleError::file(folder, source);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(file_error)? {
        paths.push(entry.map_err(file_error)?.path());
    }
    Ok(paths)
}
