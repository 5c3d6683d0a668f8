//! Merges of forks: authors and times, repetition, crashes, conflicts and undo.

mod limits;
mod undo;

use cellar_log::entry::Merged;
use cellar_log::merge::MergeOutcome;
use cellar_sheet::operation::{AddSheet, DeleteSpans, InsertBefore, Spans};

use super::*;
use crate::logs::{ForkFault, MergeFault, MergedEdit, MergedEdits, NewFork, NewMerge};

fn alice() -> SubjectKey {
    SubjectKey::new("cellar", "alice")
}

/// The logs of one test. The source has the rows "a", "b" and "c", each by one edit.
struct World {
    tables: Arc<MemoryTables>,
    fork: LogId,
    /// Id of the next mutation of any client.
    next_id: u64,
}

impl World {
    async fn new() -> Self {
        let tables = Arc::new(MemoryTables::default());
        let service = logs(&tables);
        service.create(log(), Some("alice".into())).await.unwrap();
        let mut world = Self { tables, fork: log(), next_id: 1 };
        for (row, text) in [(0, "a"), (1, "b"), (2, "c")] {
            world.edit(log(), "alice", set(row, text)).await;
        }
        world.fork = world.forked("fork").await;
        world
    }

    async fn forked(&self, nonce: &str) -> LogId {
        let fork = LogId::derive_fork(&alice(), log(), nonce).unwrap();
        let new = NewFork { log: fork, source: log(), at: None, author: Some("alice".into()) };
        self.logs().fork(new).await.unwrap();
        fork
    }

    /// Returns the service of a new process.
    fn logs(&self) -> Logs {
        logs(&self.tables)
    }

    /// Appends an edit by a person who has seen all others. Returns its position.
    async fn edit(&mut self, log: LogId, author: &str, operation: Operation) -> Position {
        let base = self.head(log).await;
        let client = ClientKey(self.next_id.to_be_bytes());
        self.next_id += 1;
        let mutations = vec![NewMutation { id: 1, base, operation }];
        let author = Some(author.to_owned());
        let request = Request::new(log, client, author, FIRST_INCARNATION, 0, mutations).unwrap();
        let appended = self.logs().append(request).await.unwrap();
        assert_eq!(appended.results[0].rejection, None);
        appended.tail
    }

    async fn head(&self, log: LogId) -> Position {
        self.logs().head(log, None).await.unwrap().head
    }

    fn request(&self) -> NewMerge {
        NewMerge { log: log(), fork: self.fork, through: None, by: Some("merger".to_owned()) }
    }

    /// Merges the fork. Checks that a preview returns the same, and that a repetition appends nothing.
    async fn merge(&self) -> MergedEdits {
        let request = self.request();
        let preview = self.logs().preview_merge(&request).await.unwrap();
        let merged = self.logs().merge(&request).await.unwrap();
        let without_position = |edit: &MergedEdit| MergedEdit { merged_as: None, ..edit.clone() };
        let edits: Vec<_> = merged.edits.iter().map(without_position).collect();
        assert_eq!(preview.edits, edits);
        let again = self.logs().merge(&request).await.unwrap();
        assert_eq!((again.edits, again.head), (Vec::new(), merged.head));
        merged
    }

    /// Returns the texts of column A by row.
    async fn column(&self, log: LogId) -> Vec<(u32, String)> {
        let read = self.logs().cells(log, &everything(None)).await.unwrap();
        read.cells.iter().map(|placed| (placed.row, placed.cell.text())).collect()
    }

    async fn entries_after(&self, log: LogId, position: Position) -> Vec<Arc<Entry>> {
        self.logs().update(log, position).await.unwrap().entries
    }
}

fn shown(expected: &[(u32, &str)]) -> Vec<(u32, String)> {
    expected.iter().map(|(row, text)| (*row, (*text).to_owned())).collect()
}

fn insert(before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count })
}

fn delete(first: u32, count: u32) -> Operation {
    let spans = Spans::one(first, count);
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans })
}

fn set_in(sheet: u32, text: &str) -> Operation {
    let Operation::SetCells(set) = set(0, text) else { panic!("cells") };
    Operation::SetCells(SetCells { sheet: SheetId(sheet), ..set })
}

