//! Forks over HTTP, with the tables, change streams, queues and workers of the local cloud.

mod access;
mod large_replay;
mod lost;
mod offloaded;
mod replay;
mod restored;
mod sizes;
mod snapshots;

use cellar_api::{wire::ForkReply, wire::ForkRequest};
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_tests::cloud::TestCloud;

/// Forks a spreadsheet of Alice.
async fn fork(cloud: &TestCloud, log: LogId, nonce: &str, at: Option<Position>) -> ForkReply {
    let request = ForkRequest::new(nonce.to_owned(), at);
    cloud.client("alice").spreadsheet(log).fork(&request).await.unwrap()
}

/// Sends a request. Returns the status and the body of the response.
async fn answer(cloud: &TestCloud, token: &str, path: &str, body: Option<&str>) -> (u16, String) {
    let url = format!("{}/v1/spreadsheets/{path}", cloud.url);
    let http = reqwest::Client::new();
    let request = match body {
        None => http.get(url),
        Some(body) => {
            http.post(url).header("content-type", "application/json").body(body.to_owned())
        }
    };
    let reply = request.bearer_auth(token).send().await.unwrap();
    (reply.status().as_u16(), reply.text().await.unwrap())
}

fn token(cloud: &TestCloud, role: Role, logs: Vec<LogId>) -> String {
    cloud.token_for("bob", role, logs)
}
