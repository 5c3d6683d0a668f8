//! A client group of the Replicache protocol, without the Replicache client.

use cellar_api::cost::{Cost, HEADER};
use cellar_api::{wire::CreateReply, wire::CreateRequest};
use cellar_catalog::access::Role;
use cellar_tests::cloud::TestCloud;
use serde_json::{Value, json};

/// The clients of a person, and their push URL.
#[derive(Clone)]
pub(crate) struct Group {
    http: reqwest::Client,
    url: String,
    token: String,
    name: String,
    pub(crate) spreadsheet: CreateReply,
}

impl Group {
    /// Returns Alice's group `g` in a new spreadsheet.
    pub(crate) async fn start(cloud: &TestCloud) -> Self {
        let request = CreateRequest::new("sync".to_owned());
        let spreadsheet = cloud.client("alice").create(&request).await.unwrap();
        Self {
            http: reqwest::Client::new(),
            url: cloud.url.clone(),
            token: cloud.token("alice", Role::Editor),
            name: "g".to_owned(),
            spreadsheet,
        }
    }

    pub(crate) fn named(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    pub(crate) fn with_token(&self, token: String) -> Self {
        Self { token, ..self.clone() }
    }

    pub(crate) fn in_another(&self, spreadsheet: CreateReply) -> Self {
        Self { spreadsheet, ..self.clone() }
    }

    pub(crate) fn at_url(&self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self.clone() }
    }

    pub(crate) async fn post(&self, call: &str, body: String) -> reqwest::Response {
        let url = format!("{}/v1/spreadsheets/{}/{call}", self.url, self.spreadsheet.id);
        let request = self.http.post(url).bearer_auth(&self.token);
        request.header("content-type", "application/json").body(body).send().await.unwrap()
    }

    async fn call(&self, call: &str, body: Value) -> (Value, Cost) {
        let response = self.post(call, body.to_string()).await;
        assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
        let cost = Cost::from_header(response.headers()[HEADER].to_str().unwrap()).unwrap();
        (serde_json::from_slice(&response.bytes().await.unwrap()).unwrap(), cost)
    }

    pub(crate) fn push_body(&self, mutations: &[Value]) -> Value {
        json!({
            "pushVersion": 1, "clientGroupID": self.name, "profileID": "p", "schemaVersion": "",
            "mutations": mutations,
        })
    }

    pub(crate) async fn push(&self, mutations: &[Value]) -> Value {
        self.push_with_cost(mutations).await.0
    }

    pub(crate) async fn push_with_cost(&self, mutations: &[Value]) -> (Value, Cost) {
        self.call("push", self.push_body(mutations)).await
    }

    pub(crate) async fn pull(&self, cookie: &Value) -> Value {
        self.pull_with_cost(cookie).await.0
    }

    pub(crate) async fn pull_with_cost(&self, cookie: &Value) -> (Value, Cost) {
        let body = json!({
            "pullVersion": 1, "clientGroupID": self.name, "profileID": "p", "schemaVersion": "",
            "cookie": cookie,
        });
        self.call("pull", body).await
    }
}

/// Returns a mutation that sets A1, based on the spreadsheet's entry `base`.
pub(crate) fn edit(client: &str, id: u64, base: u64, text: &str) -> Value {
    let cells = json!([{"row": 0, "column": 0, "value": text}]);
    args(client, id, &json!({"base": base, "incarnation": 0, "op": {"setCells": {"cells": cells}}}))
}

pub(crate) fn args(client: &str, id: u64, args: &Value) -> Value {
    json!({"clientID": client, "id": id, "name": "edit", "args": args, "timestamp": 1.5})
}

/// Returns the status of each mutation of a push.
pub(crate) fn statuses(reply: &Value) -> Vec<&str> {
    let results = reply["results"].as_array().unwrap();
    results.iter().map(|result| result["status"].as_str().unwrap()).collect()
}

/// Returns the keys that a pull puts.
pub(crate) fn keys(reply: &Value) -> Vec<&str> {
    let patch = reply["patch"].as_array().unwrap();
    patch.iter().filter_map(|operation| operation["key"].as_str()).collect()
}
