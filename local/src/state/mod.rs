//! Manages the files, the lock and the integrity of a local stack's state folder.

mod endpoints;
mod links;
mod manifest;
mod occupancy;
#[cfg(test)]
mod tests;

pub(crate) use self::endpoints::Credentials;
pub use self::endpoints::{Endpoints, SnapshotEndpoints};
pub(crate) use self::occupancy::Lock;
pub use self::occupancy::{Occupancy, Running};

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::LocalError;

const MANIFEST: &str = "cloud.json";
const DATABASE: &str = "dynamodb.sqlite";
const EVENTS: &str = "events.sqlite";
const BUCKETS: &str = "buckets";
const TEMPLATE: &str = "template.json";

/// The folder with all data of a local stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

impl StateFolder {
    /// Uses the folder at `path`. The folder does not have to exist.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether a local stack was ever started in this folder.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.join(MANIFEST).exists()
    }

    /// Returns the path of the database file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Returns the size of the database in bytes, including its write-ahead log.
    #[must_use]
    pub fn database_bytes(&self) -> Option<u64> {
        let file_bytes = |name: String| self.path.join(name).metadata().map(|file| file.len());
        let wal_bytes = file_bytes(format!("{DATABASE}-wal")).unwrap_or(0);
        Some(file_bytes(DATABASE.to_owned()).ok()? + wal_bytes)
    }

    /// Returns the path of the file that stores queue messages and stream positions.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.path.join(EVENTS)
    }

    /// Returns the path of the template with which the running stack was started.
    #[must_use]
    pub fn template(&self) -> PathBuf {
        self.path.join(TEMPLATE)
    }

    /// Returns the path of the folder with the buckets.
    #[must_use]
    pub fn buckets(&self) -> PathBuf {
        self.path.join(BUCKETS)
    }

    /// Deletes the folder and all its data.
    ///
    /// # Errors
    ///
    /// Returns [`LocalError::AlreadyRunning`] if a process uses the folder, or
    /// [`LocalError::Linked`] if the folder or a part of it is a symbolic link, so that its data is
    /// stored elsewhere. In both cases nothing is deleted.
    pub fn delete(&self) -> Result<(), LocalError> {
        self.check_links()?;
        let lock = self.lock()?;
        let deleted = fs::remove_dir_all(&self.path);
        drop(lock);
        deleted.map_err(|source| self.fault("delete", "", source))
    }

    /// Checks that there is no symbolic link in the folder, and that neither the folder nor its
    /// parent is one.
    fn check_links(&self) -> Result<(), LocalError> {
        let fault = |source| self.fault("read", "", source);
        let link = match self.path.parent().filter(|above| above.is_symlink()) {
            Some(above) => Some(above.to_owned()),
            None => links::find_link(&self.path).map_err(fault)?,
        };
        let Some(link) = link else { return Ok(()) };
        let target = fs::canonicalize(&link).or_else(|_| fs::read_link(&link)).map_err(fault)?;
        Err(LocalError::Linked { link, target })
    }

    /// Stores the template of the running stack.
    pub(crate) fn record_template(&self, json: &str) -> Result<(), LocalError> {
        self.write_bytes(TEMPLATE, json.as_bytes())
    }

    /// Reads a file; returns `None` if the file does not exist.
    fn read(&self, name: &'static str) -> Result<Option<String>, LocalError> {
        match fs::read_to_string(self.path.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.fault("read", name, source)),
        }
    }

    fn write(&self, name: &'static str, value: &impl Serialize) -> Result<(), LocalError> {
        let mut json = serde_json::to_vec_pretty(value)
            .map_err(|error| self.fault("write", name, error.into()))?;
        json.push(b'\n');
        self.write_bytes(name, &json)
    }

    /// Writes a file atomically and durably.
    fn write_bytes(&self, name: &'static str, bytes: &[u8]) -> Result<(), LocalError> {
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            file.persist(self.path.join(name))?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| self.fault("write", name, source))
    }

    fn damaged(&self, name: &'static str, why: impl Display) -> LocalError {
        LocalError::Damaged { path: self.path.join(name), why: why.to_string() }
    }

    fn fault(&self, what: &'static str, name: &str, source: io::Error) -> LocalError {
        LocalError::File { what, path: self.path.join(name), source }
    }
}
