//! The journal of an import records which batches were sent. An interrupted import is resumed from
//! its journal.

use std::path::{Path, PathBuf};

use cellar_api::{wire::AppendRequest, wire::SentMutation};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use serde::{Deserialize, Serialize};

use super::Plan;
use crate::files::{FileError, StateFile, read_json, write_json};
use crate::import::{ImportError, journal_path};
use crate::outbox::new_client_id;

const JOURNAL_VERSION: u32 = 2;

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
    /// Hash of the imported cells ([`Plan::fingerprint`]).
    pub plan: &'a str,
    /// The target spreadsheet.
    pub into: LogId,
    /// Name of the target sheet.
    pub sheet: &'a str,
}

impl JournalKey<'_> {
    /// Returns the path of the journal in `dir/.cellar/imports/`.
    #[must_use]
    pub fn path(&self, dir: &Path) -> PathBuf {
        let Self { cloud, subject, file, plan, into, sheet } = self;
        let other_fields = format!("{:?}", (cloud, subject, plan, into, sheet));
        journal_path(dir, "cellar 2026 import journal", file, &other_fields)
    }
}

/// The persisted journal of one import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    version: u32,
    /// File path for messages.
    source: String,
    /// Hash of the imported cells ([`Plan::fingerprint`]).
    plan: String,
    /// The server numbers mutations separately for each client id.
    #[serde(rename = "client")]
    client_id: String,
    spreadsheet: LogId,
    /// Once known, the number never changes.
    sheet: Option<SheetId>,
    /// Newest known position and its table incarnation. `None` until the server has responded for
    /// the first time.
    known: Option<KnownHead>,
    /// The base positions of all batches that were sent or are about to be sent. Once chosen, a
    /// base never changes, so that a resent batch is equal to the original.
    bases: Vec<Position>,
    /// Number of batches that are known to be committed.
    acknowledged: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownHead {
    incarnation: u32,
    head: Position,
}

/// The next step of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportEditStep {
    /// Request the newest position and the sheets of the spreadsheet to find the target sheet.
    FindSheet(LogId),
    /// Choose the base position of the next batch and save it in the journal.
    ChooseBase,
    /// Send a batch. An interrupted import may have sent the batch already.
    Send {
        /// The spreadsheet.
        spreadsheet: LogId,
        /// Index of the batch.
        batch_index: usize,
    },
    /// All batches are committed.
    Finished {
        /// The spreadsheet.
        spreadsheet: LogId,
        /// Newest known position of the spreadsheet.
        position: Position,
    },
}

impl Journal {
    /// Creates the journal of a new import.
    #[must_use]
    pub fn new(source: &Path, plan: &Plan, into: LogId) -> Self {
        Self {
            version: JOURNAL_VERSION,
            source: source.display().to_string(),
            plan: plan.fingerprint(),
            client_id: new_client_id(),
            spreadsheet: into,
            sheet: None,
            known: None,
            bases: Vec::new(),
            acknowledged: 0,
        }
    }

    /// Reads the journal of an interrupted import. Returns `None` if there is no journal.
    ///
    /// # Errors
    ///
    /// Returns an [`ImportError`] if the journal is malformed or belongs to another plan.
    pub fn read(path: &Path, plan: &Plan) -> Result<Option<Self>, ImportError> {
        let Some(journal) = read_json::<Self>(path, StateFile::EditImport)? else {
            return Ok(None);
        };
        if journal.version != JOURNAL_VERSION || journal.plan != plan.fingerprint() {
            return Err(ImportError::JournalDiffers { path: path.to_owned() });
        }
        if !journal.is_consistent(plan.batches.len()) {
            let why = "the numbers of sent and acknowledged batches are inconsistent";
            return Err(FileError::malformed(path, StateFile::EditImport, why).into());
        }
        Ok(Some(journal))
    }

    /// At most one batch may be sent but not acknowledged.
    fn is_consistent(&self, batch_count: usize) -> bool {
        let sent_count = self.bases.len();
        let max_sent_count = self.acknowledged.saturating_add(1).min(batch_count);
        let is_count_valid = (self.acknowledged..=max_sent_count).contains(&sent_count);
        let is_sheet_known = self.known.is_some() && self.sheet.is_some();
        is_count_valid && (sent_count == 0 || is_sheet_known)
    }

