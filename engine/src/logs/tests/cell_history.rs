//! The history of cells.

use cellar_api::wire::{CellHistoryChange, CellHistoryEntry, Recovery};
use cellar_base::limits::{MAX_CELL_HISTORY_ENTRIES, MAX_CELL_HISTORY_SPANS};
use cellar_log::entry::{Edits, Mutation};
use cellar_sheet::a1::Range;
use cellar_sheet::operation::{
    AddSheet, ClearRange, DeleteSheet, DeleteSpans, RenameSheet, Revert, Spans, Undo,
};

use super::changes::insert;
use super::*;
use crate::logs::{CellHistory, CellHistoryQuery};

/// Creates a log with one entry per operation, from 0.1 on. Odd entries are by `alice`, even ones by
/// `bob`.
async fn edited(operations: &[Operation]) -> Logs {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    for (number, operation) in (1..).zip(operations) {
        let (client, author) = if number % 2 == 1 { (1, "alice") } else { (2, "bob") };
        let id = u64::from(number).div_ceil(2);
        let base = at(0, number - 1);
        let mutations = vec![NewMutation { id, base, operation: operation.clone() }];
        let client = ClientKey([client; 8]);
        let author = Some(author.to_owned());
        let request =
            Request::new(log(), client, author, FIRST_INCARNATION, id - 1, mutations).unwrap();
        let appended = logs.append(request).await.unwrap();
        assert_eq!(appended.results[0].rejection, None, "{operation:?}");
    }
    logs
}

pub(super) fn query(range: &str) -> CellHistoryQuery {
    let range: Range = range.parse().unwrap();
    CellHistoryQuery {
        sheet: range.sheet.map_or(SheetName::First, SheetName::Name),
        rectangle: range.rectangle,
        until: None,
        since: None,
        author: None,
        max_entries: 100,
        cursor: None,
    }
}

pub(super) fn line(entry: &CellHistoryEntry) -> String {
    let author = entry.author.as_deref().unwrap_or("-");
    let change = match &entry.change {
        CellHistoryChange::Cell(diff) => {
            let cell = cellar_sheet::a1::CellName { row: diff.row, column: diff.column };
            format!("{cell} {:?} -> {:?}", diff.before.text(), diff.after.text())
        }
        CellHistoryChange::RowsInserted(rows) => format!("inserted rows {:?}", spans(rows)),
        CellHistoryChange::RowsDeleted(rows) => format!("deleted rows {:?}", spans(rows)),
        other => format!("{other:?}"),
    };
    format!("{} {author} {}: {change}", entry.position, entry.name)
}

fn spans(spans: &Spans) -> Vec<(u32, u32)> {
    spans.iter().map(|span| (span.first, span.count)).collect()
}

fn lines(history: &CellHistory) -> Vec<String> {
    history.changes.iter().map(line).collect()
}

async fn history(logs: &Logs, query: &CellHistoryQuery) -> Vec<String> {
    let history = logs.cell_history(log(), query).await.unwrap();
    assert!(!history.truncated && history.next.is_none(), "{history:?}");
    lines(&history)
}

fn delete(spans: Spans) -> Operation {
    Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans })
}

fn moved_rows() -> Vec<Operation> {
    let clear =
        ClearRange { sheet: SheetId::FIRST, rows: Spans::one(0, 9), columns: Spans::one(0, 1) };
    vec![
        set(0, "one"),
        insert(0, 2),
        set(2, "two"),
        delete(Spans::one(0, 1)),
        set(1, "three"),
        set(5, "other"),
        set(1, "three"),
        Operation::ClearRange(clear),
    ]
}

