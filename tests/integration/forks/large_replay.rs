//! A replay also includes contents outside the fork's entries: large edits, whose bodies are
//! objects, and imported sheets.

use std::path::Path;

use cellar::editor::Editor;
use cellar::import::ReadOptions;
use cellar::import::sheets::{Imported, JournalKey, ProgressMonitor, Target, import_sheets};
use cellar::replay::ReplayOutcome;
use cellar::{CellsQuery, Client};
use cellar_api::wire::EntryView;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{AddSheet, CellEdit, Operation, SetCells, SheetId};

use super::replay::{author_of, delete, edit, insert, outcomes, replayed, text, text_in};
use super::*;
use crate::snapshot_reads::Author;

/// Returns a text that, repeated in every row of a large edit, exceeds a request.
fn long(name: &str, row: u32) -> String {
    format!("{name} {row} {}", "x".repeat(400))
}

/// Returns an edit of so many rows that it must be uploaded.
fn large(name: &str, rows: std::ops::Range<u32>) -> Operation {
    let cell = |row| CellEdit {
        row,
        column: 1,
        value: Some(Value::Text(long(name, row))),
        formula: None,
        format: None,
    };
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: rows.map(cell).collect() })
}

/// Returns all cells of a sheet.
async fn cells_of(client: &Client, log: LogId, sheet: &str) -> Vec<((u32, u32), String)> {
    let mut query = CellsQuery::of_sheet(sheet);
    let mut cells = Vec::new();
    loop {
        let page = client.spreadsheet(log).cells_page(&query).await.unwrap();
        cells.extend(page.cells.iter().map(|cell| ((cell.row, cell.column), cell.cell.text())));
        (query.at, query.cursor) = (Some(page.position), page.next);
        if query.cursor.is_none() {
            return cells;
        }
    }
}

