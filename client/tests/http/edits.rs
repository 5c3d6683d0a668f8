//! Durable edits: each is committed exactly once, even if requests or replies are lost.

use cellar::editor::{Editor, EditorError};
use cellar_api::wire::ProblemKind;
use cellar_base::identity::LogId;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};

use super::block_on;
use super::fake::{Fake, Fault};

/// A spreadsheet of the fake API, and a folder for the state of the client.
pub(super) struct Case {
    pub(super) fake: Fake,
    pub(super) id: LogId,
    pub(super) folder: tempfile::TempDir,
}

impl Case {
    pub(super) fn new() -> Self {
        let fake = Fake::start();
        let id = fake.spreadsheet();
        Self { fake, id, folder: tempfile::tempdir().unwrap() }
    }

    fn editor(&self) -> Editor {
        Editor::new(self.fake.client().spreadsheet(self.id), self.folder.path())
    }

    /// Sets a cell of column A with a new editor, as another process would.
    fn set(&self, row: u32, text: &str) -> Result<cellar::editor::AppliedEdit, EditorError> {
        block_on(self.editor().apply(set(row, text)))
    }

    pub(super) fn texts(&self) -> Vec<String> {
        self.fake.texts(self.id).into_iter().map(|(_, text)| text).collect()
    }

    fn entries(&self) -> usize {
        self.fake.lock().logs[&self.id].len()
    }
}

pub(super) fn set(row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.into()));
    let edit = CellEdit { row, column: 0, value, formula: None, format: None };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] })
}

#[test]
fn edits_have_consecutive_ids_and_the_newest_base() {
    let case = Case::new();
    assert_eq!(case.set(0, "one").unwrap().position.to_string(), "0.1");
    assert_eq!(case.set(1, "two").unwrap().position.to_string(), "0.2");
    assert_eq!(case.texts(), ["one", "two"]);
    let appends = case.fake.appends();
    assert_eq!((appends[1].acked_id, appends[1].mutations[0].id), (1, 2));
    assert_eq!(appends[1].mutations[0].base.to_string(), "0.1");
    assert_eq!(appends[0].client_id, appends[1].client_id);
}

#[test]
fn an_edit_whose_reply_was_lost_is_committed_once() {
    let case = Case::new();
    case.set(0, "before").unwrap();
    case.fake.fail([Fault::Lost]);
    case.fake.fail(std::iter::repeat_n(Fault::Answer(504, String::new()), 4));
    let error = case.set(1, "lost").unwrap_err();
    assert!(matches!(error, EditorError::Kept { .. }), "{error}");
    let applied = case.set(2, "after").unwrap();
    assert_eq!(applied.earlier_edits, 1);
    assert_eq!(case.texts(), ["before", "lost", "after"]);
    assert_eq!(case.entries(), 4, "an edit was made twice");
    let lost: Vec<_> = case.fake.appends().into_iter().filter(|a| a.mutations[0].id == 2).collect();
    assert!(lost.len() > 5 && lost.iter().all(|request| *request == lost[0]));
}

#[test]
fn a_refused_edit_is_dropped_and_blocks_nothing() {
    let case = Case::new();
    case.set(0, "before").unwrap();
    for kind in [ProblemKind::InvalidRequest, ProblemKind::Forbidden] {
        case.fake.fail([Fault::Refused(kind)]);
        let error = case.set(1, "refused").unwrap_err();
        assert!(matches!(error, EditorError::Client(_)), "{error}");
    }
    assert_eq!(case.set(2, "after").unwrap().earlier_edits, 0);
    assert_eq!(case.texts(), ["before", "after"]);
}

#[test]
fn after_a_restore_an_unsent_edit_gets_a_new_base() {
    let case = Case::new();
    case.set(0, "one").unwrap();
    case.set(1, "two").unwrap();
    {
        let mut inner = case.fake.lock();
        inner.logs.get_mut(&case.id).unwrap().truncate(2);
        inner.incarnations.insert(case.id, 2);
    }
    case.set(2, "three").unwrap();
    assert_eq!(case.texts(), ["one", "three"]);
    let appends = case.fake.appends();
    let last = appends.last().unwrap();
    assert_ne!(last.client_id, appends[0].client_id);
    assert_eq!((last.incarnation, last.mutations[0].id), (2, 1));
}

#[test]
fn an_edit_of_unknown_outcome_is_set_aside_after_a_restore() {
    let case = Case::new();
    case.set(0, "one").unwrap();
    case.fake.fail(std::iter::repeat_n(Fault::Lost, 5));
    case.set(1, "lost").unwrap_err();
    case.fake.lock().incarnations.insert(case.id, 2);
    let error = case.set(2, "new").unwrap_err();
    let EditorError::SetAside { edits, file, .. } = &error else { panic!("{error}") };
    assert_eq!(edits, "A2 = \"lost\"");
    assert!(std::fs::read_to_string(file).unwrap().contains("lost"));
    assert_eq!(case.texts(), ["one", "lost"], "the new edit waits for a decision");
    case.set(2, "new").unwrap();
    assert_eq!(case.texts(), ["one", "lost", "new"]);
}

#[test]
fn a_corrupt_state_file_is_reported_and_unchanged() {
    let case = Case::new();
    case.set(0, "one").unwrap();
    let clients = case.folder.path().join(".cellar/clients");
    let state = std::fs::read_dir(&clients)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "json"))
        .unwrap();
    std::fs::write(&state, "{").unwrap();
    let error = case.set(1, "two").unwrap_err();
    assert!(error.to_string().contains(state.file_name().unwrap().to_str().unwrap()));
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "{");
    assert_eq!(case.texts(), ["one"]);
}

#[test]
fn concurrent_editors_wait_for_each_other() {
    let case = Case::new();
    std::thread::scope(|scope| {
        for row in 0..8 {
            let case = &case;
            scope.spawn(move || case.set(row, "x").unwrap());
        }
    });
    assert_eq!(case.texts().len(), 8);
    let ids: Vec<u64> = case.fake.appends().iter().map(|a| a.mutations[0].id).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn the_seen_position_is_the_base_of_the_next_edit() {
    let case = Case::new();
    assert_eq!(case.editor().seen_position().unwrap(), None);
    case.set(0, "one").unwrap();
    let other = tempfile::tempdir().unwrap();
    let other = Editor::new(case.fake.client().spreadsheet(case.id), other.path());
    block_on(other.apply(set(1, "from elsewhere"))).unwrap();
    let head = block_on(case.fake.client().spreadsheet(case.id).head()).unwrap();
    case.editor().record_seen(head.head, head.incarnation, None).unwrap();
    assert_eq!(case.editor().seen_position().unwrap(), Some(head.head));
    case.set(2, "three").unwrap();
    let appends = case.fake.appends();
    assert_eq!(appends.last().unwrap().mutations[0].base, head.head);
}
