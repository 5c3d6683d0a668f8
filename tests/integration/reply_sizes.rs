//! Replies fit into a Lambda response, regardless of the cells.

use cellar_api::{wire::CreateRequest, wire::SentMutation};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::append_one;

/// Maximum size of a Lambda response, including the JSON around the reply.
const LAMBDA_REPLY_BYTES: usize = 6 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_quotes_and_control_characters_fit() {
    let cloud = TestCloud::start_without_snapshots().await;
    let client = cloud.client("alice");
    for text in ["\"".repeat(60_000), "\u{1}".repeat(20_000), "\\".repeat(60_000)] {
        let created =
            client.create(&CreateRequest::new(text.chars().take(8).collect())).await.unwrap();
        let mut base = created.head;
        for id in 1..=30 {
            let row = u32::try_from(id).unwrap();
            let value = Some(Value::Text(text.clone()));
            let edit = CellEdit { row, column: 0, value, formula: None, format: None };
            let op = Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells: vec![edit] });
            let request = append_one(created, "client", id, base, op);
            base = client.spreadsheet(created.id).append(&request).await.unwrap().head;
        }
        let loaded = client.spreadsheet(created.id).load(None).await.unwrap();
        let cells = client
            .spreadsheet(created.id)
            .cells_page(&cellar::CellsQuery::default())
            .await
            .unwrap();
        // A client with an old base: the reply of its append is also truncated.
        let late = SentMutation {
            id: 1,
            base: created.head,
            op: cellar_tests::edits::set_numbers(&[1.0]),
        };
        let request = cellar_api::wire::AppendRequest {
            client_id: "late".into(),
            incarnation: created.incarnation,
            acked_id: 0,
            refuse_unchanged: false,
            mutations: vec![late],
        };
        let appended = client.spreadsheet(created.id).append(&request).await.unwrap();
        assert!(loaded.next.is_some() && cells.next.is_some() && appended.next.is_some());
        for body in [
            serde_json::to_string(&loaded).unwrap(),
            serde_json::to_string(&cells).unwrap(),
            serde_json::to_string(&appended).unwrap(),
        ] {
            let bytes = serde_json::to_string(&body).unwrap().len();
            assert!(bytes < LAMBDA_REPLY_BYTES, "{bytes} bytes");
            assert!(bytes > LAMBDA_REPLY_BYTES / 4, "{bytes} bytes: the pages are too small");
        }
    }
}
