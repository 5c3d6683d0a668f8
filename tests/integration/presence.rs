//! Presence over HTTP: who sees whose selection, for how long, and what it costs.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cellar::Client;
use cellar_api::cost::{Cost, HEADER};
use cellar_api::wire::{
    CreateReply, CreateRequest, LinkReply, PresenceReply, PresenceView, Problem, ProblemKind,
    Selection, hexadecimal,
};
use cellar_base::identity::{ClientKey, LogId, SubjectKey};
use cellar_base::limits::{MAX_COLUMNS, MAX_ROWS, PRESENCE_AGE_MS};
use cellar_catalog::access::Role;
use cellar_engine::memory::ManualClock;
use cellar_engine::ports::Clock as _;
use cellar_engine::system::SystemClock;
use cellar_sheet::operation::SheetId;
use cellar_tests::budgets::{self, Budget};
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::at;
use reqwest::{Method, Response};
use serde_json::{Value, json};

/// A cloud with a spreadsheet of Alice, and an API with a manual clock.
struct World {
    cloud: TestCloud,
    url: String,
    clock: Arc<ManualClock>,
    http: reqwest::Client,
    id: LogId,
}

impl World {
    async fn new() -> Self {
        let cloud = TestCloud::start_without_snapshots().await;
        let clock = Arc::new(ManualClock::at(SystemClock.now_ms()));
        let url = cloud.api_at(Arc::clone(&clock) as _).await;
        let id = create(&cloud, "presence").await;
        Self { cloud, url, clock, http: reqwest::Client::new(), id }
    }

    fn person(&self, name: &str) -> Caller<'_> {
        self.holder(&self.cloud.token_of(name))
    }

    fn holder(&self, token: &str) -> Caller<'_> {
        Caller { world: self, token: token.to_owned(), id: self.id }
    }

    async fn share(&self, name: &str, role: &str) {
        let body = json!({"subject": name, "role": role});
        let shared = self.person("alice").ask(Method::POST, "/members", Some(body)).await;
        assert_eq!(shared.status(), 200);
    }
}

async fn create(cloud: &TestCloud, nonce: &str) -> LogId {
    let alice = Client::new(&cloud.url, Some(&cloud.token_of("alice"))).unwrap();
    let created: CreateReply = alice.create(&CreateRequest::new(nonce.to_owned())).await.unwrap();
    created.id
}

/// A caller of the API, and the spreadsheet of the requests.
struct Caller<'a> {
    world: &'a World,
    token: String,
    id: LogId,
}

impl Caller<'_> {
    async fn ask(&self, method: Method, end: &str, body: Option<Value>) -> Response {
        let url = format!("{}/v1/spreadsheets/{}{end}", self.world.url, self.id);
        let mut request = self.world.http.request(method, url).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        request.send().await.unwrap()
    }

    async fn put(&self, body: Value) -> Response {
        self.ask(Method::PUT, "/presence", Some(body)).await
    }

    async fn get(&self, client: &str) -> Response {
        self.ask(Method::GET, &format!("/presence?client_id={client}"), None).await
    }

    async fn announce(&self, client: &str, row: u32) -> Vec<PresenceView> {
        others(self.put(json!({"client_id": client, "selection": cell(row)})).await).await
    }

    async fn leave(&self, client: &str) -> Vec<PresenceView> {
        others(self.put(json!({"client_id": client})).await).await
    }

    async fn list(&self, client: &str) -> Vec<PresenceView> {
        others(self.get(client).await).await
    }
}

fn cell(row: u32) -> Selection {
    let (first_row, last_row, first_column, last_column) = (row, row, 1, 2);
    Selection { sheet: SheetId::FIRST, first_row, last_row, first_column, last_column, at: at(0) }
}

async fn others(response: Response) -> Vec<PresenceView> {
    let (status, text) = (response.status(), response.text().await.unwrap());
    assert_eq!(status, 200, "{text}");
    serde_json::from_str::<PresenceReply>(&text).unwrap().others
}

