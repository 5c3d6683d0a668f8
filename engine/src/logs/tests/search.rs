//! Finding cells and filtering rows.

use cellar_api::wire::CellAt;
use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_sheet::a1::Range;
use cellar_sheet::cell::{Cell, ErrorCode};
use cellar_sheet::condition::Conditions;
use cellar_sheet::operation::{AddSheet, DeleteSpans, SetFormat, Spans};
use cellar_sheet::text_pattern::TextPattern;

use super::changes::{insert, mutation};
use super::*;
use crate::logs::search::Budget;
use crate::logs::{FilterQuery, Filtered, FindQuery, Found};

/// Number of pages after which a test gives up.
const MAX_PAGES: usize = 10_000;

pub(super) fn find(text: &str) -> FindQuery {
    FindQuery {
        pattern: TextPattern::containing(text).unwrap(),
        sheet: None,
        rectangle: Rectangle::EVERYTHING,
        is_count_only: false,
        at: None,
        cursor: None,
        min_position: None,
    }
}

pub(super) fn filter(conditions: &str) -> FilterQuery {
    FilterQuery {
        conditions: conditions.parse().unwrap(),
        sheet: SheetName::First,
        rectangle: Rectangle::EVERYTHING,
        sum_column: None,
        is_count_only: false,
        at: None,
        cursor: None,
        min_position: None,
    }
}

pub(super) fn rectangle(range: &str) -> Rectangle {
    range.parse::<Range>().unwrap().rectangle
}

/// Budgets with which a page ends as soon as possible, for each reason.
pub(super) fn small_budgets() -> Vec<Budget> {
    let small_windows = Budget { window_cells: 3, ..Budget::default() };
    vec![
        Budget { windows: 1, ..small_windows.clone() },
        Budget { cells: 1, ..small_windows.clone() },
        Budget { tiles: 1, ..small_windows.clone() },
        small_windows.clone(),
        Budget { long_texts: 1, ..Budget::default() },
        Budget { regex_bytes: 1, ..Budget::default() },
        Budget { reply_bytes: 1, ..Budget::default() },
        Budget { cells: 1, long_texts: 1, regex_bytes: 1, reply_bytes: 400, ..small_windows },
    ]
}

/// Returns all pages as one, and the number of pages.
pub(super) async fn find_all(logs: &Logs, query: &FindQuery, budget: &Budget) -> (Found, usize) {
    let mut query = query.clone();
    let mut whole = logs.find_within(log(), &query, budget.clone()).await.unwrap();
    let mut pages = 1;
    query.at = Some(whole.position);
    while let Some(next) = whole.next {
        assert!(query.cursor != Some(next) && pages < MAX_PAGES, "{next}");
        query.cursor = Some(next);
        let page = logs.find_within(log(), &query, budget.clone()).await.unwrap();
        assert_eq!(page.position, whole.position);
        whole.cells.extend(page.cells);
        whole.count += page.count;
        whole.stale_cells += page.stale_cells;
        whole.next = page.next;
        pages += 1;
    }
    (whole, pages)
}

/// Returns all pages as one, and the number of pages.
pub(super) async fn filter_all(
    logs: &Logs,
    query: &FilterQuery,
    budget: &Budget,
) -> (Filtered, usize) {
    let mut query = query.clone();
    let mut whole = logs.filter_within(log(), &query, budget.clone()).await.unwrap();
    let mut pages = 1;
    query.at = Some(whole.position);
    while let Some(next) = whole.next {
        assert!(Some(next) > query.cursor && pages < MAX_PAGES, "{next}");
        query.cursor = Some(next);
        let page = logs.filter_within(log(), &query, budget.clone()).await.unwrap();
        whole.cells.extend(page.cells);
        whole.rows += page.rows;
        whole.stale_cells += page.stale_cells;
        whole.stale_summed += page.stale_summed;
        whole.numbers += page.numbers;
        whole.sum.add_parts(page.sum.parts(), page.sum.is_too_large());
        whole.next = page.next;
        pages += 1;
    }
    (whole, pages)
}

