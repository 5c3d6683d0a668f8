//! Replays of forks: the source's later changes move the fork's edits, and the reply reports each
//! edit.

use cellar::ClientError;
use cellar::replay::{ForkReplay, ReplayError, ReplayOutcome, ReplayedFork};
use cellar_api::{wire::CreateReply, wire::SentMutation};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    AddSheet, CellEdit, DeleteSheet, DeleteSpans, InsertBefore, Operation, SetCells, SheetId,
    Spans, Undo,
};
use cellar_tests::edits::append_one;

use super::*;
use crate::snapshot_reads::{Author, cells};

pub(super) fn text_in(sheet: SheetId, row: u32, text: &str) -> Operation {
    let value = Some(Value::Text(text.to_owned()));
    let cells = vec![CellEdit { row, column: 0, value, formula: None, format: None }];
    Operation::SetCells(SetCells { sheet, cells })
}

pub(super) fn text(row: u32, text: &str) -> Operation {
    text_in(SheetId::FIRST, row, text)
}

pub(super) fn insert(before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count })
}

pub(super) fn delete(first: u32, count: u32) -> Operation {
    let spans = Spans::one(first, count);
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans })
}

/// Returns an author of edits in a fork.
pub(super) fn author_of(fork: &ForkReply) -> Author {
    let created = CreateReply { id: fork.id, head: fork.head, incarnation: fork.incarnation };
    Author { created, base: fork.head, id: 1_000 }
}

pub(super) async fn edit(
    cloud: &TestCloud,
    author: &mut Author,
    id: u64,
    operation: Operation,
) -> Position {
    let edit = append_one(author.created, "of the fork", id, author.base, operation);
    let reply = cloud.client("bob").spreadsheet(author.created.id).append(&edit).await.unwrap();
    assert_eq!(reply.results[0].rejection, None);
    author.base = reply.results[0].position.unwrap();
    author.base
}

pub(super) async fn edit_all(cloud: &TestCloud, fork: &ForkReply, operations: Vec<Operation>) {
    let mut author = author_of(fork);
    for (id, operation) in (1..).zip(operations) {
        edit(cloud, &mut author, id, operation).await;
    }
}

/// Returns the texts of column A by row.
pub(super) async fn column(cloud: &TestCloud, log: LogId, at: Position) -> Vec<(u32, String)> {
    let cells = cells(cloud, log, at).await;
    cells.into_iter().map(|((row, _), cell)| (row, cell.text())).collect()
}

pub(super) fn shown(expected: &[(u32, &str)]) -> Vec<(u32, String)> {
    expected.iter().map(|(row, text)| (*row, (*text).to_owned())).collect()
}

async fn planned(cloud: &TestCloud, fork: LogId, onto: Option<Position>) -> ForkReplay {
    ForkReplay::plan(&cloud.client("alice").spreadsheet(fork), onto).await.unwrap()
}

/// Replays a fork. Checks that a preview returns the same result and that a repetition changes
/// nothing.
pub(super) async fn replayed(
    cloud: &TestCloud,
    fork: LogId,
    onto: Option<Position>,
) -> ReplayedFork {
    let replay = planned(cloud, fork, onto).await;
    let preview = replay.preview().await.unwrap();
    let (one, two) = tokio::join!(replay.create_replayed_fork(), replay.create_replayed_fork());
    let done = replay.create_replayed_fork().await.unwrap();
    assert_eq!((one.unwrap(), two.unwrap()), (done.clone(), done.clone()), "once");
    assert!(preview == done.mutations, "{:?}", outcomes(&done));
    done
}

