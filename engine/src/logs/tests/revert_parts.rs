//! Reverts of one sheet or range, and reverts that change nothing.

use cellar_sheet::operation::{AddSheet, DeleteSheet, RejectionReason, RenameSheet, Revert, Span};
use cellar_sheet::workbook::ReversalCounts;

use super::changes::{insert, mutation, row, rows};
use super::undo::log_with_one_edit;
use super::*;

const WHO: u8 = 9;
const COSTS: SheetId = SheetId(1);

fn revert(id: u64, revert: Revert, base: Position) -> Request {
    mutation(WHO, id, base, Operation::Revert(revert))
}

fn revert_of(sheet: SheetId, to: Position) -> Revert {
    Revert { sheet: Some(sheet), ..Revert::whole(to) }
}

fn revert_of_rows(first: u32, count: u32, to: Position) -> Revert {
    Revert { rows: Some(Span { first, count }), ..revert_of(SheetId::FIRST, to) }
}

fn on(sheet: SheetId, operation: Operation) -> Operation {
    match operation {
        Operation::SetCells(set) => Operation::SetCells(SetCells { sheet, ..set }),
        other => panic!("{other:?}"),
    }
}

fn rejection(appended: &Appended) -> Option<RejectionReason> {
    appended.results[0].rejection.as_ref().map(|rejection| rejection.reason)
}

async fn sheet_texts(logs: &Logs) -> Vec<(String, Vec<String>)> {
    let workbook = logs.workbook(log(), None, None).await.unwrap().workbook;
    workbook
        .sheets()
        .map(|(id, sheet)| {
            let cells = sheet.cells_in(Rectangle::EVERYTHING);
            let texts = cells.map(|(_, cell)| cell.text()).collect();
            (workbook.tabs().name(id).unwrap().to_owned(), texts)
        })
        .collect()
}

fn named(sheets: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    sheets.iter().map(|(name, list)| ((*name).to_owned(), texts(list))).collect()
}

/// Creates a log with the sheets Sheet1, Costs and Last, and applies these operations. Returns the
/// position of the last one. The three sheets are complete at 0.4.
async fn three_sheets(logs: &Logs, operations: Vec<Operation>) -> Position {
    logs.create(log(), None).await.unwrap();
    let add = |sheet, name: &str| {
        Operation::AddSheet(AddSheet { sheet, name: name.to_owned(), before: None })
    };
    let first = [add(COSTS, "Costs"), add(SheetId(2), "Last"), set(0, "one")];
    let costs = [on(COSTS, set(0, "rent"))];
    let mut tail = Position::FIRST;
    for (id, operation) in (1..).zip(first.into_iter().chain(costs).chain(operations)) {
        tail = logs.append(mutation(1, id, tail, operation)).await.unwrap().tail;
    }
    tail
}

#[tokio::test]
async fn a_revert_of_a_sheet_leaves_the_others() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    let rename = RenameSheet { sheet: COSTS, name: "Prices".to_owned() };
    let later = vec![set(0, "two"), on(COSTS, set(0, "food")), Operation::RenameSheet(rename)];
    let tail = three_sheets(&logs, later).await;
    let reverted = logs.append(revert(1, revert_of(COSTS, at(0, 4)), tail)).await.unwrap();
    let counts = ReversalCounts { cells: 1, names: 1, ..ReversalCounts::default() };
    assert_eq!(reverted.results[0].reversal.unwrap().restored, counts);
    let expected = named(&[("Sheet1", &["two"]), ("Costs", &["rent"]), ("Last", &[])]);
    assert_eq!(sheet_texts(&logs).await, expected);
    let again = logs.append(revert(2, revert_of(COSTS, at(0, 4)), reverted.tail)).await.unwrap();
    assert_eq!(rejection(&again), Some(RejectionReason::NothingToRevert));
    let missing =
        logs.append(revert(3, revert_of(SheetId(7), at(0, 4)), again.tail)).await.unwrap();
    assert_eq!(rejection(&missing), Some(RejectionReason::NoSuchSheet));
}

