//! Calculated values in windows, at old positions and in searches.

use cellar_base::limits::MAX_TILE_TEXT_BYTES;
use cellar_calculation::{CellKey, KeptCalculation};
use cellar_sheet::a1::CellName;
use cellar_sheet::cell::{ErrorCode, TypedText, typed_cell};
use cellar_sheet::operation::AddSheet;
use cellar_sheet::workbook::CellAt;

use super::changes::mutation;
use super::search::{filter, find};
use super::*;

fn cells_of(sheet: u32, cells: &[(&str, &str)]) -> Operation {
    let edit = |(cell, text): &(&str, &str)| {
        let cell: CellName = cell.parse().unwrap();
        let TypedText { value, formula, format } = typed_cell(text);
        CellEdit { row: cell.row, column: cell.column, value: Some(value), formula, format }
    };
    let cells = cells.iter().map(edit).collect();
    Operation::SetCells(SetCells { sheet: SheetId(sheet), cells })
}

/// Appends one edit after the other. Returns the positions.
async fn append(logs: &Logs, operations: Vec<Operation>) -> Vec<Position> {
    logs.create(log(), None).await.unwrap();
    let mut positions = vec![Position::FIRST];
    for (id, operation) in (1..).zip(operations) {
        let base = positions[positions.len() - 1];
        let appended = logs.append(mutation(1, id, base, operation)).await.unwrap();
        positions.push(appended.results[0].position.unwrap());
    }
    positions
}

async fn shown(logs: &Logs, at: Option<Position>) -> Vec<(String, String)> {
    let read = logs.cells(log(), &everything(at)).await.unwrap();
    assert!(read.cells.iter().all(|cell| !cell.stale), "{:?}", read.cells);
    read.cells.iter().map(|cell| (cell.name().to_string(), cell.text())).collect()
}

fn pairs(cells: &[(&str, &str)]) -> Vec<(String, String)> {
    cells.iter().map(|(cell, text)| ((*cell).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn an_old_position_shows_the_values_of_that_time() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    let costs = AddSheet { sheet: SheetId(1), name: "Costs".into(), before: None };
    let positions = append(
        &logs,
        vec![
            cells_of(0, &[("A1", "2"), ("B1", "=A1*21"), ("C1", "=Costs!A1")]),
            cells_of(0, &[("A1", "3")]),
            Operation::AddSheet(costs),
            cells_of(1, &[("A1", "=SUM(Sheet1!A1:B1)")]),
        ],
    )
    .await;
    let first = pairs(&[("A1", "2"), ("B1", "42"), ("C1", "#REF!")]);
    assert_eq!(shown(&logs, Some(positions[1])).await, first);
    let second = pairs(&[("A1", "3"), ("B1", "63"), ("C1", "#REF!")]);
    assert_eq!(shown(&logs, Some(positions[2])).await, second);
    let newest = shown(&logs, None).await;
    assert_eq!(newest[1], ("B1".to_owned(), "63".to_owned()));
}

#[tokio::test]
async fn a_page_that_does_not_contain_the_read_cells_is_calculated() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    append(&logs, vec![cells_of(0, &[("A1", "2"), ("A900", "=A1+B5"), ("B5", "=A1+1")])]).await;
    let rectangle = super::search::rectangle("A800:A900");
    let query = CellsQuery { rectangle, ..everything(None) };
    let read = logs.cells(log(), &query).await.unwrap();
    assert_eq!(read.cells.iter().map(CellAt::text).collect::<Vec<_>>(), ["5"]);
}

#[tokio::test]
async fn the_next_read_of_a_state_finds_its_results() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    let edits = vec![cells_of(0, &[("A1", "2"), ("B1", "=A1*21")]), cells_of(0, &[("A1", "3")])];
    append(&logs, edits).await;
    for _ in 0..2 {
        assert_eq!(shown(&logs, None).await, pairs(&[("A1", "3"), ("B1", "63")]));
    }
    let view = logs.open_view(log(), None, None).await.unwrap();
    let KeptCalculation::Started(calculation) = &*view.calculation else { panic!("not kept") };
    let cell = CellKey { sheet: SheetId(0), cell: "B1".parse().unwrap() };
    assert_eq!(calculation.result(cell).unwrap().value, Value::Number(63.0));
    let old = logs.open_view(log(), Some(at(0, 1)), None).await.unwrap();
    assert!(matches!(*old.calculation, KeptCalculation::None));
}

#[tokio::test]
async fn searches_see_calculated_values() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    let cells = [("A1", "1"), ("A2", "=A1+40"), ("A3", "=A2+1"), ("B3", "x"), ("B2", "y")];
    append(&logs, vec![cells_of(0, &cells)]).await;
    let found = logs.find(log(), &find("42")).await.unwrap();
    assert_eq!(
        found.cells.iter().map(|cell| cell.cell_name().to_string()).collect::<Vec<_>>(),
        ["A3"]
    );
    let mut query = filter("A>=41");
    query.sum_column = Some(0);
    let filtered = logs.filter(log(), &query).await.unwrap();
    assert_eq!((filtered.rows, filtered.sum.total()), (2, Some(83.0)));
}

#[tokio::test]
async fn a_formula_reads_a_long_text() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    let long = "x".repeat(MAX_TILE_TEXT_BYTES + 1);
    append(&logs, vec![cells_of(0, &[("A1", &long), ("B1", "=LEN(A1)"), ("B2", "=COUNTA(A:A)")])])
        .await;
    let read = logs.cells(log(), &everything(None)).await.unwrap();
    let texts: Vec<String> = read.cells[1..].iter().map(CellAt::text).collect();
    assert_eq!(texts, [long.len().to_string(), "1".to_owned()]);
}

#[tokio::test]
async fn a_cycle_has_a_note() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    append(&logs, vec![cells_of(0, &[("A1", "=B1"), ("B1", "=A1")])]).await;
    let read = logs.cells(log(), &everything(None)).await.unwrap();
    assert_eq!(read.cells[0].cell.value, Value::Error(ErrorCode::Ref));
    let note = read.cells[0].note.as_deref();
    assert_eq!(note, Some("the formula depends on itself: A1 → B1 → A1"));
}
