//! A live sheet whose token says nothing: it knows its own edits by the answers alone; and how many entries
//! it keeps.

use cellar::live::{LiveSheet, Outcome, Synced};
use cellar_core::a1::Rectangle;
use cellar_core::api::ProblemKind;
use cellar_core::limits::MAX_LIVE_ENTRIES;
use cellar_core::operation::{InsertBefore, Operation, Rejection, RejectionReason, SheetId};

use super::block_on;
use super::edits::{Case, set};
use super::fake::Fault;

impl Case {
    fn open(&self) -> LiveSheet {
        let token = Some("the-token");
        block_on(LiveSheet::open(self.fake.client(), token, self.id, self.folder.path())).unwrap()
    }

    /// How often the spreadsheet was loaded.
    fn loads(&self) -> usize {
        let load = format!("GET {}", self.id);
        self.fake.requests().iter().filter(|request| **request == load).count()
    }
}

fn sync(live: &mut LiveSheet) -> Synced {
    block_on(live.sync()).unwrap()
}

fn shown(live: &mut LiveSheet) -> Vec<String> {
    let reply = block_on(live.view(None, Rectangle::EVERYTHING)).unwrap();
    reply.cells.iter().map(|cell| cell.cell.text()).collect()
}

#[test]
fn without_a_key_an_answer_tells_which_entries_are_its_own() {
    let case = Case::new();
    let mut live = case.open();
    live.edit(set(0, "a")).unwrap();
    live.edit(set(1, "b")).unwrap();
    // The answer is lost, and so are all that are asked for again.
    case.fake.fail((0..5).map(|_| Fault::Lost));
    assert!(block_on(live.sync()).unwrap_err().is_offline());
    assert_eq!((case.texts().len(), live.pending().count()), (2, 2));
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
    live.edit(Operation::InsertRows(insert)).unwrap();
    let synced = sync(&mut live);
    let ids: Vec<u64> = synced.settled.iter().map(|settled| settled.id).collect();
    assert_eq!((ids, synced.news), (vec![1, 2, 3], 0));
    assert_eq!(shown(&mut live), ["a", "b"]);
    assert_eq!(live.pending().count(), 0);
}

#[test]
fn a_rejection_is_reported_and_what_is_refused_for_good_is_set_aside() {
    let case = Case::new();
    let mut live = case.open();
    let rejection = Rejection::new(RejectionReason::TooFarBehind, "too far");
    case.fake.lock().reject_next(Fault::Rejected(rejection.clone()));
    live.edit(set(0, "a")).unwrap();
    assert_eq!(sync(&mut live).settled[0].outcome, Outcome::Rejected(rejection));
    assert!(shown(&mut live).is_empty());
    case.fake.fail([Fault::Refused(ProblemKind::Unprocessable)]);
    live.edit(set(0, "b")).unwrap();
    let synced = sync(&mut live);
    assert_eq!((synced.set_aside.len(), synced.made_again), (1, 0));
    let aside = std::fs::read_to_string(&synced.set_aside[0].file).unwrap();
    assert!(aside.contains("\"b\""), "{aside}");
    live.edit(set(0, "c")).unwrap();
    sync(&mut live);
    assert_eq!((case.texts(), shown(&mut live)), (vec!["c".to_owned()], vec!["c".to_owned()]));
}

#[test]
fn a_newer_root_is_looked_for_beyond_so_many_entries_and_not_before() {
    let case = Case::new();
    let mut live = case.open();
    assert_eq!(case.loads(), 1);
    let others =
        |count: usize| (0..count).for_each(|_| case.fake.lock().author(case.id, set(0, "x")));
    others(MAX_LIVE_ENTRIES);
    assert_eq!(sync(&mut live).news, MAX_LIVE_ENTRIES);
    sync(&mut live);
    assert_eq!(case.loads(), 1, "as many as may be");
    others(1);
    sync(&mut live);
    live.edit(set(1, "mine")).unwrap();
    sync(&mut live);
    assert_eq!(case.loads(), 2, "one more");
    assert_eq!(shown(&mut live), ["x", "mine"]);
    // What is loaded then is as long: it is not loaded again and again.
    sync(&mut live);
    assert_eq!(case.loads(), 2);
    // It kept the newest only, so that it is loaded when it is opened again.
    drop(live);
    let mut live = case.open();
    assert_eq!((shown(&mut live), case.loads()), (vec!["x".to_owned(), "mine".to_owned()], 3));
}

#[test]
fn a_state_that_cannot_be_read_is_an_error_that_names_it() {
    let case = Case::new();
    drop(case.open());
    let folder = case.folder.path().join(".cellar/live");
    let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let is_state = |path: &std::path::PathBuf| {
        let name = path.to_string_lossy().into_owned();
        name.ends_with(".json") && !name.ends_with("kept.json")
    };
    let state = files.into_iter().find(is_state).unwrap();
    std::fs::write(&state, "{}").unwrap();
    let open = LiveSheet::open(case.fake.client(), Some("the-token"), case.id, case.folder.path());
    let error = block_on(open).unwrap_err().to_string();
    assert!(error.contains(&state.display().to_string()), "{error}");
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "{}");
}