#[tokio::test]
async fn a_reverted_sheet_keeps_its_place_and_its_diff() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    let delete = Operation::DeleteSheet(DeleteSheet { sheet: COSTS });
    let tail = three_sheets(&logs, vec![delete]).await;
    let whole = Revert::whole(at(0, 4));
    for (id, asked) in (1..).zip([revert_of(COSTS, at(0, 4)), whole]) {
        let head = logs.head(log(), None).await.unwrap().head;
        let reverted = logs.append(revert(id, asked, head)).await.unwrap();
        if asked == whole {
            assert_eq!(rejection(&reverted), Some(RejectionReason::NothingToRevert));
        }
        let expected = named(&[("Sheet1", &["one"]), ("Costs", &["rent"]), ("Last", &[])]);
        assert_eq!(sheet_texts(&logs).await, expected);
        let diff = logs.diff(log(), at(0, 4), reverted.tail).await.unwrap();
        assert_eq!(diff.sheets, []);
    }
    assert_eq!(tail, at(0, 5));
}

#[tokio::test]
async fn a_revert_of_a_range_follows_rows_that_moved() {
    for late in [false, true] {
        let (tables, logs) = log_with_one_edit().await;
        for (id, (row, text)) in (1..).zip([(1, "b"), (0, "changed"), (1, "changed")]) {
            let base = at(0, u32::try_from(id).unwrap());
            logs.append(mutation(2, id, base, set(row, text))).await.unwrap();
        }
        // The author has seen the second row as row 1. Another author inserts rows before it, either
        // before the revert is sent, or while it is appended.
        let base = at(0, 4);
        if late {
            tables.compete([insert(0, 2)]);
        } else {
            logs.append(mutation(3, 1, base, insert(0, 2))).await.unwrap();
        }
        let asked = revert_of_rows(1, 1, at(0, 2));
        let reverted = logs.append(revert(1, asked, base)).await.unwrap();
        assert_eq!(rejection(&reverted), None, "{late}");
        let expected = [row(2, "changed"), row(3, "b")].concat();
        assert_eq!(rows(&logs, None).await, expected, "{late}");
        let again = logs.append(revert(2, revert_of_rows(3, 1, at(0, 2)), reverted.tail)).await;
        assert_eq!(rejection(&again.unwrap()), Some(RejectionReason::NothingToRevert));
    }
}

#[tokio::test]
async fn a_revert_that_changes_nothing_leaves_no_entry_if_it_is_refused() {
    let (_, logs) = log_with_one_edit().await;
    let head = at(0, 1);
    for asked in [Revert::whole(head), revert_of(SheetId::FIRST, head), revert_of_rows(0, 1, head)]
    {
        let refused =
            logs.append_with(revert(1, asked, head), WhenUnchanged::Refuse).await.unwrap_err();
        let LogError::NothingToReverse { why } = refused else { panic!("{refused:?}") };
        assert!(why.starts_with("nothing to revert: the "), "{why}");
        assert_eq!(logs.head(log(), None).await.unwrap().head, head);
    }
    // The id is free for the next mutation.
    let next = logs.append(mutation(WHO, 1, head, set(0, "two"))).await.unwrap();
    assert_eq!((next.results[0].duplicate, next.tail), (false, at(0, 2)));
    // A revert that has an effect is appended once, even if it is repeated.
    let asked = revert(2, Revert::whole(head), at(0, 2));
    let reverted = logs.append_with(asked.clone(), WhenUnchanged::Refuse).await.unwrap();
    assert_eq!((rejection(&reverted), reverted.tail), (None, at(0, 3)));
    let again = logs.append_with(asked, WhenUnchanged::Refuse).await.unwrap();
    assert!(again.results[0].duplicate && again.results[0].position == Some(at(0, 3)));
}

#[tokio::test]
async fn a_revert_is_not_refused_because_of_a_stale_read() {
    let (tables, logs) = log_with_one_edit().await;
    logs.append(mutation(2, 1, at(0, 1), set(0, "theirs"))).await.unwrap();
    // Another process does not see the second edit at first.
    tables.hide_from(at(0, 2));
    let other = super::logs(&tables);
    let asked = revert(1, Revert::whole(at(0, 1)), at(0, 1));
    let reverted = other.append_with(asked.clone(), WhenUnchanged::Refuse).await.unwrap();
    assert_eq!((rejection(&reverted), reverted.tail), (None, at(0, 3)));
    assert_eq!(rows(&logs, Some(at(0, 3))).await, row(0, "one"));
    // A third process does not see the revert, which must not be refused as a repetition.
    let third = super::logs(&tables);
    let again = third.append_with(asked, WhenUnchanged::Refuse).await.unwrap();
    assert_eq!((again.results[0].duplicate, again.results[0].position), (true, Some(at(0, 3))));
}
