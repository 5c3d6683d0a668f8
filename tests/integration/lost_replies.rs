//! Lost replies between any two parts of the system: the request takes effect, but its sender does
//! not know.

use cellar_api::{wire::CreateRequest, wire::MutationStatus, wire::Problem};
use cellar_catalog::access::Role;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, at, set_numbers};
use cellar_tests::proxy::LossyProxy;

const NONCE: &str = "lost replies";

fn nonce() -> CreateRequest {
    CreateRequest::new(NONCE.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn between_the_api_and_the_tables() {
    let cloud = TestCloud::start().await;
    for needle in ["DynamoDB_20120810.PutItem", "DynamoDB_20120810.TransactWriteItems"] {
        let proxy = LossyProxy::start(&cloud.database_url, needle).await;
        let url = cloud.another_api(&proxy.url).await;
        let client = cellar::Client::new(&url, Some(&cloud.token(needle, Role::Editor))).unwrap();
        proxy.lose(2);
        let created = client.create(&nonce()).await.unwrap();
        for id in 1..=3 {
            let base = at(u32::try_from(id).unwrap() - 1);
            let request = append_one(created, "client", id, base, set_numbers(&[1.0]));
            let reply = client.spreadsheet(created.id).append(&request).await.unwrap();
            assert_eq!(reply.results[0].status, MutationStatus::Appended);
            assert_eq!(reply.results[0].position, Some(at(u32::try_from(id).unwrap())));
        }
        assert_eq!(proxy.lost(), 2, "no reply of {needle} was lost");
        assert_eq!(client.spreadsheet(created.id).load(None).await.unwrap().entries.len(), 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn between_the_client_and_the_api() {
    let cloud = TestCloud::start().await;
    let proxy = LossyProxy::start(&cloud.url, "POST /v1/spreadsheets").await;
    let token = cloud.token("alice", Role::Editor);
    let client = cellar::Client::new(&proxy.url, Some(&token)).unwrap();
    proxy.lose(1);
    let created = client.create(&nonce()).await.unwrap();
    proxy.lose(1);
    let request = append_one(created, "client", 1, created.head, set_numbers(&[1.0]));
    let reply = client.spreadsheet(created.id).append(&request).await.unwrap();
    // The client's retry found the effect of the lost attempt.
    assert_eq!(reply.results[0].status, MutationStatus::Duplicate);
    assert_eq!(reply.results[0].position, Some(at(1)));
    assert_eq!(proxy.lost(), 2);
    assert_eq!(client.spreadsheet(created.id).load(None).await.unwrap().entries.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_takes_too_long_is_answered_in_time_and_found_when_repeated() {
    let mut cloud = TestCloud::start().await;
    let created = cloud.client("alice").create(&nonce()).await.unwrap();
    let proxy = LossyProxy::start(&cloud.database_url, "DynamoDB_20120810.PutItem").await;
    cloud.settings.request_timeout_ms = 300;
    let url = cloud.another_api(&proxy.url).await;
    let http = reqwest::Client::new();
    let request = append_one(created, "client", 1, created.head, set_numbers(&[1.0]));
    let post = || {
        http.post(format!("{url}/v1/spreadsheets/{}/entries", created.id))
            .bearer_auth(cloud.token("alice", Role::Editor))
            .header("content-type", "application/json")
            .body(serde_json::to_vec(&request).unwrap())
            .send()
    };
    // Every put takes effect and gets no reply: the append retries until its time limit.
    proxy.lose(usize::MAX);
    let answer = post().await.unwrap();
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.headers()["retry-after"], "1");
    let problem: Problem = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    assert!(
        problem.detail.contains("slow"),
        "the refusal has another cause than the deadline: {}",
        problem.detail
    );
    assert!(proxy.lost() > 0);
    proxy.lose(0);
    assert_eq!(post().await.unwrap().status(), 200);
    assert_eq!(
        cloud.client("alice").spreadsheet(created.id).load(None).await.unwrap().entries.len(),
        2
    );
}
