//! Manages the state directory of a local stack: its files, lock and integrity.

mod endpoints;
mod links;
mod manifest;
mod occupancy;
#[cfg(test)]
mod tests;

pub(crate) use self::endpoints::Credentials;
pub use self::endpoints::{Endpoints, SnapshotEndpoints};
pub(crate) use self::occupancy::Lock;
pub use self::occupancy::{Occupancy, RunningStack};

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::disk_space;
use crate::error::LocalError;

const MANIFEST: &str = "cloud.json";
const DATABASE: &str = "dynamodb.sqlite";
const EVENTS: &str = "events.sqlite";
const BUCKETS: &str = "buckets";
const TEMPLATE: &str = "template.json";
/// Length of the file that shows whether the disk is full. An edit needs less.
const PROBE_BYTES: usize = 64 * 1024;

/// The directory that contains all data of a local stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

impl StateFolder {
    /// Uses the state directory at `path`, which does not have to exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the directory's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether a local stack was ever started in this directory.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.join(MANIFEST).exists()
    }

    /// Returns the database file's path.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Returns the size of the database in bytes, including the write-ahead log.
    #[must_use]
    pub fn database_bytes(&self) -> Option<u64> {
        let file_bytes = |name: &str| Some(self.path.join(name).metadata().ok()?.len());
        let write_ahead_log_bytes = file_bytes(&format!("{DATABASE}-wal")).unwrap_or(0);
        Some(file_bytes(DATABASE)? + write_ahead_log_bytes)
    }

    /// Writes a small file and deletes it, and returns whether the disk is too full for it. `None` if
    /// the directory does not exist, or if the file cannot be written for another reason.
    #[must_use]
    pub fn is_disk_full(&self) -> Option<bool> {
        if !self.exists() {
            return None;
        }
        match self.write_probe() {
            Ok(()) => Some(false),
            Err(error) if disk_space::is_full(&error) => Some(true),
            Err(_) => None,
        }
    }

    fn write_probe(&self) -> io::Result<()> {
        let mut probe = tempfile::NamedTempFile::new_in(&self.path)?;
        probe.write_all(&vec![0; PROBE_BYTES])?;
        probe.as_file().sync_all()
    }

    /// Returns the path of the file that stores queue messages and stream positions.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.path.join(EVENTS)
    }

    /// Returns the path of the file that stores the running stack's template.
    #[must_use]
    pub fn template(&self) -> PathBuf {
        self.path.join(TEMPLATE)
    }

    /// Returns the path of the directory that stores the buckets.
    #[must_use]
    pub fn buckets(&self) -> PathBuf {
        self.path.join(BUCKETS)
    }

    /// Deletes the directory and all its data.
    ///
    /// # Errors
    ///
    /// Returns [`LocalError::AlreadyRunning`] if a process uses the directory. Returns
    /// [`LocalError::Linked`] if the directory or a part of it is a symbolic link, because the data
    /// is then stored elsewhere. In both cases, nothing is deleted.
    pub fn delete(&self) -> Result<(), LocalError> {
        self.check_links()?;
        let lock = self.create_and_lock()?;
        let result = fs::remove_dir_all(&self.path);
        drop(lock);
        result.map_err(|source| self.file_error("delete", "", source))
    }

    /// Returns an error if the directory, its parent or anything in the directory is a symbolic
    /// link.
    fn check_links(&self) -> Result<(), LocalError> {
        let read_error = |source| self.file_error("read", "", source);
        let link = match self.path.parent() {
            Some(parent) if parent.is_symlink() => Some(parent.to_owned()),
            _ => links::find_link(&self.path).map_err(read_error)?,
        };
        let Some(link) = link else { return Ok(()) };
        let target = match fs::canonicalize(&link) {
            Ok(target) => target,
            // The target of the link does not exist, so report the path that the link contains.
            Err(_) => fs::read_link(&link).map_err(read_error)?,
        };
        Err(LocalError::Linked { link, target })
    }

    /// Stores the running stack's template.
    pub(crate) fn record_template(&self, json: &str) -> Result<(), LocalError> {
        self.write_bytes(TEMPLATE, json.as_bytes())
    }

    /// Reads a file. Returns `None` if the file does not exist.
    fn read(&self, name: &'static str) -> Result<Option<String>, LocalError> {
        match fs::read_to_string(self.path.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.file_error("read", name, source)),
        }
    }

    fn write(&self, name: &'static str, value: &impl Serialize) -> Result<(), LocalError> {
        let mut json = serde_json::to_vec_pretty(value)
            .map_err(|error| self.file_error("write", name, error.into()))?;
        json.push(b'\n');
        self.write_bytes(name, &json)
    }

    /// Writes a file atomically and durably.
    fn write_bytes(&self, name: &'static str, bytes: &[u8]) -> Result<(), LocalError> {
        write_atomically(&self.path, name, bytes)
            .map_err(|source| self.file_error("write", name, source))
    }

    fn damaged(&self, name: &'static str, why: impl Display) -> LocalError {
        LocalError::Damaged { path: self.path.join(name), why: why.to_string() }
    }

    fn file_error(&self, what: &'static str, name: &str, source: io::Error) -> LocalError {
        LocalError::File { what, path: self.path.join(name), source }
    }
}

/// Writes a file in `folder` atomically and durably.
fn write_atomically(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name))?;
    File::open(folder)?.sync_all()
}
