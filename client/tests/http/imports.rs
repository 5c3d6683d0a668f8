//! Imports that are interrupted, and go on.

use std::path::PathBuf;

use cellar::export::fetch;
use cellar::import::{ImportError, ImportOptions, Imported, JournalKey, Plan, Target, run};
use cellar::{CellsQuery, ClientError};
use cellar_core::api::ProblemKind;
use cellar_core::operation::SheetId;

use super::block_on;
use super::fake::{Fake, Fault};

fn airports() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/airports.csv")).unwrap()
}

struct Case {
    fake: Fake,
    folder: tempfile::TempDir,
    content: Vec<u8>,
    plan: Plan,
}

impl Case {
    fn new() -> Self {
        let content = airports();
        let plan = Plan::new(&content, &ImportOptions::default()).unwrap();
        assert!(plan.batches.len() > 5);
        Self { fake: Fake::start(), folder: tempfile::tempdir().unwrap(), content, plan }
    }

    fn target(&self) -> Target {
        let source = PathBuf::from("/data/airports.csv");
        let options = ImportOptions::default();
        let key = JournalKey {
            cloud: &self.fake.url,
            subject: "somebody",
            file: &source,
            content: &self.content,
            options: &options,
            into: None,
            sheet: None,
        };
        let journal = key.path(self.folder.path());
        Target { source, into: None, sheet: None, journal, restart: false }
    }

    fn import(&self) -> Result<Imported, ImportError> {
        block_on(run(&self.fake.client(), &self.plan, &self.target(), |_| {}))
    }
}

#[test]
fn an_import_that_fails_at_every_step_still_sends_every_cell_once() {
    let case = Case::new();
    let mut runs = 0;
    let imported = loop {
        runs += 1;
        // One request gets through, its answer included; the next is carried out but never
        // answered, however often it is repeated.
        case.fake.fail([Fault::None]);
        case.fake.fail(std::iter::repeat_n(Fault::Lost, 5));
        match case.import() {
            Ok(imported) => break imported,
            Err(ImportError::Interrupted { .. }) => case.fake.lock().faults.clear(),
            Err(error) => panic!("{error}"),
        }
        assert!(runs < 20, "it does not go on");
    };
    assert!(runs > 3 && imported.resumed > 0);
    assert_eq!(case.fake.lock().logs.len(), 1, "a resumed import made another spreadsheet");
    assert_eq!(case.fake.texts(imported.spreadsheet).len(), case.plan.cells);
    let entries = case.fake.lock().logs[&imported.spreadsheet].len();
    assert_eq!(entries, case.plan.batches.len() + 1, "a batch was appended twice");
    assert!(!case.target().journal.exists());
    case.fake.lock().faults.clear();
    let again = case.import().unwrap();
    assert_ne!(again.spreadsheet, imported.spreadsheet, "a new import is a new spreadsheet");
}

#[test]
fn an_import_comes_out_as_it_went_in_page_by_page() {
    let case = Case::new();
    let imported = case.import().unwrap();
    let query = CellsQuery::default();
    let fetched =
        block_on(fetch(&case.fake.client(), imported.spreadsheet, query, |_| {})).unwrap();
    let mut written = Vec::new();
    fetched.write_to(&mut written).unwrap();
    let records = |bytes: &[u8]| -> Vec<csv::StringRecord> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
        reader.records().map(Result::unwrap).collect()
    };
    assert_eq!(records(&written), records(&case.content));
    let pages = case.fake.lock().seen.iter().filter(|seen| seen.uri.contains("from=")).count();
    assert!(pages > 10, "the pages were not followed");
}

#[test]
fn a_refusal_keeps_the_journal_and_says_how_to_go_on() {
    use miette::Diagnostic as _;
    let case = Case::new();
    case.fake.fail([Fault::None, Fault::None, Fault::Refused(ProblemKind::Unauthorized)]);
    let error = case.import().unwrap_err();
    let ImportError::Interrupted { acknowledged, source, .. } = &error else { panic!("{error}") };
    assert_eq!(*acknowledged, case.plan.cells_in(1));
    assert!(matches!(**source, ClientError::Problem { .. }));
    assert!(error.help().unwrap().to_string().contains("goes on where it was"));
    assert!(case.target().journal.exists());
    let restarted = Target { restart: true, ..case.target() };
    let imported = block_on(run(&case.fake.client(), &case.plan, &restarted, |_| {})).unwrap();
    assert_eq!(imported.resumed, 0);
    assert_eq!(case.fake.lock().logs.len(), 2, "a restart makes a new spreadsheet");
}