fn outcomes(merged: &MergedEdits) -> Vec<(MergeOutcome, u64)> {
    merged.edits.iter().map(|edit| (edit.outcome, edit.conflicts.count)).collect()
}

#[tokio::test]
async fn edits_keep_their_author_and_their_time_and_follow_their_rows() {
    use MergeOutcome::{Dropped, Moved};
    let mut world = World::new().await;
    let fork = world.fork;
    let first = world.edit(fork, "bob", set(1, "bob's b")).await;
    world.edit(fork, "carol", insert(1, 1)).await;
    world.edit(fork, "carol", set(1, "carol's")).await;
    world.edit(fork, "bob", set(3, "bob's c")).await;
    world.edit(log(), "alice", delete(2, 1)).await;
    world.edit(log(), "alice", insert(0, 2)).await;
    world.edit(log(), "alice", set(3, "alice's b")).await;
    let before = world.head(log()).await;

    let merged = world.merge().await;
    let expected = [(Moved, 1), (Moved, 0), (Moved, 0), (Dropped, 0)];
    assert_eq!(outcomes(&merged), expected);
    assert_eq!(merged.edits[0].conflicts.cells[0].1.to_string(), "A4");
    let expected = [(2, "a"), (3, "carol's"), (4, "bob's b")];
    assert_eq!(world.column(log()).await, shown(&expected));
    let entries = world.entries_after(log(), before).await;
    let authors: Vec<_> = entries.iter().map(|entry| entry.author.as_deref().unwrap()).collect();
    assert_eq!(authors, ["bob", "carol", "carol", "bob"]);
    let expected = Merged {
        fork,
        position: first,
        created_s: StoppedClock.now_ms() / 1_000,
        by: Some("merger".to_owned()),
        through: world.head(fork).await,
        after: before,
    };
    assert_eq!(entries[0].merged(), Some(&expected));
    // The fork is unchanged, and later edits are merged later.
    let own = [(0, "a"), (1, "carol's"), (2, "bob's b"), (3, "bob's c")];
    assert_eq!(world.column(fork).await, shown(&own));
    world.edit(fork, "bob", set(1, "later")).await;
    assert_eq!(outcomes(&world.merge().await), [(Moved, 0)]);
    assert_eq!(world.column(log()).await[1], (3, "later".to_owned()));
}

#[tokio::test]
async fn undos_of_the_fork_are_merged_as_what_they_did() {
    let mut world = World::new().await;
    let fork = world.fork;
    let edit = world.edit(fork, "bob", set(0, "wrong")).await;
    world
        .edit(fork, "bob", Operation::Undo(cellar_sheet::operation::Undo { position: edit }))
        .await;
    world.edit(log(), "alice", insert(0, 1)).await;
    world.merge().await;
    assert_eq!(world.column(log()).await[0], (1, "a".to_owned()));
}

#[tokio::test]
async fn sheets_that_both_added_get_other_numbers_and_names() {
    let mut world = World::new().await;
    let fork = world.fork;
    let add = |name: &str| {
        Operation::AddSheet(AddSheet { sheet: SheetId(1), name: name.to_owned(), before: None })
    };
    world.edit(fork, "bob", add("Same")).await;
    world.edit(fork, "bob", set_in(1, "of the fork")).await;
    world.edit(log(), "alice", add("Same")).await;
    world.edit(log(), "alice", set_in(1, "of the source")).await;
    let merged = world.merge().await;
    assert_eq!(outcomes(&merged), [(MergeOutcome::Moved, 0); 2]);
    let workbook = world.logs().workbook(log(), None, None).await.unwrap().workbook;
    let names: Vec<_> = workbook.sheets().map(|(id, _)| workbook.tabs().name(id)).collect();
    assert_eq!(names.len(), 3);
    assert!(names[1] == Some("Same") && names[2].is_some_and(|name| name.starts_with("Same")));
    assert_eq!(workbook.value(SheetId(1), 0, 0), Value::Text("of the source".into()));
    assert_eq!(workbook.value(SheetId(2), 0, 0), Value::Text("of the fork".into()));
}

