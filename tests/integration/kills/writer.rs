//! A client that repeats each edit until it is acknowledged.

use std::time::Duration;

use cellar_api::{wire::AppendReply, wire::CreateReply};
use cellar_base::position::Position;
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, DeleteSpans, InsertBefore, Operation, SetCells, SheetId, Spans,
};
use cellar_tests::edits::append_one;
use tokio::sync::watch;

/// An acknowledged edit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Acknowledged {
    pub(super) position: Position,
    pub(super) id: u64,
    pub(super) operation: Operation,
}

/// A writer of a spreadsheet.
pub(super) struct Writer {
    pub(super) url: String,
    pub(super) token: String,
    pub(super) created: CreateReply,
    /// Number of the writer.
    pub(super) number: u32,
}

impl Writer {
    /// Makes edits until it is stopped, and counts them in a shared counter. Returns the
    /// acknowledged edits.
    pub(super) async fn write(
        self,
        stop: watch::Receiver<bool>,
        edits: watch::Sender<u64>,
    ) -> Vec<Acknowledged> {
        let (mut acknowledged, mut base) = (Vec::new(), self.created.head);
        let http = reqwest::Client::builder().timeout(Duration::from_secs(10)).build().unwrap();
        while !*stop.borrow() {
            let id = u64::try_from(acknowledged.len()).unwrap() + 1;
            let operation = self.operation(u32::try_from(id).unwrap());
            let position = self.send(&http, id, base, &operation).await;
            acknowledged.push(Acknowledged { position, id, operation });
            base = position;
            edits.send_modify(|edits| *edits += 1);
        }
        acknowledged
    }

    /// Sends an edit, and repeats it unchanged until it gets a response.
    async fn send(
        &self,
        http: &reqwest::Client,
        id: u64,
        base: Position,
        operation: &Operation,
    ) -> Position {
        let client = format!("writer {}", self.number);
        let edit = append_one(self.created, &client, id, base, operation.clone());
        let url = format!("{}/v1/spreadsheets/{}/entries", self.url, self.created.id);
        loop {
            let reply = http.post(&url).bearer_auth(&self.token).json(&edit).send().await;
            let Some(bytes) = body(reply).await else {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            let reply: AppendReply = serde_json::from_slice(&bytes).unwrap();
            let result = &reply.results[0];
            assert_eq!((result.id, &result.rejection), (id, &None), "{result:?}");
            return result.position.unwrap();
        }
    }

    /// Returns a unique operation: own cells, cells that all writers edit, or inserted and deleted
    /// rows.
    fn operation(&self, id: u32) -> Operation {
        let (sheet, mixed) = (SheetId::FIRST, (id ^ self.number << 20).wrapping_mul(0x9E37_79B9));
        let before = mixed % 60;
        match id % 16 {
            7 => return Operation::InsertRows(InsertBefore { sheet, before, count: 1 + id / 16 }),
            13 => {
                let spans = Spans::one(before, 1 + id / 16);
                return Operation::DeleteRows(DeleteSpans { sheet, spans });
            }
            _ => {}
        }
        let edit = |row, column, value| {
            let (formula, format) = (None, None);
            CellEdit { row, column, value: Some(value), formula, format }
        };
        let own = Value::Text(format!("edit {id} of writer {}", self.number));
        let set = Operation::SetCells(SetCells {
            sheet,
            cells: vec![
                edit(id % 50, 10 + self.number, own),
                edit(mixed % 40, mixed / 64 % 4, Value::Number(f64::from(mixed) / 7.0)),
                edit(mixed / 256 % 40, mixed / 1_024 % 4, Value::Empty),
            ],
        });
        set.validated().unwrap()
    }
}

/// Returns the body of a response, or `None` if the cloud was killed or asks for a retry.
async fn body(reply: reqwest::Result<reqwest::Response>) -> Option<Vec<u8>> {
    let reply = reply.ok()?;
    let status = reply.status();
    let bytes = reply.bytes().await.ok()?;
    if status.is_success() {
        return Some(bytes.to_vec());
    }
    assert!(status.is_server_error(), "{status}: {}", String::from_utf8_lossy(&bytes));
    None
}