#[test]
fn only_what_a_later_run_has_to_know_is_left_behind() {
    let case = Case::new();
    let imports = case.target().journal.parent().unwrap().to_owned();
    let left = || std::fs::read_dir(&imports).map_or(0, Iterator::count);
    // Windows keeps its lock files.
    let nothing = if cfg!(unix) { 0 } else { 1 };

    let unknown = Some(cellar_core::identity::LogId::from_uuid(uuid::Uuid::from_bytes([9; 16])));
    let wrong = Target { into: unknown, ..case.target() };
    let error = block_on(run(&case.fake.client(), &case.plan, &wrong, |_| {})).unwrap_err();
    assert!(matches!(error, ImportError::Interrupted { acknowledged: 0, .. }), "{error}");
    assert_eq!(left(), nothing, "a wrong id leaves a journal");

    let into = Target { into: Some(case.fake.spreadsheet()), ..case.target() };
    case.fake.fail([Fault::None, Fault::Refused(ProblemKind::Forbidden)]);
    block_on(run(&case.fake.client(), &case.plan, &into, |_| {})).unwrap_err();
    assert_eq!(left(), nothing, "a refused first batch leaves a journal");

    case.fake.fail([Fault::Refused(ProblemKind::Unauthorized)]);
    case.import().unwrap_err();
    assert_eq!(left(), nothing, "a refused create leaves a journal");

    // It may have been created: the next run has to ask for the same one, however it is refused.
    case.fake.fail(std::iter::repeat_n(Fault::Lost, 5));
    case.import().unwrap_err();
    case.fake.fail([Fault::Refused(ProblemKind::Unauthorized)]);
    case.import().unwrap_err();
    assert!(case.target().journal.exists());
    let before = case.fake.lock().logs.len();
    case.import().unwrap();
    assert_eq!(case.fake.lock().logs.len(), before, "a second spreadsheet was created");
    assert_eq!(left(), nothing, "a finished import leaves something");
}

#[test]
fn an_import_goes_into_an_existing_spreadsheet() {
    let case = Case::new();
    let id = case.fake.spreadsheet();
    let options = ImportOptions {
        at: "B2".parse().unwrap(),
        into_existing: true,
        ..ImportOptions::default()
    };
    let plan = Plan::new(b"name,price\ntea,2.50\n", &options).unwrap();
    let target = Target { into: Some(id), ..case.target() };
    let mut progress = Vec::new();
    let imported =
        block_on(run(&case.fake.client(), &plan, &target, |p| progress.push(p.done))).unwrap();
    assert_eq!(imported.spreadsheet, id);
    let texts: Vec<String> = case.fake.texts(id).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["name", "price", "tea", "2.50"]);
    assert_eq!(progress.last(), Some(&4));
    assert_eq!(case.fake.texts(id)[0].0, (1, 1));
}

#[test]
fn an_import_whose_sheet_is_deleted_meanwhile_says_so() {
    let case = Case::new();
    let id = case.fake.spreadsheet();
    let target = Target { into: Some(id), ..case.target() };
    let mut deleted = false;
    let imported = block_on(run(&case.fake.client(), &case.plan, &target, |progress| {
        if progress.done > 0 && !std::mem::replace(&mut deleted, true) {
            case.fake.lock().replace_sheet(id, SheetId(1), SheetId::FIRST);
        }
    }));
    let error = imported.unwrap_err();
    assert!(matches!(error, ImportError::SheetDeleted { spreadsheet, .. } if spreadsheet == id));
    assert!(!target.journal.exists(), "there is nothing to go on with");
    // The next goes into the sheet that there is.
    let imported = block_on(run(&case.fake.client(), &case.plan, &target, |_| {})).unwrap();
    assert_eq!(case.fake.texts(imported.spreadsheet).len(), case.plan.cells);
}