async fn problem(response: Response) -> Problem {
    response.json().await.unwrap()
}

fn authors(others: &[PresenceView]) -> Vec<&str> {
    others.iter().map(|other| other.author.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_see_each_other_until_they_leave() {
    let world = World::new().await;
    world.share("bob", "editor").await;
    let (alice, bob) = (world.person("alice"), world.person("bob"));
    assert_eq!(alice.announce("page", 3).await, []);
    world.clock.advance_ms(1_500);
    let seen = bob.announce("page", 4).await;
    let subject = SubjectKey::new(&world.cloud.settings.tokens.issuer, "alice");
    let client_key = hexadecimal(&ClientKey::derive(&subject, "page").unwrap().0);
    let author = "alice".to_owned();
    let of_alice = PresenceView { client_key, author, selection: cell(3), seen_ms_ago: 1_500 };
    assert_eq!(seen, std::slice::from_ref(&of_alice));
    // A second page of Alice is another client.
    let seen = alice.announce("other page", 5).await;
    assert_eq!(authors(&seen), ["bob", "alice"]);
    world.clock.advance_ms(100);
    assert_eq!(authors(&bob.announce("page", 6).await), ["alice", "alice"]);
    let seen = alice.list("page").await;
    assert_eq!(authors(&seen), ["bob", "alice"]);
    assert_eq!((seen[0].selection, seen[1].selection), (cell(6), cell(5)));
    for _ in 0..2 {
        assert_eq!(authors(&bob.leave("page").await), ["alice", "alice"]);
        assert_eq!(authors(&alice.list("page").await), ["alice"]);
    }
    assert_eq!(alice.leave("other page").await, [PresenceView { seen_ms_ago: 1_600, ..of_alice }]);
    assert_eq!(authors(&bob.announce("page", 7).await), ["alice"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selection_disappears_when_it_is_old() {
    let world = World::new().await;
    let alice = world.person("alice");
    alice.announce("page", 3).await;
    world.clock.advance_ms(PRESENCE_AGE_MS);
    let seen = alice.list("other page").await;
    assert_eq!((seen.len(), seen[0].seen_ms_ago), (1, PRESENCE_AGE_MS));
    world.clock.advance_ms(1);
    assert_eq!(alice.list("other page").await, []);
    alice.announce("other page", 1).await;
    assert_eq!(authors(&alice.announce("page", 3).await), ["alice"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_announce_and_strangers_learn_nothing() {
    let world = World::new().await;
    world.share("bob", "viewer").await;
    let (alice, bob) = (world.person("alice"), world.person("bob"));
    bob.announce("page", 1).await;
    let secret = URL_SAFE_NO_PAD.encode([7; 16]);
    let body = json!({"secret": secret, "role": "viewer"});
    let link: LinkReply = alice.ask(Method::POST, "/links", Some(body)).await.json().await.unwrap();
    world.clock.advance_ms(1);
    let holder = world.holder(&link.token);
    assert_eq!(authors(&holder.announce("page", 2).await), ["bob"]);
    let of_link = format!("link {}", link.id);
    assert_eq!(authors(&alice.list("page").await), [of_link.as_str(), "bob"]);

    let absent = LogId::from_uuid(uuid::Uuid::from_u128(7));
    let operator = world.cloud.token("root", Role::Owner);
    for caller in [
        world.person("mallory"),
        Caller { id: absent, ..world.person("alice") },
        Caller { id: absent, ..world.holder(&operator) },
    ] {
        let put = caller.put(json!({"client_id": "page", "selection": cell(3)})).await;
        assert_eq!(problem(put).await.kind, ProblemKind::NotFound);
        assert_eq!(problem(caller.get("page").await).await.kind, ProblemKind::NotFound);
    }
    let other = create(&world.cloud, "another").await;
    assert_eq!(Caller { id: other, ..world.person("alice") }.announce("page", 3).await, []);
    assert_eq!(authors(&alice.list("page").await), [of_link.as_str(), "bob"]);

    let status = json!({"status": "deleted"});
    assert_eq!(alice.ask(Method::PATCH, "/details", Some(status)).await.status(), 200);
    assert_eq!(problem(alice.get("page").await).await.kind, ProblemKind::Deleted);
    assert_eq!(problem(bob.get("page").await).await.kind, ProblemKind::NotFound);
    let status = json!({"status": "active"});
    assert_eq!(alice.ask(Method::PATCH, "/details", Some(status)).await.status(), 200);
    assert_eq!(authors(&alice.list("page").await), [of_link.as_str(), "bob"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_selection_is_refused_and_not_stored() {
    let world = World::new().await;
    let alice = world.person("alice");
    let with = |name: &str, value: Value| {
        let mut selection = json!(cell(3));
        selection[name] = value;
        json!({"client_id": "page", "selection": selection})
    };
    for (body, part) in [
        (with("last_row", json!(MAX_ROWS)), "the last row is 1073741824; it must be at most"),
        (with("last_column", json!(MAX_COLUMNS)), "the last column is 4194304"),
        (with("first_row", json!(4)), "the first row is 4, but the last one is 3"),
        (with("first_column", json!(3)), "the first column is 3, but the last one is 2"),
        (with("first_row", json!(-1)), "invalid value"),
        (with("last_row", json!(1_u64 << 32)), "invalid value"),
        (with("at", json!(u64::MAX)), "out of range"),
        (with("sheet", json!("Sheet1")), "invalid type"),
        (with("color", json!("red")), "unknown field"),
        (json!({"client_id": "page", "selection": {}}), "missing field"),
        (json!({"client_id": ""}), "client id has 0 bytes"),
        (json!({"client_id": "c".repeat(65)}), "client id has 65 bytes"),
        (json!({"selection": cell(3)}), "missing field `client_id`"),
    ] {
        let refused = problem(alice.put(body.clone()).await).await;
        assert_eq!(refused.kind, ProblemKind::InvalidRequest, "{body}: {refused}");
        assert!(refused.detail.contains(part), "{body}: {refused}");
    }
    let no_client = problem(alice.ask(Method::GET, "/presence", None).await).await;
    assert!(no_client.detail.contains("client_id"), "{no_client}");
    assert_eq!(alice.list("other page").await, []);
    for (name, limit) in [("last_row", MAX_ROWS), ("last_column", MAX_COLUMNS)] {
        let largest = with(name, json!(limit - 1));
        assert_eq!(alice.put(largest).await.status(), 200);
    }
    let seen = alice.list("other page").await;
    assert_eq!(seen[0].selection, Selection { last_column: MAX_COLUMNS - 1, ..cell(3) });
}

fn assert_cost(response: &Response, budget: &Budget) {
    let cost = Cost::from_header(response.headers()[HEADER].to_str().unwrap()).unwrap();
    assert_eq!((cost.read_units(), cost.write_units), budget.units(), "{}", budget.operation);
    let requests = 1 + u64::from(cost.write_units > 0);
    assert_eq!(cost.table_requests, requests, "{}", budget.operation);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cost_is_exact() {
    let world = World::new().await;
    let alice = world.person("alice");
    // The access check is cached.
    alice.list("page").await;
    for number in 0..30 {
        let body = json!({"client_id": format!("page {number}"), "selection": cell(number)});
        assert_cost(&alice.put(body.clone()).await, &budgets::PRESENCE);
        assert_cost(&alice.put(body).await, &budgets::PRESENCE);
    }
    let listed = alice.get("page").await;
    assert_cost(&listed, &budgets::PRESENCE_POLL);
    assert_eq!(others(listed).await.len(), 30);
    let left = alice.put(json!({"client_id": "page 7"})).await;
    assert_cost(&left, &budgets::PRESENCE_END);
    assert_eq!(others(left).await.len(), 29);
}