    /// Writes the journal durably.
    ///
    /// # Errors
    /// Returns [`FileError::Unwritable`] if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        write_json(path, self)
    }

    /// Returns the next step of the import. `batch_count` is the total number of batches.
    #[must_use]
    pub fn next_step(&self, batch_count: usize) -> ImportEditStep {
        let spreadsheet = self.spreadsheet;
        let Some(known) = self.known else {
            return ImportEditStep::FindSheet(spreadsheet);
        };
        if self.acknowledged >= batch_count {
            return ImportEditStep::Finished { spreadsheet, position: known.head };
        }
        let has_base = self.bases.len() > self.acknowledged;
        if !has_base {
            return ImportEditStep::ChooseBase;
        }
        ImportEditStep::Send { spreadsheet, batch_index: self.acknowledged }
    }

    /// Returns the number of batches that are known to be committed.
    #[must_use]
    pub fn acknowledged_batches(&self) -> usize {
        self.acknowledged
    }

    /// Returns the target sheet's number, if known.
    #[must_use]
    pub fn sheet(&self) -> Option<SheetId> {
        self.sheet
    }

    /// Records the result of [`ImportEditStep::FindSheet`] in the journal.
    pub fn record_sheet(&mut self, sheet: SheetId, incarnation: u32, head: Position) {
        self.sheet = Some(sheet);
        self.known = Some(KnownHead { incarnation, head });
    }

    /// Makes the newest known position the base of the next batch ([`ImportEditStep::ChooseBase`]).
    /// The journal must be written before the batch is sent, so that the base survives a crash.
    pub fn choose_base(&mut self) {
        if let Some(known) = self.known {
            self.bases.push(known.head);
        }
    }

    /// Returns the request that appends a batch, or `None` if the batch has no base yet. A resumed
    /// import returns an equal request, so the server recognizes a batch that was sent twice.
    #[must_use]
    pub fn request(&self, batch_index: usize, cells: &[CellEdit]) -> Option<AppendRequest> {
        let base = *self.bases.get(batch_index)?;
        let acked_id = u64::try_from(batch_index).ok()?;
        let op = Operation::SetCells(SetCells { sheet: self.sheet?, cells: cells.to_vec() });
        Some(AppendRequest {
            client_id: self.client_id.clone(),
            incarnation: self.known?.incarnation,
            acked_id,
            refuse_unchanged: false,
            mutations: vec![SentMutation { id: acked_id.checked_add(1)?, base, op }],
        })
    }

    /// Records that the batch of [`ImportEditStep::Send`] was committed.
    pub fn acknowledge_batch(&mut self, head: Position) {
        self.acknowledged = self.acknowledged.saturating_add(1);
        if let Some(known) = &mut self.known {
            known.head = known.head.max(head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let mut plan = super::super::plan::tests::plan("a\nb\nc\n", "A1").unwrap();
        plan.batches = plan.batches.concat().into_iter().map(|edit| vec![edit]).collect();
        plan
    }

    fn id(byte: u8) -> LogId {
        LogId::from_uuid(uuid::Uuid::from_bytes([byte; 16]))
    }

    fn at(num: u32) -> Position {
        Position::new(0, num).unwrap()
    }

    /// Runs an import of three batches, interrupted and resumed after each step.
    #[test]
    fn an_import_interrupted_after_any_step_sends_the_same_requests() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.json");
        let plan = plan();
        let mut journal = Journal::new(Path::new("/a.csv"), &plan, id(1));
        let mut sent = Vec::new();
        for _ in 0..20 {
            journal.save(&path).unwrap();
            journal = Journal::read(&path, &plan).unwrap().unwrap();
            match journal.next_step(plan.batches.len()) {
                ImportEditStep::FindSheet(_) => journal.record_sheet(SheetId(3), 7, at(0)),
                ImportEditStep::ChooseBase => journal.choose_base(),
                ImportEditStep::Send { batch_index: batch, .. } => {
                    let request = journal.request(batch, &plan.batches[batch]).unwrap();
                    // After a lost response, the resumed import sends an equal request.
                    let again = Journal::read(&path, &plan).unwrap().unwrap();
                    assert_eq!(again.request(batch, &plan.batches[batch]).unwrap(), request);
                    sent.push(request);
                    journal.acknowledge_batch(at(u32::try_from(sent.len()).unwrap() * 2));
                }
                ImportEditStep::Finished { spreadsheet, position } => {
                    assert_eq!((spreadsheet, position), (id(1), at(6)));
                    let ids: Vec<_> =
                        sent.iter().map(|r| (r.mutations[0].id, r.acked_id)).collect();
                    assert_eq!(ids, [(1, 0), (2, 1), (3, 2)]);
                    let bases: Vec<_> = sent.iter().map(|r| r.mutations[0].base).collect();
                    assert_eq!(bases, [at(0), at(2), at(4)]);
                    assert!(
                        sent.iter().all(|r| r.client_id == sent[0].client_id && r.incarnation == 7)
                    );
                    return;
                }
            }
        }
        panic!("the import did not finish");
    }

    #[test]
    fn the_sheet_is_found_before_a_batch_is_sent() {
        let mut journal = Journal::new(Path::new("/a.csv"), &plan(), id(2));
        assert_eq!(journal.next_step(3), ImportEditStep::FindSheet(id(2)));
        assert_eq!(journal.request(0, &[]), None);
        journal.record_sheet(SheetId(3), 1, at(5));
        assert_eq!(journal.next_step(3), ImportEditStep::ChooseBase);
        journal.choose_base();
        let first_send = ImportEditStep::Send { spreadsheet: id(2), batch_index: 0 };
        assert_eq!(journal.next_step(3), first_send);
        journal.record_sheet(SheetId(3), 1, at(9));
        let sent = journal.request(0, &[]).unwrap().mutations.remove(0);
        assert_eq!(sent.base, at(5), "a base never changes");
        assert!(matches!(sent.op, Operation::SetCells(set) if set.sheet == SheetId(3)));
    }

    #[test]
    fn rejects_inconsistent_journals() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.json");
        let plan = plan();
        assert!(Journal::read(&path, &plan).unwrap().is_none());
        let good = Journal::new(Path::new("/a.csv"), &plan, id(1));
        let other = Journal { plan: "other".into(), ..good.clone() };
        let later = Journal { version: 3, ..good.clone() };
        for differs in [other, later] {
            differs.save(&path).unwrap();
            let error = Journal::read(&path, &plan).unwrap_err();
            assert!(matches!(error, ImportError::JournalDiffers { .. }));
        }
        let known = Some(KnownHead { incarnation: 1, head: at(1) });
        let ahead = Journal { acknowledged: 1, ..good.clone() };
        let unknown = Journal { bases: vec![at(1)], ..good.clone() };
        let far = Journal {
            known,
            sheet: Some(SheetId(3)),
            acknowledged: 3,
            bases: vec![at(1); 4],
            ..good
        };
        for malformed in [ahead, unknown, far] {
            malformed.save(&path).unwrap();
            let error = Journal::read(&path, &plan).unwrap_err();
            assert!(matches!(error, ImportError::File(FileError::Malformed { .. })));
        }
    }

    #[test]
    fn each_field_of_the_key_identifies_the_import() {
        let (cloud, subject, file, plan) = ("http://h", "alice", Path::new("/a.csv"), "a");
        let key = JournalKey { cloud, subject, file, plan, into: id(1), sheet: "Costs" };
        let path = |key: &JournalKey<'_>| key.path(Path::new("/work"));
        let others = [
            JournalKey { cloud: "http://i", ..key.clone() },
            JournalKey { subject: "bob", ..key.clone() },
            JournalKey { file: Path::new("/b.csv"), ..key.clone() },
            JournalKey { plan: "b", ..key.clone() },
            JournalKey { into: id(2), ..key.clone() },
            JournalKey { sheet: "Prices", ..key.clone() },
        ];
        assert_eq!(path(&key), path(&key.clone()));
        for other in others {
            assert_ne!(path(&key), path(&other), "{other:?}");
        }
    }
}
