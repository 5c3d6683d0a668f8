//! Replies of the HTTP API for a page: traces of formulas, displayed texts, and the key of its own
//! entries.

use cellar_api::wire::{CellsReply, CreateReply, CreateRequest, ProblemKind, TraceReply};
use cellar_base::limits::{MAX_ROWS, MAX_TRACED_FORMULAS};
use cellar_sheet::operation::SheetId;
use cellar_tests::cloud::TestCloud;
use reqwest::StatusCode;
use serde_json::{Value, json};

struct World {
    cloud: TestCloud,
    http: reqwest::Client,
    sheet: CreateReply,
    sent: u64,
}

impl World {
    async fn start() -> Self {
        let cloud = TestCloud::start_without_snapshots().await;
        let request = CreateRequest::new("trace".to_owned());
        let sheet = cloud.client("alice").create(&request).await.unwrap();
        Self { cloud, http: reqwest::Client::new(), sheet, sent: 0 }
    }

    fn url(&self, rest: &str) -> String {
        format!("{}/v1/spreadsheets/{}{rest}", self.cloud.url, self.sheet.id)
    }

    async fn get(&self, rest: &str) -> reqwest::Response {
        let request = self.http.get(self.url(rest)).bearer_auth(self.cloud.token_of("alice"));
        request.send().await.unwrap()
    }

    async fn trace(&self, query: &str) -> TraceReply {
        self.get(&format!("/cells/trace?{query}")).await.json().await.unwrap()
    }

    /// Appends an operation, and returns the reply.
    async fn append(&mut self, op: Value) -> Value {
        self.sent += 1;
        let body = json!({
            "client_id": "page", "incarnation": self.sheet.incarnation,
            "mutations": [{"id": self.sent, "base": self.sent - 1, "op": op}],
        });
        let request = self.http.post(self.url("/entries")).json(&body);
        let reply = request.bearer_auth(self.cloud.token_of("alice")).send().await.unwrap();
        assert_eq!(reply.status(), 200, "{}", reply.text().await.unwrap());
        let reply: Value = reply.json().await.unwrap();
        assert_eq!(reply["results"][0]["status"], "appended", "{reply}");
        reply
    }

