//! Rows that move, undo, history, roll: over tables of which any one call goes wrong.

use cellar_core::operation::{DeleteSpans, InsertBefore, Spans, Undo};
use cellar_core::roll::Rolled;

use super::*;

fn mutation(client: u8, id: u64, base: Position, operation: Operation) -> Request {
    let mutations = vec![NewMutation { id, base, operation, resolved: None }];
    Request::new(log(), ClientKey([client; 8]), None, FIRST_EPOCH, 0, mutations).unwrap()
}

fn insert(before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count })
}

async fn undo(logs: &Logs, id: u64, target: Position, base: Position) -> Request {
    let resolved = logs.resolve_undo(log(), target, base).await.unwrap();
    let operation = Operation::Undo(Undo { position: target });
    let mutations = vec![NewMutation { id, base, operation, resolved }];
    Request::new(log(), ClientKey([9; 8]), None, FIRST_EPOCH, 0, mutations).unwrap()
}

async fn rows(logs: &Logs, at: Option<Position>) -> Vec<(u32, String)> {
    let read = logs.cells(log(), &everything(at)).await.unwrap();
    read.cells.iter().map(|placed| (placed.row, placed.cell.text())).collect()
}

fn row(row: u32, text: &str) -> Vec<(u32, String)> {
    vec![(row, text.to_owned())]
}

#[tokio::test]
async fn a_cell_lands_in_the_row_its_author_saw_whatever_one_call_does() {
    for fault in [Fault::Before, Fault::ReplyLost] {
        for faulty_call in 0..12 {
            let tables = FaultyTables::new(faulty_call, fault);
            let (one, two) = (logs(&tables), logs(&tables));
            one.create(log(), None).await.unwrap();
            one.append(mutation(1, 1, Position::FIRST, insert(0, 3))).await.unwrap();
            // The other has not seen the insert.
            let late = mutation(2, 1, Position::FIRST, set(0, "mine"));
            let appended = two.append(late.clone()).await.unwrap();
            let committed = Some(vec![set(3, "mine")]);
            assert_eq!(appended.results[0].committed, committed, "{faulty_call}");
            assert_eq!(rows(&one, None).await, row(3, "mine"));
            let again = two.append(late).await.unwrap();
            assert!(again.results[0].duplicate);
            assert_eq!(again.results[0].position, appended.results[0].position);
            assert_eq!(rows(&two, Some(at(0, 1))).await, []);
        }
    }
}

#[tokio::test]
async fn an_undo_takes_back_once_and_an_undo_of_it_does_it_again() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    logs.append(request(1, 0, 2, at(0, 1), "two")).await.unwrap();
    logs.append(mutation(2, 1, at(0, 2), insert(0, 2))).await.unwrap();
    let undone = logs.append(undo(&logs, 1, at(0, 2), at(0, 2)).await).await.unwrap();
    assert_eq!(undone.results[0].rejection, None);
    assert_eq!(rows(&logs, None).await, row(2, "one"));
    let again = logs.append(undo(&logs, 2, at(0, 2), at(0, 4)).await).await.unwrap();
    assert!(again.results[0].rejection.is_some(), "it is taken back already");
    logs.append(undo(&logs, 3, at(0, 4), at(0, 5)).await).await.unwrap();
    assert_eq!(rows(&logs, None).await, row(2, "two"));
    logs.append(undo(&logs, 4, at(0, 3), at(0, 6)).await).await.unwrap();
    assert_eq!(rows(&logs, None).await, row(0, "two"));
}

#[tokio::test]
async fn what_others_changed_since_stays() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "mine")).await.unwrap();
    logs.append(request(2, 0, 1, at(0, 1), "theirs")).await.unwrap();
    let undone = logs.append(undo(&logs, 1, at(0, 1), at(0, 2)).await).await.unwrap();
    assert!(undone.results[0].rejection.is_some());
    assert_eq!(rows(&logs, None).await, row(0, "theirs"));
}

#[tokio::test]
async fn an_undo_is_moved_past_what_comes_in_between() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    let resolved = undo(&logs, 1, at(0, 1), at(0, 1)).await;
    logs.append(mutation(2, 1, at(0, 1), insert(0, 5))).await.unwrap();
    logs.append(resolved).await.unwrap();
    assert_eq!(rows(&logs, None).await, []);
}

