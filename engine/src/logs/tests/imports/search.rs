//! Finding and filtering in imported tiles with later edits.

use cellar_sheet::operation::{DeleteSpans, InsertBefore, Spans};

use super::super::search::{
    assert_filters, assert_finds, filter, filter_all, find, find_all, rectangle, small_budgets,
};
use super::*;
use crate::logs::{FilterQuery, FindQuery};

/// Imports a sheet of 2 stripes of 9 tiles and edits it: inserts and deletes rows, and sets cells.
async fn edited() -> World {
    let (world, sheet) = (World::new().await, Sheet::new(2, 9, FLAT));
    world.upload_all(&sheet).await;
    let Operation::ImportSheet(import) = sheet.operation() else { panic!() };
    let import = ImportSheet { replaces: Some(SheetId::FIRST), ..import };
    world.append(vec![Operation::ImportSheet(import)]).await.unwrap();
    let number = |row, column, number: f64| {
        let value = Some(Value::Number(number));
        CellEdit { row, column, value, formula: None, format: None }
    };
    let cleared = CellEdit { value: Some(Value::Empty), ..number(42, 0, 0.0) };
    let cells = vec![number(2, 0, 3.0), number(3, 1, 5.5), number(32, 1, 30.5), cleared];
    let operations = [
        Operation::InsertRows(InsertBefore { sheet: SHEET, before: 5, count: 3 }),
        Operation::DeleteRows(DeleteSpans { sheet: SHEET, spans: Spans::of([20, 21, 82]) }),
        Operation::SetCells(SetCells { sheet: SHEET, cells }),
    ];
    for (id, operation) in (2..).zip(operations) {
        world.edit(id, at(0, u32::try_from(id).unwrap() - 1), operation).await;
    }
    world
}

#[tokio::test]
async fn tiles_and_later_edits_are_searched_together() {
    let world = edited().await;
    let logs = world.another();
    for text in ["3", "5", "1", "0.5", "x"] {
        let found = assert_finds(&logs, &find(text)).await;
        assert_eq!(found == 0, text == "x", "{text}");
    }
    for conditions in ["A>=3", "A=3", "B!=", "B>6", "DY>=10 && A<6", "A!="] {
        let query = FilterQuery { sum_column: Some(128), ..filter(conditions) };
        assert!(!assert_filters(&logs, &query).await.is_empty(), "{conditions}");
        let query = FilterQuery { rectangle: rectangle("B4:DZ60"), ..query };
        assert_filters(&logs, &query).await;
    }
}

#[tokio::test]
async fn only_tiles_of_the_range_and_of_possible_rows_are_read() {
    let world = edited().await;
    let reads = async |query: &FilterQuery| {
        let calls = world.blobs.faults.requests();
        let rows = world.another().filter(log(), query).await.unwrap().rows;
        (rows, world.blobs.faults.requests() - calls)
    };
    // Column A is in 9 tiles, column DY in 9 others.
    let (rows, all_tiles) = reads(&filter("A!=")).await;
    let only = FilterQuery { is_count_only: true, ..filter("A!=") };
    let (counted, tiles_of_column) = reads(&only).await;
    assert_eq!((rows, counted), (counted, rows));
    assert!(tiles_of_column < all_tiles && all_tiles <= 18, "{tiles_of_column} of {all_tiles}");
    // No row fulfils the condition on A, so the tiles of DY are not read.
    let none = reads(&filter("A>99 && DY!=")).await;
    assert_eq!(none, (0, tiles_of_column));
    let range = FilterQuery { rectangle: rectangle("A60:A70"), ..filter("A!=") };
    let (_, tiles) = reads(&range).await;
    assert!((1..=2).contains(&tiles), "{tiles}");
    // No tile has cells between the stripes' used columns and the far right.
    let calls = world.blobs.faults.requests();
    let right = FindQuery { rectangle: rectangle("IW1:ZZ999"), ..find("1") };
    let found = world.another().find(log(), &right).await.unwrap();
    assert_eq!((found.count, world.blobs.faults.requests() - calls), (0, 0));
}

#[tokio::test]
async fn pages_end_and_continue_at_every_budget() {
    let world = edited().await;
    let logs = world.another();
    for budget in small_budgets() {
        let (_, pages) = find_all(&logs, &find("1"), &budget).await;
        let (_, filter_pages) = filter_all(&logs, &filter("A>=0"), &budget).await;
        let is_small = budget.cells == 1 || budget.tiles == 1 || budget.reply_bytes == 1;
        assert!(!is_small || (pages > 1 && filter_pages > 1), "{budget:?}: {pages} {filter_pages}");
    }
}

#[tokio::test]
async fn a_lost_long_text_is_found_as_an_error_value() {
    let world = World::new().await;
    let long = texts::long(7);
    let tile = texts::naming(&[texts::named(&long), texts::named(&texts::long(8))]);
    world.upload(&tile).await;
    for number in [7, 8] {
        world.upload(&pack(texts::long(number).as_bytes(), Bounds::TEXT).unwrap()).await;
    }
    world.append(vec![texts::sheet_of(&tile, 2, FLAT).operation()]).await.unwrap();
    world.delete(texts::named(&long).hash).await;
    let found = world.another().find(log(), &find("#lost!")).await.unwrap();
    assert_eq!(found.cells.iter().map(|found| found.cell.row).collect::<Vec<_>>(), [0]);
    let eight = world.another().find(log(), &find("8 8 8")).await.unwrap();
    assert_eq!(eight.cells.iter().map(|found| found.cell.row).collect::<Vec<_>>(), [1]);
}
