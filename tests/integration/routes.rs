//! The routes of the API from its OpenAPI document, each with a valid request, so that tests of all
//! routes include new routes.

use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_tests::cloud::TestCloud;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

/// Routes without a spreadsheet in the path.
const OPEN: [&str; 5] =
    ["/v1/config", "/v1/feed", "/v1/health", "/v1/openapi.json", "/v1/spreadsheets"];
/// Hash of no bytes.
const HASH: &str = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

/// A route with a spreadsheet in its path.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) method: Method,
    /// Path with `{id}`, `{other_id}`, `{upload_id}` and `{link_id}`.
    pub(crate) path: String,
}

/// The resources of a request.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub(crate) head: Position,
    pub(crate) incarnation: u32,
    /// A fork of the spreadsheet that the requests are about.
    pub(crate) fork: LogId,
    /// An upload that exists and was not completed.
    pub(crate) upload: String,
    pub(crate) upload_bytes: usize,
    pub(crate) upload_sha256: String,
}

/// Returns every route of a running cloud with a spreadsheet in its path.
pub(crate) async fn routes(cloud: &TestCloud) -> Vec<Route> {
    let url = format!("{}/v1/openapi.json", cloud.url);
    let text = reqwest::get(url).await.unwrap().text().await.unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut routes = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let method = method.to_uppercase().parse().unwrap();
            match path.contains("{id}") {
                true => routes.push(Route { method, path: path.clone() }),
                false => assert!(OPEN.contains(&path.as_str()), "is {path} about no spreadsheet?"),
            }
        }
    }
    assert!(routes.len() >= 26, "{routes:?}");
    routes
}

impl Route {
    /// Returns whether the route requires write access.
    pub(crate) fn writes(&self) -> bool {
        let reads = ["/chunks", "/presence", "/pull"];
        self.method != Method::GET && !reads.iter().any(|end| self.path.ends_with(end))
    }

    /// Returns a valid query and a valid body for a subject.
    fn contents(&self, about: &Subject) -> (&'static str, Option<Value>) {
        let cells = json!([{"row": 0, "column": 0, "value": "stolen"}]);
        let op = json!({"setCells": {"cells": cells}});
        let (base, incarnation) = (about.head, about.incarnation);
        let uploaded = json!({"bytes": about.upload_bytes, "sha256": about.upload_sha256});
        let end = self.path.split("{id}").nth(1).unwrap();
        match (self.method.as_str(), end) {
            ("GET", "/entries") => ("?after=0", None),
            ("GET", "/diff" | "/diff/{other_id}") => ("?from=0&to=0", None),
            ("GET", "/cells/find") => ("?text=stolen", None),
            ("GET", "/cells/trace") => ("?cell=A1", None),
            ("GET", "/cells/filter") => ("?where=A%3Dstolen", None),
            (
                "GET",
                "" | "/cells" | "/cells/history" | "/details" | "/details/changes" | "/forks"
                | "/head" | "/history" | "/pokes" | "/sheets" | "/stats",
            ) => ("", None),
            ("POST", "/chunks") => ("", Some(json!({"hashes": [HASH]}))),
            ("POST", "/entries") => {
                let mutation = json!({"id": 1, "base": base, "op": op});
                (
                    "",
                    Some(
                        json!({"client_id": "x", "incarnation": incarnation, "mutations": [mutation]}),
                    ),
                )
            }
            ("POST", "/merges") => ("", Some(json!({"fork": about.fork}))),
            ("POST", "/forks") => ("", Some(json!({"nonce": "stolen"}))),
            ("POST", "/imports/checks") => {
                ("", Some(json!({"client_id": "c", "tiles": [{"hash": HASH, "bytes": 9}]})))
            }
            ("POST", "/imports/uploads") => {
                let chunk = json!({"hash": HASH, "bytes": 9, "sha256": HASH});
                ("", Some(json!({"client_id": "c", "chunks": [chunk]})))
            }
            ("PATCH", "/details") => ("", Some(json!({"name": "stolen"}))),
            ("POST", "/members") => ("", Some(json!({"subject": "thief", "role": "owner"}))),
            ("DELETE", "/members") => ("?subject=thief", None),
            ("POST", "/links") => {
                ("", Some(json!({"secret": "AAAAAAAAAAAAAAAAAAAAAA", "role": "editor"})))
            }
            ("DELETE", "/links/{link_id}") => ("", None),
            ("GET", "/presence") => ("?client_id=x", None),
            // A client that is not present leaves, which stores nothing.
            ("PUT", "/presence") => ("", Some(json!({"client_id": "x"}))),
            ("POST", "/pull") => {
                ("", Some(json!({"pullVersion": 1, "clientGroupID": "g", "cookie": null})))
            }
            ("POST", "/push") => {
                let args = json!({"base": base, "incarnation": incarnation, "op": op});
                let mutation = json!({"clientID": "x", "id": 1, "name": "m", "args": args});
                let body = json!({"pushVersion": 1, "clientGroupID": "g", "mutations": [mutation]});
                ("", Some(body))
            }
            ("POST", "/uploads") => ("", Some(uploaded)),
            ("POST", "/uploads/{upload_id}/complete") => {
                let mut body = json!({"client_id": "y", "incarnation": incarnation, "first_id": 1, "base": base});
                body["bytes"] = uploaded["bytes"].clone();
                body["sha256"] = uploaded["sha256"].clone();
                ("", Some(body))
            }
            _ => panic!("add a valid request for {self:?}"),
        }
    }

    /// Sends the request of a route for a spreadsheet.
    pub(crate) async fn send(
        &self,
        (cloud, http): (&TestCloud, &reqwest::Client),
        token: &str,
        id: &str,
        about: &Subject,
    ) -> Response {
        let path = self.path.replacen("{id}", id, 1).replacen("{upload_id}", &about.upload, 1);
        let path = path.replacen("{other_id}", id, 1);
        let path = path.replacen("{link_id}", "0123456789abcdef", 1);
        let (query, body) = self.contents(about);
        let url = format!("{}{path}{query}", cloud.url);
        let mut request = http.request(self.method.clone(), url).bearer_auth(token);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        request.send().await.unwrap()
    }
}

/// Returns the parts of a response that a caller sees, except the times.
pub(crate) async fn seen(response: Response) -> (StatusCode, Vec<String>, Vec<u8>) {
    let mut headers: Vec<_> =
        response.headers().iter().map(|(n, v)| format!("{n}: {v:?}")).collect();
    headers.retain(|header| !header.starts_with("date:"));
    // An event stream has no end.
    if headers.iter().any(|header| header.contains("text/event-stream")) {
        return (response.status(), headers, Vec::new());
    }
    (response.status(), headers, response.bytes().await.unwrap().to_vec())
}
