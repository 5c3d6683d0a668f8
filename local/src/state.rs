//! The state folder: what is in it, who may use it, and whether it is whole.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::LocalError;

/// The layout of the folder; a later version of Cellar may write another.
const LAYOUT_VERSION: u32 = 1;
const MANIFEST: &str = "cloud.json";
const RUNNING: &str = "running.json";
const LOCK: &str = "lock";
const DATABASE: &str = "dynamodb.sqlite";
const BUCKETS: &str = "buckets";

/// A folder that holds all that a local cloud knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

/// What the folder says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    layout: u32,
    stack: String,
    /// Whether the database was in place once: only then it must be there.
    begun: bool,
}

/// The process that runs a local cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its process id.
    pub pid: u32,
    /// The URL of its API.
    pub url: String,
    /// When it started, Unix seconds.
    pub started_s: u64,
}

/// The exclusive right to run on a folder; ends with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl StateFolder {
    /// The folder at this path, whether or not it exists yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a local cloud was ever started here.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.join(MANIFEST).exists()
    }

    /// The database's file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// The folder of the buckets.
    #[must_use]
    pub fn buckets(&self) -> PathBuf {
        self.path.join(BUCKETS)
    }

    /// The process that runs on this folder now, if one does.
    ///
    /// The lock decides, not the process id: ids are used again.
    ///
    /// # Errors
    /// [`LocalError::File`] if the lock cannot be asked.
    pub fn running(&self) -> Result<Option<Running>, LocalError> {
        let path = self.path.join(LOCK);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(LocalError::File { what: "open", path, source }),
        };
        match file.try_lock() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(self.read_running()),
            Err(TryLockError::Error(source)) => {
                Err(LocalError::File { what: "lock", path, source })
            }
        }
    }

    fn read_running(&self) -> Option<Running> {
        let text = fs::read_to_string(self.path.join(RUNNING)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Takes the folder for this process; makes it if it is not there.
    pub(crate) fn lock(&self) -> Result<Lock, LocalError> {
        // Other users of the machine have no business in a cloud's data.
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true).mode(0o700);
        folder.create(&self.path).map_err(|source| self.fault("create", "", source))?;
        let path = self.path.join(LOCK);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|source| self.fault("open", LOCK, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                let url = self.read_running().map(|running| running.url);
                Err(LocalError::AlreadyRunning { folder: self.path.clone(), url })
            }
            Err(TryLockError::Error(source)) => Err(self.fault("lock", LOCK, source)),
        }
    }

    /// Checks what an earlier process left behind, or begins a new state. Nothing that is there
    /// is changed unless all is well.
    pub(crate) fn open(&self, stack: &str) -> Result<(), LocalError> {
        let path = self.path.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.begin(stack),
            Err(source) => return Err(self.fault("read", MANIFEST, source)),
        };
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|error| LocalError::Damaged { path: path.clone(), why: error.to_string() })?;
        if manifest.layout > LAYOUT_VERSION {
            return Err(LocalError::LaterVersion { path, version: manifest.layout });
        }
        if manifest.stack != stack {
            let why = format!("it belongs to the stack `{}`, not `{stack}`", manifest.stack);
            return Err(LocalError::Damaged { path, why });
        }
        if manifest.begun && !self.database().exists() {
            // Going on would start an empty database where there was a full one.
            let why = "the database is gone".to_owned();
            return Err(LocalError::Damaged { path: self.database(), why });
        }
        Ok(())
    }

    fn begin(&self, stack: &str) -> Result<(), LocalError> {
        if self.database().exists() {
            let why = format!("there is a database but no {MANIFEST} that says whose");
            return Err(LocalError::Damaged { path: self.database(), why });
        }
        self.record(stack, false)
    }

    /// Records that the database is in place.
    pub(crate) fn begun(&self, stack: &str) -> Result<(), LocalError> {
        self.record(stack, true)
    }

    fn record(&self, stack: &str, begun: bool) -> Result<(), LocalError> {
        let manifest = Manifest { layout: LAYOUT_VERSION, stack: stack.to_owned(), begun };
        self.write(MANIFEST, &manifest)
    }

    /// Records the running process, for `status` and `destroy`.
    pub(crate) fn record_running(&self, running: &Running) -> Result<(), LocalError> {
        self.write(RUNNING, running)
    }

    /// Writes a file whole or not at all, durably.
    fn write(&self, name: &'static str, value: &impl Serialize) -> Result<(), LocalError> {
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
            serde_json::to_writer_pretty(&mut file, value)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(self.path.join(name))?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| self.fault("write", name, source))
    }

    fn fault(&self, what: &'static str, name: &str, source: io::Error) -> LocalError {
        LocalError::File { what, path: self.path.join(name), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, StateFolder) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = StateFolder::new(temporary.path().join("local"));
        (temporary, folder)
    }

    fn begun() -> (tempfile::TempDir, StateFolder) {
        let (temporary, folder) = folder();
        drop(folder.lock().unwrap());
        folder.open("cellar").unwrap();
        fs::write(folder.database(), "").unwrap();
        folder.begun("cellar").unwrap();
        (temporary, folder)
    }

    #[test]
    fn only_one_process_runs_on_a_folder() {
        let (_temporary, folder) = folder();
        assert_eq!(folder.running().unwrap(), None);
        let lock = folder.lock().unwrap();
        let running = Running { pid: 1, url: "http://127.0.0.1:1/".into(), started_s: 2 };
        folder.record_running(&running).unwrap();
        assert_eq!(folder.running().unwrap(), Some(running));
        let error = folder.lock().unwrap_err();
        assert!(error.to_string().ends_with(", at http://127.0.0.1:1/"), "{error}");
        drop(lock);
        assert_eq!(folder.running().unwrap(), None);
        assert!(folder.lock().is_ok());
    }

    #[test]
    fn a_folder_that_was_left_behind_is_opened_again() {
        let (_temporary, folder) = begun();
        assert!(folder.exists());
        folder.open("cellar").unwrap();
    }

    #[test]
    fn a_first_start_that_was_killed_can_be_repeated() {
        let (_temporary, folder) = folder();
        drop(folder.lock().unwrap());
        folder.open("cellar").unwrap();
        folder.open("cellar").unwrap();
        fs::write(folder.database(), "").unwrap();
        folder.open("cellar").unwrap();
    }

    #[test]
    fn damage_is_named_and_nothing_is_written() {
        for (name, content) in [
            (MANIFEST, Some("{")),
            (MANIFEST, Some(r#"{"layout":1,"stack":"other","begun":true}"#)),
            (MANIFEST, Some(r#"{"layout":2,"stack":"cellar","begun":true}"#)),
            (MANIFEST, None),
            (DATABASE, None),
        ] {
            let (_temporary, folder) = begun();
            let path = folder.path().join(name);
            match content {
                Some(content) => fs::write(&path, content).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let error = folder.open("cellar").unwrap_err();
            assert!(error.help().is_some(), "{error}");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), content, "{error}");
        }
    }
}