#[tokio::test]
async fn a_merge_that_broke_off_anywhere_is_finished_by_a_repetition() {
    let mut broke_off = 0;
    for fault in [Fault::Denied, Fault::DiesBefore, Fault::DiesAfter] {
        for faulty_call in 0..30 {
            let mut world = World::new().await;
            let fork = world.fork;
            for row in 0..3 {
                world.edit(fork, "bob", set(row, &format!("mine {row}"))).await;
            }
            world.edit(log(), "alice", insert(0, 1)).await;
            let clock = Arc::new(ManualClock::at(StoppedClock.now_ms()));
            let blobs = MemoryBlobs::new(clock.clone());
            let planned = vec![(faulty_call, fault)];
            let faulty = FaultyPorts::new(planned, world.tables.copied(), blobs, clock);
            let (service, request) = (logs(&faulty), world.request());
            let is_finished = tokio::select! {
                merged = service.merge(&request) => merged.is_ok(),
                () = faulty.faults.died.notified() => false,
            };
            broke_off += usize::from(!is_finished);
            let world = World { tables: Arc::new(faulty.tables.copied()), ..world };
            assert_eq!(world.logs().merge(&request).await.unwrap().remaining, 0);
            let mine = [(1, "mine 0"), (2, "mine 1"), (3, "mine 2")];
            assert_eq!(world.column(log()).await, shown(&mine), "{fault:?} {faulty_call}");
            let entries = world.entries_after(log(), at(0, 3)).await;
            assert_eq!(entries.iter().filter(|entry| entry.merged().is_some()).count(), 3);
        }
    }
    assert!(broke_off > 0, "no fault hit the merge");
}

#[tokio::test]
async fn two_processes_merge_each_edit_once() {
    let mut world = World::new().await;
    let fork = world.fork;
    for row in 0..20 {
        world.edit(fork, "bob", set(row, "x")).await;
    }
    let (one, two) = (world.logs(), world.logs());
    let request = world.request();
    let (first, second) = tokio::join!(one.merge(&request), two.merge(&request));
    assert_eq!(first.unwrap().edits.len().max(second.unwrap().edits.len()), 20);
    let entries = world.entries_after(log(), at(0, 3)).await;
    assert_eq!(entries.iter().filter(|entry| entry.merged().is_some()).count(), 20);
}

#[tokio::test]
async fn a_fork_is_merged_into_another_fork_and_not_into_itself() {
    let mut world = World::new().await;
    let fork = world.fork;
    let other = world.forked("other").await;
    world.edit(fork, "bob", set(0, "mine")).await;
    let merge = |log, fork| NewMerge { log, fork, through: None, by: None };
    world.logs().merge(&merge(other, fork)).await.unwrap();
    assert_eq!(world.column(other).await[0], (0, "mine".to_owned()));
    for (into, merged) in [(fork, fork), (fork, log()), (log(), log())] {
        let refused = world.logs().merge(&merge(into, merged)).await;
        assert_eq!(refused, Err(LogError::Merge(MergeFault::NotAFork)));
    }
    let stranger = LogId::derive(&alice(), "stranger").unwrap();
    world.logs().create(stranger, None).await.unwrap();
    let refused = world.logs().merge(&merge(stranger, fork)).await;
    assert_eq!(refused, Err(LogError::Fork(ForkFault::Unrelated)));
}

#[tokio::test]
async fn a_part_of_a_fork_is_merged_up_to_a_position() {
    let mut world = World::new().await;
    let fork = world.fork;
    let first = world.edit(fork, "bob", set(0, "first")).await;
    world.edit(fork, "bob", set(1, "second")).await;
    let part = NewMerge { through: Some(first), ..world.request() };
    let merged = world.logs().merge(&part).await.unwrap();
    assert_eq!((merged.edits.len(), merged.through), (1, first));
    assert_eq!(world.column(log()).await[1], (1, "b".to_owned()));
    assert_eq!(world.merge().await.edits.len(), 1);
    let newest = world.head(fork).await;
    let at = newest.next_in_segment().unwrap();
    let beyond = NewMerge { through: Some(at), ..world.request() };
    let refused = world.logs().merge(&beyond).await;
    assert_eq!(refused, Err(LogError::NoSuchPosition { at, newest }));
}
