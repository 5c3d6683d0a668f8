//! Large edits: each becomes exactly one entry, even if replies, URLs or objects are lost.

use cellar::ClientError;
use cellar::editor::{AppliedEdit, Editor, EditorError};
use cellar_api::{wire::ExternalBody, wire::ProblemKind, wire::SheetAxisMaps};
use cellar_base::identity::LogId;
use cellar_log::entry::encode_external_body;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

use super::block_on;
use super::fake::{Fake, Fault};

struct Case {
    fake: Fake,
    id: LogId,
    folder: tempfile::TempDir,
}

/// Returns a text of 20 KB that, even compressed, does not fit in the body of an entry.
fn noise(seed: &str) -> String {
    (0..320)
        .map(|part| blake3::hash(format!("{seed} {part}").as_bytes()).to_hex().to_string())
        .collect()
}

fn set(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.into()));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

impl Case {
    fn new() -> Self {
        let fake = Fake::start();
        let id = fake.spreadsheet();
        Self { fake, id, folder: tempfile::tempdir().unwrap() }
    }

    /// Makes an edit with a new editor, as another process would.
    fn set(&self, row: u32, text: &str) -> Result<AppliedEdit, EditorError> {
        let editor = Editor::new(self.fake.client().spreadsheet(self.id), self.folder.path());
        block_on(editor.apply(set(row, text)))
    }

    /// Adds faults after this number of successful requests. A large edit requests the head, the grant, the PUT
    /// and the completion.
    fn after(&self, requests: usize, faults: impl IntoIterator<Item = Fault>) {
        self.fake.fail(std::iter::repeat_n(Fault::None, requests));
        self.fake.fail(faults);
    }

    fn texts(&self) -> Vec<String> {
        self.fake.texts(self.id).into_iter().map(|(_, text)| text).collect()
    }

    fn entries(&self) -> usize {
        self.fake.lock().logs[&self.id].len()
    }

    fn bodies(&self) -> usize {
        let files = std::fs::read_dir(self.folder.path().join(".cellar/clients")).unwrap();
        let extension = |path: std::path::PathBuf| path.extension().map(ToOwned::to_owned);
        files
            .filter(|file| extension(file.as_ref().unwrap().path()).is_some_and(|e| e == "body"))
            .count()
    }

    fn finished(&self, text: &str) {
        assert_eq!(self.texts(), [text]);
        assert_eq!(self.entries(), 2, "the edit was made twice");
        assert_eq!(self.bodies(), 0, "the object is left behind");
    }
}

const LOST: usize = 5;

#[test]
fn a_large_edit_is_uploaded_and_the_ids_continue() {
    let case = Case::new();
    let text = noise("a");
    assert_eq!(case.set(0, &text).unwrap().position.to_string(), "0.1");
    case.finished(&text);
    let upload = case.fake.lock().objects.keys().next().unwrap().to_string();
    let put = format!("PUT {upload}");
    assert_eq!(case.fake.requests(), ["GET head", "POST uploads", &put, "POST complete"]);
    case.set(1, "small").unwrap();
    let append = &case.fake.appends()[0];
    assert_eq!((append.acked_id, append.mutations[0].id), (1, 2));
}

#[test]
fn a_reply_lost_once_at_any_step_has_no_effect() {
    for step in 1..=3 {
        let case = Case::new();
        case.after(step, [Fault::Lost]);
        case.set(0, &noise("b")).unwrap();
        case.finished(&noise("b"));
    }
}

#[test]
fn an_edit_without_replies_is_committed_once_by_the_next_run() {
    for step in 2..=3 {
        let case = Case::new();
        case.after(step, std::iter::repeat_n(Fault::Lost, LOST));
        match case.set(0, &noise("c")) {
            // The retry of the PUT is refused, because the object is already stored.
            Ok(_) => assert_eq!(step, 2),
            Err(EditorError::Kept { .. }) => assert_eq!(case.bodies(), 1, "the edit is not kept"),
            Err(error) => panic!("{error}"),
        }
        case.fake.lock().faults.clear();
        let applied = case.set(1, "next").unwrap();
        assert_eq!(applied.earlier_edits, usize::from(step == 3));
        assert_eq!(case.texts(), [noise("c"), "next".to_owned()]);
        assert_eq!(case.entries(), 3);
        assert_eq!(case.fake.lock().objects.len(), 1, "it was uploaded twice");
    }
}