#[tokio::test]
async fn a_cell_is_followed_through_moved_rows() {
    let logs = edited(&moved_rows()).await;
    let expected = [
        "0.8 bob Sheet1: A2 \"three\" -> \"\"",
        "0.5 alice Sheet1: A2 \"two\" -> \"three\"",
        "0.3 alice Sheet1: A3 \"one\" -> \"two\"",
        "0.1 alice Sheet1: A1 \"\" -> \"one\"",
    ];
    assert_eq!(history(&logs, &query("A2")).await, expected);
    assert_eq!(history(&logs, &query("A1")).await, ["0.2 bob Sheet1: inserted rows [(1, 1)]"]);
    assert_eq!(history(&logs, &query("B2")).await, [""; 0]);
    let until = CellHistoryQuery { until: Some(at(0, 3)), ..query("A3") };
    assert_eq!(history(&logs, &until).await, expected[2..]);
    let since = CellHistoryQuery { since: Some(at(0, 3)), ..query("A2") };
    assert_eq!(history(&logs, &since).await, expected[..2]);
    let author = CellHistoryQuery { author: Some("alice".to_owned()), ..query("A2") };
    assert_eq!(history(&logs, &author).await, expected[1..]);
    let nobody = CellHistoryQuery { author: Some("carol".to_owned()), ..query("A2") };
    assert_eq!(history(&logs, &nobody).await, [""; 0]);
}

#[tokio::test]
async fn pages_continue_where_the_cells_were() {
    let logs = edited(&moved_rows()).await;
    for (range, count) in [("A2", 4), ("A1:A9", 7), ("A:C", 6)] {
        let whole = history(&logs, &query(range)).await;
        assert_eq!(whole.len(), count, "{whole:?}");
        for max_entries in 1..4 {
            let paged = paged(&logs, &CellHistoryQuery { max_entries, ..query(range) }).await;
            assert_eq!(paged, whole, "{range}, {max_entries} entries");
        }
    }
}

#[tokio::test]
async fn a_whole_sheet_has_names_and_inserted_and_deleted_rows() {
    let sheet = SheetId(1);
    let value = Some(Value::Number(1.0));
    let cell = CellEdit { row: 0, column: 0, value, formula: None, format: None };
    let logs = edited(&[
        Operation::AddSheet(AddSheet { sheet, name: "Costs".into(), before: None }),
        Operation::SetCells(SetCells { sheet, cells: vec![cell] }),
        Operation::RenameSheet(RenameSheet { sheet, name: "Prices".into() }),
        Operation::InsertRows(cellar_sheet::operation::InsertBefore { sheet, before: 0, count: 2 }),
        Operation::DeleteRows(DeleteSpans { sheet, spans: Spans::one(2, 1) }),
        set(0, "another sheet"),
    ])
    .await;
    let mut whole = query("Prices!A1");
    whole.rectangle = Rectangle::EVERYTHING;
    let expected = [
        "0.5 alice Prices: deleted rows [(2, 1)]",
        "0.4 bob Prices: inserted rows [(0, 2)]",
        "0.2 bob Costs: A1 \"\" -> \"1\"",
        "0.1 alice Costs: SheetAdded",
    ];
    assert_eq!(history(&logs, &whole).await, expected);
    let old_name = logs.cell_history(log(), &query("Costs!A1")).await;
    assert!(matches!(old_name, Err(LogError::UnknownSheet { .. })), "{old_name:?}");
}

