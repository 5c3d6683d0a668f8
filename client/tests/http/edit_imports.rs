//! Imports into an existing sheet as edits, and their resumption.

use std::path::PathBuf;

use cellar::ClientError;
use cellar::import::edits::{Imported, JournalKey, Plan, Target, import_edits};
use cellar::import::{ImportError, ReadOptions};
use cellar_api::wire::ProblemKind;
use cellar_base::identity::LogId;
use cellar_sheet::a1::CellName;
use cellar_sheet::operation::SheetId;

use super::block_on;
use super::fake::{Fake, Fault};

const FIRST: CellName = CellName { row: 0, column: 0 };

fn airports() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/airports.csv").into()
}

struct Case {
    fake: Fake,
    id: LogId,
    folder: tempfile::TempDir,
    plan: Plan,
}

impl Case {
    fn new() -> Self {
        let plan = Plan::read(&airports(), &ReadOptions::default(), FIRST).unwrap();
        assert!(plan.batches.len() > 5);
        let fake = Fake::start();
        let id = fake.spreadsheet();
        Self { fake, id, folder: tempfile::tempdir().unwrap(), plan }
    }

    fn target(&self) -> Target {
        let source = airports();
        let fingerprint = self.plan.fingerprint();
        let key = JournalKey {
            cloud: &self.fake.url,
            subject: "somebody",
            file: &source,
            plan: &fingerprint,
            into: self.id,
            sheet: "Sheet1",
        };
        let journal = key.path(self.folder.path());
        Target { source, into: self.id, sheet: "Sheet1".into(), journal, restart: false }
    }

    fn import(&self) -> Result<Imported, ImportError> {
        block_on(import_edits(&self.fake.client(), &self.plan, &self.target(), |_| {}))
    }

    fn entries(&self) -> usize {
        self.fake.lock().logs[&self.id].len()
    }
}

#[test]
fn an_import_that_fails_at_every_step_commits_every_cell_once() {
    let case = Case::new();
    let mut runs = 0;
    let imported = loop {
        runs += 1;
        // One request succeeds. The next is executed, but none of its replies arrives.
        case.fake.fail([Fault::None]);
        case.fake.fail(std::iter::repeat_n(Fault::Lost, 5));
        match case.import() {
            Ok(imported) => break imported,
            Err(ImportError::Interrupted { .. }) => case.fake.lock().faults.clear(),
            Err(error) => panic!("{error}"),
        }
        assert!(runs < 20, "the import does not finish");
    };
    assert!(runs > 3 && imported.resumed_cells > 0);
    assert_eq!(case.fake.texts(case.id).len(), case.plan.cells);
    assert_eq!(case.entries(), case.plan.batches.len() + 1, "a batch was appended twice");
    assert!(!case.target().journal.exists());
}

#[test]
fn an_error_keeps_the_journal_and_advises_to_resume() {
    use cellar::cli::CommandAdvice as _;
    let case = Case::new();
    case.fake.fail([Fault::None, Fault::None, Fault::Refused(ProblemKind::Unauthorized)]);
    let error = case.import().unwrap_err();
    let ImportError::Interrupted { acknowledged, source, .. } = &error else { panic!("{error}") };
    assert_eq!(*acknowledged, case.plan.cells_in(1));
    assert!(matches!(**source, ClientError::Problem { .. }));
    assert!(error.help().unwrap().to_string().contains("to resume the import"));
    assert!(case.target().journal.exists());
    let restarted = Target { restart: true, ..case.target() };
    let imported =
        block_on(import_edits(&case.fake.client(), &case.plan, &restarted, |_| {})).unwrap();
    assert_eq!(imported.resumed_cells, 0);
    assert_eq!(case.entries(), case.plan.batches.len() + 2, "a restart sends all again");
}

#[test]
fn the_journal_is_kept_only_if_a_later_run_needs_it() {
    let case = Case::new();
    let imports = case.target().journal.parent().unwrap().to_owned();
    let left = || std::fs::read_dir(&imports).map_or(0, Iterator::count);
    // Lock files remain on Windows.
    let nothing = if cfg!(unix) { 0 } else { 1 };
    let import = |target: &Target| {
        block_on(import_edits(&case.fake.client(), &case.plan, target, |_| {})).unwrap_err()
    };

    let into = LogId::from_uuid(uuid::Uuid::from_bytes([9; 16]));
    let error = import(&Target { into, ..case.target() });
    assert!(matches!(error, ImportError::Interrupted { acknowledged: 0, .. }), "{error}");
    assert_eq!(left(), nothing, "a wrong id leaves a journal");

    let error = import(&Target { sheet: "Nope".into(), ..case.target() });
    assert!(matches!(error, ImportError::UnknownSheet { .. }), "{error}");
    assert_eq!(left(), nothing, "a wrong sheet leaves a journal");

    case.fake.fail([Fault::None, Fault::Refused(ProblemKind::Forbidden)]);
    case.import().unwrap_err();
    assert_eq!(left(), nothing, "a refused first batch leaves a journal");

    // The batch may have been committed, so the journal is kept for the next run.
    case.fake.fail([Fault::None]);
    case.fake.fail(std::iter::repeat_n(Fault::Lost, 5));
    case.import().unwrap_err();
    case.fake.lock().faults.clear();
    case.fake.fail([Fault::Refused(ProblemKind::Unauthorized)]);
    case.import().unwrap_err();
    assert!(case.target().journal.exists());
    case.import().unwrap();
    assert_eq!(case.entries(), case.plan.batches.len() + 1, "a batch was appended twice");
    assert_eq!(left(), nothing, "a finished import leaves something");
}

#[test]
fn cells_outside_the_imported_range_are_unchanged() {
    let case = Case::new();
    let path = case.folder.path().join("a.csv");
    std::fs::write(&path, "name,price\ntea,2.50\n").unwrap();
    case.import().unwrap();
    let before = case.fake.texts(case.id);
    let at = CellName { row: 1, column: 1 };
    let plan = Plan::read(&path, &ReadOptions::default(), at).unwrap();
    let journal = case.folder.path().join("other.json");
    let target = Target { journal, ..case.target() };
    let mut progress = Vec::new();
    block_on(import_edits(&case.fake.client(), &plan, &target, |it| {
        progress.push(it.committed_cells);
    }))
    .unwrap();
    assert_eq!(progress.last(), Some(&4));
    let after = case.fake.texts(case.id);
    assert_eq!(after.len(), before.len());
    let new = after.iter().filter(|cell| !before.contains(cell));
    let new: Vec<_> = new.map(|((row, column), text)| (*row, *column, text.as_str())).collect();
    assert_eq!(new, [(1, 1, "name"), (1, 2, "price"), (2, 1, "tea"), (2, 2, "2.50")]);
}

#[test]
fn an_import_fails_if_its_sheet_is_deleted() {
    let case = Case::new();
    let target = case.target();
    let mut deleted = false;
    let imported = block_on(import_edits(&case.fake.client(), &case.plan, &target, |progress| {
        if progress.committed_cells > 0 && !std::mem::replace(&mut deleted, true) {
            case.fake.lock().replace_sheet(case.id, SheetId(1), SheetId::FIRST);
        }
    }));
    let error = imported.unwrap_err();
    assert!(
        matches!(error, ImportError::SheetDeleted { spreadsheet, .. } if spreadsheet == case.id)
    );
    assert!(!target.journal.exists(), "the journal is deleted");
    let other = Target { sheet: "Other".into(), ..target };
    block_on(import_edits(&case.fake.client(), &case.plan, &other, |_| {})).unwrap();
    assert_eq!(case.fake.texts(case.id).len(), case.plan.cells);
}