#[test]
fn a_grant_without_replies_drops_or_keeps_the_edit() {
    let case = Case::new();
    case.after(1, std::iter::repeat_n(Fault::Lost, LOST));
    let error = case.set(0, &noise("d")).unwrap_err();
    assert!(matches!(error, EditorError::Kept { .. }), "{error}");
    assert_eq!(case.set(1, "next").unwrap().earlier_edits, 1);
    assert_eq!(case.texts().len(), 2);
    case.fake.fail([Fault::Refused(ProblemKind::Forbidden)]);
    let error = case.set(2, &noise("e")).unwrap_err();
    assert!(matches!(error, EditorError::Client(_)), "{error}");
    assert_eq!(case.bodies(), 0);
    case.set(2, "small").unwrap();
    assert_eq!(case.texts().len(), 3);
}

#[test]
fn an_expired_url_and_a_missing_object_are_replaced() {
    // The bucket refuses the first PUT as expired. Then the object of the first upload disappears.
    let expired = Case::new();
    expired.after(2, [Fault::Answer(403, "<Code>AccessDenied</Code>".into())]);
    expired.set(0, &noise("f")).unwrap();
    expired.finished(&noise("f"));
    assert_eq!(expired.fake.lock().objects.len(), 2, "no new upload was asked for");

    let gone = Case::new();
    gone.after(3, std::iter::repeat_n(Fault::RetryAfter(0), LOST));
    let error = gone.set(0, &noise("g")).unwrap_err();
    assert!(matches!(error, EditorError::Kept { .. }), "{error}");
    gone.fake.lock().objects.values_mut().for_each(|object| *object = None);
    let before = gone.entries();
    gone.set(1, "next").unwrap();
    assert_eq!(before + 2, gone.entries());
    assert_eq!(gone.texts(), [noise("g"), "next".to_owned()]);
    let completions: Vec<serde_json::Value> = gone
        .fake
        .lock()
        .received
        .iter()
        .filter(|received| received.uri.ends_with("/complete"))
        .map(|received| serde_json::from_slice(&received.body).unwrap())
        .collect();
    assert!(completions.len() > LOST && completions.iter().all(|one| *one == completions[0]));
}

#[test]
fn an_upload_that_is_always_refused_drops_the_edit() {
    let case = Case::new();
    case.fake.fail([Fault::None]);
    for _ in 0..3 {
        case.fake.fail([
            Fault::None,
            Fault::Answer(403, "<Code>AccessDenied</Code>".into()),
            Fault::None,
        ]);
    }
    let error = case.set(0, &noise("h")).unwrap_err();
    assert!(matches!(error, EditorError::Client(_)), "{error}");
    assert!(error.to_string().contains("AccessDenied"), "{error}");
    assert!(!error.to_string().contains("secret"), "the signature is shown: {error}");
    case.set(0, "small").unwrap();
    case.finished("small");
}

#[test]
fn a_body_that_was_changed_on_disk_is_reported_and_not_sent() {
    let case = Case::new();
    case.after(1, std::iter::repeat_n(Fault::Lost, LOST));
    case.set(0, &noise("i")).unwrap_err();
    let files = std::fs::read_dir(case.folder.path().join(".cellar/clients")).unwrap();
    let body = files
        .map(|file| file.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "body"))
        .unwrap();
    std::fs::write(&body, b"other").unwrap();
    let error = case.set(1, "next").unwrap_err();
    assert!(error.to_string().contains(body.file_name().unwrap().to_str().unwrap()), "{error}");
    assert_eq!(case.texts(), Vec::<String>::new());
}

