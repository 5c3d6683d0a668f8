//! Formats of ranges in pages of cells.

use cellar_sheet::a1::CellName;
use cellar_sheet::operation::{SetFormat, Spans};

use super::*;

#[tokio::test]
async fn only_the_first_page_has_formats() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    logs.append(request(1, 0, 1, Position::FIRST, "one")).await.unwrap();
    let (sheet, format) = (SheetId::FIRST, "0.00".to_owned());
    let (rows, columns) = (Spans::one(5, 5), Spans::one(0, 2));
    let operation = Operation::SetFormat(SetFormat { sheet, rows, columns, format });
    let mutations = vec![NewMutation { id: 2, base: at(0, 1), operation }];
    let request = Request::new(log(), ClientKey([1; 8]), None, FIRST_INCARNATION, 1, mutations);
    logs.append(request.unwrap()).await.unwrap();

    let first = logs.cells(log(), &everything(None)).await.unwrap();
    assert_eq!((first.formats.len(), first.formats_cut), (1, false));
    let from = Some(CellName { row: 0, column: 0 });
    let query = CellsQuery { from, ..everything(None) };
    let later = logs.cells(log(), &query).await.unwrap();
    assert_eq!((later.formats.len(), later.formats_cut), (0, false));
    assert_eq!(later.cells, first.cells);
}

#[tokio::test]
async fn formats_and_cells_share_one_reply() {
    let logs = logs(&Arc::new(MemoryTables::default()));
    logs.create(log(), None).await.unwrap();
    // Five formats of 10,000 spans are 2,000,000 bytes: three fit half a reply.
    let spans = Spans::of((0..10_000).map(|span| span * 2 + 1_000));
    let text = "x".repeat(60_000);
    for id in 1..=35 {
        let (sheet, rows) = (SheetId::FIRST, spans.clone());
        let row = u32::try_from(id).unwrap();
        let (columns, format) = (Spans::one(row, 1), format!("0.{}", "0".repeat(row as usize)));
        let operation = match id {
            1..=5 => Operation::SetFormat(SetFormat { sheet, rows, columns, format }),
            _ => set(row, &text),
        };
        let base = at(0, row - 1);
        let mutations = vec![NewMutation { id, base, operation }];
        let request =
            Request::new(log(), ClientKey([1; 8]), None, FIRST_INCARNATION, id - 1, mutations);
        logs.append(request.unwrap()).await.unwrap();
    }
    let first = logs.cells(log(), &everything(None)).await.unwrap();
    assert!(first.formats_cut);
    let newest: Vec<_> = first.formats.iter().map(|format| format.columns.clone()).collect();
    assert_eq!(newest, [3, 4, 5].map(|column| Spans::one(column, 1)));
    let bytes = |read: &CellsRead| {
        let formats = serde_json::to_string(&read.formats).unwrap().len();
        formats + serde_json::to_string(&read.cells).unwrap().len()
    };
    assert!(bytes(&first) <= MAX_REPLY_BYTES, "{}", bytes(&first));
    let query = CellsQuery { at: Some(first.position), from: first.next, ..everything(None) };
    let rest = logs.cells(log(), &query).await.unwrap();
    assert_eq!((rest.formats.len(), rest.formats_cut, rest.next), (0, false, None));
    let rows = first.cells.iter().chain(&rest.cells).map(|cell| cell.row);
    assert_eq!(rows.collect::<Vec<_>>(), (6..=35).collect::<Vec<_>>());
    assert!(!first.cells.is_empty() && !rest.cells.is_empty());
}