#[tokio::test]
async fn two_undos_at_once_take_back_once() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    let delete = DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(0, 1) };
    logs.append(mutation(2, 1, at(0, 1), Operation::DeleteRows(delete))).await.unwrap();
    // Both are resolved before either is appended.
    let first = undo(&logs, 1, at(0, 2), at(0, 2)).await;
    let resolved = logs.resolve_undo(log(), at(0, 2), at(0, 2)).await.unwrap();
    let operation = Operation::Undo(Undo { position: at(0, 2) });
    let second = vec![NewMutation { id: 1, base: at(0, 2), operation, resolved }];
    let second = Request::new(log(), ClientKey([8; 8]), None, FIRST_EPOCH, 0, second).unwrap();
    logs.append(first).await.unwrap();
    let lost = logs.append(second).await.unwrap();
    let rejection = lost.results[0].rejection.clone().unwrap();
    assert!(rejection.detail.contains("by another"), "{rejection:?}");
    assert_eq!(rows(&logs, None).await, row(0, "one"));
    assert!(logs.has_mutation(log(), ClientKey([8; 8]), 1, at(0, 2)).await.unwrap());
    assert!(!logs.has_mutation(log(), ClientKey([8; 8]), 2, at(0, 2)).await.unwrap());
}

#[tokio::test]
async fn history_goes_back_over_segments_and_pages() {
    let tables = Arc::new(MemoryTables::default());
    let logs = logs(&tables);
    logs.create(log(), None).await.unwrap();
    tables.raise_last_snapshot(log(), Position::FIRST).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    let tail = logs.history(log(), None, 1).await.unwrap().entries.remove(0);
    assert_eq!(logs.roll(tail.clone()).await, Ok(Rolled::Into { segment: 1 }));
    assert_eq!(logs.roll(tail).await, Ok(Rolled::Into { segment: 1 }), "once");
    logs.append(request(1, 0, 2, at(0, 1), "two")).await.unwrap();
    let whole = ["1.1", "1.0", "0.2", "0.1", "0.0"];
    for limit in [1, 2, 3, 9] {
        let (mut from, mut seen) = (None, Vec::new());
        loop {
            let history = logs.history(log(), from, limit).await.unwrap();
            assert!(history.entries.len() <= limit as usize);
            seen.extend(history.entries.iter().map(|entry| entry.position.to_string()));
            from = history.next;
            if from.is_none() {
                break;
            }
        }
        assert_eq!(seen, whole, "{limit}");
    }
    let beyond = logs.history(log(), Some(at(1, 2)), 1).await;
    assert_eq!(beyond, Err(LogError::NoSuchPosition { at: at(1, 2), newest: at(1, 1) }));
    let diff = logs.diff(log(), at(0, 1), at(1, 1)).await.unwrap();
    let cell = &diff.sheets[0].cells[0];
    assert_eq!((cell.before.text(), cell.after.text()), ("one".into(), "two".into()));
    assert_eq!(logs.diff(log(), at(1, 0), at(0, 1)).await.unwrap().sheets, []);
}

#[tokio::test]
async fn a_roll_happens_once_whatever_one_call_does() {
    for fault in [Fault::Before, Fault::ReplyLost] {
        for faulty_call in 0..10 {
            let tables = FaultyTables::new(faulty_call, fault);
            let service = logs(&tables);
            service.create(log(), None).await.unwrap();
            tables.raise_last_snapshot(log(), Position::FIRST).await.unwrap();
            service.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
            let tail = service.known.last(0, log()).unwrap();
            assert_eq!(service.roll(tail).await, Ok(Rolled::Into { segment: 1 }));
            let appended = service.append(request(1, 0, 2, at(0, 1), "two")).await.unwrap();
            assert_eq!(appended.tail, at(1, 1), "{faulty_call}");
            assert_eq!(texts(&logs(&tables), None).await, ["two"]);
        }
    }
}

#[tokio::test]
async fn a_segment_without_a_snapshot_is_not_rolled() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    let tail = logs.known.last(0, log()).unwrap();
    assert_eq!(logs.roll(tail).await, Ok(Rolled::NoSnapshotYet));
}
