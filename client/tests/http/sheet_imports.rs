//! Imports of files as new sheets: interrupted anywhere, they are committed at most once.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use cellar::ClientError;
use cellar::import::sheets::{Imported, JournalKey, ProgressMonitor, Target, import_sheets};
use cellar::import::{ImportError, ReadOptions};
use cellar_api::wire::ProblemKind;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_sheet::operation::{Rejection, RejectionReason};

use super::block_on;
use super::fake::{Fake, Fault};

/// An import of one file.
pub(crate) struct Case {
    pub(crate) fake: Fake,
    folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
    pub(crate) options: ReadOptions,
    pub(crate) into: Option<LogId>,
    pub(crate) replace: Option<String>,
}

impl Case {
    pub(crate) fn new(name: &str, content: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let (fake, options) = (Fake::start(), ReadOptions::default());
        Self { fake, folder, path, options, into: None, replace: None }
    }

    /// A small file, imported with these requests: create, grant, upload, append, and list the sheets.
    pub(crate) fn small() -> Self {
        Self::new("prices.csv", b"name,price\ntea,2.50\nmilk,0.99\n")
    }

    pub(crate) fn target(&self) -> Target {
        let key = JournalKey {
            cloud: &self.fake.url,
            subject: "somebody",
            file: &self.path,
            options: &self.options,
            into: self.into,
            replace: self.replace.as_deref(),
        };
        let journal = key.path(self.folder.path());
        Target {
            into: self.into,
            name: None,
            replace: self.replace.clone(),
            journal,
            restart: false,
        }
    }

    fn import_to(&self, target: &Target) -> Result<Imported, ImportError> {
        let (client, watch) = (self.fake.client(), ProgressMonitor::default());
        block_on(import_sheets(&client, &self.path, &self.options, target, &watch))
    }

    pub(crate) fn import(&self) -> Result<Imported, ImportError> {
        self.import_to(&self.target())
    }

    /// Returns the number of files in the folder of journals.
    pub(crate) fn count_journal_files(&self) -> usize {
        let target = self.target();
        std::fs::read_dir(target.journal.parent().unwrap()).map_or(0, Iterator::count)
    }

    /// Returns the number of entries of the only spreadsheet.
    pub(crate) fn entries(&self) -> usize {
        let inner = self.fake.lock();
        assert_eq!(inner.logs.len(), 1, "another spreadsheet was made");
        inner.logs.values().next().unwrap().len()
    }

    fn texts(&self, imported: &Imported) -> Vec<String> {
        self.fake.texts(imported.spreadsheet).into_iter().map(|(_, text)| text).collect()
    }
}

/// Lock files remain on Windows.
pub(crate) const NOTHING: usize = if cfg!(unix) { 0 } else { 1 };

const TEXTS: [&str; 6] = ["name", "price", "tea", "2.50", "milk", "0.99"];

/// Returns a text that hardly compresses.
fn noise(seed: u64, bytes: usize) -> String {
    let mut reader = blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof();
    let mut noise = vec![0; bytes / 2];
    reader.fill(&mut noise);
    cellar_api::wire::hexadecimal(&noise)
}

/// The size of a long text, in bytes.
const LONG_BYTES: usize = 32_000;

/// Returns long texts that need several batches of objects.
fn large() -> String {
    (0..280).map(|row| format!("{row},{}\n", noise(row, LONG_BYTES))).collect()
}

#[test]
fn a_file_becomes_the_first_sheet_of_a_new_spreadsheet() {
    let case = Case::small();
    let imported = case.import().unwrap();
    assert_eq!(case.texts(&imported), TEXTS);
    let sheets = case.fake.sheets(imported.spreadsheet);
    let names: Vec<&str> = sheets.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["prices"], "the first, empty sheet is still there");
    assert_eq!(sheets[0].1[&(1, 1)].format.as_deref(), Some("0.00"));
    assert_eq!((imported.sheets[0].name.as_str(), imported.sheets[0].cells), ("prices", 6));
    let requests = case.fake.requests();
    let hash = case.fake.lock().chunks.keys().next().unwrap().to_string();
    let put = format!("PUT {hash}");
    let expected = ["POST spreadsheets", "POST uploads", &put, "POST entries", "GET sheets"]
        .map(str::to_owned);
    assert_eq!(requests, expected);
    assert_eq!((case.count_journal_files(), case.entries()), (NOTHING, 2));
    let again = case.import().unwrap();
    assert_ne!(again.spreadsheet, imported.spreadsheet, "a new import is a new spreadsheet");
}