#[tokio::test]
async fn the_history_of_a_recovered_sheet_continues_with_the_older_one() {
    let set_in = |sheet, text| match set(0, text) {
        Operation::SetCells(set) => Operation::SetCells(SetCells { sheet: SheetId(sheet), ..set }),
        other => panic!("{other:?}"),
    };
    let delete_sheet = |sheet| Operation::DeleteSheet(DeleteSheet { sheet: SheetId(sheet) });
    let recoveries = [
        (Operation::Undo(Undo { position: at(0, 4) }), Recovery::Undo(at(0, 4)), "food"),
        (Operation::Revert(Revert::whole(at(0, 2))), Recovery::Revert(at(0, 2)), "rent"),
        (
            Operation::Revert(Revert { sheet: Some(SheetId(1)), ..Revert::whole(at(0, 2)) }),
            Recovery::Revert(at(0, 2)),
            "rent",
        ),
    ];
    for (recovery, expected, recovered_text) in recoveries {
        let logs = edited(&[
            Operation::AddSheet(AddSheet { sheet: SheetId(1), name: "Costs".into(), before: None }),
            set_in(1, "rent"),
            set_in(1, "food"),
            delete_sheet(1),
            recovery,
            set_in(2, "tax"),
        ])
        .await;
        let lines = [
            format!("0.6 bob Costs: A1 \"{recovered_text}\" -> \"tax\""),
            "0.5 alice Costs: SheetAdded".to_owned(),
            "0.3 alice Costs: A1 \"rent\" -> \"food\"".to_owned(),
            "0.2 bob Costs: A1 \"\" -> \"rent\"".to_owned(),
            "0.1 alice Costs: SheetAdded".to_owned(),
        ];
        assert_eq!(history(&logs, &query("Costs!A1")).await, lines);
        let whole = logs.cell_history(log(), &query("Costs!A1")).await.unwrap();
        let recovered = whole.changes.iter().filter_map(|change| change.recovered);
        assert_eq!(recovered.collect::<Vec<_>>(), [expected]);
        let mut page_query = CellHistoryQuery { max_entries: 1, ..query("Costs!A1") };
        for line in lines {
            let page = logs.cell_history(log(), &page_query).await.unwrap();
            assert_eq!(self::lines(&page), [line]);
            page_query.cursor = page.next;
        }
        assert_eq!(page_query.cursor, None);
    }
}

/// Follows all pages, which are as short as the query says.
async fn paged(logs: &Logs, query: &CellHistoryQuery) -> Vec<String> {
    let mut page_query = query.clone();
    let mut paged = Vec::new();
    loop {
        let page = logs.cell_history(log(), &page_query).await.unwrap();
        let mut positions: Vec<Position> =
            page.changes.iter().map(|change| change.position).collect();
        positions.dedup();
        assert!(positions.len() <= usize::try_from(query.max_entries).unwrap());
        paged.extend(lines(&page));
        let Some(next) = page.next else { return paged };
        page_query.cursor = Some(next.to_string().parse().unwrap());
    }
}

#[tokio::test]
async fn a_recovered_sheet_has_the_changes_before_its_deletion_and_those_of_deleted_rows() {
    let logs = edited(&[
        set(0, "zero"),
        set(1, "one"),
        set(3, "three"),
        insert(0, 1),
        set(2, "two"),
        delete(Spans::one(1, 1)),
        set(1, "later"),
        Operation::AddSheet(AddSheet { sheet: SheetId(1), name: "Other".into(), before: None }),
        Operation::DeleteSheet(DeleteSheet { sheet: SheetId::FIRST }),
        Operation::Revert(Revert::whole(at(0, 3))),
    ])
    .await;
    let recovered = "0.10 bob Sheet1: SheetAdded";
    let moved = [
        recovered,
        "0.7 alice Sheet1: A2 \"two\" -> \"later\"",
        "0.5 alice Sheet1: A3 \"one\" -> \"two\"",
        "0.2 bob Sheet1: A2 \"\" -> \"one\"",
    ];
    let deleted = [recovered, "0.1 alice Sheet1: A1 \"\" -> \"zero\""];
    let both = [moved.as_slice(), &deleted[1..]].concat();
    for (range, expected) in [("A2", &moved[..]), ("A1", &deleted), ("A1:A2", &both)] {
        let query = query(&format!("Sheet1!{range}"));
        assert_eq!(history(&logs, &query).await, expected, "{range}");
        let short_pages = CellHistoryQuery { max_entries: 1, ..query };
        assert_eq!(paged(&logs, &short_pages).await, expected, "{range}");
    }
}