/// Compares a search with one over all cells of the first sheet, with every budget.
pub(super) async fn assert_finds(logs: &Logs, query: &FindQuery) -> usize {
    let cells = all_cells(logs).await;
    let is_found = |placed: &&CellAt| {
        query.rectangle.contains(placed.row, placed.column) && query.pattern.matches(&placed.text())
    };
    let expected: Vec<CellAt> = cells.iter().filter(is_found).cloned().collect();
    let query = FindQuery { sheet: Some(SheetName::First), ..query.clone() };
    let counting = FindQuery { is_count_only: true, ..query.clone() };
    for budget in small_budgets().into_iter().chain([Budget::default()]) {
        let (found, _) = find_all(logs, &query, &budget).await;
        let at = |found: &cellar_api::wire::FoundCell| found.cell.clone();
        assert_eq!(found.cells.iter().map(at).collect::<Vec<_>>(), expected, "{budget:?}");
        let (counted, _) = find_all(logs, &counting, &budget).await;
        let count = u64::try_from(expected.len()).unwrap();
        assert_eq!((found.count, counted.count, counted.cells.len()), (count, count, 0));
    }
    expected.len()
}

/// Compares a filter with one over all cells of the first sheet, with every budget. Returns the indices
/// of the rows.
pub(super) async fn assert_filters(logs: &Logs, query: &FilterQuery) -> Vec<u32> {
    let cells = all_cells(logs).await;
    let mut rows: Vec<u32> = cells.iter().map(|placed| placed.row).collect();
    rows.dedup();
    let is_tested = |row: u32| row >= query.rectangle.first.row && row <= query.rectangle.last.row;
    rows.retain(|row| is_tested(*row) && fulfils(&cells, *row, &query.conditions));
    let is_returned = |placed: &&CellAt| {
        rows.contains(&placed.row) && query.rectangle.contains(placed.row, placed.column)
    };
    let expected: Vec<CellAt> = cells.iter().filter(is_returned).cloned().collect();
    let is_summed =
        |placed: &&CellAt| rows.contains(&placed.row) && Some(placed.column) == query.sum_column;
    let numbers = cells.iter().filter(is_summed).filter_map(|placed| match placed.cell.value {
        Value::Number(number) => Some(number),
        _ => None,
    });
    let (mut sum, mut count) = (cellar_sheet::exact_sum::ExactSum::default(), 0);
    for number in numbers {
        sum.add(number);
        count += 1;
    }
    let counting = FilterQuery { is_count_only: true, ..query.clone() };
    for budget in small_budgets().into_iter().chain([Budget::default()]) {
        let (filtered, _) = filter_all(logs, query, &budget).await;
        assert_eq!(filtered.cells, expected, "{budget:?}");
        let (counted, _) = filter_all(logs, &counting, &budget).await;
        assert!(counted.cells.is_empty());
        for totals in [&filtered, &counted] {
            let expected_rows = u64::try_from(rows.len()).unwrap();
            assert_eq!((totals.rows, totals.numbers), (expected_rows, count), "{budget:?}");
            assert_eq!(totals.sum.total(), sum.total());
        }
    }
    rows
}

async fn all_cells(logs: &Logs) -> Vec<CellAt> {
    logs.cells(log(), &everything(None)).await.unwrap().cells
}

fn fulfils(cells: &[CellAt], row: u32, conditions: &Conditions) -> bool {
    conditions.list().iter().all(|condition| {
        let is_there = |placed: &&CellAt| (placed.row, placed.column) == (row, condition.column());
        let blank = Cell::default();
        condition.is_fulfilled_by(cells.iter().find(is_there).map_or(&blank, |placed| &placed.cell))
    })
}

fn edit(row: u32, column: u32, value: Value) -> CellEdit {
    CellEdit { row, column, value: Some(value), formula: None, format: None }
}

