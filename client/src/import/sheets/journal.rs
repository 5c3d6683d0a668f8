//! The journal of an import prevents a repeated import from creating a second spreadsheet or
//! importing the sheets twice.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use cellar_api::wire::AppendRequest;
use cellar_base::identity::LogId;
use cellar_sheet::operation::Operation;
use serde::{Deserialize, Serialize};

use crate::files::{FileError, StateFile, read_json, write_json};
use crate::import::file::unreadable;
use crate::import::{ImportError, ReadOptions, journal_path};
use crate::outbox::new_client_id;

const JOURNAL_VERSION: u32 = 1;

/// Identifies an import. If the keys of two calls are equal, the second call resumes the import of
/// the first.
#[derive(Debug, Clone)]
pub struct JournalKey<'a> {
    /// Identity of the stack ([`crate::Client::identity`]).
    pub cloud: &'a str,
    /// Subject of the token ([`crate::Client::subject`]).
    pub subject: &'a str,
    /// Absolute path of the file.
    pub file: &'a Path,
    /// Read options.
    pub options: &'a ReadOptions,
    /// Target spreadsheet, or `None` to create a spreadsheet.
    pub into: Option<LogId>,
    /// Name of the sheet to replace.
    pub replace: Option<&'a str>,
}

impl JournalKey<'_> {
    /// Returns the path of the journal in `dir/.cellar/imports/`.
    #[must_use]
    pub fn path(&self, dir: &Path) -> PathBuf {
        let Self { cloud, subject, file, options, into, replace } = self;
        let other_fields = format!("{:?}", (cloud, subject, options, into, replace));
        journal_path(dir, "cellar 2026 import of sheets", file, &other_fields)
    }
}

/// File metadata that changes when the file is modified. It can be compared without reading the
/// file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileStamp {
    bytes: u64,
    /// Modification time, in nanoseconds since the Unix epoch.
    modified_ns: u64,
}

impl FileStamp {
    pub(super) fn of_file(path: &Path) -> Result<Self, ImportError> {
        let metadata = std::fs::metadata(path).map_err(|source| unreadable(path, source))?;
        let modified = metadata.modified().map_err(|source| unreadable(path, source))?;
        let since_epoch = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        let modified_ns = u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX);
        Ok(Self { bytes: metadata.len(), modified_ns })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    version: u32,
    /// File path for messages.
    source: String,
    /// Idempotency key of the request that creates the spreadsheet.
    pub(super) nonce: String,
    /// The server numbers mutations separately for each client id.
    #[serde(rename = "client")]
    pub(super) client_id: String,
    /// Target spreadsheet, or `None` if it has not been created yet.
    pub(super) spreadsheet: Option<LogId>,
    /// Metadata of the file from which `requests` were built.
    pub(super) stamp: Option<FileStamp>,
    /// The requests are built after the file has been read, and never change once one of them may
    /// have been sent.
    pub(super) requests: Vec<AppendRequest>,
    /// Number of requests that are known to be committed.
    pub(super) acknowledged: usize,
}

impl Journal {
    pub(super) fn new(source: &Path, into: Option<LogId>) -> Self {
        Self {
            version: JOURNAL_VERSION,
            source: source.display().to_string(),
            nonce: new_client_id(),
            client_id: new_client_id(),
            spreadsheet: into,
            stamp: None,
            requests: Vec::new(),
            acknowledged: 0,
        }
    }

    pub(super) fn read(path: &Path) -> Result<Option<Self>, ImportError> {
        let Some(journal) = read_json::<Self>(path, StateFile::SheetImport)? else {
            return Ok(None);
        };
        if journal.version != JOURNAL_VERSION {
            return Err(ImportError::JournalDiffers { path: path.to_owned() });
        }
        let acknowledges_too_many = journal.acknowledged > journal.requests.len();
        let lacks_spreadsheet = !journal.requests.is_empty() && journal.spreadsheet.is_none();
        if acknowledges_too_many || lacks_spreadsheet {
            let why = "the fields `requests`, `acknowledged` and `spreadsheet` are inconsistent";
            return Err(FileError::malformed(path, StateFile::SheetImport, why).into());
        }
        Ok(Some(journal))
    }

    /// Writes the journal durably.
    pub(super) fn save(&self, path: &Path) -> Result<(), FileError> {
        write_json(path, self)
    }

    pub(super) fn unacknowledged(&self) -> &[AppendRequest] {
        self.requests.get(self.acknowledged..).unwrap_or_default()
    }

    pub(super) fn is_finished(&self) -> bool {
        !self.requests.is_empty() && self.unacknowledged().is_empty()
    }

    pub(super) fn has_same_cells(&self, requests: &[AppendRequest]) -> bool {
        imported_cells(&self.requests).eq(imported_cells(requests))
    }
}

/// The result depends only on the file and not on the target spreadsheet.
fn imported_cells(requests: &[AppendRequest]) -> impl Iterator<Item = impl PartialEq> {
    let operations = requests.iter().flat_map(|request| &request.mutations);
    operations.filter_map(|sent| match &sent.op {
        Operation::ImportSheet(import) => Some((import.extent, import.cells, &import.tile_index)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(byte: u8) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]))
    }

    #[test]
    fn journals_read_back_and_inconsistent_ones_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.json");
        assert!(Journal::read(&path).unwrap().is_none());
        let good = Journal::new(Path::new("/a.csv"), Some(id(1)));
        good.save(&path).unwrap();
        assert_eq!(Journal::read(&path).unwrap(), Some(good.clone()));
        Journal { version: 2, ..good.clone() }.save(&path).unwrap();
        assert!(matches!(Journal::read(&path), Err(ImportError::JournalDiffers { .. })));
        Journal { acknowledged: 1, ..good }.save(&path).unwrap();
        let error = Journal::read(&path).unwrap_err();
        assert!(matches!(error, ImportError::File(FileError::Malformed { .. })));
    }

    #[test]
    fn the_stamp_changes_when_the_file_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "a").unwrap();
        let stamp = FileStamp::of_file(&path).unwrap();
        assert_eq!(FileStamp::of_file(&path).unwrap(), stamp);
        std::fs::write(&path, "ab").unwrap();
        assert_ne!(FileStamp::of_file(&path).unwrap(), stamp);
    }

    #[test]
    fn each_field_of_the_key_identifies_the_import() {
        let options = ReadOptions::default();
        let padded = ReadOptions { pad: true, ..ReadOptions::default() };
        let file = Path::new("/a.csv");
        let (cloud, subject, into, replace) = ("http://h", "alice", None, None);
        let key = JournalKey { cloud, subject, file, options: &options, into, replace };
        let path = |key: &JournalKey<'_>| key.path(Path::new("/work"));
        let others = [
            JournalKey { cloud: "http://i", ..key.clone() },
            JournalKey { subject: "bob", ..key.clone() },
            JournalKey { file: Path::new("/b.csv"), ..key.clone() },
            JournalKey { options: &padded, ..key.clone() },
            JournalKey { into: Some(id(1)), ..key.clone() },
            JournalKey { replace: Some("Costs"), ..key.clone() },
        ];
        assert_eq!(path(&key), path(&key.clone()));
        for other in others {
            assert_ne!(path(&key), path(&other), "{other:?}");
        }
    }
}
