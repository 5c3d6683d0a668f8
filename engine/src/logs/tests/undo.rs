//! Undo: reverses one entry and preserves edits of concurrent writers.

use cellar_base::limits::MAX_RESOLVE_ATTEMPTS;
use cellar_log::append::Refusal;
use cellar_log::entry::ExternalEdits;
use cellar_log::transform::SpaceMap;
use cellar_sheet::operation::{DeleteSpans, RejectionReason, SetFormat, Spans, Undo};
use cellar_sheet::workbook::{ReversalCounts, ReversalReport};

use super::changes::{insert, mutation, row, rows};
use super::disturbed_tables::{CompetingEdit, DisturbedTables};
use super::*;

fn undo_by(who: u8, id: u64, target: Position, base: Position) -> Request {
    let operation = Operation::Undo(Undo { position: target });
    let mutations = vec![NewMutation { id, base, operation }];
    Request::new(log(), ClientKey([who; 8]), None, FIRST_INCARNATION, 0, mutations).unwrap()
}

fn undo(id: u64, target: Position, base: Position) -> Request {
    undo_by(9, id, target, base)
}

/// Creates a log with one edit. Other clients may win the race for the next positions.
pub(super) async fn log_with_one_edit() -> (Arc<DisturbedTables>, Logs) {
    let tables = Arc::new(DisturbedTables::default());
    let logs = logs(&tables);
    let first = Entry::first(log(), None, 0);
    assert_eq!(tables.tables.put(&first).await, PutOutcome::Accepted);
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    (tables, logs)
}

#[tokio::test]
async fn an_undo_preserves_concurrent_edits() {
    let (tables, logs) = log_with_one_edit().await;
    // An edit of the cell, a row inserted above it, and another edit of the cell.
    tables.compete([set(0, "theirs"), insert(0, 1)]);
    let undone = logs.append(undo(1, at(0, 1), at(0, 1))).await.unwrap();
    let rejection = undone.results[0].rejection.clone().unwrap();
    assert_eq!(rejection.reason, RejectionReason::NothingToUndo);
    assert!(rejection.detail.ends_with("was changed again since: 1 cell"), "{}", rejection.detail);
    assert_eq!(rows(&logs, None).await, row(1, "theirs"));
}

#[tokio::test]
async fn an_undo_follows_rows_that_move_concurrently() {
    let (tables, logs) = log_with_one_edit().await;
    tables.compete([insert(0, 2), insert(0, 3)]);
    let undone = logs.append(undo(1, at(0, 1), at(0, 1))).await.unwrap();
    assert_eq!((undone.results[0].position, undone.results[0].duplicate), (Some(at(0, 4)), false));
    let Some([Operation::SetCells(set)]) = undone.results[0].committed.as_deref() else { panic!() };
    assert_eq!(set.cells[0].row, 5);
    assert_eq!(rows(&logs, None).await, []);
    let again = logs.append(undo(1, at(0, 1), at(0, 1))).await.unwrap();
    assert!(again.results[0].duplicate);
}

#[tokio::test]
async fn an_undo_preserves_a_concurrent_format() {
    let (tables, logs) = log_with_one_edit().await;
    let format = |format: &str, column| {
        let (sheet, rows, columns) = (SheetId::FIRST, Spans::one(0, 9), Spans::one(column, 1));
        Operation::SetFormat(SetFormat { sheet, rows, columns, format: format.to_owned() })
    };
    logs.append(mutation(2, 1, at(0, 1), format("0.0", 0))).await.unwrap();
    tables.compete([format("0.00", 3)]);
    logs.append(undo(1, at(0, 2), at(0, 2))).await.unwrap();
    let formats = logs.cells(log(), &everything(None)).await.unwrap().formats;
    let shown = formats.iter().rev().find(|format| format.columns.contains(3)).unwrap();
    assert_eq!(shown.format, "0.00");
}

#[tokio::test]
async fn an_undo_reports_what_it_took_back_and_what_it_left() {
    let (tables, logs) = log_with_one_edit().await;
    let cells = [set(1, "a"), set(2, "b"), set(3, "c")].into_iter().flat_map(|operation| {
        let Operation::SetCells(set) = operation else { panic!() };
        set.cells
    });
    let cells = SetCells { sheet: SheetId::FIRST, cells: cells.collect() };
    logs.append(mutation(2, 1, at(0, 1), Operation::SetCells(cells))).await.unwrap();
    // A concurrent edit is counted as well.
    tables.compete([set(2, "theirs")]);
    let asked = undo(1, at(0, 2), at(0, 2));
    let undone = logs.append(asked.clone()).await.unwrap();
    let counts = |cells| ReversalCounts { cells, ..ReversalCounts::default() };
    let report = ReversalReport { restored: counts(2), left: counts(1), ..Default::default() };
    assert_eq!(undone.results[0].reversal, Some(report));
    let again = logs.append(asked).await.unwrap();
    assert_eq!((again.results[0].duplicate, again.results[0].reversal), (true, None));
}

#[tokio::test]
async fn an_undo_gives_up_after_too_many_conflicts() {
    for (others, is_done) in [(MAX_RESOLVE_ATTEMPTS - 1, true), (MAX_RESOLVE_ATTEMPTS, false)] {
        let (tables, logs) = log_with_one_edit().await;
        tables.compete((0..others).map(|row| set(row + 1, "theirs")));
        let asked = undo(1, at(0, 1), at(0, 1));
        let undone = logs.append(asked.clone()).await;
        if is_done {
            assert_eq!(undone.unwrap().results[0].rejection, None);
        } else {
            assert_eq!(undone, Err(LogError::Refused(Refusal::Contention)));
            // The unchanged request succeeds when it is retried.
            assert_eq!(logs.append(asked).await.unwrap().results[0].rejection, None);
        }
    }
}