    async fn set(&mut self, cells: &[(u32, u32, &str)]) -> Value {
        let cell = |(row, column, formula): &(u32, u32, &str)| json!({"row": row, "column": column, "formula": formula});
        let cells: Vec<Value> = cells.iter().map(cell).collect();
        self.append(json!({"setCells": {"cells": cells}})).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_names_what_a_cell_reads_and_what_reads_it() {
    let mut world = World::start().await;
    world.append(json!({"addSheet": {"sheet": 1, "name": "My costs"}})).await;
    world.append(json!({"setName": {"name": "Tax", "formula": "='My costs'!$C$1", "sheets": {"My costs": 1}}})).await;
    let formulas =
        [(0, 0, "=SUM('My costs'!B:B)+Tax+B2"), (0, 2, "=A1*2"), (5, 0, "=SUM(A1:A3)+A1")];
    let appended = world.set(&formulas).await;
    let trace = world.trace("cell=$a$1").await;
    let areas: Vec<_> = trace
        .precedents
        .iter()
        .map(|area| (area.sheet.0, area.reference.as_str(), area.rows.count, area.columns.first))
        .collect();
    assert_eq!(
        areas,
        [(1, "'My costs'!B:B", MAX_ROWS, 1), (1, "'My costs'!$C$1", 1, 2), (0, "Sheet1!B2", 1, 1)]
    );
    let dependents: Vec<_> = trace
        .dependents
        .iter()
        .map(|found| (found.sheet, found.row, found.column, found.formula.as_str()))
        .collect();
    assert_eq!(dependents, [(SheetId(0), 0, 2, "=A1*2"), (SheetId(0), 5, 0, "=SUM(A1:A3)+A1")]);
    assert_eq!((trace.cell.as_str(), trace.sheet), ("A1", SheetId(0)));
    assert!(trace.precedents_complete && trace.dependents_complete);
    assert_eq!(json!(trace.position), appended["head"]);

    let other = world.trace("sheet=my%20costs&cell=C1").await;
    assert_eq!((other.precedents.len(), other.dependents.len()), (0, 1), "{other:?}");
    let earlier = world.trace("cell=A1&at=2").await;
    assert_eq!((earlier.precedents.len(), earlier.dependents.len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_says_which_cell_fills_the_cell() {
    let mut world = World::start().await;
    world.set(&[(0, 0, "=SEQUENCE(3)"), (0, 1, "=A2")]).await;
    let filled = world.trace("cell=A2").await;
    assert_eq!(filled.filled_by.as_deref(), Some("A1"));
    assert_eq!((filled.precedents.len(), filled.dependents.len()), (0, 1));
    assert_eq!(world.trace("cell=A1").await.filled_by, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_lists_a_bounded_number_of_formulas() {
    let mut world = World::start().await;
    let most = u32::try_from(MAX_TRACED_FORMULAS).unwrap();
    let formulas: Vec<_> = (0..most).map(|row| (row, 1, "=$A$1")).collect();
    world.set(&formulas).await;
    let all = world.trace("cell=A1").await;
    assert_eq!((all.dependents.len(), all.dependents_complete), (MAX_TRACED_FORMULAS, true));
    world.set(&[(most, 1, "=$A$1")]).await;
    let some = world.trace("cell=A1").await;
    assert_eq!((some.dependents.len(), some.dependents_complete), (MAX_TRACED_FORMULAS, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_traces_are_refused() {
    let world = World::start().await;
    for (query, status, kind) in [
        ("", 400, ProblemKind::BadRequest),
        ("cell=", 422, ProblemKind::InvalidRequest),
        ("cell=A1:B2", 422, ProblemKind::InvalidRequest),
        ("cell=A0", 422, ProblemKind::InvalidRequest),
        ("cell=A1&sheet=none", 404, ProblemKind::SheetNotFound),
        ("cell=A1&range=A1", 400, ProblemKind::BadRequest),
    ] {
        let reply = world.get(&format!("/cells/trace?{query}")).await;
        assert_eq!(reply.status(), status, "{query}");
        let problem: cellar_api::wire::Problem = reply.json().await.unwrap();
        assert_eq!(problem.kind, kind, "{query}");
    }
    let url = world.url("/cells/trace?cell=A1");
    assert_eq!(world.http.get(url).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_have_their_displayed_texts_on_request() {
    let mut world = World::start().await;
    let cells = json!([
        {"row": 0, "column": 0, "value": 46023, "format": "yyyy-mm-dd"},
        {"row": 0, "column": 1, "value": 0.125, "format": "0.0%"},
        {"row": 0, "column": 2, "value": "a"},
    ]);
    world.append(json!({"setCells": {"cells": cells}})).await;
    world.set(&[(0, 3, "=0.1+0.2")]).await;
    let read: CellsReply = world.get("/cells?text=true").await.json().await.unwrap();
    let texts: Vec<_> = read.cells.iter().map(|cell| cell.text.as_deref().unwrap()).collect();
    assert_eq!(texts, ["2026-01-01", "12.5%", "a", "0.3"]);
    for query in ["", "?text=false"] {
        let read: CellsReply = world.get(&format!("/cells{query}")).await.json().await.unwrap();
        assert!(read.cells.iter().all(|cell| cell.text.is_none()), "{read:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reply_of_an_append_tells_the_clients_own_key() {
    let mut world = World::start().await;
    let appended = world.set(&[(0, 0, "=1")]).await;
    let entries: Value = world.get("/entries?after=0").await.json().await.unwrap();
    assert_eq!(entries["entries"][0]["client_key"], appended["client_key"], "{appended}");
    assert_eq!(appended["client_key"].as_str().unwrap().len(), 16);
}
