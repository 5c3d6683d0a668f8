//! Locks a state directory and records the process that uses it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::StateFolder;
use super::endpoints::ENDPOINTS;
use crate::disk_space;
use crate::error::LocalError;

pub(super) const LOCK: &str = "lock";
pub(super) const RUNNING: &str = "running.json";
const STOP: &str = "stop";
const PRIVATE_MODE: u32 = 0o700;
/// Maximum number of attempts to lock the directory, and the pause between attempts. An attempt can
/// fail although the directory is free, because a process that checks the occupancy also locks it
/// briefly.
const MAX_LOCK_ATTEMPTS: u32 = 15;
pub(super) const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Whether a process uses a state directory, and by which local stack it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupancy {
    /// No process uses the directory.
    Free,
    /// A local stack that is ready to serve requests.
    Running(RunningStack),
    /// A process that has not written or has deleted its record, because its stack is starting or
    /// stopping.
    StartingOrStopping,
}

/// A local stack that is running, and the process that runs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningStack {
    /// Process id.
    pub pid: u32,
    /// URL of the API.
    pub url: String,
    /// Start time, in Unix seconds.
    pub started_s: u64,
}

/// The operating system releases the lock when the process exits, even after a crash.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl StateFolder {
    /// Returns whether and by which process the state directory is used. Relies on the lock rather
    /// than the process record, because a killed process leaves an outdated record and process ids
    /// are reused.
    ///
    /// # Errors
    ///
    /// Returns [`LocalError::File`] if the lock file cannot be opened or locked.
    pub fn occupancy(&self) -> Result<Occupancy, LocalError> {
        let file = match File::open(self.path.join(LOCK)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Occupancy::Free),
            Err(source) => return Err(self.file_error("open", LOCK, source)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(Occupancy::Free),
            Err(TryLockError::WouldBlock) => match self.read_running_stack() {
                Some(stack) => Ok(Occupancy::Running(stack)),
                None => Ok(Occupancy::StartingOrStopping),
            },
            Err(TryLockError::Error(source)) => Err(self.file_error("lock", LOCK, source)),
        }
    }

    fn read_running_stack(&self) -> Option<RunningStack> {
        let text = fs::read_to_string(self.path.join(RUNNING)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Requests that the process that uses the directory stop. Creates a file rather than sending a
    /// signal, because the recorded process id could belong to another process. Needs no space on
    /// the disk.
    ///
    /// # Errors
    /// Returns [`LocalError::File`] if the file cannot be created.
    pub fn request_stop(&self) -> Result<(), LocalError> {
        let stop = self.path.join(STOP);
        match OpenOptions::new().create(true).append(true).open(&stop) {
            Ok(_) => Ok(()),
            // Even an empty file may need space. A renamed file does not.
            Err(error) if disk_space::is_full(&error) => fs::rename(self.path.join(RUNNING), stop)
                .map_err(|source| self.file_error("write", STOP, source)),
            Err(source) => Err(self.file_error("write", STOP, source)),
        }
    }

    pub(crate) fn stop_requested(&self) -> bool {
        self.path.join(STOP).exists()
    }

    /// Locks the directory for this process. Creates the directory first if it does not exist. Then
    /// deletes the records that earlier processes have left behind.
    pub(crate) fn create_and_lock(&self) -> Result<Lock, LocalError> {
        self.create_private_folder()?;
        let lock_file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.path.join(LOCK))
            .map_err(|source| self.file_error("open", LOCK, source))?;
        self.lock_with_retries(&lock_file)?;
        self.delete_outdated_records()?;
        Ok(Lock { _file: lock_file })
    }

    /// Creates the directory, or changes its permissions, so that other users of the machine cannot
    /// read the data.
    fn create_private_folder(&self) -> Result<(), LocalError> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(PRIVATE_MODE)
            .create(&self.path)
            .map_err(|source| self.file_error("create", "", source))?;
        fs::set_permissions(&self.path, fs::Permissions::from_mode(PRIVATE_MODE))
            .map_err(|source| self.file_error("protect", "", source))
    }

    fn delete_outdated_records(&self) -> Result<(), LocalError> {
        for name in [RUNNING, ENDPOINTS, STOP] {
            match fs::remove_file(self.path.join(name)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.file_error("remove", name, error)),
            }
        }
        Ok(())
    }

    fn lock_with_retries(&self, lock_file: &File) -> Result<(), LocalError> {
        for _attempt in 1..=MAX_LOCK_ATTEMPTS {
            match lock_file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(source)) => {
                    return Err(self.file_error("lock", LOCK, source));
                }
            }
        }
        let url = self.read_running_stack().map(|stack| stack.url);
        Err(LocalError::AlreadyRunning { folder: self.path.clone(), url })
    }

    /// Stores this process's record, which `synth status` and `synth destroy` read.
    pub(crate) fn record_running_stack(&self, stack: &RunningStack) -> Result<(), LocalError> {
        self.write(RUNNING, stack)
    }
}