#[test]
fn a_large_edit_of_unknown_outcome_is_set_aside_after_a_restore() {
    let case = Case::new();
    case.after(3, std::iter::repeat_n(Fault::Lost, LOST));
    case.set(0, &noise("j")).unwrap_err();
    case.fake.lock().incarnations.insert(case.id, 2);
    let error = case.set(1, "next").unwrap_err();
    let EditorError::SetAside { file, .. } = &error else { panic!("{error}") };
    let kept = std::fs::read_to_string(file).unwrap();
    assert!(kept.contains(&noise("j")), "the edit is not in the file");
    assert_eq!(case.bodies(), 0);
}

#[test]
fn the_body_of_a_large_entry_is_verified() {
    let case = Case::new();
    let text = noise("k");
    case.set(4, &text).unwrap();
    let client = case.fake.client();
    let history = block_on(client.spreadsheet(case.id).history_page(None, Some(1))).unwrap();
    let view = history.entries[0].external_body.clone().unwrap();
    let mutations = block_on(client.external_mutations(&view)).unwrap();
    assert_eq!(
        (mutations[0].id, &mutations[0].op, &mutations[0].committed),
        (1, &set(4, &text), &None)
    );

    // The edit was transformed: two rows were inserted above it, and its sheet has another number.
    let rows = vec![(0, 0, 2), (2, 4, 100)];
    let columns = vec![(0, 0, 1)];
    let moved =
        vec![SheetAxisMaps { sheet: SheetId::FIRST, target: Some(SheetId::FIRST), rows, columns }];
    let shifted = ExternalBody { axis_maps: moved, ..view.clone() };
    let mutations = block_on(client.external_mutations(&shifted)).unwrap();
    assert_eq!(mutations[0].committed, Some(vec![set(6, &text)]));

    let other = encode_external_body(&[set(0, "other")]).unwrap();
    let refused = |view: &ExternalBody| {
        let error = block_on(client.external_mutations(view)).unwrap_err();
        assert!(matches!(error, ClientError::WrongObject { .. }), "{error}");
    };
    refused(&ExternalBody { sha256: "00".repeat(32), ..view.clone() });
    refused(&ExternalBody { bytes: view.bytes + 1, ..view.clone() });
    refused(&ExternalBody { bytes: u64::MAX, ..view.clone() });
    refused(&ExternalBody { count: 2, ..view.clone() });
    refused(&ExternalBody { url: None, ..view.clone() });
    refused(&ExternalBody { url: Some("file:///etc/passwd".into()), ..view.clone() });
    let broken = SheetAxisMaps { rows: vec![(0, 9, 5), (5, 0, 1)], ..shifted.axis_maps[0].clone() };
    refused(&ExternalBody { axis_maps: vec![broken], ..view.clone() });
    case.fake.lock().objects.values_mut().for_each(|object| *object = Some(other.clone()));
    refused(&view);
    case.fake.lock().objects.values_mut().for_each(|object| *object = None);
    let gone = block_on(client.external_mutations(&view)).unwrap_err();
    assert!(matches!(gone, ClientError::UnexpectedStatus { status: 404, .. }), "{gone}");
}

#[test]
fn the_cost_of_a_body_is_the_cost_of_its_requests() {
    let case = Case::new();
    case.fake.lock().cost = Some("rr=0, wr=1");
    let client = case.fake.client();
    let editor = Editor::new(client.spreadsheet(case.id), case.folder.path());
    block_on(editor.apply(set(0, &noise("l")))).unwrap();
    let bytes = case.fake.lock().objects.values().next().unwrap().as_ref().unwrap().len() as u64;
    let spent = client.cost();
    assert_eq!((spent.cost.write_units, spent.cost.object_puts, spent.unknown_requests), (3, 1, 0));
    assert_eq!(spent.cost.object_bytes_sent, bytes);
}