fn set_cells(cells: Vec<CellEdit>) -> Operation {
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Creates a sheet of cities in A, states in B, dates in C and numbers in D, from which rows were deleted.
async fn cities() -> Logs {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    let mut cells = Vec::new();
    for row in 0..60 {
        let state = ["TX", "tx", "CA", ""][usize::try_from(row % 4).unwrap()];
        cells.push(edit(row, 0, text(&format!("City {row}"))));
        if !state.is_empty() {
            cells.push(edit(row, 1, text(state)));
        }
        cells.push(edit(row, 2, Value::Number(46_000.0 + f64::from(row))));
        let number = match row % 5 {
            0 => text("unknown"),
            1 => Value::Error(ErrorCode::NotAvailable),
            _ => Value::Number(f64::from(row) / 10.0),
        };
        cells.push(edit(row, 3, number));
    }
    let long = format!("{} Austin", "x ".repeat(MAX_TILE_TEXT_BYTES));
    cells.extend([edit(40, 4, text(&long)), edit(41, 4, text(&long)), edit(44, 4, text("austin"))]);
    let format = SetFormat {
        sheet: SheetId::FIRST,
        rows: Spans::all(cellar_sheet::axis_map::Axis::Rows),
        columns: Spans::one(2, 1),
        format: "yyyy-mm-dd".to_owned(),
    };
    let delete = DeleteSpans { sheet: SheetId::FIRST, spans: Spans::of([3, 4, 20]) };
    let operations = [
        set_cells(cells),
        Operation::SetFormat(format),
        insert(10, 2),
        Operation::DeleteRows(delete),
        set_cells(vec![edit(10, 1, text("TX")), edit(11, 0, text("new"))]),
    ];
    for (number, operation) in (0_u32..).zip(operations) {
        let request = mutation(1, u64::from(number) + 1, at(0, number), operation);
        let appended = logs.append(request).await.unwrap();
        assert_eq!(appended.results[0].rejection, None);
    }
    logs
}

#[tokio::test]
async fn finds_what_a_search_of_all_cells_finds() {
    let logs = cities().await;
    for (text, count) in
        [("city 1", 9), ("AUSTIN", 3), ("2025-12", 20), ("n/a", 12), ("nothing", 0), ("x x", 2)]
    {
        assert_eq!(assert_finds(&logs, &find(text)).await, count, "{text}");
    }
    let regex = TextPattern::regex("^City [12]?5$").unwrap();
    assert_eq!(assert_finds(&logs, &FindQuery { pattern: regex, ..find("x") }).await, 3);
    for range in ["B5:D30", "E:E", "12:14", "ZZ1:ZZ9", "A900:C999"] {
        let query = FindQuery { rectangle: rectangle(range), ..find("t") };
        assert_finds(&logs, &query).await;
    }
}

#[tokio::test]
async fn filters_what_a_filter_of_all_rows_returns() {
    let logs = cities().await;
    for (conditions, count) in [
        ("B=TX", 30),
        ("B!=TX", 13),
        ("B= && A!=", 14),
        ("B= && D=#N/A", 3),
        ("C>=2026-01-01 && B~t && D<4.5", 7),
        ("D>=0", 33),
        ("D=#N/A", 12),
        ("E~austin", 3),
        ("E=~^y", 0),
        ("E=~^x", 2),
        ("A~city && E!~x && E~a", 1),
        ("Z=1", 0),
    ] {
        let query = FilterQuery { sum_column: Some(3), ..filter(conditions) };
        assert_eq!(assert_filters(&logs, &query).await.len(), count, "{conditions}");
    }
    for range in ["A1:B9", "C20:E50", "D:D", "30:31", "ZZ1:ZZ99", "A900:C999"] {
        let query = FilterQuery { rectangle: rectangle(range), ..filter("B~t") };
        assert_filters(&logs, &FilterQuery { sum_column: Some(2), ..query }).await;
    }
}

#[tokio::test]
async fn all_sheets_are_searched_in_tab_order() {
    let logs = cities().await;
    let (sheet, before) = (SheetId(1), Some(SheetId::FIRST));
    let add = AddSheet { sheet, name: "Costs".into(), before };
    let cell = edit(0, 0, text("City of costs"));
    let set = Operation::SetCells(SetCells { sheet, cells: vec![cell] });
    for (id, operation) in [(6, Operation::AddSheet(add)), (7, set)] {
        let base = at(0, u32::try_from(id).unwrap() - 1);
        logs.append(mutation(1, id, base, operation)).await.unwrap();
    }
    for budget in small_budgets() {
        let (found, pages) = find_all(&logs, &find("city"), &budget).await;
        let places: Vec<_> =
            found.cells.iter().map(|cell| (cell.name.as_str(), cell.cell.row)).take(3).collect();
        assert_eq!(places, [("Costs", 0), ("Sheet1", 0), ("Sheet1", 1)]);
        let has_pages = budget.cells > 1 || pages > 9;
        assert!(found.cells.len() == 57 && has_pages, "{budget:?}: {pages} pages");
    }
    let named =
        |name: &str| FindQuery { sheet: Some(SheetName::Name(name.to_owned())), ..find("city") };
    let costs = logs.find(log(), &named("costs")).await.unwrap();
    assert_eq!((costs.cells.len(), costs.next), (1, None));
    let unknown = LogError::UnknownSheet { sheet: "Nowhere".to_owned() };
    assert_eq!(logs.find(log(), &named("Nowhere")).await, Err(unknown));
    let cursor = "9~A1".parse().ok();
    let gone = logs.find(log(), &FindQuery { cursor, ..find("city") }).await;
    assert_eq!(gone, Err(LogError::UnknownSheet { sheet: "9".to_owned() }));
    let earlier =
        logs.find(log(), &FindQuery { at: Some(at(0, 1)), ..find("city") }).await.unwrap();
    assert_eq!((earlier.cells.len(), earlier.position), (60, at(0, 1)));
}

#[tokio::test]
async fn sparse_sheets_are_searched_in_one_request() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    let last = Rectangle::EVERYTHING.last;
    let far = [(0, 0), (1_000, 2), (50_000_000, 7), (last.row, last.column)];
    let cells = far.map(|(row, column)| edit(row, column, text("far"))).to_vec();
    logs.append(mutation(1, 1, Position::FIRST, set_cells(cells))).await.unwrap();
    let found = logs.find(log(), &find("FAR")).await.unwrap();
    let places: Vec<_> =
        found.cells.iter().map(|found| (found.cell.row, found.cell.column)).collect();
    assert_eq!((places.as_slice(), found.next), (far.as_slice(), None));
    let filtered = logs.filter(log(), &filter("H=far")).await.unwrap();
    assert_eq!((filtered.rows, filtered.cells[0].row, filtered.next), (1, 50_000_000, None));
}