#[tokio::test]
async fn the_search_for_a_deleted_sheet_is_limited() {
    let limit = MAX_CELL_HISTORY_ENTRIES;
    let before_deletion = "0.999 - Sheet1: A1 \"one\" -> \"two\"";
    for (count, expected) in [(limit, Some(before_deletion)), (limit + 1, None)] {
        // The entries from 0.2 to the deletion are read.
        let logs = long_log(count - 1).await;
        let base = at(0, count - 2);
        let other = AddSheet { sheet: SheetId(1), name: "Other".into(), before: None };
        let operations = [
            set(0, "two"),
            Operation::AddSheet(other),
            Operation::DeleteSheet(DeleteSheet { sheet: SheetId::FIRST }),
            Operation::Revert(Revert::whole(at(0, 1))),
        ];
        for (id, operation) in (1..).zip(operations) {
            let client = ClientKey([2; 8]);
            let mutations = vec![NewMutation { id, base, operation }];
            let request =
                Request::new(log(), client, None, FIRST_INCARNATION, id - 1, mutations).unwrap();
            logs.append(request).await.unwrap();
        }
        let short_pages = CellHistoryQuery { max_entries: 1, ..query("Sheet1!A1") };
        let lines = paged(&logs, &short_pages).await;
        let recovery = format!("{} - Sheet1: SheetAdded", at(0, count + 2));
        let first = "0.1 - Sheet1: A1 \"\" -> \"one\"";
        let all = [Some(recovery.as_str()), expected, Some(first)];
        assert_eq!(lines, all.into_iter().flatten().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_position_that_does_not_exist_is_refused() {
    let logs = edited(&[set(0, "one")]).await;
    let missing = LogError::NoSuchPosition { at: at(0, 2), newest: at(0, 1) };
    let until = CellHistoryQuery { until: Some(at(0, 2)), ..query("A1") };
    assert_eq!(logs.cell_history(log(), &until).await, Err(missing.clone()));
    let cursor = "2~0~0-1~0-1".parse().ok();
    let cursor = CellHistoryQuery { cursor, ..query("A1") };
    assert_eq!(logs.cell_history(log(), &cursor).await, Err(missing));
}

/// Creates a log of this many entries, of which only 0.1 changes A1.
async fn long_log(count: u32) -> Logs {
    let tables = Arc::new(MemoryTables::default());
    let service = logs(&tables);
    service.create(log(), None).await.unwrap();
    for number in 1..count {
        let authored = if number == 1 { set(0, "one") } else { set(1, "x") };
        let base = at(0, number - 1);
        let mutations = vec![Mutation { base, authored, committed: None }];
        let (client, name, first_id) = (ClientKey([1; 8]), None, u64::from(number));
        let content = Content::Edits(Edits { client, name, merged: None, first_id, mutations });
        let first = Entry::first(log(), None, 0);
        let entry = Entry { position: at(0, number), content, ..first };
        assert_eq!(tables.put(&entry).await, PutOutcome::Accepted);
    }
    logs(&tables)
}

#[tokio::test]
async fn a_page_reads_a_limited_number_of_entries() {
    let limit = MAX_CELL_HISTORY_ENTRIES;
    let one = ["0.1 - Sheet1: A1 \"\" -> \"one\""];
    // The first entry, which created the log, is the last to be read.
    assert_eq!(history(&long_log(limit).await, &query("A1")).await, one);
    let logs = long_log(limit + 2).await;
    let page = logs.cell_history(log(), &query("A1")).await.unwrap();
    assert_eq!(lines(&page), [""; 0]);
    let next = page.next.unwrap();
    assert_eq!(next.position, at(0, 1));
    let rest = CellHistoryQuery { cursor: Some(next), ..query("A1") };
    assert_eq!(history(&logs, &rest).await, one);
}

#[tokio::test]
async fn limits_the_spans_of_scattered_cells() {
    let most = u32::try_from(MAX_CELL_HISTORY_SPANS).unwrap();
    for (deleted_rows, fits) in [(most - 1, true), (most, false)] {
        let deleted = Spans::of((0..deleted_rows).map(|row| 2 * row + 1));
        let logs = edited(&[set(0, "one"), delete(deleted)]).await;
        let history = logs.cell_history(log(), &query("A1:A1000")).await;
        let too_large = LogError::HistoryTooLarge { at: at(0, 2) };
        match history {
            Ok(history) => assert!(fits && history.changes.len() == 1, "{history:?}"),
            Err(error) => assert!(!fits && error == too_large, "{error}"),
        }
        assert!(logs.cell_history(log(), &query("A1:A9")).await.is_ok());
    }
}
