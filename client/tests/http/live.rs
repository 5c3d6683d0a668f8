//! Live sheets with a token without an author, which recognize their own edits by the replies alone, and the
//! limits of stored entries.

use cellar::live::{EditOutcome, LiveSheet, SyncReport};
use cellar_api::{wire::EntryView, wire::ProblemKind};
use cellar_base::limits::{LIVE_RELOAD_ENTRIES, MAX_LIVE_ENTRIES, MAX_LIVE_ENTRY_BYTES};
use cellar_sheet::a1::Rectangle;
use cellar_sheet::operation::{
    CellEdit, InsertBefore, Operation, Rejection, RejectionReason, SetCells, SheetId,
};

use super::block_on;
use super::edits::{Case, set};
use super::fake::Fault;

impl Case {
    fn open(&self) -> LiveSheet {
        let spreadsheet = self.fake.client().spreadsheet(self.id);
        block_on(LiveSheet::open(spreadsheet, self.folder.path())).unwrap()
    }

    /// Returns how often the spreadsheet was loaded.
    fn loads(&self) -> usize {
        let load = format!("GET {}", self.id);
        self.fake.requests().iter().filter(|request| **request == load).count()
    }
}

fn sync(live: &mut LiveSheet) -> SyncReport {
    block_on(live.sync()).unwrap()
}

fn shown(live: &mut LiveSheet) -> Vec<String> {
    let reply = block_on(live.view(None, Rectangle::EVERYTHING)).unwrap();
    reply.cells.iter().map(|cell| cell.cell.text()).collect()
}

#[test]
fn without_an_author_replies_identify_own_entries() {
    let case = Case::new();
    let mut live = case.open();
    live.edit(set(0, "a")).unwrap();
    live.edit(set(1, "b")).unwrap();
    // All replies are lost.
    case.fake.fail((0..5).map(|_| Fault::Lost));
    assert!(block_on(live.sync()).unwrap_err().is_offline());
    assert_eq!((case.texts().len(), live.pending().count()), (2, 2));
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
    live.edit(Operation::InsertRows(insert)).unwrap();
    let synced = sync(&mut live);
    let ids: Vec<u64> = synced.settled.iter().map(|settled| settled.id).collect();
    assert_eq!((ids, synced.new_entries), (vec![1, 2, 3], 0));
    assert_eq!(shown(&mut live), ["a", "b"]);
    assert_eq!(live.pending().count(), 0);
}

#[test]
fn a_sheet_follows_its_stack_to_another_url_but_not_another_stack_or_person() {
    let case = Case::new();
    let client = case.fake.client();
    let old = client.moved_to("http://127.0.0.1:1", Some("the-token")).unwrap().unwrap();
    let spreadsheet = client.spreadsheet(case.id);
    let mut live = block_on(LiveSheet::open(spreadsheet, case.folder.path())).unwrap();
    assert!(live.set_client(&old));
    live.edit(set(0, "kept")).unwrap();
    assert!(block_on(live.sync()).unwrap_err().is_offline());
    assert!(old.moved_to(&case.fake.url, Some("of-another-person")).unwrap().is_none());
    let other_stack = case.fake.client().with_identity(Some("another stack"));
    assert!(!live.set_client(&other_stack));
    assert_eq!(live.client().url(), "http://127.0.0.1:1");
    let moved = old.moved_to(&case.fake.another_port(), Some("the-token")).unwrap().unwrap();
    assert!(live.set_client(&moved));
    let before = client.cost().unknown_requests;
    assert_eq!(sync(&mut live).settled.len(), 1);
    assert_eq!((case.texts(), shown(&mut live)), (vec!["kept".into()], vec!["kept".into()]));
    assert!(client.cost().unknown_requests > before, "costs are counted together");
}

#[test]
fn a_rejection_is_reported_and_a_refused_edit_is_set_aside() {
    let case = Case::new();
    let mut live = case.open();
    let rejection = Rejection::new(RejectionReason::TooFarBehind, "too far");
    case.fake.lock().reject_next(Fault::Rejected(rejection.clone()));
    live.edit(set(0, "a")).unwrap();
    assert_eq!(sync(&mut live).settled[0].outcome, EditOutcome::Rejected(rejection));
    assert!(shown(&mut live).is_empty());
    case.fake.fail([Fault::Refused(ProblemKind::InvalidRequest)]);
    live.edit(set(0, "b")).unwrap();
    let synced = sync(&mut live);
    assert_eq!((synced.set_aside.len(), synced.reapplied), (1, 0));
    let aside = std::fs::read_to_string(&synced.set_aside[0].file).unwrap();
    assert!(aside.contains("\"b\""), "{aside}");
    live.edit(set(0, "c")).unwrap();
    sync(&mut live);
    assert_eq!((case.texts(), shown(&mut live)), (vec!["c".to_owned()], vec!["c".to_owned()]));
}

