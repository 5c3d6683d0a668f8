//! Who uses a state folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::StateFolder;
use super::endpoints::ENDPOINTS;
use crate::error::LocalError;

pub(super) const LOCK: &str = "lock";
pub(super) const RUNNING: &str = "running.json";
const STOP: &str = "stop";
const PRIVATE_MODE: u32 = 0o700;
/// How often, and after which pause, a lock is tried again that somebody may only be asking for.
const LOCK_TRIES: u32 = 15;
pub(super) const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Who uses a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupancy {
    /// Nobody.
    Free,
    /// A local cloud that is ready.
    By(Running),
    /// Some process that has not said who it is: a cloud that starts or ends.
    Unknown,
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
    /// Who uses the folder now. The lock decides, not what is written: a killed process leaves its
    /// record behind, and process ids are used again.
    ///
    /// # Errors
    /// [`LocalError::File`] if the lock cannot be asked.
    pub fn occupancy(&self) -> Result<Occupancy, LocalError> {
        let file = match File::open(self.path.join(LOCK)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Occupancy::Free),
            Err(source) => return Err(self.fault("open", LOCK, source)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(Occupancy::Free),
            Err(TryLockError::WouldBlock) => {
                Ok(self.read_running().map_or(Occupancy::Unknown, Occupancy::By))
            }
            Err(TryLockError::Error(source)) => Err(self.fault("lock", LOCK, source)),
        }
    }

    fn read_running(&self) -> Option<Running> {
        let text = fs::read_to_string(self.path.join(RUNNING)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Asks the process that runs here to end. No signal is sent: a record may be old, and its
    /// process id somebody else's.
    ///
    /// # Errors
    /// [`LocalError::File`] if that cannot be written.
    pub fn request_stop(&self) -> Result<(), LocalError> {
        self.write_bytes(STOP, b"stop\n")
    }

    /// Whether the process that runs here is asked to end.
    pub(crate) fn stop_requested(&self) -> bool {
        self.path.join(STOP).exists()
    }

    /// Takes the folder for this process; makes it if it is not there. What an earlier process
    /// said of itself is gone from then on.
    pub(crate) fn lock(&self) -> Result<Lock, LocalError> {
        // Other users of the machine have no business in a cloud's data.
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true).mode(PRIVATE_MODE);
        folder.create(&self.path).map_err(|source| self.fault("create", "", source))?;
        fs::set_permissions(&self.path, fs::Permissions::from_mode(PRIVATE_MODE))
            .map_err(|source| self.fault("protect", "", source))?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.path.join(LOCK))
            .map_err(|source| self.fault("open", LOCK, source))?;
        self.try_lock(&file)?;
        for name in [RUNNING, ENDPOINTS, STOP] {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(self.fault("remove", name, error));
                }
                _ => {}
            }
        }
        Ok(Lock { _file: file })
    }

    /// Somebody who only asks holds the lock for a moment: that is not "in use".
    fn try_lock(&self, file: &File) -> Result<(), LocalError> {
        for _ in 0..LOCK_TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
                Err(TryLockError::Error(source)) => return Err(self.fault("lock", LOCK, source)),
            }
        }
        let url = self.read_running().map(|running| running.url);
        Err(LocalError::AlreadyRunning { folder: self.path.clone(), url })
    }

    /// Records the running process, for `status` and `destroy`.
    pub(crate) fn record_running(&self, running: &Running) -> Result<(), LocalError> {
        self.write(RUNNING, running)
    }
}
