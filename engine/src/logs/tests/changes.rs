//! Moved rows, history and rolls over tables that inject one fault.

use cellar_log::roll::Rolled;
use cellar_sheet::operation::InsertBefore;

use super::*;

pub(super) fn mutation(client: u8, id: u64, base: Position, operation: Operation) -> Request {
    let mutations = vec![NewMutation { id, base, operation }];
    Request::new(log(), ClientKey([client; 8]), None, FIRST_INCARNATION, 0, mutations).unwrap()
}

pub(super) fn insert(before: u32, count: u32) -> Operation {
    Operation::InsertRows(InsertBefore { sheet: SheetId::FIRST, before, count })
}

pub(super) async fn rows(logs: &Logs, at: Option<Position>) -> Vec<(u32, String)> {
    let read = logs.cells(log(), &everything(at)).await.unwrap();
    read.cells.iter().map(|placed| (placed.row, placed.cell.text())).collect()
}

pub(super) fn row(row: u32, text: &str) -> Vec<(u32, String)> {
    vec![(row, text.to_owned())]
}

#[tokio::test]
async fn an_edit_follows_its_row_despite_any_single_fault() {
    for fault in [Fault::Refused, Fault::ReplyLost] {
        for faulty_call in 0..12 {
            let tables = faulty(faulty_call, fault);
            let (one, two) = (logs(&tables), logs(&tables));
            one.create(log(), None).await.unwrap();
            one.append(mutation(1, 1, Position::FIRST, insert(0, 3))).await.unwrap();
            // The other client has not seen the insert.
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
async fn history_spans_segments_and_pages() {
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
async fn rolls_once_despite_any_single_fault() {
    for fault in [Fault::Refused, Fault::ReplyLost] {
        for faulty_call in 0..10 {
            let tables = faulty(faulty_call, fault);
            let service = logs(&tables);
            service.create(log(), None).await.unwrap();
            tables.tables.raise_last_snapshot(log(), Position::FIRST).await.unwrap();
            service.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
            let tail = service.tails.last(0, log()).unwrap();
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
    let tail = logs.tails.last(0, log()).unwrap();
    assert_eq!(logs.roll(tail).await, Ok(Rolled::NoSnapshotYet));
}
