//! What an import has begun, so that one that is run again makes no second spreadsheet and doubles no
//! sheet.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use cellar_api::wire::AppendRequest;
use cellar_base::identity::LogId;
use cellar_sheet::operation::Operation;
use serde::{Deserialize, Serialize};

use crate::files::{FileError, STATE_FOLDER, read_json, write_json};
use crate::import::file::unreadable;
use crate::import::{ImportError, ReadOptions, journal_name};
use crate::outbox::new_client_id;

/// The version of the file that is written and read.
const JOURNAL_VERSION: u32 = 1;

/// What makes two runs the same import: whoever it is, the same file, read in the same way, to the
/// same place.
#[derive(Debug, Clone)]
pub struct JournalKey<'a> {
    /// Which cloud: [`crate::Client::identity`].
    pub cloud: &'a str,
    /// Whose token it is ([`crate::subject_of_token`]).
    pub subject: &'a str,
    /// The absolute path of the file.
    pub file: &'a Path,
    /// How it is read.
    pub options: &'a ReadOptions,
    /// The spreadsheet it goes into; `None` is a new one.
    pub into: Option<LogId>,
    /// The name of the sheet it replaces there.
    pub replace: Option<&'a str>,
}

impl JournalKey<'_> {
    /// Where the journal is, in `dir/.cellar/imports/`.
    #[must_use]
    pub fn path(&self, dir: &Path) -> PathBuf {
        let Self { cloud, subject, file, options, into, replace } = self;
        let text = format!("{:?}", (cloud, subject, options, into, replace));
        let parts = [text.as_bytes(), file.as_os_str().as_encoded_bytes()];
        let name = journal_name("cellar 2026 import of sheets", &parts);
        dir.join(STATE_FOLDER).join("imports").join(format!("{name}.json"))
    }
}

/// By what a file is known again without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileStamp {
    bytes: u64,
    /// When it was last written, nanoseconds since 1970.
    modified_ns: u64,
}

impl FileStamp {
    pub(super) fn of(path: &Path) -> Result<Self, ImportError> {
        let metadata = std::fs::metadata(path).map_err(|source| unreadable(path, source))?;
        let modified = metadata.modified().map_err(|source| unreadable(path, source))?;
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        let modified_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        Ok(Self { bytes: metadata.len(), modified_ns })
    }
}

/// The journal of one import, as it is on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    version: u32,
    /// The file, for people.
    source: String,
    /// Makes the create repeatable.
    pub(super) nonce: String,
    /// The client's name: each import numbers its own mutations.
    pub(super) client: String,
    /// The spreadsheet, once it is known.
    pub(super) spreadsheet: Option<LogId>,
    /// The file from which the requests were made.
    pub(super) stamp: Option<FileStamp>,
    /// What is, or is about to be, sent, once the file has been read: it never changes then.
    pub(super) requests: Vec<AppendRequest>,
    /// How many of the requests are known to be in the log.
    pub(super) acknowledged: usize,
}

impl Journal {
    /// The journal of an import that has not begun.
    pub(super) fn begin(source: &Path, into: Option<LogId>) -> Self {
        Self {
            version: JOURNAL_VERSION,
            source: source.display().to_string(),
            nonce: new_client_id(),
            client: new_client_id(),
            spreadsheet: into,
            stamp: None,
            requests: Vec::new(),
            acknowledged: 0,
        }
    }

    /// The journal of an interrupted run, if there is one.
    pub(super) fn resume(path: &Path) -> Result<Option<Self>, ImportError> {
        let advice = "begin the import anew with --restart: what was sent stays where it is";
        let Some(journal) = read_json::<Self>(path, advice)? else {
            return Ok(None);
        };
        if journal.version != JOURNAL_VERSION {
            return Err(ImportError::JournalDiffers { path: path.to_owned() });
        }
        let counts_fit = journal.acknowledged <= journal.requests.len();
        if !counts_fit || (!journal.requests.is_empty() && journal.spreadsheet.is_none()) {
            let why = "its counts do not fit each other".to_owned();
            let fault = FileError::Malformed { path: path.to_owned(), why, advice: advice.into() };
            return Err(fault.into());
        }
        Ok(Some(journal))
    }

    /// Writes it, durably.
    pub(super) fn save(&self, path: &Path) -> Result<(), FileError> {
        write_json(path, self)
    }

    /// The requests that are not known to be in the log.
    pub(super) fn unsent(&self) -> &[AppendRequest] {
        self.requests.get(self.acknowledged..).unwrap_or_default()
    }

    /// Whether all is known to be in the log.
    pub(super) fn is_finished(&self) -> bool {
        !self.requests.is_empty() && self.unsent().is_empty()
    }

    /// Whether requests bring the same cells as those that are to be sent.
    pub(super) fn brings_the_same(&self, requests: &[AppendRequest]) -> bool {
        cells_of(&self.requests).eq(cells_of(requests))
    }
}

/// What of an import depends on its file alone.
fn cells_of(requests: &[AppendRequest]) -> impl Iterator<Item = impl PartialEq> {
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
    fn a_journal_reads_back_and_one_that_does_not_fit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.json");
        assert!(Journal::resume(&path).unwrap().is_none());
        let good = Journal::begin(Path::new("/a.csv"), Some(id(1)));
        good.save(&path).unwrap();
        assert_eq!(Journal::resume(&path).unwrap(), Some(good.clone()));
        Journal { version: 2, ..good.clone() }.save(&path).unwrap();
        assert!(matches!(Journal::resume(&path), Err(ImportError::JournalDiffers { .. })));
        Journal { acknowledged: 1, ..good }.save(&path).unwrap();
        let error = Journal::resume(&path).unwrap_err();
        assert!(matches!(error, ImportError::File(FileError::Malformed { .. })));
    }

    #[test]
    fn a_file_that_was_written_again_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "a").unwrap();
        let stamp = FileStamp::of(&path).unwrap();
        assert_eq!(FileStamp::of(&path).unwrap(), stamp);
        std::fs::write(&path, "ab").unwrap();
        assert_ne!(FileStamp::of(&path).unwrap(), stamp);
    }

    #[test]
    fn another_file_option_place_or_person_is_another_import() {
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
