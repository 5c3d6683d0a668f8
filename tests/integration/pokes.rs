//! Pokes over HTTP: followers learn of an edit immediately, and appends do not wait for followers.

use std::time::Duration;

use cellar_api::{
    wire::CreateReply, wire::CreateRequest, wire::Poke, wire::Problem, wire::ProblemKind,
};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_FOLLOWERS_PER_SUBJECT;
use cellar_catalog::access::Role;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, at, set_numbers};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(60);

/// An open connection with its unread bytes.
struct Following {
    response: reqwest::Response,
    text: String,
}

impl Following {
    async fn start(cloud: &TestCloud, url: &str, log: LogId) -> Self {
        let response = follow(url, &cloud.token("bob", Role::Viewer), log).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    async fn next(&mut self) -> Poke {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(data) = event.strip_prefix("data: ") {
                    return serde_json::from_str(data).unwrap();
                }
                continue;
            }
            let chunk = timeout(PATIENCE, self.response.chunk()).await.unwrap().unwrap().unwrap();
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

async fn follow(url: &str, token: &str, log: LogId) -> reqwest::Response {
    let url = format!("{url}/v1/spreadsheets/{log}/pokes");
    reqwest::Client::new().get(url).bearer_auth(token).send().await.unwrap()
}

async fn created(cloud: &TestCloud, nonce: &str) -> CreateReply {
    let request = CreateRequest::new(nonce.to_owned());
    cloud.client("alice").create(&request).await.unwrap()
}

async fn append(cloud: &TestCloud, to: CreateReply, id: u64) {
    let base = at(u32::try_from(id).unwrap() - 1);
    let request = append_one(to, "client", id, base, set_numbers(&[1.0]));
    cloud.client("alice").spreadsheet(to.id).append(&request).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn followers_are_told_where_the_log_ends_and_nothing_else() {
    let cloud = TestCloud::start_without_snapshots().await;
    let (one, other) = (created(&cloud, "one").await, created(&cloud, "other").await);
    let mut following = Following::start(&cloud, &cloud.url, one.id).await;
    let poke = |head| Poke { spreadsheet: one.id, head };
    assert_eq!(following.next().await, poke(at(0)), "the newest position");
    append(&cloud, other, 1).await;
    for id in 1..=3 {
        append(&cloud, one, id).await;
        assert_eq!(following.next().await, poke(at(u32::try_from(id).unwrap())));
    }
    let mut later = Following::start(&cloud, &cloud.url, one.id).await;
    assert_eq!(later.next().await, poke(at(3)));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_follows_what_he_may_not_see_and_in_aws_nobody_follows() {
    let cloud = TestCloud::start_without_snapshots().await;
    let one = created(&cloud, "one").await;
    let elsewhere = LogId::from_uuid(uuid::Uuid::from_u128(7));
    let blind = cloud.token_for("bob", Role::Viewer, vec![elsewhere]);
    let all = cloud.token("bob", Role::Viewer);
    for (token, log) in [(&blind, one.id), (&all, elsewhere)] {
        let response = follow(&cloud.url, token, log).await;
        let problem: Problem = response.json().await.unwrap();
        assert_eq!(problem.kind, ProblemKind::NotFound);
    }
    let function = cloud.another_api(&cloud.database_url).await;
    let problem: Problem = follow(&function, &all, one.id).await.json().await.unwrap();
    assert_eq!(problem.kind, ProblemKind::PokesUnsupported);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_local_cloud_ends_though_somebody_follows() {
    let cloud = TestCloud::start_without_snapshots().await;
    let one = created(&cloud, "one").await;
    let mut following = Following::start(&cloud, &cloud.url, one.id).await;
    following.next().await;
    timeout(PATIENCE, cloud.end()).await.unwrap();
    assert_eq!(following.response.chunk().await.unwrap_or(None), None, "the connection is closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_poked_beyond_what_it_knows_and_waits_where_nobody_pokes() {
    let cloud = TestCloud::start_without_snapshots().await;
    let one = created(&cloud, "one").await;
    let token = cloud.token("bob", Role::Viewer);
    let client = |url: &str| cellar::Client::new(url, Some(&token)).unwrap();
    let mut pokes = client(&cloud.url).spreadsheet(one.id).pokes();
    let moment = Duration::from_millis(300);
    assert!(timeout(moment, pokes.wait_beyond(at(0))).await.is_err(), "there is no newer entry");
    append(&cloud, one, 1).await;
    assert_eq!(timeout(PATIENCE, pokes.wait_beyond(at(0))).await, Ok(at(1)));
    assert!(
        timeout(moment, pokes.wait_beyond(at(1))).await.is_err(),
        "the follower knows the newest entry"
    );
    append(&cloud, one, 2).await;
    append(&cloud, one, 3).await;
    assert_eq!(timeout(PATIENCE, pokes.wait_beyond(at(2))).await, Ok(at(3)));
    // A new follower first receives the newest position.
    assert_eq!(
        timeout(PATIENCE, client(&cloud.url).spreadsheet(one.id).pokes().wait_beyond(at(1))).await,
        Ok(at(3))
    );

    let function = cloud.another_api(&cloud.database_url).await;
    let mut nobody = client(&function).spreadsheet(one.id).pokes();
    assert!(timeout(moment, nobody.wait_beyond(at(0))).await.is_err());
    cloud.end().await;
    for _ in 0..2 {
        assert!(
            timeout(moment, pokes.wait_beyond(at(3))).await.is_err(),
            "the spreadsheet has no follower"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_reader_takes_so_many_places_and_others_follow() {
    let cloud = TestCloud::start_without_snapshots().await;
    let one = created(&cloud, "one").await;
    let mut followed = vec![];
    for _ in 0..MAX_FOLLOWERS_PER_SUBJECT {
        followed.push(Following::start(&cloud, &cloud.url, one.id).await);
    }
    let refused = follow(&cloud.url, &cloud.token("bob", Role::Viewer), one.id).await;
    assert!(refused.headers().contains_key("retry-after"));
    let problem: Problem = refused.json().await.unwrap();
    assert_eq!(problem.kind, ProblemKind::Unavailable);
    assert!(problem.detail.contains("poll the head"), "{}", problem.detail);
    let other = follow(&cloud.url, &cloud.token("carol", Role::Viewer), one.id).await;
    assert_eq!(other.status(), 200);
}
