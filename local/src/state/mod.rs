//! The state folder: what is in it, who may use it, and whether it is whole.

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

use self::manifest::MANIFEST;
use crate::error::LocalError;

const DATABASE: &str = "dynamodb.sqlite";
const EVENTS: &str = "events.sqlite";
const BUCKETS: &str = "buckets";
const TEMPLATE: &str = "template.json";

/// A folder that holds all that a local cloud knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
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

    /// Bytes of the database, with what is not merged into its file yet.
    #[must_use]
    pub fn database_bytes(&self) -> Option<u64> {
        let bytes = |name: String| self.path.join(name).metadata().map(|file| file.len());
        let journal = bytes(format!("{DATABASE}-wal")).unwrap_or(0);
        Some(bytes(DATABASE.to_owned()).ok()? + journal)
    }

    /// The file of the queues, and of how far each source has read its stream.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.path.join(EVENTS)
    }

    /// The template that the running cloud was started with.
    #[must_use]
    pub fn template(&self) -> PathBuf {
        self.path.join(TEMPLATE)
    }

    /// The folder of the buckets.
    #[must_use]
    pub fn buckets(&self) -> PathBuf {
        self.path.join(BUCKETS)
    }

    /// Deletes everything.
    ///
    /// # Errors
    /// [`LocalError::AlreadyRunning`] if a process uses it, [`LocalError::Linked`] if it or a part of it is
    /// a link, so that the data is elsewhere: then nothing is deleted.
    pub fn delete(&self) -> Result<(), LocalError> {
        self.check_links()?;
        let lock = self.lock()?;
        let deleted = fs::remove_dir_all(&self.path);
        drop(lock);
        deleted.map_err(|source| self.fault("delete", "", source))
    }

    /// Checks that no link stands in the way to the data, from the folder that holds the state on.
    fn check_links(&self) -> Result<(), LocalError> {
        let fault = |source| self.fault("read", "", source);
        let link = match self.path.parent().filter(|above| above.is_symlink()) {
            Some(above) => Some(above.to_owned()),
            None => links::first(&self.path).map_err(fault)?,
        };
        let Some(link) = link else { return Ok(()) };
        let target = fs::canonicalize(&link).or_else(|_| fs::read_link(&link)).map_err(fault)?;
        Err(LocalError::Linked { link, target })
    }

    /// Records the template that runs.
    pub(crate) fn record_template(&self, json: &str) -> Result<(), LocalError> {
        self.write_bytes(TEMPLATE, json.as_bytes())
    }

    /// The text of a file, if it is there.
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

    /// Writes a file whole or not at all, durably.
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