#[tokio::test]
async fn a_row_with_more_cells_than_a_window_is_read_in_parts() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    for part in 0..7_u32 {
        let cells = (0..10_000).map(|cell| edit(5, cell * 400 + part, text("wide"))).collect();
        let request = mutation(1, u64::from(part) + 1, at(0, part), set_cells(cells));
        logs.append(request).await.unwrap();
    }
    let counting = FindQuery { is_count_only: true, ..find("wide") };
    let counted = logs.find(log(), &counting).await.unwrap();
    assert_eq!((counted.count, counted.next), (70_000, None));
    let (filtered, pages) = filter_all(&logs, &filter("D=wide"), &Budget::default()).await;
    assert_eq!((filtered.rows, filtered.cells.len()), (1, 70_000));
    assert!(pages > 1 && filtered.cells.is_sorted_by_key(CellAt::name), "{pages} pages");
}

/// Appends formulas beyond the limits of a calculation, with stored values, in every second row of B.
async fn with_stale_cells() -> Logs {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    let cells = (0..40).flat_map(|row| {
        let value = Some(Value::Number(f64::from(row % 7)));
        let formula = (row % 2 == 0).then(|| "=SUM(SEQUENCE(99999999))".to_owned());
        [
            edit(row, 0, Value::Number(f64::from(row))),
            CellEdit { formula, value, ..edit(row, 1, text("")) },
        ]
    });
    logs.append(mutation(1, 1, Position::FIRST, set_cells(cells.collect()))).await.unwrap();
    logs
}

#[tokio::test]
async fn stale_cells_are_marked_and_each_is_counted_on_one_page() {
    let logs = with_stale_cells().await;
    let stale =
        all_cells(&logs).await.iter().filter(|cell| cell.stale && cell.note.is_some()).count();
    assert_eq!(stale, 20);
    assert_eq!(
        assert_finds(&logs, &FindQuery { rectangle: rectangle("B:B"), ..find("3") }).await,
        6
    );
    let query = FilterQuery { sum_column: Some(1), ..filter("A>=10 && B>=2 && B<6") };
    assert_filters(&logs, &query).await;
    for budget in small_budgets().into_iter().chain([Budget::default()]) {
        let (found, _) = find_all(&logs, &find("3"), &budget).await;
        let marked = found.cells.iter().filter(|found| found.cell.stale).count();
        assert_eq!((marked, found.stale_cells), (3, 20), "{budget:?}");
        for is_count_only in [false, true] {
            let query = FilterQuery { is_count_only, ..query.clone() };
            let (filtered, _) = filter_all(&logs, &query, &budget).await;
            let totals = (filtered.rows, filtered.stale_cells, filtered.stale_summed);
            // Rows 10 to 39 have 15 stale cells, 9 of them from 2 to 5.
            assert_eq!(totals, (18, 15, 9), "{budget:?}");
        }
    }
}