/// The index has several parts only if there are more than 170 tiles.
#[test]
fn tiles_of_a_large_file_are_verified_while_it_is_read() {
    const FIELD_BYTES: usize = 4_000;
    let row = |row: u64| (0..64).map(|column| noise(row << 8 | column, FIELD_BYTES)).collect();
    let rows: Vec<Vec<String>> = (0..200).map(row).collect();
    let file: String = rows.iter().map(|row| format!("{}\n", row.join(","))).collect();
    let case = Case::new("noise.csv", file.as_bytes());
    let imported = case.import().unwrap();
    assert!(case.texts(&imported).iter().eq(rows.iter().flatten()));
    let requests = case.fake.requests();
    let is_check = |request: &String| request.starts_with("POST checks");
    let first_check = requests.iter().position(is_check).unwrap();
    let last_upload = requests.iter().rposition(|request| request.starts_with("PUT")).unwrap();
    assert!(first_check < last_upload, "{requests:?}");
    assert_eq!(requests.iter().filter(|request| is_check(request)).count(), 2, "{requests:?}");
}

#[test]
fn a_lost_reply_to_any_request_duplicates_nothing() {
    for lost in 0..4 {
        let case = Case::small();
        case.fake.fail(std::iter::repeat_n(Fault::None, lost));
        case.fake.fail([Fault::Lost]);
        let imported = case.import().unwrap();
        assert_eq!(case.texts(&imported), TEXTS, "{lost}");
        assert_eq!((case.count_journal_files(), case.entries()), (NOTHING, 2), "{lost}");
    }
}

#[test]
fn an_import_interrupted_at_any_request_is_finished_by_the_next_run() {
    let mut failed = 0;
    for answered in 0.. {
        let case = Case::small();
        case.fake.fail(std::iter::repeat_n(Fault::None, answered));
        // The request is executed, but none of its replies arrives.
        case.fake.fail(std::iter::repeat_n(Fault::Lost, 5));
        match case.import() {
            Ok(_) => break,
            Err(ImportError::Uncertain { .. }) => assert_eq!(case.entries(), 2),
            Err(ImportError::NothingImported { .. }) => assert_eq!(case.entries(), 1),
            Err(error) => panic!("{error}"),
        }
        failed += 1;
        assert!(case.target().journal.exists(), "{answered}");
        case.fake.lock().faults.clear();
        let imported = case.import().unwrap();
        assert_eq!(case.texts(&imported), TEXTS, "{answered}");
        assert_eq!((case.count_journal_files(), case.entries()), (NOTHING, 2), "{answered}");
        // A file that was uploaded completely is not read again.
        assert_eq!(imported.file.is_none(), answered == 3);
        assert_eq!(imported.sheets[0].name, "prices");
    }
    assert_eq!(failed, 4, "not every request was tried");
}

#[test]
fn existing_objects_are_accepted() {
    let case = Case::small();
    case.import().unwrap();
    let imported = case.import().unwrap();
    assert_eq!(case.texts(&imported), TEXTS);
    assert_eq!(case.fake.lock().chunks.len(), 1);
}

#[test]
fn expired_urls_are_requested_again_up_to_a_limit() {
    let ended = || Fault::Answer(403, "<Code>AccessDenied</Code>".into());
    let case = Case::small();
    case.fake.fail([Fault::None, Fault::None, ended(), Fault::None, ended()]);
    let imported = case.import().unwrap();
    assert_eq!(case.texts(&imported), TEXTS);
    let grants = case.fake.requests().iter().filter(|line| *line == "POST uploads").count();
    assert_eq!(grants, 3);

    let case = Case::small();
    case.fake.fail([Fault::None]);
    case.fake.fail([Fault::None, ended()].into_iter().cycle().take(20));
    let error = case.import().unwrap_err();
    assert!(matches!(&error, ImportError::NothingImported { source, .. }
        if matches!(**source, ClientError::UnexpectedStatus { status: 403, .. })));
    assert_eq!(case.entries(), 1);
}

#[test]
fn a_large_file_is_uploaded_in_batches_and_its_long_texts_are_checked() {
    let case = Case::new("large.csv", large().as_bytes());
    case.fake.fail([Fault::None, Fault::None, Fault::RetryAfter(0), Fault::Lost]);
    let imported = case.import().unwrap();
    let texts = case.fake.texts(imported.spreadsheet);
    assert_eq!(texts.len(), 560);
    assert_eq!(texts[1].1, noise(0, LONG_BYTES));
    assert_eq!(texts[559].1, noise(279, LONG_BYTES));
    let count = |line: &str| case.fake.requests().iter().filter(|it| *it == line).count();
    assert!(count("POST uploads") >= 2 && count("POST checks") >= 2);
    assert!(case.fake.lock().chunks.values().all(|chunk| chunk.kept));
}

