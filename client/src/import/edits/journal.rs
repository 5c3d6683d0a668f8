//! What an import has sent so far, so that an interrupted one goes on and sends nothing twice.

use std::path::{Path, PathBuf};

use cellar_api::{wire::AppendRequest, wire::SentMutation};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use serde::{Deserialize, Serialize};

use super::Plan;
use crate::files::{FileError, STATE_FOLDER, read_json, write_json};
use crate::import::{ImportError, journal_name};
use crate::outbox::new_client_id;

/// The version of the file that is written and read.
const JOURNAL_VERSION: u32 = 2;

/// What makes two runs the same import: whoever it is, the same file with the same cells, to the same
/// place.
#[derive(Debug, Clone)]
pub struct JournalKey<'a> {
    /// Which cloud: [`crate::Client::identity`].
    pub cloud: &'a str,
    /// Whose token it is ([`crate::subject_of_token`]).
    pub subject: &'a str,
    /// The absolute path of the file.
    pub file: &'a Path,
    /// What is sent: [`Plan::fingerprint`].
    pub plan: &'a str,
    /// The spreadsheet it goes into.
    pub into: LogId,
    /// The name of the sheet it goes into.
    pub sheet: &'a str,
}

impl JournalKey<'_> {
    /// Where the journal is, in `dir/.cellar/imports/`.
    #[must_use]
    pub fn path(&self, dir: &Path) -> PathBuf {
        let Self { cloud, subject, file, plan, into, sheet } = self;
        let text = format!("{:?}", (cloud, subject, plan, into, sheet));
        let parts = [text.as_bytes(), file.as_os_str().as_encoded_bytes()];
        let name = journal_name("cellar 2026 import journal", &parts);
        dir.join(STATE_FOLDER).join("imports").join(format!("{name}.json"))
    }
}

/// The journal of one import, as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    version: u32,
    /// The file, for people.
    source: String,
    /// What is sent: [`Plan::fingerprint`].
    plan: String,
    /// The client's name: each import numbers its own mutations.
    client: String,
    /// The spreadsheet.
    spreadsheet: LogId,
    /// The number of the sheet the cells go into, once it is known: it never changes from then on.
    sheet: Option<SheetId>,
    /// Incarnation and newest known position, once they are known.
    known: Option<Known>,
    /// The base of each batch that was, or is about to be, sent. Never changes once it is here.
    bases: Vec<Position>,
    /// How many batches are known to be in the log.
    acknowledged: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    incarnation: u32,
    head: Position,
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportEditStep {
    /// Ask where this spreadsheet's log ends, and for its sheets there.
    FindSheet(LogId),
    /// Choose the base of the next batch, and save it.
    ChooseBase,
    /// Send this batch; it may have been sent before.
    Send {
        /// The spreadsheet.
        spreadsheet: LogId,
        /// Which batch, from 0.
        batch: usize,
    },
    /// Everything is in the log.
    Finished {
        /// The spreadsheet.
        spreadsheet: LogId,
        /// Its newest known position.
        position: Position,
    },
}

impl Journal {
    /// The journal of an import that has not begun.
    #[must_use]
    pub fn begin(source: &Path, plan: &Plan, into: LogId) -> Self {
        Self {
            version: JOURNAL_VERSION,
            source: source.display().to_string(),
            plan: plan.fingerprint(),
            client: new_client_id(),
            spreadsheet: into,
            sheet: None,
            known: None,
            bases: Vec::new(),
            acknowledged: 0,
        }
    }

    /// The journal of an interrupted run, if there is one.
    ///
    /// # Errors
    /// [`ImportError`] if it is malformed or does not fit the plan.
    pub fn resume(path: &Path, plan: &Plan) -> Result<Option<Self>, ImportError> {
        let advice = "begin the import anew with --restart: what was sent stays where it is";
        let Some(journal) = read_json::<Self>(path, advice)? else {
            return Ok(None);
        };
        if journal.version != JOURNAL_VERSION || journal.plan != plan.fingerprint() {
            return Err(ImportError::JournalDiffers { path: path.to_owned() });
        }
        let sent = journal.bases.len();
        let counts_fit = (journal.acknowledged..=journal.acknowledged.saturating_add(1))
            .contains(&sent)
            && sent <= plan.batches.len();
        if !counts_fit || (sent > 0 && (journal.known.is_none() || journal.sheet.is_none())) {
            let why = "its counts do not fit each other".to_owned();
            let fault = FileError::Malformed { path: path.to_owned(), why, advice: advice.into() };
            return Err(fault.into());
        }
        Ok(Some(journal))
    }

