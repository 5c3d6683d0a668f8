//! Invalid requests over HTTP: each returns its problem and stores nothing.

use cellar_api::{wire::CreateReply, wire::CreateRequest, wire::Problem, wire::ProblemKind};
use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_MUTATION_BYTES, MAX_REQUEST_BYTES};
use cellar_catalog::access::Role;
use cellar_runtime::token::Claims;
use cellar_tests::cloud::TestCloud;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::routes::seen;

struct Fixture {
    cloud: TestCloud,
    http: reqwest::Client,
    created: CreateReply,
    token: String,
}

impl Fixture {
    async fn start() -> Self {
        let cloud = TestCloud::start().await;
        let request = CreateRequest::new("bad requests".to_owned());
        let created = cloud.client("alice").create(&request).await.unwrap();
        let token = cloud.token("alice", Role::Editor);
        Self { cloud, http: reqwest::Client::new(), created, token }
    }

    fn path(&self, rest: &str) -> String {
        format!("{}/v1/spreadsheets/{}{rest}", self.cloud.url, self.created.id)
    }

    async fn get(&self, url: &str, token: &str) -> Response {
        self.http.get(url).bearer_auth(token).send().await.unwrap()
    }

    async fn post(&self, url: &str, body: impl Into<reqwest::Body>) -> Response {
        let request = self.http.post(url).bearer_auth(&self.token);
        request.header("content-type", "application/json").body(body).send().await.unwrap()
    }

    fn append_body(&self, text: &str) -> Value {
        let cells = json!([{"row": 0, "column": 0, "value": text}]);
        json!({
            "client_id": "c", "incarnation": self.created.incarnation,
            "mutations": [{"id": 1, "base": 0, "op": {"setCells": {"cells": cells}}}],
        })
    }

    /// Checks that the log has only its first entry.
    async fn assert_untouched(&self) {
        let head = self.cloud.client("alice").spreadsheet(self.created.id).head().await.unwrap();
        assert_eq!(head.head, self.created.head, "something was stored");
    }
}

async fn problem(response: Response) -> Problem {
    let status = response.status();
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let problem: Problem = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(problem.status, status.as_u16());
    assert!(!problem.detail.is_empty());
    problem
}

/// A mutation that is invalid in any state is committed as rejected, so that the client's numbering
/// continues and the other mutations of the request are committed.
#[tokio::test(flavor = "multi_thread")]
async fn mutations_that_can_never_succeed_are_rejected_and_stop_nothing() {
    let fixture = Fixture::start().await;
    let url = fixture.path("/entries");
    let cell = |row: u32, value: Value| json!([{"row": row, "column": 0, "value": value}]);
    let span = |first: u64, count: u64| json!([{"first": first, "count": count}]);
    let max_rows = u64::from(cellar_base::limits::MAX_ROWS);
    let max_insert = cellar_base::limits::MAX_INSERT;
    let bad = [
        (json!({"setCells": {"cells": []}}), "no cells"),
        (json!({"setCells": {"cells": cell(u32::MAX, json!(1))}}), "outside the sheet"),
        (json!({"setCells": {"cells": cell(0, json!("x".repeat(70_000)))}}), "at most 65536"),
        (json!({"setCells": {"cells": [{"row": 0, "column": 0}]}}), "neither a value"),
        (json!({"clearRange": {"rows": span(3, 0)}}), "must be at least 1"),
        (json!({"clearRange": {"rows": []}}), "needs at least one span of rows"),
        (json!({"deleteRows": {"spans": span(max_rows - 1, 2)}}), "extend past the end"),
        (json!({"deleteColumns": {"spans": span(0, 1 << 31)}}), "extend past the end"),
        (json!({"insertRows": {"before": 0, "count": max_insert + 1}}), "are allowed"),
        (json!({"insertColumns": {"before": 0, "count": 0}}), "are allowed"),
        (json!({"setFormat": {"rows": span(0, 1), "format": ""}}), "the format is empty"),
        (json!({"addSheet": {"sheet": 0, "name": "a"}}), "cannot have the number 0"),
        (json!({"addSheet": {"sheet": 1, "name": "a/b"}}), "is not a valid sheet name"),
        (json!({"renameSheet": {"sheet": 0, "name": " "}}), "is not a valid sheet name"),
        (json!({"setName": {"name": "A1", "formula": "=1"}}), "it is a cell; put `_` before it"),
        (json!({"setName": {"name": "x", "formula": "=B2"}}), "without a sheet; write Sheet1!$B$2"),
        (json!({"setName": {"name": "x", "formula": "=A!$B$2"}}), "add its number to `sheets`"),
        (json!({"rejected": {"reason": "invalid", "detail": "x"}}), "clients cannot send"),
    ];
    let good =
        |id: usize| json!({"setCells": {"cells": cell(u32::try_from(id).unwrap(), json!(id))}});
    let operations = bad.iter().flat_map(|(bad, _)| [bad.clone(), good(1)]);
    let mutations: Vec<Value> = (1..)
        .zip(operations)
        .map(|(id, op)| json!({"id": id, "base": fixture.created.head, "op": op}))
        .collect();
    let body = json!({"client_id": "c", "incarnation": fixture.created.incarnation, "mutations": mutations});
    for repeat in [false, true] {
        let reply = fixture.post(&url, body.to_string()).await;
        assert_eq!(reply.status(), 200);
        let reply: Value = serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap();
        let results = reply["results"].as_array().unwrap();
        assert_eq!(results.len(), 2 * bad.len());
        for (pair, (operation, why)) in results.chunks(2).zip(&bad) {
            assert_eq!(pair[0]["status"], "rejected", "{operation}");
            let detail = pair[0]["rejection"]["detail"].as_str().unwrap();
            assert!(detail.contains(why), "{operation}: {detail}");
            assert_eq!(pair[0]["rejection"]["reason"], "invalid");
            assert_eq!(pair[1]["status"], if repeat { "duplicate" } else { "appended" });
            assert!(pair[0]["position"].is_u64());
        }
    }
}