#[test]
fn a_sheet_of_many_tiles_has_its_index_checked_before_the_append() {
    let row = |row: u32| (0..20_000).map(move |column| (row * column).to_string());
    let text: String = (1..4).map(|it| row(it).collect::<Vec<_>>().join(",") + "\n").collect();
    let case = Case::new("wide.csv", text.as_bytes());
    let imported = case.import().unwrap();
    assert_eq!(case.fake.texts(imported.spreadsheet).len(), 60_000);
    assert_eq!(imported.sheets[0].extent.columns, 20_000);
    let requests = case.fake.requests();
    let checks = requests.iter().filter(|line| *line == "POST checks").count();
    assert!(checks > 1, "{checks}");
    // Lose a reply to each of the last requests: the checks and the append.
    for back in 2..5 {
        let case = Case::new("wide.csv", text.as_bytes());
        case.fake.fail(std::iter::repeat_n(Fault::None, requests.len() - back));
        case.fake.fail([Fault::Lost]);
        let imported = case.import().unwrap();
        assert_eq!(case.fake.texts(imported.spreadsheet).len(), 60_000);
        assert_eq!((case.count_journal_files(), case.entries()), (NOTHING, 2));
    }
}

#[test]
fn a_cancelled_import_leaves_nothing_in_the_log() {
    let case = Case::new("large.csv", large().as_bytes());
    case.fake.fail(std::iter::repeat_n(Fault::None, 20));
    case.fake.fail(std::iter::repeat_n(Fault::RetryAfter(60), 500));
    let (client, watch) = (case.fake.client(), ProgressMonitor::default());
    let target = case.target();
    block_on(async {
        let half_way = async {
            while watch.current().objects < 5 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            done = import_sheets(&client, &case.path, &case.options, &target, &watch) => panic!("{done:?}"),
            () = half_way => {}
        }
    });
    assert!(!watch.current().is_appending);
    assert_eq!(case.entries(), 1);
    case.fake.lock().faults.clear();
    let imported = case.import().unwrap();
    assert_eq!((case.entries(), case.texts(&imported).len()), (2, 560));
}

#[test]
fn an_invalid_file_creates_no_spreadsheet() {
    for (name, content) in [
        ("a.csv", &b"a,b\n1,2\n3\n"[..]),
        ("a.csv", b""),
        ("a.xlsx", b"PK\x03\x04 and no more"),
        ("a.xlsx", b"a,b\n"),
    ] {
        let case = Case::new(name, content);
        let error = case.import().unwrap_err();
        assert!(matches!(error, ImportError::Read { .. }), "{error}");
        assert_eq!(
            (case.fake.requests().len(), case.count_journal_files()),
            (0, NOTHING),
            "{name}"
        );
    }
}

#[test]
fn a_refused_import_keeps_its_journal_only_if_a_spreadsheet_was_created() {
    let case = Case::small();
    case.fake.fail([Fault::Refused(ProblemKind::Unauthorized)]);
    case.import().unwrap_err();
    assert_eq!(case.count_journal_files(), NOTHING, "a refused create leaves a journal");

    case.fake.fail([Fault::None, Fault::None, Fault::None, Fault::Refused(ProblemKind::Forbidden)]);
    let error = case.import().unwrap_err();
    assert!(matches!(error, ImportError::NothingImported { .. }), "{error}");
    assert!(case.target().journal.exists(), "the journal was deleted");
    let imported = case.import().unwrap();
    assert_eq!(case.texts(&imported), TEXTS);
    assert_eq!((case.count_journal_files(), case.entries()), (NOTHING, 2));

    let mut case = Case::small();
    case.into = Some(LogId::from_uuid(uuid::Uuid::from_bytes([9; 16])));
    let error = case.import().unwrap_err();
    assert!(matches!(error, ImportError::NothingImported { .. }), "{error}");
    assert_eq!(case.count_journal_files(), NOTHING, "a wrong id leaves a journal");
    // The spreadsheet may have been created, so the journal is kept for the next run.
    let case = Case::small();
    case.fake.fail(std::iter::repeat_n(Fault::Lost, 5));
    case.import().unwrap_err();
    case.fake.fail([Fault::Refused(ProblemKind::Unauthorized)]);
    case.import().unwrap_err();
    assert!(case.target().journal.exists());
    case.import().unwrap();
    assert_eq!(case.entries(), 2);
}

#[test]
fn a_rejected_sheet_is_an_error() {
    let case = Case::small();
    let rejection = Rejection::new(RejectionReason::TooFarBehind, "too far \u{1b} behind");
    case.fake.fail([Fault::None, Fault::None, Fault::None, Fault::Rejected(rejection)]);
    let error = case.import().unwrap_err();
    let ImportError::Rejected { name, why } = &error else { panic!("{error}") };
    assert!(name == "prices" && why.contains("behind") && !why.contains('\u{1b}'), "{why}");
    assert_eq!(case.count_journal_files(), NOTHING);
}