    /// Writes it, durably.
    ///
    /// # Errors
    /// [`FileError::Unwritable`].
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        write_json(path, self)
    }

    /// What is to be done next, for a plan of `batches` batches.
    #[must_use]
    pub fn next_step(&self, batches: usize) -> ImportEditStep {
        let spreadsheet = self.spreadsheet;
        let Some(known) = self.known else {
            return ImportEditStep::FindSheet(spreadsheet);
        };
        if self.acknowledged >= batches {
            return ImportEditStep::Finished { spreadsheet, position: known.head };
        }
        if self.bases.len() <= self.acknowledged {
            return ImportEditStep::ChooseBase;
        }
        ImportEditStep::Send { spreadsheet, batch: self.acknowledged }
    }

    /// How many batches are known to be in the log.
    #[must_use]
    pub fn acknowledged(&self) -> usize {
        self.acknowledged
    }

    /// The sheet the cells go into, once it is known.
    #[must_use]
    pub fn sheet(&self) -> Option<SheetId> {
        self.sheet
    }

    /// Takes the answer to [`ImportEditStep::FindSheet`].
    pub fn found(&mut self, sheet: SheetId, incarnation: u32, head: Position) {
        self.sheet = Some(sheet);
        self.known = Some(Known { incarnation, head });
    }

    /// Does [`ImportEditStep::ChooseBase`]: the position known now. To be saved before the batch is sent.
    pub fn choose_base(&mut self) {
        if let Some(known) = self.known {
            self.bases.push(known.head);
        }
    }

    /// The request of a batch: the same whenever it is sent.
    #[must_use]
    pub fn request(&self, batch: usize, cells: &[CellEdit]) -> Option<AppendRequest> {
        let base = *self.bases.get(batch)?;
        let acknowledged = u64::try_from(batch).ok()?;
        let op = Operation::SetCells(SetCells { sheet: self.sheet?, cells: cells.to_vec() });
        Some(AppendRequest {
            client_id: self.client.clone(),
            incarnation: self.known?.incarnation,
            acked_id: acknowledged,
            mutations: vec![SentMutation { id: acknowledged.checked_add(1)?, base, op }],
        })
    }

    /// Takes the answer to [`ImportEditStep::Send`].
    pub fn acknowledge(&mut self, head: Position) {
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

    /// Runs an import of three batches, stopped and resumed after every step.
    #[test]
    fn an_import_interrupted_after_any_step_sends_the_same_requests() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.json");
        let plan = plan();
        let mut journal = Journal::begin(Path::new("/a.csv"), &plan, id(1));
        let mut sent = Vec::new();
        for _ in 0..20 {
            journal.save(&path).unwrap();
            journal = Journal::resume(&path, &plan).unwrap().unwrap();
            match journal.next_step(plan.batches.len()) {
                ImportEditStep::FindSheet(_) => journal.found(SheetId(3), 7, at(0)),
                ImportEditStep::ChooseBase => journal.choose_base(),
                ImportEditStep::Send { batch, .. } => {
                    let request = journal.request(batch, &plan.batches[batch]).unwrap();
                    // The reply is lost: after a restart the very same request is sent.
                    let again = Journal::resume(&path, &plan).unwrap().unwrap();
                    assert_eq!(again.request(batch, &plan.batches[batch]).unwrap(), request);
                    sent.push(request);
                    journal.acknowledge(at(u32::try_from(sent.len()).unwrap() * 2));
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
        panic!("it never finished");
    }

    #[test]
    fn into_a_spreadsheet_its_head_and_sheets_are_asked_for_first() {
        let mut journal = Journal::begin(Path::new("/a.csv"), &plan(), id(2));
        assert_eq!(journal.next_step(3), ImportEditStep::FindSheet(id(2)));
        assert_eq!(journal.request(0, &[]), None);
        journal.found(SheetId(3), 1, at(5));
        assert_eq!(journal.next_step(3), ImportEditStep::ChooseBase);
        journal.choose_base();
        assert_eq!(journal.next_step(3), ImportEditStep::Send { spreadsheet: id(2), batch: 0 });
        journal.found(SheetId(3), 1, at(9));
        let sent = journal.request(0, &[]).unwrap().mutations.remove(0);
        assert_eq!(sent.base, at(5), "a base that was chosen never changes");
        assert!(matches!(sent.op, Operation::SetCells(set) if set.sheet == SheetId(3)));
    }

    #[test]
    fn a_journal_that_does_not_fit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.json");
        let plan = plan();
        assert!(Journal::resume(&path, &plan).unwrap().is_none());
        let good = Journal::begin(Path::new("/a.csv"), &plan, id(1));
        let other = Journal { plan: "other".into(), ..good.clone() };
        let later = Journal { version: 3, ..good.clone() };
        for differs in [other, later] {
            differs.save(&path).unwrap();
            let error = Journal::resume(&path, &plan).unwrap_err();
            assert!(matches!(error, ImportError::JournalDiffers { .. }));
        }
        let known = Some(Known { incarnation: 1, head: at(1) });
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
            let error = Journal::resume(&path, &plan).unwrap_err();
            assert!(matches!(error, ImportError::File(FileError::Malformed { .. })));
        }
    }

    #[test]
    fn another_file_content_place_or_person_is_another_import() {
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
