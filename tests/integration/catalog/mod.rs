//! The catalog over HTTP: permissions, and the responses to callers without them.

mod links;
mod refusals;
mod sharing;
mod status;

use cellar::Client;
use cellar_api::cost::{Cost, HEADER};
use cellar_api::{
    wire::CreateReply, wire::CreateRequest, wire::DetailsReply, wire::Problem, wire::ProblemKind,
};
use cellar_base::identity::LogId;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, set_numbers};
use reqwest::{Method, Response};
use serde_json::{Value, json};

/// A cloud with a spreadsheet of Alice.
struct World {
    cloud: TestCloud,
    http: reqwest::Client,
    created: CreateReply,
}

impl World {
    async fn new() -> Self {
        let cloud = TestCloud::start_without_snapshots().await;
        let alice = Client::new(&cloud.url, Some(&cloud.token_of("alice"))).unwrap();
        let name = Some("Budget".to_owned());
        let request = CreateRequest { nonce: "catalog".to_owned(), name };
        let created = alice.create(&request).await.unwrap();
        Self { cloud, http: reqwest::Client::new(), created }
    }

    fn id(&self) -> LogId {
        self.created.id
    }

    /// Returns a person with their own token.
    fn person(&self, name: &str) -> Caller<'_> {
        Caller { world: self, token: self.cloud.token_of(name) }
    }

    /// Returns the holder of this token.
    fn holder(&self, token: &str) -> Caller<'_> {
        Caller { world: self, token: token.to_owned() }
    }
}

/// A caller of the API.
struct Caller<'a> {
    world: &'a World,
    token: String,
}

impl Caller<'_> {
    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Response {
        let url = format!("{}/v1/spreadsheets{path}", self.world.cloud.url);
        let mut request = self.world.http.request(method, url).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        request.send().await.unwrap()
    }

    /// Sends a request about Alice's spreadsheet.
    async fn about(&self, method: Method, end: &str, body: Option<Value>) -> Response {
        self.ask(method, &format!("/{}{end}", self.world.id()), body).await
    }

    async fn details(&self) -> Result<DetailsReply, Problem> {
        answer(self.about(Method::GET, "/details", None).await).await
    }

    async fn update(&self, body: Value) -> Result<DetailsReply, Problem> {
        answer(self.about(Method::PATCH, "/details", Some(body)).await).await
    }

    async fn share(&self, subject: &str, role: &str) -> Result<DetailsReply, Problem> {
        let body = json!({"subject": subject, "role": role});
        answer(self.about(Method::POST, "/members", Some(body)).await).await
    }

    async fn unshare(&self, subject: &str) -> Result<DetailsReply, Problem> {
        let end = format!("/members?subject={subject}");
        answer(self.about(Method::DELETE, &end, None).await).await
    }

    async fn reads(&self) -> Result<Value, Problem> {
        answer(self.about(Method::GET, "/head", None).await).await
    }

    /// Appends an edit of this client to Alice's spreadsheet.
    async fn writes(&self, client: &str) -> Result<Value, Problem> {
        let base = self.world.created.head;
        let edit = append_one(self.world.created, client, 1, base, set_numbers(&[1.0]));
        answer(self.about(Method::POST, "/entries", Some(json!(edit))).await).await
    }
}

async fn answer<T: serde::de::DeserializeOwned>(response: Response) -> Result<T, Problem> {
    let (status, text) = (response.status(), response.text().await.unwrap());
    match status.is_success() {
        true => Ok(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))),
        false => Err(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))),
    }
}

fn kind<T: std::fmt::Debug>(answer: Result<T, Problem>) -> ProblemKind {
    answer.unwrap_err().kind
}

/// Returns the half read units and the write units of a response.
fn units(response: &Response) -> (u64, u64) {
    let header = response.headers()[HEADER].to_str().unwrap();
    let cost = Cost::from_header(header).unwrap();
    (cost.read_half_units, cost.write_units)
}