pub(super) fn outcomes(replayed: &ReplayedFork) -> Vec<ReplayOutcome> {
    replayed.mutations.iter().map(|own| own.outcome).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_follow_their_rows_and_what_is_lost_is_told() {
    let cloud = TestCloud::start_without_snapshots().await;
    let mut author = Author::new(&cloud, "rebase").await;
    let source = author.created.id;
    for row in 0..6 {
        author.edit(&cloud, text(row, &format!("row {row}"))).await;
    }
    let made = fork(&cloud, source, "mine", None).await;
    let operations = vec![
        text(1, "mine 1"),
        text(4, "mine 4"),
        insert(3, 1),
        text(3, "new"),
        // In the fork's own space: the row that was row 4, and is now after the new row.
        text(5, "mine again 4"),
        delete(0, 2),
        text(20, "far"),
    ];
    edit_all(&cloud, &made, operations).await;
    // The source deletes row 4 and inserts two rows at the top.
    author.edit(&cloud, delete(4, 1)).await;
    author.edit(&cloud, insert(0, 2)).await;
    author.edit(&cloud, text(0, "top")).await;

    let done = replayed(&cloud, made.id, None).await;
    use ReplayOutcome::{Dropped, Transformed};
    let expected =
        [Transformed, Dropped, Transformed, Transformed, Dropped, Transformed, Transformed];
    assert_eq!(outcomes(&done), expected);
    assert_eq!(done.mutations[1].committed, Some(vec![]));
    assert_eq!(done.mutations[0].author.as_deref(), Some("bob"));
    // The fork deleted rows 0 and 1; the rows that the source inserted before them remain.
    let there = column(&cloud, done.id, done.head).await;
    let expected = [(0, "top"), (2, "row 2"), (3, "new"), (4, "row 3"), (5, "row 5"), (21, "far")];
    assert_eq!(there, shown(&expected));
    let history =
        cloud.client("alice").spreadsheet(done.id).history_page(None, None).await.unwrap();
    let people: Vec<_> = history
        .entries
        .iter()
        .filter_map(|entry| Some((entry.author.as_deref(), entry.merged.as_ref()?.by.as_deref())))
        .collect();
    assert_eq!(people, [(Some("bob"), Some("alice")); 7], "each edit has its author");
    // The old fork is unchanged.
    let old = cloud.client("alice").spreadsheet(made.id).head().await.unwrap().head;
    let there = column(&cloud, made.id, old).await;
    assert_eq!(there[..3], shown(&[(0, "row 2"), (1, "new"), (2, "row 3")]));
    assert_eq!(cloud.client("alice").spreadsheet(source).head().await.unwrap().head, author.base);
    // A replay onto its own position gives the same cells.
    let same = replayed(&cloud, made.id, Some(made.position)).await;
    assert!(outcomes(&same).iter().all(|outcome| *outcome == ReplayOutcome::Unchanged));
    assert_eq!(column(&cloud, same.id, same.head).await, there);
    // A replayed fork can be replayed again.
    author.edit(&cloud, insert(0, 1)).await;
    let again = replayed(&cloud, done.id, None).await;
    assert_eq!(column(&cloud, again.id, again.head).await[0], (1, "top".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn undos_new_sheets_and_sheets_that_are_gone_are_replayed_as_what_they_did() {
    let cloud = TestCloud::start_without_snapshots().await;
    let mut author = Author::new(&cloud, "sheets").await;
    let source = author.created.id;
    let add = |number: u32, name: &str| {
        Operation::AddSheet(AddSheet {
            sheet: SheetId(number),
            name: name.to_owned(),
            before: None,
        })
    };
    author.edit(&cloud, text(0, "first")).await;
    author.edit(&cloud, add(1, "Going")).await;
    let made = fork(&cloud, source, "sheets", None).await;
    let mut own = author_of(&made);
    let first = edit(&cloud, &mut own, 1, text(0, "changed")).await;
    edit(&cloud, &mut own, 2, Operation::Undo(Undo { position: first })).await;
    edit(&cloud, &mut own, 3, text_in(SheetId(1), 0, "on a sheet that goes")).await;
    edit(&cloud, &mut own, 4, add(2, "Mine")).await;
    edit(&cloud, &mut own, 5, text_in(SheetId(2), 0, "on mine")).await;
    author.edit(&cloud, Operation::DeleteSheet(DeleteSheet { sheet: SheetId(1) })).await;
    author.edit(&cloud, add(2, "Theirs")).await;

    let done = replayed(&cloud, made.id, None).await;
    use ReplayOutcome::{Dropped, Transformed, Unchanged};
    assert_eq!(outcomes(&done), [Unchanged, Unchanged, Dropped, Transformed, Transformed]);
    assert_eq!(column(&cloud, done.id, done.head).await, shown(&[(0, "first")]));
    let sheets = cloud.client("alice").spreadsheet(done.id).sheets().await.unwrap().sheets;
    let named: Vec<_> = sheets.iter().map(|sheet| (sheet.sheet.0, sheet.name.as_str())).collect();
    assert_eq!(named, [(0, "Sheet1"), (2, "Theirs"), (3, "Mine")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_edits_go_in_several_requests_and_a_run_that_broke_off_is_finished() {
    let cloud = TestCloud::start_without_snapshots().await;
    let mut author = Author::new(&cloud, "many").await;
    let source = author.created.id;
    author.edit(&cloud, text(0, "first")).await;
    let made = fork(&cloud, source, "many", None).await;
    let request = |ids: std::ops::RangeInclusive<u64>| cellar_api::wire::AppendRequest {
        client_id: "of the fork".to_owned(),
        incarnation: made.incarnation,
        acked_id: ids.start() - 1,
        refuse_unchanged: false,
        mutations: ids
            .map(|id| SentMutation {
                id,
                base: made.head,
                op: text(u32::try_from(id).unwrap(), &format!("edit {id}")),
            })
            .collect(),
    };
    for part in 0..5 {
        let request = request(part * 500 + 1..=part * 500 + 500);
        cloud.client("bob").spreadsheet(made.id).append(&request).await.unwrap();
    }
    author.edit(&cloud, insert(0, 3)).await;
    let replay = planned(&cloud, made.id, None).await;
    assert_eq!(replay.count(), 2_500);
    // Interrupt the command in the middle of the first request, or between requests.
    for after_ms in [0, 5, 20, 60, 120, 250] {
        let limit = std::time::Duration::from_millis(after_ms);
        let _ = tokio::time::timeout(limit, replay.create_replayed_fork()).await;
    }
    let done = replay.create_replayed_fork().await.unwrap();
    assert_eq!(done.mutations.len(), 2_500);
    assert!(done.mutations.iter().all(|own| own.outcome == ReplayOutcome::Transformed));
    let there = column(&cloud, done.id, done.head).await;
    assert_eq!(there.len(), 2_501, "each once");
    assert_eq!((&there[0], &there[2_500]), (&(3, "first".into()), &(2_503, "edit 2500".into())));
    let mut own = 0;
    let mut from = None;
    loop {
        let page = cloud
            .client("alice")
            .spreadsheet(done.id)
            .history_page(from, Some(1_000))
            .await
            .unwrap();
        let newer = page.entries.iter().filter(|entry| entry.position.segment() > 0);
        own += newer.map(|entry| entry.mutations.len()).sum::<usize>();
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    assert_eq!(own, 2_500);
    assert_eq!(replay.preview().await.unwrap(), done.mutations);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_replayed_is_refused_before_anything_is_made() {
    let cloud = TestCloud::start_without_snapshots().await;
    let mut author = Author::new(&cloud, "refused").await;
    let source = author.created.id;
    author.edit(&cloud, text(0, "first")).await;
    author.edit(&cloud, text(0, "second")).await;
    let at = |num| Position::new(0, num).unwrap();
    let made = fork(&cloud, source, "refused", Some(at(1))).await;
    let plan = async |log, onto| {
        ForkReplay::plan(&cloud.client("alice").spreadsheet(log), onto).await.unwrap_err()
    };
    assert!(matches!(plan(source, None).await, ReplayError::NotAFork { id } if id == source));
    for onto in [at(0), at(3), Position::new(7, 0).unwrap()] {
        let refused = plan(made.id, Some(onto)).await;
        assert!(
            matches!(refused, ReplayError::Onto { newest, .. } if newest == at(2)),
            "{refused}"
        );
    }
    let nowhere = LogId::from_uuid(uuid::Uuid::from_u128(7));
    let refused = plan(nowhere, None).await;
    assert!(matches!(refused, ReplayError::Client(ClientError::Problem { .. })), "{refused}");
    let listed = cloud.client("alice").spreadsheet(source).forks_page(None).await.unwrap().forks;
    assert_eq!(listed.len(), 1, "there is exactly one fork");
}
