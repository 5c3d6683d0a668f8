//! Large entries over real HTTP: grant, PUT, complete; what is refused; what disappears by itself.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cellar::CellsQuery;
use cellar_core::access::Role;
use cellar_core::api::{
    AppendReply, CompleteRequest, CreateReply, CreateRequest, MutationStatus, Problem, ProblemKind,
    UploadReply, hexadecimal,
};
use cellar_core::append::{Request, Upload};
use cellar_core::cell::Value;
use cellar_core::cost::Cost;
use cellar_core::entry::{FIRST_EPOCH, decode_external_body, encode_external_body};
use cellar_core::identity::{ClientKey, LogId};
use cellar_core::limits::{
    MAX_MUTATIONS_PER_REQUEST, MAX_PRESIGNED_S, MAX_UPLOAD_AGE_S, MAX_UPLOAD_BYTES,
};
use cellar_core::operation::{
    CellEdit, InsertBefore, Operation, RejectionReason, SetCells, SheetId,
};
use cellar_core::position::Position;
use cellar_engine::logs::{Completion, LogError, UploadFault};
use cellar_engine::ports::{BlobKey, Blobs as _, Clock};
use cellar_engine::system::SystemClock;
use cellar_local::Ports;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, set_numbers};
use cellar_tests::old_logs::{DAY_MS, OldLogs, edit};
use reqwest::StatusCode;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(20);

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
        let request = CreateRequest { nonce: "large entries".to_owned() };
        let created = cloud.client("alice").create(&request).await.unwrap();
        let token = cloud.token("alice", Role::Editor);
        Self { cloud, http: reqwest::Client::new(), created, token }
    }

    async fn post(&self, path: &str, body: &impl serde::Serialize) -> reqwest::Response {
        let url = format!("{}v1/spreadsheets/{path}", self.cloud.url);
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

    /// An object that was uploaded.
    async fn uploaded(&self, bytes: &[u8]) -> Uuid {
        let grant = self.grant(bytes).await;
        assert_eq!(self.put(&grant, bytes).await, StatusCode::OK);
        grant.upload
    }

    fn completion(&self, bytes: &[u8]) -> CompleteRequest {
        CompleteRequest {
            client: "client".to_owned(),
            epoch: self.created.epoch,
            ack: 0,
            first: 1,
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
        self.cloud.client("alice").head(self.created.id, None).await.unwrap().head
    }

    async fn shown(&self, range: &str) -> Vec<(u32, Value)> {
        let query = CellsQuery { range: Some(range.to_owned()), ..CellsQuery::default() };
        let reply = self.cloud.client("alice").cells(self.created.id, &query).await.unwrap();
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

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_becomes_one_entry_at_its_exact_cost() {
    let fixture = Fixture::start().await;
    let bytes = body();
    let grant = fixture.grant(&bytes).await;
    assert_eq!(fixture.put(&grant, &bytes).await, StatusCode::OK);
    assert_eq!(fixture.pending(grant.upload).await, Some(true));
    let request = fixture.completion(&bytes);
    let reply = fixture.complete(grant.upload, &request).await;
    assert_eq!(reply.status(), StatusCode::OK);
    let told = cost(&reply);
    assert_eq!((told.read_units(), told.write_units, told.table_requests), (0.0, 1, 1));
    assert_eq!((told.object_puts, told.object_gets, told.object_tags), (0, 1, 1));
    let reply: AppendReply = serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap();
    let results: Vec<_> =
        reply.results.iter().map(|result| (result.id, result.position, result.status)).collect();
    let appended = MutationStatus::Appended;
    assert_eq!(results, [(1, Some(at(1)), appended), (2, Some(at(1)), appended)]);
    assert_eq!(fixture.pending(grant.upload).await, Some(false));
    assert_eq!(fixture.shown("A1:A3").await, [(0, text(0)), (1, text(1)), (2, text(2))]);
    assert_eq!(fixture.shown("A1999:A2005").await, [(1_998, text(1_998)), (1_999, text(1_999))]);
    // Twice: the same positions, no second entry.
    for ack in [0, 2] {
        let again = CompleteRequest { ack, ..request.clone() };
        let reply = fixture.completed(grant.upload, &again).await;
        for result in reply.results {
            assert_eq!((result.position, result.status), (Some(at(1)), MutationStatus::Duplicate));
        }
        assert_eq!(fixture.head().await, at(1));
    }
    // The URL worked once: nobody replaces the object any more.
    let other = vec![7; bytes.len()];
    assert_eq!(fixture.put(&grant, &bytes).await, StatusCode::PRECONDITION_FAILED);
    assert!(fixture.put(&grant, &other).await.is_client_error());
    assert_eq!(fixture.shown("A1:A1").await, [(0, text(0))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_see_where_the_body_is_and_verify_it() {
    let fixture = Fixture::start().await;
    let bytes = body();
    let upload = fixture.uploaded(&bytes).await;
    fixture.completed(upload, &fixture.completion(&bytes)).await;
    let reader = fixture.cloud.client("somebody else");
    let loaded = reader.load(fixture.created.id, None).await.unwrap().entries;
    let updated = reader.update(fixture.created.id, at(0)).await.unwrap().entries;
    for view in [&loaded[1], &updated[0]] {
        assert!(view.mutations.is_empty());
        let external = view.external.as_ref().unwrap();
        assert_eq!((external.first_id, external.count), (1, 2));
        assert!(external.moved.is_empty());
        // Without a token: the URL is enough, and only to read.
        let url = external.url.as_deref().unwrap();
        let fetched = fixture.http.get(url).send().await.unwrap();
        assert_eq!(fetched.status(), StatusCode::OK);
        let fetched = fetched.bytes().await.unwrap();
        assert_eq!(u64::try_from(fetched.len()).unwrap(), external.bytes);
        assert_eq!(hexadecimal(&sha256(&fetched)), external.sha256);
        assert_eq!(decode_external_body(&fetched).unwrap(), [cells(0, 1_000), cells(1_000, 1_000)]);
        assert!(fixture.http.delete(url).send().await.unwrap().status().is_client_error());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_read_where_its_rows_have_moved_to() {
    let fixture = Fixture::start().await;
    let bytes = encode_external_body(&[cells(0, 5)]).unwrap();
    let upload = fixture.uploaded(&bytes).await;
    // Meanwhile somebody else inserts two rows behind the third.
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 3, count: 2 };
    let insert = Operation::InsertRows(insert);
    let append = append_one(fixture.created, "other", 1, fixture.created.head, insert);
    fixture.cloud.client("bob").append(fixture.created.id, &append).await.unwrap();
    let reply = fixture.completed(upload, &fixture.completion(&bytes)).await;
    assert_eq!(reply.results[0].position, Some(at(2)));
    assert_eq!(reply.entries.len(), 1, "what the client was missing");
    let moved = [(0, text(0)), (1, text(1)), (2, text(2)), (5, text(3)), (6, text(4))];
    assert_eq!(fixture.shown("A1:A20").await, moved);
    let view = fixture.cloud.client("carol").load(fixture.created.id, None).await.unwrap();
    let moved = &view.entries[2].external.as_ref().unwrap().moved;
    assert_eq!((moved.len(), moved[0].rows[0], moved[0].rows[1].1), (1, (0, 0, 3), 5));
    // Rows that move later move it too.
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
    let append = append_one(fixture.created, "other", 2, at(2), Operation::InsertRows(insert));
    fixture.cloud.client("bob").append(fixture.created.id, &append).await.unwrap();
    assert_eq!(fixture.shown("A1:A3").await, [(1, text(0)), (2, text(1))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_what_was_announced_is_refused_and_changes_nothing() {
    let fixture = Fixture::start().await;
    let bytes = body();
    let grant = fixture.grant(&bytes).await;
    // Nothing was uploaded yet.
    let good = fixture.completion(&bytes);
    assert_eq!(fixture.refused(grant.upload, &good).await.kind, ProblemKind::UploadRefused);
    // Other bytes than those of the grant do not get in.
    let mut other = bytes.clone();
    *other.last_mut().unwrap() ^= 1;
    assert!(fixture.put(&grant, &other).await.is_client_error());
    assert_eq!(fixture.refused(grant.upload, &good).await.kind, ProblemKind::UploadRefused);
    assert_eq!(fixture.put(&grant, &bytes).await, StatusCode::OK);
    let sha_of_other = hexadecimal(&sha256(&other));
    for (request, kind) in [
        (CompleteRequest { sha256: sha_of_other, ..good.clone() }, ProblemKind::UploadRefused),
        (CompleteRequest { bytes: good.bytes + 1, ..good.clone() }, ProblemKind::UploadRefused),
        (CompleteRequest { sha256: "x".into(), ..good.clone() }, ProblemKind::Unprocessable),
        (CompleteRequest { first: 0, ..good.clone() }, ProblemKind::UploadRefused),
        (CompleteRequest { first: 2, ..good.clone() }, ProblemKind::MutationGap),
        (CompleteRequest { base: at(99), ..good.clone() }, ProblemKind::UnknownBase),
        (CompleteRequest { epoch: good.epoch ^ 1, ..good.clone() }, ProblemKind::Reload),
        (CompleteRequest { client: String::new(), ..good.clone() }, ProblemKind::Unprocessable),
    ] {
        assert_eq!(fixture.refused(grant.upload, &request).await.kind, kind, "{request:?}");
    }
    assert_eq!(fixture.head().await, at(0));
    assert_eq!(fixture.pending(grant.upload).await, Some(true), "it still disappears by itself");
    // A part of it is in the log already, by another way.
    let append = append_one(fixture.created, "client", 1, at(0), set_numbers(&[1.0]));
    fixture.cloud.client("alice").append(fixture.created.id, &append).await.unwrap();
    assert_eq!(fixture.refused(grant.upload, &good).await.kind, ProblemKind::MutationOverlap);
    let behind = CompleteRequest { first: 2, ack: 1, ..good };
    assert_eq!(fixture.completed(grant.upload, &behind).await.results[0].position, Some(at(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_nobody_could_read_never_becomes_an_entry() {
    let fixture = Fixture::start().await;
    let insert = InsertBefore { sheet: SheetId::FIRST, before: 0, count: 1 };
    let many = |count| vec![cells(0, 1); count];
    let beyond = cells(u32::MAX - 1, 1);
    for (name, bytes) in [
        ("garbage", b"garbage".to_vec()),
        ("one byte", vec![1]),
        ("zeros", vec![0; 100]),
        ("an insert", encode_external_body(&[Operation::InsertRows(insert)]).unwrap()),
        ("nothing", encode_external_body(&[]).unwrap()),
        ("a row beyond the last", encode_external_body(&[beyond]).unwrap()),
        ("cut", body()[..100].to_vec()),
    ] {
        let upload = fixture.uploaded(&bytes).await;
        let problem = fixture.refused(upload, &fixture.completion(&bytes)).await;
        assert_eq!(problem.kind, ProblemKind::UploadRefused, "{name}: {problem:?}");
        assert_eq!(fixture.head().await, at(0), "{name}");
    }
    let most = encode_external_body(&many(MAX_MUTATIONS_PER_REQUEST)).unwrap();
    let upload = fixture.uploaded(&most).await;
    let reply = fixture.completed(upload, &fixture.completion(&most)).await;
    assert_eq!(reply.results.len(), MAX_MUTATIONS_PER_REQUEST);
    // As long as is allowed may be asked for, and no longer.
    let sha = hexadecimal(&sha256(b""));
    let most = u64::try_from(MAX_UPLOAD_BYTES).unwrap();
    for (bytes, status) in [(most, 200), (most + 1, 413), (u64::MAX, 413)] {
        let reply = fixture.try_grant(fixture.created.id, bytes, &sha).await;
        assert_eq!(reply.status().as_u16(), status, "{bytes}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_of_one_spreadsheet_and_for_who_may_write_there() {
    let mut fixture = Fixture::start().await;
    let bytes = body();
    let upload = fixture.uploaded(&bytes).await;
    let request = CreateRequest { nonce: "another".to_owned() };
    let other = fixture.cloud.client("alice").create(&request).await.unwrap();
    let good = fixture.completion(&bytes);
    let path = format!("{}/uploads/{upload}/complete", other.id);
    let refused = problem(fixture.post(&path, &good).await).await;
    assert_eq!(refused.kind, ProblemKind::UploadRefused);
    let unknown = LogId::from_uuid(Uuid::from_bytes([9; 16]));
    let sha = good.sha256.clone();
    assert_eq!(fixture.try_grant(unknown, 1, &sha).await.status(), StatusCode::NOT_FOUND);
    let not_an_id = format!("{}/uploads/not-an-id/complete", fixture.created.id);
    assert_eq!(fixture.post(&not_an_id, &good).await.status(), StatusCode::NOT_FOUND);
    fixture.token = fixture.cloud.token("alice", Role::Viewer);
    assert_eq!(fixture.complete(upload, &good).await.status(), StatusCode::FORBIDDEN);
    let grant = fixture.try_grant(fixture.created.id, 1, &sha).await;
    assert_eq!(grant.status(), StatusCode::FORBIDDEN);
    fixture.token = fixture.cloud.token_for("alice", Role::Editor, vec![other.id]);
    assert_eq!(fixture.complete(upload, &good).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(fixture.head().await, at(0));
}

/// The real time, and some more.
struct LaterClock {
    by_ms: u64,
}

#[async_trait]
impl Clock for LaterClock {
    fn now_ms(&self) -> u64 {
        SystemClock.now_ms() + self.by_ms
    }
    async fn sleep_ms(&self, delay_ms: u64) {
        SystemClock.sleep_ms(delay_ms).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_never_completed_disappears_and_one_that_was_stays() {
    let fixture = Fixture::start().await;
    let (never, kept) = (body(), encode_external_body(&[cells(0, 3)]).unwrap());
    let never_id = fixture.uploaded(&never).await;
    let kept_id = fixture.uploaded(&kept).await;
    fixture.completed(kept_id, &fixture.completion(&kept)).await;
    let Fixture { cloud, .. } = fixture;
    // Three days, and the next midnight.
    let clock = Arc::new(LaterClock { by_ms: 4 * DAY_MS });
    let cloud = cloud.kill_and_start(Ports { clock, pending_tags: None }).await;
    let fixture = Fixture::on(cloud).await;
    let wait = async {
        while fixture.pending(never_id).await.is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("it disappears");
    assert_eq!(fixture.pending(kept_id).await, Some(false));
    let request = CompleteRequest { first: 2, ack: 1, ..fixture.completion(&never) };
    assert_eq!(fixture.refused(never_id, &request).await.kind, ProblemKind::UploadRefused);
    assert_eq!(fixture.head().await, at(1));
    assert_eq!(fixture.shown("A1:A9").await, [(0, text(0)), (1, text(1)), (2, text(2))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_relay_removes_the_tag_after_a_crash_before_it() {
    let fixture = Fixture::start().await;
    let bytes = body();
    let upload = fixture.uploaded(&bytes).await;
    // The entry as a completion writes it, and nothing after it.
    let (tables, _) = fixture.cloud.tables_at(&fixture.cloud.database_url);
    let entry = Upload {
        object: fixture.key(upload).as_str().to_owned(),
        bytes: u64::try_from(bytes.len()).unwrap(),
        sha256: sha256(&bytes),
        count: 2,
        base: at(0),
    };
    let client = ClientKey([5; 8]);
    let log = fixture.created.id;
    let request = Request::upload(log, client, None, FIRST_EPOCH, 0, 1, entry).unwrap();
    let appended = TestCloud::logs(&tables).append(request).await.unwrap();
    assert_eq!(appended.tail, at(1));
    let wait = async {
        while fixture.pending(upload).await != Some(false) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("the relay removes it");
    assert_eq!(fixture.shown("A1:A1").await, [(0, text(0))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_later_only_what_was_completed_in_time_is_answered() {
    let world = OldLogs::start().await;
    let growing = world.create("a day later").await;
    let (log, logs, http) = (growing.log, world.logs(), reqwest::Client::new());
    let bytes = body();
    let length = u64::try_from(bytes.len()).unwrap();
    let uploaded = async || {
        let upload = Uuid::new_v4();
        let granted = logs.grant_upload(log, upload, length, sha256(&bytes)).await.unwrap();
        let mut request = http.put(&granted.url).body(bytes.clone());
        for (name, value) in granted.headers {
            request = request.header(name, value);
        }
        assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
        upload
    };
    let completion = |upload, client, first_id| Completion {
        upload,
        bytes: length,
        sha256: sha256(&bytes),
        client: ClientKey([client; 8]),
        author: None,
        epoch: FIRST_EPOCH,
        acknowledged: first_id - 1,
        first_id,
        base: at(0),
    };
    let (in_time, at_the_end, late) = (uploaded().await, uploaded().await, uploaded().await);
    let first = logs.complete_upload(log, completion(in_time, 1, 1)).await.unwrap();
    assert_eq!(first.results[0].position, Some(at(1)));
    let written_s = world.blobs.head(&key(log, late)).await.unwrap().unwrap().modified_s;
    let to = |now_s: u64| world.clock.advance_ms(now_s * 1_000 - world.clock.now_ms());
    // The objects came one after the other: the oldest decides.
    let oldest_s = world.blobs.head(&key(log, at_the_end)).await.unwrap().unwrap().modified_s;
    to(oldest_s + MAX_UPLOAD_AGE_S);
    let second = logs.complete_upload(log, completion(at_the_end, 2, 1)).await.unwrap();
    assert_eq!(second.results[0].position, Some(at(2)));
    to(written_s + MAX_UPLOAD_AGE_S + 1);
    let refused = logs.complete_upload(log, completion(late, 3, 1)).await.unwrap_err();
    assert_eq!(refused, LogError::Upload(UploadFault::TooOld));
    for (upload, client, num) in [(in_time, 1, 1), (at_the_end, 2, 2)] {
        let again = completion(upload, client, 1);
        let again = world.logs().complete_upload(log, again).await.unwrap();
        assert!(again.results.iter().all(|result| result.duplicate));
        assert_eq!(again.results[0].position, Some(at(num)));
    }
    assert_eq!(logs.head(log, None).await.unwrap().head, at(2));
    assert!(MAX_PRESIGNED_S < MAX_UPLOAD_AGE_S);
}

fn key(log: LogId, upload: Uuid) -> BlobKey {
    BlobKey::new(format!("uploads/{log}/{upload}")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_whose_base_is_gone_is_handed_back_and_disappears() {
    let world = OldLogs::start().await;
    let mut growing = world.create("base of an upload").await;
    for _ in 0..3 {
        growing.append(set_numbers(&[1.0])).await;
        world.roll(&mut growing).await;
    }
    world.finish_snapshot(growing.log, 3).await;
    let log = growing.log;
    world.clock.advance_ms(DAY_MS);
    for planned in world.plans(log, cellar_tests::old_logs::AS_LITTLE_AS_ALLOWED).await {
        let done = world.archivist().carry_out(&planned).await.unwrap();
        if let Some(archive) = done.archive {
            world.blobs.delete(&BlobKey::new(archive).unwrap()).await.unwrap();
        }
    }
    let upload = Upload {
        object: format!("uploads/{log}/x"),
        bytes: 1,
        sha256: [0; 32],
        count: 3,
        base: at(1),
    };
    let client = ClientKey([9; 8]);
    let request = Request::upload(log, client, None, FIRST_EPOCH, 0, 1, upload).unwrap();
    let appended = world.logs().append(request).await.unwrap();
    assert_eq!(appended.results.len(), 3);
    for result in &appended.results {
        let rejection = result.rejection.as_ref().unwrap();
        assert_eq!(rejection.reason, RejectionReason::BaseGone);
    }
    let next = edit(log, 9, 4, appended.tail, set_numbers(&[2.0]));
    assert_eq!(world.logs().append(next).await.unwrap().results[0].rejection, None);
}
