//! Revert: restores the state at a position despite concurrent writers.

use cellar_base::limits::{MAX_ENTRY_BODY_BYTES, MAX_RESOLVE_ATTEMPTS};
use cellar_log::roll::Rolled;
use cellar_sheet::operation::{
    AddSheet, ClearRange, DeleteSheet, DeleteSpans, RejectionReason, RenameSheet, Revert, Spans,
    Undo,
};

use super::changes::{insert, mutation, row, rows};
use super::undo::log_with_one_edit;
use super::*;

const WHO: u8 = 9;

fn revert(id: u64, to: Position, base: Position) -> Request {
    mutation(WHO, id, base, Operation::Revert(Revert::whole(to)))
}

fn undo(id: u64, target: Position, base: Position) -> Request {
    mutation(WHO, id, base, Operation::Undo(Undo { position: target }))
}

fn reason(appended: &Appended) -> Option<RejectionReason> {
    appended.results[0].rejection.as_ref().map(|rejection| rejection.reason)
}

/// Returns the cells of all sheets, by sheet name.
async fn shown(logs: &Logs, at: Option<Position>) -> Vec<(String, Vec<(u32, u32, String)>)> {
    let workbook = logs.workbook(log(), at, None).await.unwrap().workbook;
    let mut sheets: Vec<_> = workbook
        .sheets()
        .map(|(id, sheet)| {
            let cells = sheet.cells_in(Rectangle::EVERYTHING);
            let texts = cells.map(|((row, column), cell)| (row, column, cell.text()));
            (workbook.tabs().name(id).unwrap().to_owned(), texts.collect())
        })
        .collect();
    sheets.sort();
    sheets
}

/// Creates a log with an edit of every kind after 0.2.
async fn busy(logs: &Logs) -> Position {
    logs.create(log(), None).await.unwrap();
    let add = |number, name: &str| {
        Operation::AddSheet(AddSheet {
            sheet: SheetId(number),
            name: name.to_owned(),
            before: None,
        })
    };
    let on = |number, text: &str| match set(4, text) {
        Operation::SetCells(cells) => {
            Operation::SetCells(SetCells { sheet: SheetId(number), ..cells })
        }
        other => panic!("{other:?}"),
    };
    let sheet = SheetId(1);
    let steps = [
        add(1, "Costs"),
        on(1, "seven"),
        set(0, "one"),
        insert(0, 2),
        Operation::DeleteRows(DeleteSpans { sheet: SheetId(0), spans: Spans::one(1, 1) }),
        Operation::RenameSheet(RenameSheet { sheet: SheetId(0), name: "Prices".to_owned() }),
        add(2, "New"),
        on(2, "nine"),
        Operation::DeleteSheet(DeleteSheet { sheet }),
        format("0.00", 1),
    ];
    let mut tail = Position::FIRST;
    for (id, step) in (1..).zip(steps) {
        tail = logs.append(mutation(1, id, tail, step)).await.unwrap().tail;
    }
    tail
}

fn format(format: &str, column: u32) -> Operation {
    let (rows, columns) = (Spans::one(0, 9), Spans::one(column, 1));
    let (sheet, format) = (SheetId::FIRST, format.to_owned());
    Operation::SetFormat(cellar_sheet::operation::SetFormat { sheet, rows, columns, format })
}

#[tokio::test]
async fn reverts_to_every_position_and_back() {
    for num in 0..=9 {
        let logs = logs(&Arc::new(MemoryTables::default()));
        let tail = busy(&logs).await;
        let (then, before) = (shown(&logs, Some(at(0, num))).await, shown(&logs, None).await);
        let restored = logs.append(revert(1, at(0, num), tail)).await.unwrap();
        assert_eq!(reason(&restored), None, "{num}");
        assert_eq!(shown(&logs, None).await, then, "{num}");
        assert_eq!(shown(&logs, Some(tail)).await, before, "{num}: nothing is lost");
        let undone = logs.append(undo(2, restored.tail, restored.tail)).await.unwrap();
        assert_eq!(reason(&undone), None, "{num}");
        assert_eq!(shown(&logs, None).await, before, "{num}");
        let again = logs.append(revert(3, restored.tail, undone.tail)).await.unwrap();
        assert_eq!(reason(&again), None, "{num}");
        assert_eq!(shown(&logs, None).await, then, "{num}");
    }
}

#[tokio::test]
async fn a_repeated_revert_changes_nothing() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    logs.append(request(1, 0, 2, at(0, 1), "two")).await.unwrap();
    logs.append(revert(1, at(0, 1), at(0, 2))).await.unwrap();
    // A repeated revert by another client.
    logs.append(request(2, 0, 1, at(0, 3), "two")).await.unwrap();
    let undone = logs.append(undo(2, at(0, 2), at(0, 3))).await.unwrap();
    assert_eq!(reason(&undone), Some(RejectionReason::NothingToUndo));
    assert_eq!(rows(&logs, None).await, row(0, "two"));
}