#[tokio::test]
async fn undoes_once_despite_any_single_fault() {
    for fault in [Fault::Refused, Fault::ReplyLost] {
        for faulty_call in 2..14 {
            let tables = faulty(faulty_call, fault);
            let (one, two) = (logs(&tables), logs(&tables));
            let created = one.create(log(), None).await.is_ok();
            let set = one.append(request(1, 0, 1, Position::FIRST, "one")).await.is_ok();
            assert!(created && set, "{faulty_call}");
            let asked = undo(1, at(0, 1), at(0, 1));
            // A read that fails once is retried.
            two.append(asked.clone()).await.unwrap();
            assert_eq!(rows(&one, None).await, []);
            one.append(request(1, 1, 2, at(0, 2), "again")).await.unwrap();
            assert!(two.append(asked).await.unwrap().results[0].duplicate, "{faulty_call}");
            assert_eq!(rows(&two, None).await, row(0, "again"));
        }
    }
}

#[tokio::test]
async fn undoes_once_and_redoes() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    logs.append(request(1, 0, 2, at(0, 1), "two")).await.unwrap();
    logs.append(mutation(2, 1, at(0, 2), insert(0, 2))).await.unwrap();
    let undone = logs.append(undo(1, at(0, 2), at(0, 2))).await.unwrap();
    assert_eq!(undone.results[0].rejection, None);
    assert_eq!(rows(&logs, None).await, row(2, "one"));
    let again = logs.append(undo(2, at(0, 2), at(0, 4))).await.unwrap();
    assert!(again.results[0].rejection.is_some(), "it is taken back already");
    logs.append(undo(3, at(0, 4), at(0, 5))).await.unwrap();
    assert_eq!(rows(&logs, None).await, row(2, "two"));
    logs.append(undo(4, at(0, 3), at(0, 6))).await.unwrap();
    assert_eq!(rows(&logs, None).await, row(0, "two"));
}

#[tokio::test]
async fn an_undo_preserves_later_edits_of_others() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "mine")).await.unwrap();
    logs.append(request(2, 0, 1, at(0, 1), "theirs")).await.unwrap();
    let undone = logs.append(undo(1, at(0, 1), at(0, 2))).await.unwrap();
    assert!(undone.results[0].rejection.is_some());
    assert_eq!(rows(&logs, None).await, row(0, "theirs"));
}

#[tokio::test]
async fn an_unresolvable_undo_is_rejected() {
    let (tables, logs) = log_with_one_edit().await;
    // A large entry without its object makes the rest of the log unreadable.
    let lost = ExternalEdits {
        client: ClientKey([77; 8]),
        first_id: 1,
        count: 1,
        base: at(0, 1),
        object: "external/lost".to_owned(),
        bytes: 9,
        sha256: [9; 32],
        map: SpaceMap::default(),
    };
    let first = Entry::first(log(), None, 0);
    let lost = Entry { position: at(0, 2), content: Content::External(lost), ..first };
    assert_eq!(tables.tables.put(&lost).await, PutOutcome::Accepted);
    assert_eq!(logs.workbook(log(), None, None).await, Err(LogError::Corrupt { at: at(0, 2) }));
    let undone = logs.append(undo(1, at(0, 1), at(0, 1))).await.unwrap();
    let rejection = undone.results[0].rejection.clone().unwrap();
    assert_eq!(rejection.reason, RejectionReason::TooLarge);
    let next = vec![NewMutation { id: 2, base: at(0, 1), operation: set(0, "next") }];
    let next = Request::new(log(), ClientKey([9; 8]), None, FIRST_INCARNATION, 1, next).unwrap();
    assert_eq!(logs.append(next).await.unwrap().results[0].position, Some(at(0, 4)));
}

#[tokio::test]
async fn concurrent_undos_reverse_once() {
    let delete = DeleteSpans { sheet: SheetId::FIRST, spans: Spans::one(0, 1) };
    let delete = || mutation(2, 1, at(0, 1), Operation::DeleteRows(delete.clone()));
    let target = at(0, 2);
    // Resolves the other undo on an identical log.
    let (_, twin) = log_with_one_edit().await;
    twin.append(delete()).await.unwrap();
    let other = twin.append(undo_by(8, 1, target, target)).await.unwrap();
    let parts = other.results[0].committed.clone().unwrap();

    let (tables, logs) = log_with_one_edit().await;
    logs.append(delete()).await.unwrap();
    let authored = Operation::Undo(Undo { position: target });
    tables.compete_with(CompetingEdit { authored, committed: Some(parts) });
    let lost = logs.append(undo(1, target, target)).await.unwrap();
    let rejection = lost.results[0].rejection.clone().unwrap();
    assert_eq!(rejection.reason, RejectionReason::NothingToUndo);
    assert_eq!(rows(&logs, None).await, row(0, "one"));
    // A rejected undo reverses nothing: the other undo can still be undone.
    logs.append(undo(2, at(0, 3), at(0, 4))).await.unwrap();
    assert_eq!(rows(&logs, None).await, []);
}