/// Returns the own entries of a fork, newest first.
async fn own_entries(cloud: &TestCloud, fork: &ForkReply) -> Vec<EntryView> {
    let history =
        cloud.client("alice").spreadsheet(fork.id).history_page(None, None).await.unwrap();
    let own = |entry: &EntryView| entry.position > fork.head;
    history.entries.into_iter().filter(own).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn large_edits_are_replayed_where_their_rows_have_gone() {
    let cloud = TestCloud::start_without_snapshots().await;
    let mut author = Author::new(&cloud, "large").await;
    let source = author.created.id;
    author.edit(&cloud, text(0, "first")).await;
    let made = fork(&cloud, source, "large", None).await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let editor_of = |log, folder: &tempfile::TempDir| {
        Editor::new(cloud.client("bob").spreadsheet(log), folder.path())
    };
    let bob = editor_of(made.id, &folders[0]);
    bob.apply(text(3, "small")).await.unwrap();
    // Bob has not read this row when he makes the large edit, which the log therefore stores with a
    // map.
    edit(&cloud, &mut author_of(&made), 1, insert(0, 1)).await;
    bob.apply(large("mine", 10..2_010)).await.unwrap();
    let entries = own_entries(&cloud, &made).await;
    let external = entries[0].external_body.as_ref().expect("the body is an object");
    assert!(!external.axis_maps.is_empty() && entries.len() == 3, "{entries:?}");

    // The source commits a large edit, deletes a row and inserts two.
    editor_of(source, &folders[1]).apply(large("theirs", 5_000..7_000)).await.unwrap();
    author.base = cloud.client("alice").spreadsheet(source).head().await.unwrap().head;
    author.edit(&cloud, delete(20, 1)).await;
    author.edit(&cloud, insert(0, 2)).await;

    let done = replayed(&cloud, made.id, None).await;
    assert_eq!(outcomes(&done), [ReplayOutcome::Transformed; 3]);
    // Two rows of the source and one of the fork are above all rows; below the deleted row, the
    // offset is one less.
    let moved = |row: u32| if row < 20 { row + 3 } else { row + 2 };
    let mine = (10..2_010).filter(|row| *row != 20).map(|row| ((moved(row), 1), long("mine", row)));
    let theirs = (5_000..7_000).map(|row| ((moved(row), 1), long("theirs", row)));
    let mut expected = vec![((3, 0), "first".to_owned()), ((6, 0), "small".to_owned())];
    expected.extend(mine.chain(theirs));
    let there = cells_of(&cloud.client("alice"), done.id, "Sheet1").await;
    assert_eq!(there.len(), expected.len());
    let differs = there.iter().zip(&expected).find(|(there, expected)| there != expected);
    assert_eq!(differs, None);
}

/// Imports a file into a spreadsheet, optionally replacing a sheet.
async fn import(cloud: &TestCloud, into: LogId, file: &Path, replace: Option<&str>) -> Imported {
    let (client, options) = (cloud.client("bob"), ReadOptions::default());
    let key = JournalKey {
        cloud: &cloud.url,
        subject: "bob",
        file,
        options: &options,
        into: Some(into),
        replace,
    };
    let journal = key.path(file.parent().unwrap());
    let replace = replace.map(str::to_owned);
    let target = Target { into: Some(into), name: None, replace, journal, restart: false };
    import_sheets(&client, file, &options, &target, &ProgressMonitor::default()).await.unwrap()
}

/// Returns the sheets of a spreadsheet with their numbers and names.
async fn sheets(client: &Client, log: LogId) -> Vec<(u32, String)> {
    let sheets = client.spreadsheet(log).sheets().await.unwrap().sheets;
    sheets.into_iter().map(|sheet| (sheet.sheet.0, sheet.name)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn imported_sheets_are_replayed_with_what_was_done_in_them() {
    let cloud = TestCloud::start_without_snapshots().await;
    let mut author = Author::new(&cloud, "imports").await;
    let source = author.created.id;
    author.edit(&cloud, text(0, "first")).await;
    let made = fork(&cloud, source, "imports", None).await;
    let folder = tempfile::tempdir().unwrap();
    let airports = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data/airports.csv")).to_owned();
    let copy = folder.path().join("airports.csv");
    std::fs::copy(airports, &copy).unwrap();
    import(&cloud, made.id, &copy, None).await;
    let prices = folder.path().join("prices.csv");
    std::fs::write(&prices, "name,price\ntea,2.50\nmilk,0.99\n").unwrap();
    import(&cloud, made.id, &prices, None).await;
    let mut own = author_of(&made);
    own.base = cloud.client("bob").spreadsheet(made.id).head().await.unwrap().head;
    edit(&cloud, &mut own, 1, text_in(SheetId(1), 1, "mine")).await;
    std::fs::write(&prices, "name,price\ntea,2.60\n").unwrap();
    import(&cloud, made.id, &prices, Some("prices")).await;
    let client = cloud.client("alice");
    let named = |numbers: [u32; 3], names: [&str; 3]| {
        numbers.into_iter().zip(names.map(str::to_owned)).collect::<Vec<_>>()
    };
    let in_fork = named([0, 1, 3], ["Sheet1", "airports", "prices"]);
    assert_eq!(sheets(&client, made.id).await, in_fork);

    // The source uses the number of the first sheet.
    let theirs = AddSheet { sheet: SheetId(1), name: "Theirs".to_owned(), before: None };
    author.edit(&cloud, Operation::AddSheet(theirs)).await;
    let done = replayed(&cloud, made.id, None).await;
    assert_eq!(outcomes(&done), [ReplayOutcome::Transformed; 4]);
    let names: Vec<String> =
        sheets(&client, done.id).await.into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["Sheet1", "Theirs", "airports", "prices"]);
    for sheet in ["airports", "prices"] {
        let before = cells_of(&client, made.id, sheet).await;
        assert!(before.len() > 3, "{sheet} is not empty");
        assert_eq!(cells_of(&client, done.id, sheet).await, before, "{sheet}");
    }
    let airports = cells_of(&client, done.id, "airports").await;
    assert!(airports.contains(&((1, 0), "mine".to_owned())));
}