/// A reference to a missing sheet returns the existing sheets. If others deleted the sheet, the
/// response says that nothing was changed. A repeated request returns the same response.
#[tokio::test(flavor = "multi_thread")]
async fn mutations_without_an_effect_say_so() {
    let fixture = Fixture::start().await;
    let url = fixture.path("/entries");
    let head = fixture.created.head;
    let set = |sheet: u32| json!({"setCells": {"sheet": sheet, "cells": [{"row": 0, "column": 0, "value": "x"}]}});
    let rows = json!([{"first": 0, "count": 1}]);
    let delete_sheet = |sheet: u32| json!({"deleteSheet": {"sheet": sheet}});
    let add = |sheet: u32| json!({"addSheet": {"sheet": sheet, "name": "Second"}});
    let post = async |client: &str, base: &Value, operations: &[Value]| {
        let mutations: Vec<Value> = (1..)
            .zip(operations)
            .map(|(id, op): (u32, &Value)| json!({"id": id, "base": base, "op": op}))
            .collect();
        let body = json!({"client_id": client, "incarnation": fixture.created.incarnation, "mutations": mutations});
        let reply = fixture.post(&url, body.to_string()).await;
        assert_eq!(reply.status(), 200);
        serde_json::from_slice::<Value>(&reply.bytes().await.unwrap()).unwrap()
    };
    let first = json!(head);
    let refused = [
        (set(77), "noSuchSheet", "sheet 77 does not exist; the sheets are 0"),
        (json!({"deleteRows": {"sheet": 1, "spans": rows}}), "noSuchSheet", "the sheets are 0"),
        (
            json!({"renameSheet": {"sheet": 1, "name": "a"}}),
            "noSuchSheet",
            "sheet 1 does not exist",
        ),
        (delete_sheet(0), "lastSheet", "sheet 0 is the last sheet"),
        (add(70_000), "sheetNumber", "the next free number is 1"),
    ];
    let operations: Vec<Value> = refused.iter().map(|(operation, ..)| operation.clone()).collect();
    for _ in 0..2 {
        let reply = post("a", &first, &operations).await;
        for (result, (operation, reason, detail)) in
            reply["results"].as_array().unwrap().iter().zip(&refused)
        {
            assert_eq!(
                (&result["status"], &result["rejection"]["reason"]),
                (&json!("rejected"), &json!(reason)),
                "{operation}"
            );
            let told = result["rejection"]["detail"].as_str().unwrap();
            assert!(told.contains(detail), "{operation}: {told}");
        }
    }
    let added = post("b", &first, &[add(1)]).await["head"].clone();
    post("c", &added, &[delete_sheet(1)]).await;
    for status in ["appended", "duplicate"] {
        let reply = post("d", &added, &[set(1), set(0)]).await;
        let results = &reply["results"];
        assert_eq!(
            (&results[0]["status"], &results[0]["no_effect"]),
            (&json!(status), &json!(true))
        );
        assert_eq!(
            (&results[1]["status"], &results[1]["no_effect"]),
            (&json!(status), &Value::Null)
        );
    }
    let history = fixture.get(&fixture.path("/history"), &fixture.token).await;
    let history: Value = serde_json::from_slice(&history.bytes().await.unwrap()).unwrap();
    let late = &history["entries"][0]["mutations"];
    assert_eq!((&late[0]["committed"], &late[1]["committed"]), (&json!([]), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_not_what_they_should_be() {
    let fixture = Fixture::start().await;
    let url = fixture.path("/entries");
    let good = fixture.append_body("x");
    let with = |pointer: &str, value: Value| {
        let mut body = good.clone();
        *body.pointer_mut(pointer).unwrap() = value;
        body.to_string()
    };
    let cell = "/mutations/0/op/setCells/cells/0";
    for (body, kind) in [
        (String::new(), ProblemKind::BadRequest),
        ("{".to_owned(), ProblemKind::BadRequest),
        ("[".repeat(50_000), ProblemKind::BadRequest),
        ("{}".to_owned(), ProblemKind::InvalidRequest),
        (with("/mutations", json!([])), ProblemKind::InvalidRequest),
        (with("/mutations/0/id", json!(0)), ProblemKind::InvalidRequest),
        (with("/mutations/0/id", json!(-1)), ProblemKind::InvalidRequest),
        (with("/mutations/0/id", json!(7)), ProblemKind::MutationGap),
        (with("/mutations/0/base", json!("0.0")), ProblemKind::InvalidRequest),
        (with("/mutations/0/base", json!(1_u64 << 53)), ProblemKind::InvalidRequest),
        (with("/mutations/0/base", json!(99)), ProblemKind::UnknownBase),
        (with("/incarnation", json!(fixture.created.incarnation ^ 1)), ProblemKind::ReloadRequired),
        (with("/client_id", json!("")), ProblemKind::InvalidRequest),
        (with("/client_id", json!(null)), ProblemKind::InvalidRequest),
        (with("/mutations/0/op", json!({"dropTable": {}})), ProblemKind::InvalidRequest),
        (with(&format!("{cell}/row"), json!(-1)), ProblemKind::InvalidRequest),
        (with(&format!("{cell}/value"), json!([1])), ProblemKind::InvalidRequest),
    ] {
        let shown: String = body.chars().take(120).collect();
        let problem = problem(fixture.post(&url, body).await).await;
        assert_eq!(problem.kind, kind, "{shown}: {}", problem.detail);
    }
    fixture.assert_untouched().await;
    let text = fixture.http.post(&url).bearer_auth(&fixture.token).body(good.to_string());
    let problem = problem(text.send().await.unwrap()).await;
    assert_eq!(problem.kind, ProblemKind::UnsupportedMediaType);
    fixture.assert_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sizes_end_at_their_limits() {
    let fixture = Fixture::start().await;
    let url = fixture.path("/entries");
    let two_megabytes = vec![b' '; 2 * MAX_REQUEST_BYTES];
    for body in [two_megabytes, vec![b' '; MAX_REQUEST_BYTES + 1]] {
        let response = fixture.post(&url, body).await;
        assert_eq!(problem(response).await.kind, ProblemKind::TooLarge);
    }
    // A body of exactly the limit is read, and is then invalid JSON.
    let response = fixture.post(&url, vec![b' '; MAX_REQUEST_BYTES]).await;
    assert_eq!(problem(response).await.kind, ProblemKind::BadRequest);

    // Returns a mutation of exactly `bytes` bytes, padded with texts of cells.
    let mutation_of = |bytes: usize| {
        let cell = |row: usize, text: &str| json!({"row": row, "column": 0, "value": text});
        let cells: Vec<Value> = (0..4).map(|row| cell(row, &"x".repeat(60_000))).collect();
        let mutation = |cells: &[Value]| {
            json!({"id": 1, "base": 0, "op": {"setCells": {"cells": cells}}}).to_string()
        };
        let frame = mutation(&[cells.as_slice(), &[cell(9, "")]].concat()).len();
        let last = cell(9, &"x".repeat(bytes - frame));
        let mutation = mutation(&[cells, vec![last]].concat());
        assert_eq!(mutation.len(), bytes);
        format!(
            "{{\"client_id\":\"c\",\"incarnation\":{},\"mutations\":[{mutation}]}}",
            fixture.created.incarnation
        )
    };
    let response = fixture.post(&url, mutation_of(MAX_MUTATION_BYTES + 1)).await;
    assert_eq!(problem(response).await.kind, ProblemKind::TooLarge);
    fixture.assert_untouched().await;
    let response = fixture.post(&url, mutation_of(MAX_MUTATION_BYTES)).await;
    assert_eq!(response.status(), StatusCode::OK);
}

/// Compressed bodies are not decompressed, so a decompression bomb has no effect.
#[tokio::test(flavor = "multi_thread")]
async fn no_body_is_unpacked() {
    let fixture = Fixture::start().await;
    let url = fixture.path("/entries");
    let post = async |encoding: &str, body: Vec<u8>| {
        let request = fixture.http.post(&url).bearer_auth(&fixture.token);
        let request = request.header("content-type", "application/json");
        request.header("content-encoding", encoding).body(body).send().await.unwrap()
    };
    let gzip = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0; 100]].concat();
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd][..], &[0; 100]].concat();
    for (encoding, body) in [("gzip", gzip), ("zstd", zstd)] {
        let problem = problem(post(encoding, body).await).await;
        assert_eq!(problem.kind, ProblemKind::BadRequest, "{encoding}: {}", problem.detail);
    }
    fixture.assert_untouched().await;
    let plain = fixture.append_body("x").to_string().into_bytes();
    assert_eq!(post("gzip", plain).await.status(), StatusCode::OK, "the body is not decompressed");
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_that_cannot_be_answered() {
    let fixture = Fixture::start().await;
    for (rest, kind) in [
        ("/cells?range=A1:BDWGN1000000", ProblemKind::RangeTooLarge),
        ("/cells?range=hello", ProblemKind::InvalidRequest),
        ("/cells?range=Other!A1", ProblemKind::SheetNotFound),
        ("/cells?sheet=Other", ProblemKind::SheetNotFound),
        ("/cells?at=99", ProblemKind::UnknownPosition),
        ("/cells?at=9007199254740992", ProblemKind::BadRequest),
        ("/cells?at=-1", ProblemKind::BadRequest),
        ("/cells?rnage=A1", ProblemKind::BadRequest),
        ("/cells?cursor=A1:B2", ProblemKind::InvalidRequest),
        ("/entries", ProblemKind::BadRequest),
        ("/entries?after=x", ProblemKind::BadRequest),
        ("/entries?after=99", ProblemKind::ReloadRequired),
        ("/head?min_position=x", ProblemKind::BadRequest),
        ("/nothing", ProblemKind::UnknownRoute),
    ] {
        let problem = problem(fixture.get(&fixture.path(rest), &fixture.token).await).await;
        assert_eq!(problem.kind, kind, "{rest}: {}", problem.detail);
    }
    let put = fixture.http.request(Method::PUT, fixture.path("")).bearer_auth(&fixture.token);
    let problem = problem(put.send().await.unwrap()).await;
    assert_eq!(problem.kind, ProblemKind::MethodNotAllowed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_without_a_route_says_so() {
    let fixture = Fixture::start().await;
    let url = &fixture.cloud.url;
    for (path, part) in [
        ("//v1/health", "one slash"),
        ("//v1/spreadsheets", "one slash"),
        ("/v2/health", "/v1/openapi.json lists all paths"),
        ("/v1", "which start with /v1"),
        ("/v1/v1/health", "no route has this path"),
    ] {
        let problem = problem(fixture.get(&format!("{url}{path}"), &fixture.token).await).await;
        assert_eq!((problem.kind, problem.status), (ProblemKind::UnknownRoute, 404), "{path}");
        assert!(problem.detail.contains(part), "{path}: {}", problem.detail);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_opens_a_link_without_a_browser_is_told_what_to_type() {
    let fixture = Fixture::start().await;
    // A client sends no fragment, and no token.
    let response =
        fixture.http.get(&fixture.cloud.url).header("accept", "*/*").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let text = response.text().await.unwrap();
    for command in ["cellar get -s 'ADDRESS'", "cellar login ADDRESS"] {
        assert!(text.contains(command), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_token_does_not_cover_looks_like_what_does_not_exist() {
    let fixture = Fixture::start().await;
    let nothing = LogId::from_uuid(uuid::Uuid::new_v4());
    let narrow = fixture.cloud.token_for("bob", Role::Owner, vec![nothing]);
    let url = |id: &str, rest: &str| format!("{}/v1/spreadsheets/{id}{rest}", fixture.cloud.url);
    let (there, not_there) = (fixture.created.id.to_string(), nothing.to_string());
    let mut answers = vec![];
    for rest in ["", "/head", "/cells", "/entries?after=0"] {
        for (id, token) in [
            (there.as_str(), &narrow),
            (&not_there, &narrow),
            (&not_there, &fixture.token),
            ("not-an-id", &narrow),
            ("%ff", &narrow),
            ("not-an-id", &fixture.token),
        ] {
            let response = fixture.get(&url(id, rest), token).await;
            answers.push(seen(response).await);
        }
    }
    assert_eq!(answers[0].0, StatusCode::NOT_FOUND);
    for answer in &answers {
        assert_eq!(answer, &answers[0]);
    }
    let body = fixture.append_body("x").to_string();
    for (id, token) in [(&there, &narrow), (&not_there, &narrow), (&not_there, &fixture.token)] {
        let post = fixture.http.post(url(id, "/entries")).bearer_auth(token);
        let post = post.header("content-type", "application/json").body(body.clone());
        assert_eq!(seen(post.send().await.unwrap()).await, answers[0]);
    }
    fixture.assert_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_in_place_of_an_id_is_explained() {
    let fixture = Fixture::start().await;
    let url = format!("{}/v1/spreadsheets/budget/cells", fixture.cloud.url);
    let problem = problem(fixture.get(&url, &fixture.token).await).await;
    assert_eq!((problem.kind, problem.status), (ProblemKind::NotFound, 404));
    assert!(problem.detail.ends_with("GET /v1/spreadsheets lists the ids of spreadsheets"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_are_not_accepted() {
    let fixture = Fixture::start().await;
    let claims = fixture.cloud.claims("alice", Role::Owner);
    let expired = fixture.cloud.sign(&Claims { exp: claims.iat - 3_600, ..claims.clone() });
    let tampered = fixture.token.replacen('.', ".A", 1);
    let stranger = TestCloud::start().await.token("alice", Role::Owner);
    for token in [expired.as_str(), &tampered, &stranger, "", "x", &"x".repeat(5_000)] {
        for rest in ["", "/head", "/cells", "/entries?after=0"] {
            let response = fixture.get(&fixture.path(rest), token).await;
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
            assert_eq!(problem(response).await.kind, ProblemKind::Unauthorized);
        }
    }
    let response = fixture.http.get(fixture.path("/head")).send().await.unwrap();
    assert_eq!(problem(response).await.kind, ProblemKind::Unauthorized);
    let expired = problem(fixture.get(&fixture.path("/head"), &expired).await).await;
    assert!(expired.detail.contains("expired"), "{}", expired.detail);

    let viewer = fixture.cloud.token("alice", Role::Viewer);
    let post = fixture.http.post(fixture.path("/entries")).bearer_auth(&viewer);
    let body = fixture.append_body("x").to_string();
    let post = post.header("content-type", "application/json").body(body);
    assert_eq!(problem(post.send().await.unwrap()).await.kind, ProblemKind::Forbidden);
    fixture.assert_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_known_is_not_sent_again() {
    let fixture = Fixture::start().await;
    let url = fixture.path("/head");
    let first = fixture.get(&url, &fixture.token).await;
    let tag = first.headers()["etag"].clone();
    let again = fixture.http.get(&url).bearer_auth(&fixture.token).header("if-none-match", &tag);
    assert_eq!(again.send().await.unwrap().status(), StatusCode::NOT_MODIFIED);
    let tag = tag.to_str().unwrap();
    for (known, status) in [
        (format!("W/{tag}"), StatusCode::NOT_MODIFIED),
        (format!("\"other\", {tag}"), StatusCode::NOT_MODIFIED),
        ("*".to_owned(), StatusCode::NOT_MODIFIED),
        ("\"other\"".to_owned(), StatusCode::OK),
        (tag.trim_matches('"').to_owned(), StatusCode::OK),
    ] {
        let again = fixture.http.get(&url).bearer_auth(&fixture.token);
        let reply = again.header("if-none-match", &known).send().await.unwrap();
        assert_eq!(
            (reply.status(), reply.headers()["etag"].to_str().unwrap()),
            (status, tag),
            "{known}"
        );
    }
    fixture.post(&fixture.path("/entries"), fixture.append_body("x").to_string()).await;
    let again = fixture.http.get(&url).bearer_auth(&fixture.token).header("if-none-match", tag);
    assert_eq!(again.send().await.unwrap().status(), StatusCode::OK);
}
