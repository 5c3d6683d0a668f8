//! The reader with an API that returns errors or inconsistent replies.

use cellar::ClientError;
use cellar::editor::Editor;
use cellar::reader::{Reader, ReaderError};
use cellar_api::wire::{CellsReply, ChunksRequest, EntriesReply, ProblemKind};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_CHUNK_URLS, MAX_READ_BEGINNINGS, MAX_TILE_TEXT_BYTES};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

use super::block_on;
use super::fake::{Fake, Fault};
use super::sheet_imports::Case;

fn number(number: f64) -> Operation {
    let value = Some(Value::Number(number));
    let cells = vec![CellEdit { row: 0, column: 0, value, formula: None, format: None }];
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

fn with_edits() -> (Fake, LogId) {
    let fake = Fake::start();
    let id = fake.spreadsheet();
    for value in 1..=3_u8 {
        fake.lock().author(id, number(value.into()));
    }
    (fake, id)
}

fn read(fake: &Fake, id: LogId) -> Result<CellsReply, ReaderError> {
    block_on(async {
        let mut reader = Reader::open(fake.client().spreadsheet(id), None, None).await?;
        reader.cells(None, Rectangle::EVERYTHING).await
    })
}

#[test]
fn entries_are_read_page_by_page() {
    let (fake, id) = with_edits();
    let reply = read(&fake, id).unwrap();
    assert_eq!(reply.cells.len(), 1);
    assert_eq!(reply.cells[0].cell.value, Value::Number(3.0));
    assert_eq!(reply.position, fake.lock().logs[&id].last().unwrap().position);
    assert_eq!(fake.requests(), [format!("GET {id}"), "GET entries".to_owned()]);
}

#[test]
fn reading_a_changing_spreadsheet_is_retried_up_to_the_limit() {
    let too_far = || [Fault::None, Fault::Refused(ProblemKind::ReloadRequired)];
    let (fake, id) = with_edits();
    fake.fail((1..MAX_READ_BEGINNINGS).flat_map(|_| too_far()));
    assert_eq!(read(&fake, id).unwrap().cells.len(), 1);

    let (fake, id) = with_edits();
    fake.fail((0..MAX_READ_BEGINNINGS).flat_map(|_| too_far()));
    let error = read(&fake, id).unwrap_err();
    let ReaderError::Changing { attempts: MAX_READ_BEGINNINGS } = error else { panic!("{error}") };
    let requests = fake.requests().len();
    assert_eq!(requests, 2 * usize::try_from(MAX_READ_BEGINNINGS).unwrap());
}

#[test]
fn a_restore_during_the_read_of_entries_restarts_the_read() {
    let (fake, id) = with_edits();
    // The restore happens between the two pages.
    let before = fake.lock().incarnations[&id];
    fake.restore_after_loads(id, 1);
    let reply = read(&fake, id).unwrap();
    assert_eq!(reply.incarnation, before + 1);
    assert_eq!(fake.requests().len(), 4);
}

#[test]
fn a_log_that_ends_before_its_announced_head_is_an_error() {
    let (fake, id) = with_edits();
    let (head, entries) = (fake.lock().logs[&id].last().unwrap().position, Vec::new());
    let nothing_newer = EntriesReply { head, incarnation: 1, entries, next: None };
    let nothing_newer = Fault::Answer(200, serde_json::to_string(&nothing_newer).unwrap());
    let stale_reads = |count| (0..count).flat_map(|_| [Fault::None, nothing_newer.clone()]);
    fake.fail(stale_reads(MAX_READ_BEGINNINGS - 1));
    assert_eq!(read(&fake, id).unwrap().position, head);
    fake.fail(stale_reads(MAX_READ_BEGINNINGS));
    let error = read(&fake, id).unwrap_err();
    let ReaderError::Incomplete { reached, head: announced } = error else { panic!("{error}") };
    assert_eq!((reached.to_string(), announced), ("0.0".to_owned(), head));
}

#[test]
fn entries_with_a_gap_are_an_error() {
    let (fake, id) = with_edits();
    fake.lock().logs.get_mut(&id).unwrap().remove(2);
    let error = read(&fake, id).unwrap_err();
    let ReaderError::Client(ClientError::NotUnderstood { why, .. }) = &error else {
        panic!("{error}")
    };
    assert!(why.contains("entry 0.3 is out of order"), "{why}");
}

#[test]
fn a_problem_of_the_server_is_returned_unchanged() {
    let (fake, id) = with_edits();
    fake.fail([Fault::Refused(ProblemKind::Forbidden)]);
    let error = read(&fake, id).unwrap_err();
    let ReaderError::Client(error) = error else { panic!("{error}") };
    assert_eq!(error.problem_kind(), Some(ProblemKind::Forbidden));
}

#[test]
fn urls_are_requested_in_batches_of_the_limit() {
    // Each text is a separate object, in addition to a few tiles.
    let rows = MAX_CHUNK_URLS + 1;
    let line = |row: usize| format!("{row:x<width$}\n", width = MAX_TILE_TEXT_BYTES + 1);
    let case = Case::new("long.csv", (0..rows).map(line).collect::<String>().as_bytes());
    let id = case.import().unwrap().spreadsheet;
    let reply = read(&case.fake, id).unwrap();
    let texts = reply.cells.iter().map(|placed| placed.cell.text() + "\n");
    assert!(texts.eq((0..rows).map(line)));
    let asked: Vec<usize> = {
        let inner = case.fake.lock();
        let urls = inner
            .received
            .iter()
            .filter(|received| received.uri.ends_with(&format!("{id}/chunks")));
        urls.map(|received| {
            serde_json::from_slice::<ChunksRequest>(&received.body).unwrap().hashes.len()
        })
        .collect()
    };
    assert_eq!(asked[asked.len() - 2..], [MAX_CHUNK_URLS, 1], "{asked:?}");
}

#[test]
fn a_missing_body_of_a_large_entry_is_reported() {
    let (fake, id) = with_edits();
    let folder = tempfile::tempdir().unwrap();
    let editor = Editor::new(fake.client().spreadsheet(id), folder.path());
    let noise: String =
        (0..900_u32).map(|n| blake3::hash(&n.to_le_bytes()).to_hex().to_string()).collect();
    let value = Some(Value::Text(noise));
    let cells = vec![CellEdit { row: 1, column: 0, value, formula: None, format: None }];
    let set = SetCells { sheet: SheetId::FIRST, cells };
    let applied = block_on(editor.apply(Operation::SetCells(set))).unwrap();
    assert_eq!(read(&fake, id).unwrap().cells.len(), 2);
    fake.lock().objects.values_mut().for_each(|object| *object = None);
    let error = read(&fake, id).unwrap_err();
    let ReaderError::LargeEntry { position, .. } = &error else { panic!("{error}") };
    assert_eq!(*position, applied.position);
}