/// Returns an import whose append received no reply.
fn uncertain(faults: Fault) -> Case {
    let case = Case::small();
    case.fake.fail(std::iter::repeat_n(Fault::None, 3));
    case.fake.fail(std::iter::repeat_n(faults, 5));
    let error = case.import().unwrap_err();
    assert!(matches!(error, ImportError::Uncertain { .. }), "{error}");
    case
}

#[test]
fn a_file_with_the_same_content_resumes_the_import() {
    let case = uncertain(Fault::Lost);
    let later = SystemTime::now() + Duration::from_secs(60);
    std::fs::File::options().write(true).open(&case.path).unwrap().set_modified(later).unwrap();
    let imported = case.import().unwrap();
    assert_eq!((case.entries(), case.texts(&imported).len()), (2, 6));
    assert_eq!(case.count_journal_files(), NOTHING);
}

#[test]
fn a_file_that_has_changed_since_an_uncertain_run_is_an_error() {
    use cellar::cli::CommandAdvice as _;
    let case = uncertain(Fault::Lost);
    std::fs::write(&case.path, "other,cells\n").unwrap();
    let error = case.import().unwrap_err();
    let ImportError::FileChanged { spreadsheet } = error else { panic!("{error}") };
    assert!(error.help().unwrap().to_string().contains(&spreadsheet.to_string()));
    let imported = case.import_to(&Target { restart: true, ..case.target() }).unwrap();
    assert_ne!(imported.spreadsheet, spreadsheet);
    assert_eq!(case.texts(&imported), ["other", "cells"]);

    // An import that was certainly not committed starts over with the changed file.
    let case = Case::small();
    case.fake.fail([Fault::None, Fault::None, Fault::None, Fault::Refused(ProblemKind::Forbidden)]);
    case.import().unwrap_err();
    std::fs::write(&case.path, "other,cells\n").unwrap();
    let imported = case.import().unwrap();
    assert_eq!(case.texts(&imported), ["other", "cells"]);
    assert_eq!(case.entries(), 2);
}

#[test]
fn a_run_that_was_killed_during_the_append_is_uncertain() {
    for changed in [false, true] {
        let case = Case::small();
        case.fake.fail(std::iter::repeat_n(Fault::None, 3));
        case.fake.fail([Fault::Lost, Fault::RetryAfter(60)]);
        let (client, watch, target) =
            (case.fake.client(), ProgressMonitor::default(), case.target());
        block_on(async {
            let appended_twice = async {
                while case.fake.appends().len() < 2 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            tokio::select! {
                done = import_sheets(&client, &case.path, &case.options, &target, &watch) => panic!("{done:?}"),
                () = appended_twice => assert!(watch.current().is_appending),
            }
        });
        if changed {
            std::fs::write(&case.path, "other,cells\n").unwrap();
            let error = case.import().unwrap_err();
            assert!(matches!(error, ImportError::FileChanged { .. }), "{error}");
        } else {
            assert_eq!(case.texts(&case.import().unwrap()), TEXTS);
        }
        assert_eq!(case.entries(), 2);
    }
}

#[test]
fn deleted_objects_are_uploaded_again() {
    // The append is not executed, but the client cannot know it.
    let case = uncertain(Fault::RetryAfter(0));
    case.fake.lock().chunks.clear();
    let imported = case.import().unwrap();
    assert_eq!(case.texts(&imported), TEXTS);
    assert_eq!((case.count_journal_files(), case.entries()), (NOTHING, 2));
}

#[test]
fn concurrent_runs_of_an_import_are_an_error() {
    let case = Case::small();
    let lock = case.target().journal.with_extension("lock");
    let _held = cellar::files::FileLock::try_acquire(&lock).unwrap();
    assert!(matches!(case.import(), Err(ImportError::File(_))));
    assert!(case.fake.requests().is_empty());
}

#[test]
fn an_import_that_was_killed_after_the_append_is_complete() {
    let case = uncertain(Fault::Lost);
    let journal = case.target().journal;
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.replace("\"acknowledged\": 0", "\"acknowledged\": 1")).unwrap();
    let before = case.fake.requests().len();
    let imported = case.import().unwrap();
    assert_eq!(case.fake.requests()[before..], ["GET sheets"]);
    assert!(imported.position > Position::FIRST && imported.sheets[0].name == "prices");
    // A changed file is imported again, because the earlier import is complete.
    std::fs::write(&journal, text.replace("\"acknowledged\": 0", "\"acknowledged\": 1")).unwrap();
    std::fs::write(&case.path, "other,cells\n").unwrap();
    let other = case.import().unwrap();
    assert_ne!(other.spreadsheet, imported.spreadsheet);
}
