//! The cost of each request, as reported by the reply and the command.

use cellar::Client;
use cellar_api::cost::{Cost, HEADER};
use cellar_api::{wire::CreateReply, wire::CreateRequest};
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_tests::budgets;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, at, set_numbers};
use reqwest::Response;
use serde_json::{Value, json};

use crate::journey::Project;

/// Half read units, write units, and requests to tables.
type Units = (u64, u64, u64);

fn units(cost: Cost) -> Units {
    (cost.read_half_units, cost.write_units, cost.table_requests)
}

fn told(response: &Response) -> Units {
    units(Cost::from_header(response.headers()[HEADER].to_str().unwrap()).unwrap())
}

fn nonce(text: &str) -> Value {
    json!({ "nonce": text })
}

struct Fixture {
    cloud: TestCloud,
    http: reqwest::Client,
    token: String,
}

impl Fixture {
    async fn start() -> Self {
        let cloud = TestCloud::start().await;
        let token = cloud.token("alice", Role::Editor);
        Self { cloud, http: reqwest::Client::new(), token }
    }

    async fn get(&self, path: &str) -> Response {
        let url = format!("{}/v1/spreadsheets{path}", self.cloud.url);
        self.http.get(url).bearer_auth(&self.token).send().await.unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> Response {
        let url = format!("{}/v1/spreadsheets{path}", self.cloud.url);
        self.http.post(url).bearer_auth(&self.token).json(&body).send().await.unwrap()
    }

    /// Returns the consumption of the process since the last call, which the replies must have
    /// reported.
    fn metered(&self) -> Units {
        units(self.cloud.meter.take())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_tells_what_its_request_cost() {
    let fixture = Fixture::start().await;
    let response = fixture.post("", nonce("told")).await;
    assert_eq!(
        (told(&response), fixture.metered()),
        ((0, budgets::CREATE.cost.write_units, 2), (0, 5, 2))
    );
    let created: CreateReply = response.json().await.unwrap();
    let entries = format!("/{}/entries", created.id);
    for id in 1..=3 {
        let base = at(u32::try_from(id).unwrap() - 1);
        let edit = append_one(created, "client", id, base, set_numbers(&[1.5]));
        let response = fixture.post(&entries, json!(edit)).await;
        assert_eq!((told(&response), fixture.metered()), ((0, 1, 1), (0, 1, 1)));
    }
    let response = fixture.get(&format!("/{}/head", created.id)).await;
    assert_eq!((told(&response), fixture.metered()), ((1, 0, 1), (1, 0, 1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_tells_its_cost_too() {
    let fixture = Fixture::start().await;
    let created: CreateReply = fixture.post("", nonce("refused")).await.json().await.unwrap();
    fixture.metered();
    // An unknown base is refused only after a strongly consistent read.
    let edit = append_one(created, "client", 1, at(7), set_numbers(&[1.0]));
    let response = fixture.post(&format!("/{}/entries", created.id), json!(edit)).await;
    assert!(response.status().is_client_error());
    let cost = told(&response);
    assert!(cost.0 >= 2 && cost.1 == 0, "{cost:?}");
    assert_eq!(fixture.metered(), cost);
    // The spreadsheet exists: the transaction is refused at full cost, then the head is read.
    let response = fixture.post("", nonce("refused")).await;
    assert_eq!(response.status(), 200);
    let cost = told(&response);
    assert_eq!(cost.1, 4, "{cost:?}");
    assert_eq!(fixture.metered(), cost);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cost_tells_nobody_what_exists() {
    let mut fixture = Fixture::start().await;
    let created: CreateReply = fixture.post("", nonce("hidden")).await.json().await.unwrap();
    let missing = LogId::from_uuid(uuid::Uuid::new_v4());
    let narrow = fixture.cloud.token_for("mallory", Role::Editor, vec![missing]);
    let wide = std::mem::replace(&mut fixture.token, narrow);
    fixture.metered();
    let head = |id: String| format!("/{id}/head");
    let there = head(created.id.to_string());
    for path in [&there, &head(uuid::Uuid::new_v4().to_string()), &head("no id".to_owned())] {
        let response = fixture.get(path).await;
        assert_eq!((response.status().as_u16(), response.headers().get(HEADER)), (404, None));
    }
    assert_eq!(
        fixture.metered(),
        (0, 0, 0),
        "a table was read although the token does not cover the spreadsheet"
    );
    // The spreadsheet is looked up at a cost, but the response is the same.
    fixture.token = wide;
    let response = fixture.get(&head(missing.to_string())).await;
    assert_eq!((response.status().as_u16(), response.headers().get(HEADER)), (404, None));
    assert!(fixture.metered().0 > 0);
    fixture.token = "x.y.z".to_owned();
    let response = fixture.get(&there).await;
    assert_eq!((response.status().as_u16(), response.headers().get(HEADER)), (401, None));
    assert_eq!(fixture.metered(), (0, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_at_the_same_time_are_told_their_own() {
    let cloud = TestCloud::start().await;
    let writers: Vec<_> = (1..=8_u32)
        .map(|edits| {
            let client = cloud.client(&format!("writer {edits}"));
            tokio::spawn(async move {
                write(&client, edits).await;
                client.cost()
            })
        })
        .collect();
    let mut sum = Cost::default();
    for (edits, writer) in (1..).zip(writers) {
        let spent = writer.await.unwrap();
        assert_eq!((units(spent.cost), spent.unknown_requests), ((0, 5 + edits, 2 + edits), 0));
        sum += spent.cost;
    }
    assert_eq!(sum, cloud.meter.take());
}

/// Creates a spreadsheet and makes `edits` edits with a warm process.
async fn write(client: &Client, edits: u32) {
    let created = client.create(&CreateRequest::new("at the same time".to_owned())).await.unwrap();
    for id in 1..=edits {
        let edit = append_one(created, "client", id.into(), at(id - 1), set_numbers(&[0.5]));
        client.spreadsheet(created.id).append(&edit).await.unwrap();
    }
}

#[test]
fn the_command_prints_what_it_cost() {
    let project = Project::new();
    project.deploy();
    let last_line = |arguments: &[&str]| {
        let run = project.cellar(arguments);
        run.stderr.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(last_line(&["--cost", "create"]), "cost: 5 write units: $0.000003125");
    // The first edit reads the head; the second uses the cached head.
    let first = "cost: 1 write unit, 0.5 read units: $0.0000006875";
    assert_eq!(last_line(&["set", "B2", "new", "--cost"]), first);
    assert_eq!(last_line(&["--cost", "set", "B2", "new"]), "cost: 1 write unit: $0.000000625");
    assert_eq!(last_line(&["--cost", "head"]), "cost: 0.5 read units: $0.0000000625");
    let json = last_line(&["--cost", "--json", "get", "--at", "0.99"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json["cost"]["readUnits"].as_f64().unwrap() > 0.0, "{json}");
}
