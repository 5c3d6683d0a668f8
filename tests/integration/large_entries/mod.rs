//! Large entries over HTTP: grants, uploads, completions, refusals and expiry.

mod completion;
mod lifetime;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cellar::CellsQuery;
use cellar_api::cost::Cost;
use cellar_api::{
    wire::AppendReply, wire::CompleteRequest, wire::CreateReply, wire::CreateRequest,
    wire::MutationStatus, wire::Problem, wire::ProblemKind, wire::UploadReply, wire::hexadecimal,
};
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::limits::{
    MAX_MUTATIONS_PER_REQUEST, MAX_TEXT_BYTES, MAX_UPLOAD_AGE_S, MAX_UPLOAD_BYTES,
};
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_engine::logs::{Completion, LogError, UploadFault};
use cellar_engine::ports::{BlobKey, Blobs as _, Clock};
use cellar_engine::system::SystemClock;
use cellar_local::Ports;
use cellar_log::append::{Request, Upload};
use cellar_log::entry::{FIRST_INCARNATION, decode_external_body, encode_external_body};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{
    CellEdit, InsertBefore, Operation, RejectionReason, SetCells, SheetId,
};
use cellar_tests::budgets;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, set_numbers};
use cellar_tests::old_logs::{DAY_MS, OldLogs, edit};
use reqwest::StatusCode;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(20);
/// Snapshots of large bodies take long while other tests run.
const SNAPSHOT_PATIENCE: Duration = Duration::from_secs(120);

fn at(num: u32) -> Position {
    Position::new(0, num).unwrap()
}

fn cells(first_row: u32, count: u32) -> Operation {
    let edit = |row| CellEdit {
        row,
        column: 0,
        value: Some(Value::Text(format!("row {row}"))),
        formula: None,
        format: None,
    };
    let cells = (first_row..first_row + count).map(edit).collect();
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

fn body() -> Vec<u8> {
    encode_external_body(&[cells(0, 1_000), cells(1_000, 1_000)]).unwrap()
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

struct Fixture {
    cloud: TestCloud,
    http: reqwest::Client,
    created: CreateReply,
    token: String,
}

impl Fixture {
    async fn start() -> Self {
        Self::on(TestCloud::start().await).await
    }

    async fn on(cloud: TestCloud) -> Self {
        let request = CreateRequest::new("large entries".to_owned());
        let created = cloud.client("alice").create(&request).await.unwrap();
        let token = cloud.token("alice", Role::Editor);
        Self { cloud, http: reqwest::Client::new(), created, token }
    }

    async fn post(&self, path: &str, body: &impl serde::Serialize) -> reqwest::Response {
        let url = format!("{}/v1/spreadsheets/{path}", self.cloud.url);
        let request = self.http.post(url).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json");
        request.body(serde_json::to_vec(body).unwrap()).send().await.unwrap()
    }

    async fn try_grant(&self, log: LogId, bytes: u64, sha256: &str) -> reqwest::Response {
        let request = serde_json::json!({ "bytes": bytes, "sha256": sha256 });
        self.post(&format!("{log}/uploads"), &request).await
    }

    async fn grant(&self, bytes: &[u8]) -> UploadReply {
        let length = u64::try_from(bytes.len()).unwrap();
        let reply = self.try_grant(self.created.id, length, &hexadecimal(&sha256(bytes))).await;
        assert_eq!(reply.status(), StatusCode::OK);
        serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap()
    }

    async fn put(&self, grant: &UploadReply, bytes: &[u8]) -> StatusCode {
        let mut request = self.http.request(grant.method.parse().unwrap(), &grant.url);
        for (name, value) in &grant.headers {
            request = request.header(name, value);
        }
        request.body(bytes.to_vec()).send().await.unwrap().status()
    }

    /// Uploads an object.
    async fn uploaded(&self, bytes: &[u8]) -> Uuid {
        let grant = self.grant(bytes).await;
        assert_eq!(self.put(&grant, bytes).await, StatusCode::OK);
        grant.upload_id
    }

    fn completion(&self, bytes: &[u8]) -> CompleteRequest {
        CompleteRequest {
            client_id: "client".to_owned(),
            incarnation: self.created.incarnation,
            acked_id: 0,
            first_id: 1,
            base: self.created.head,
            bytes: u64::try_from(bytes.len()).unwrap(),
            sha256: hexadecimal(&sha256(bytes)),
        }
    }

    async fn complete(&self, upload: Uuid, request: &CompleteRequest) -> reqwest::Response {
        self.post(&format!("{}/uploads/{upload}/complete", self.created.id), request).await
    }

    async fn completed(&self, upload: Uuid, request: &CompleteRequest) -> AppendReply {
        let reply = self.complete(upload, request).await;
        assert_eq!(reply.status(), StatusCode::OK);
        serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap()
    }

    async fn refused(&self, upload: Uuid, request: &CompleteRequest) -> Problem {
        problem(self.complete(upload, request).await).await
    }

    fn key(&self, upload: Uuid) -> BlobKey {
        BlobKey::new(format!("uploads/{}/{upload}", self.created.id)).unwrap()
    }

    async fn pending(&self, upload: Uuid) -> Option<bool> {
        self.cloud.blobs().0.pending(&self.key(upload)).await.unwrap()
    }

    async fn head(&self) -> Position {
        self.cloud.client("alice").spreadsheet(self.created.id).head().await.unwrap().head
    }

    async fn shown(&self, range: &str) -> Vec<(u32, Value)> {
        let query = CellsQuery::of_range(range);
        let reply = self
            .cloud
            .client("alice")
            .spreadsheet(self.created.id)
            .cells_page(&query)
            .await
            .unwrap();
        let cell = serde_json::to_value(&reply.cells).unwrap();
        let cells = cell.as_array().unwrap().iter();
        cells.map(|cell| (row_of(cell), text_of(cell))).collect()
    }
}

fn row_of(cell: &serde_json::Value) -> u32 {
    u32::try_from(cell["row"].as_u64().unwrap()).unwrap()
}

fn text_of(cell: &serde_json::Value) -> Value {
    Value::Text(cell["value"].as_str().unwrap().to_owned())
}

async fn problem(reply: reqwest::Response) -> Problem {
    let status = reply.status();
    let problem: Problem = serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap();
    assert_eq!(problem.status, status.as_u16());
    problem
}

fn cost(reply: &reqwest::Response) -> Cost {
    Cost::from_header(reply.headers()["cellar-cost"].to_str().unwrap()).unwrap()
}

fn text(row: u32) -> Value {
    Value::Text(format!("row {row}"))
}