#[tokio::test]
async fn reverts_a_concurrent_edit_as_well() {
    let (tables, logs) = log_with_one_edit().await;
    tables.compete([set(0, "theirs"), insert(0, 1), set(5, "more")]);
    let restored = logs.append(revert(1, at(0, 0), at(0, 1))).await.unwrap();
    assert_eq!((restored.results[0].position, reason(&restored)), (Some(at(0, 5)), None));
    assert_eq!(rows(&logs, None).await, []);
}

#[tokio::test]
async fn a_revert_gives_up_after_too_many_conflicts() {
    for (others, is_done) in [(MAX_RESOLVE_ATTEMPTS - 1, true), (MAX_RESOLVE_ATTEMPTS, false)] {
        let (tables, logs) = log_with_one_edit().await;
        tables.compete((0..others).map(|row| set(row + 1, "theirs")));
        let asked = revert(1, at(0, 0), at(0, 1));
        let restored = logs.append(asked.clone()).await;
        if is_done {
            assert_eq!(reason(&restored.unwrap()), None);
        } else {
            assert_eq!(restored, Err(LogError::Refused(Refusal::Contention)));
            assert_eq!(reason(&logs.append(asked).await.unwrap()), None, "repeated as it is");
        }
        assert_eq!(rows(&logs, None).await, []);
    }
}

#[tokio::test]
async fn reverts_once_despite_any_single_fault() {
    for fault in [Fault::Refused, Fault::ReplyLost] {
        for faulty_call in 2..16 {
            let tables = faulty(faulty_call, fault);
            let (one, two) = (logs(&tables), logs(&tables));
            one.create(log(), None).await.unwrap();
            one.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
            let asked = revert(1, at(0, 0), at(0, 1));
            two.append(asked.clone()).await.unwrap();
            assert_eq!(rows(&one, None).await, [], "{faulty_call}");
            one.append(request(1, 1, 2, at(0, 2), "again")).await.unwrap();
            assert!(two.append(asked).await.unwrap().results[0].duplicate, "{faulty_call}");
            assert_eq!(rows(&two, None).await, row(0, "again"));
        }
    }
}

#[tokio::test]
async fn a_revert_without_effect_is_rejected() {
    let tables = Arc::new(MemoryTables::default());
    let logs = logs(&tables);
    logs.create(log(), None).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    tables.raise_last_snapshot(log(), Position::FIRST).await.unwrap();
    let tail = logs.history(log(), None, 1).await.unwrap().entries.remove(0);
    assert_eq!(logs.roll(tail).await, Ok(Rolled::Into { segment: 1 }));
    let mut base = at(1, 0);
    // The newest position, a later one, one after the end of a closed segment, and one in a missing
    // segment.
    for (id, to) in (1..).zip([base, at(1, 7), at(0, 99), at(9, 0)]) {
        let restored = logs.append(revert(id, to, base)).await.unwrap();
        assert_eq!(reason(&restored), Some(RejectionReason::NothingToRevert), "{to}");
        base = restored.tail;
    }
    let restored = logs.append(revert(5, at(0, 0), base)).await.unwrap();
    assert_eq!(reason(&restored), None);
    assert_eq!(rows(&logs, None).await, []);
}

#[tokio::test]
async fn a_revert_that_is_too_large_suggests_a_fork() {
    let largest = MAX_ENTRY_BODY_BYTES / 2;
    for (bytes, fits) in [(largest - 200, true), (largest + 200, false)] {
        let logs = logs(&Arc::new(MemoryTables::default()));
        logs.create(log(), None).await.unwrap();
        let mut tail = Position::FIRST;
        for half in 0..2_u32 {
            let texts = vec!["x".repeat(30_000); bytes / 30_000];
            let rest = "x".repeat(bytes % 30_000);
            let cells = (0..).zip(texts.into_iter().chain([rest])).map(|(column, text)| CellEdit {
                row: half,
                column,
                value: Some(Value::Text(text)),
                formula: None,
                format: None,
            });
            let cells = SetCells { sheet: SheetId::FIRST, cells: cells.collect() };
            let request = mutation(1, u64::from(half) + 1, tail, Operation::SetCells(cells));
            tail = logs.append(request).await.unwrap().tail;
        }
        let (sheet, rows, columns) = (SheetId::FIRST, Spans::one(0, 2), Spans::one(0, 99));
        let clear = Operation::ClearRange(ClearRange { sheet, rows, columns });
        let cleared = logs.append(mutation(2, 1, tail, clear)).await.unwrap().tail;
        let restored = logs.append(revert(1, tail, cleared)).await.unwrap();
        assert_eq!(reason(&restored), (!fits).then_some(RejectionReason::TooLarge), "{bytes}");
        if let Some(rejection) = &restored.results[0].rejection {
            assert!(
                rejection.detail.contains("fork the spreadsheet at 0.2"),
                "{}",
                rejection.detail
            );
        }
    }
}