#[test]
fn a_newer_root_is_loaded_beyond_the_limit_of_entries() {
    let case = Case::new();
    let mut live = case.open();
    assert_eq!(case.loads(), 1);
    let others =
        |count: usize| (0..count).for_each(|_| case.fake.lock().author(case.id, set(0, "x")));
    others(LIVE_RELOAD_ENTRIES);
    assert_eq!(sync(&mut live).new_entries, LIVE_RELOAD_ENTRIES);
    sync(&mut live);
    assert_eq!(case.loads(), 1, "as many as may be");
    others(1);
    sync(&mut live);
    live.edit(set(1, "mine")).unwrap();
    sync(&mut live);
    assert_eq!(case.loads(), 2, "one more");
    assert_eq!(shown(&mut live), ["x", "mine"]);
    // The new root is followed by as many entries, but is not loaded repeatedly.
    sync(&mut live);
    assert_eq!(case.loads(), 2);
    // As many entries as followed the root are applied before the next load.
    others(LIVE_RELOAD_ENTRIES);
    sync(&mut live);
    assert_eq!(case.loads(), 2);
}

#[test]
fn entries_applied_before_a_sheet_was_closed_count_for_the_next_load() {
    let case = Case::new();
    let others =
        |count: usize| (0..count).for_each(|_| case.fake.lock().author(case.id, set(0, "x")));
    let mut live = case.open();
    others(LIVE_RELOAD_ENTRIES);
    sync(&mut live);
    drop(live);
    let mut live = case.open();
    assert_eq!(case.loads(), 1, "opened from disk");
    others(1);
    sync(&mut live);
    sync(&mut live);
    assert_eq!(case.loads(), 2);
}

#[test]
fn a_sheet_is_opened_from_disk_up_to_the_limit_of_entries() {
    // The first entry of the log counts as well.
    for (edits, loads) in [(MAX_LIVE_ENTRIES - 1, 1), (MAX_LIVE_ENTRIES, 2)] {
        let case = Case::new();
        for _ in 0..edits {
            case.fake.lock().author(case.id, set(0, "x"));
        }
        drop(case.open());
        assert_eq!((shown(&mut case.open()), case.loads()), (vec!["x".to_owned()], loads));
    }
}

/// Returns the size in memory of an entry with an edit of blank cells and a text.
fn weight(blanks: usize, text: &str) -> usize {
    let case = Case::new();
    case.fake.lock().author(case.id, blanks_and(blanks, text));
    case.newest_weighs()
}

/// Returns an edit of blank cells in column B, which are larger in memory than in requests, and of a text in `A1`.
fn blanks_and(blanks: usize, text: &str) -> Operation {
    let Operation::SetCells(SetCells { sheet, mut cells }) = set(0, text) else { panic!() };
    let blank = |row| CellEdit { row, column: 1, value: None, formula: None, format: None };
    cells.extend((0..).take(blanks).map(blank));
    Operation::SetCells(SetCells { sheet, cells })
}

impl Case {
    fn newest_weighs(&self) -> usize {
        EntryView::from(self.fake.lock().logs[&self.id].last().unwrap()).weight_bytes()
    }

    /// Commits entries of others with this total size. The live sheet syncs after each.
    fn others_write(&self, bytes: usize, mut live: Option<&mut LiveSheet>) {
        const BLANKS: usize = 9_000;
        let (empty, whole) = (weight(0, ""), weight(BLANKS, ""));
        let blank = weight(1, "") - empty;
        let mut left = bytes;
        while left > 0 {
            let (blanks, rest) = match left >= whole + empty {
                true => (BLANKS, 0),
                false => ((left - empty) / blank, (left - empty) % blank),
            };
            self.fake.lock().author(self.id, blanks_and(blanks, &"x".repeat(rest)));
            left -= self.newest_weighs();
            live.as_mut().map(|live| sync(live));
        }
    }
}

#[test]
fn a_newer_root_is_loaded_beyond_the_limit_of_bytes() {
    for (bytes, loads) in [(MAX_LIVE_ENTRY_BYTES, 1), (MAX_LIVE_ENTRY_BYTES + 1, 2)] {
        let case = Case::new();
        let mut live = case.open();
        case.others_write(bytes, Some(&mut live));
        sync(&mut live);
        assert_eq!(case.loads(), loads, "{bytes}");
        sync(&mut live);
        assert_eq!(case.loads(), loads, "{bytes}, and once only");
    }
}

#[test]
fn the_stored_entries_of_a_load_are_limited_in_bytes() {
    let first = Case::new().newest_weighs();
    for (bytes, loads) in [(MAX_LIVE_ENTRY_BYTES, 1), (MAX_LIVE_ENTRY_BYTES + 1, 2)] {
        let case = Case::new();
        case.others_write(bytes - first, None);
        sync(&mut case.open());
        // Incomplete entries are not stored, so opening the sheet loads the root.
        drop(case.open());
        assert_eq!(case.loads(), loads, "{bytes}");
    }
}

#[test]
fn an_unreadable_state_file_is_reported() {
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
    let open = LiveSheet::open(case.fake.client().spreadsheet(case.id), case.folder.path());
    let error = block_on(open).unwrap_err().to_string();
    assert!(error.contains(&state.display().to_string()), "{error}");
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "{}");
}
