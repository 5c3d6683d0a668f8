//! Tenants have no access to each other (I17), for any token, route and id.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;
use cellar_api::{
    wire::CreateReply, wire::CreateRequest, wire::ForkRequest, wire::UploadReply, wire::hexadecimal,
};
use cellar_base::identity::LogId;
use cellar_catalog::access::Role;
use cellar_log::entry::encode_external_body;
use cellar_runtime::token::{Claims, Spreadsheets};
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, set_numbers};
use sha2::{Digest as _, Sha256};

use super::routes::{Route, Subject, routes, seen};

/// Each seed gives other tokens.
const SEEDS: [u64; 4] = [1, 2, 3, 4];
/// Number of tokens per route, id and seed.
const TOKENS: usize = 3;

/// Alice's spreadsheet; Bob's spreadsheet, a fork of it, and an upload to it.
struct World {
    cloud: TestCloud,
    http: reqwest::Client,
    alices: LogId,
    bobs: LogId,
    bobs_fork: LogId,
    subject: Subject,
}

/// A caller and their access.
#[derive(Debug)]
struct Caller {
    token: String,
    logs: Vec<LogId>,
    /// Whether the token is valid.
    is_accepted: bool,
}

impl World {
    async fn new() -> Self {
        let cloud = TestCloud::start_without_snapshots().await;
        let create = async |name: &str| {
            let request = CreateRequest::new("tenants".to_owned());
            cloud.client(name).create(&request).await.unwrap()
        };
        let (alices, bobs) = (create("alice").await.id, create("bob").await);
        let edit = append_one(bobs, "bob", 1, bobs.head, set_numbers(&[1.0, 2.0]));
        let head = cloud.client("bob").spreadsheet(bobs.id).append(&edit).await.unwrap().results[0]
            .position;
        let nonce = ForkRequest::new("tenants".to_owned(), None);
        let bobs_fork = cloud.client("bob").spreadsheet(bobs.id).fork(&nonce).await.unwrap().id;
        let http = reqwest::Client::new();
        let upload = upload(&cloud, &http, bobs).await;
        let subject = Subject { head: head.unwrap(), fork: bobs_fork, ..upload };
        Self { cloud, http, alices, bobs: bobs.id, bobs_fork, subject }
    }

    async fn ask(&self, route: &Route, token: &str, id: &str) -> reqwest::Response {
        route.send((&self.cloud, &self.http), token, id, &self.subject).await
    }

    /// Returns all stored items in a fixed order.
    async fn stored(&self) -> Vec<String> {
        let (blobs, _) = self.cloud.blobs();
        let page = cellar_engine::ports::Blobs::list(&blobs, "", None, 1_000).await.unwrap();
        assert_eq!(page.next, None);
        let mut all: Vec<String> = page.blobs.iter().map(|blob| format!("{blob:?}")).collect();
        let settings = &self.cloud.settings;
        for table in [&settings.entry_table, &settings.segment_table, &settings.event_stream_table]
        {
            let read = self.cloud.dynamodb_client().scan().table_name(table).send().await.unwrap();
            assert!(read.last_evaluated_key().is_none());
            all.extend(read.items().iter().map(in_order));
        }
        all.sort();
        all
    }

    /// Returns a caller whose token covers some or none of these spreadsheets.
    fn random_caller(&self, random: &mut fastrand::Rng, any_of: &[LogId]) -> Caller {
        let role = [Role::Viewer, Role::Editor, Role::Owner][random.usize(..3)];
        let mut logs: Vec<LogId> = any_of.to_vec();
        logs.retain(|_| random.bool());
        let subject = ["alice", "bob", "mallory"][random.usize(..3)];
        let claims = self.cloud.claims(subject, role);
        let mut claims = Claims { spreadsheets: Spreadsheets::Only(logs.clone()), ..claims };
        let is_accepted = random.u8(..5) > 0;
        if !is_accepted {
            (claims.iat, claims.exp) = (claims.iat - 7_200, claims.iat - 3_600);
        }
        Caller { token: self.cloud.sign(&claims), logs, is_accepted }
    }
}

fn in_order(item: &HashMap<String, AttributeValue>) -> String {
    let attributes: BTreeMap<_, _> =
        item.iter().map(|(name, value)| (name, ordered(value))).collect();
    format!("{attributes:?}")
}

/// Formats an attribute value, with nested maps in a fixed order.
fn ordered(value: &AttributeValue) -> String {
    match value {
        AttributeValue::M(map) => in_order(map),
        AttributeValue::L(list) => list.iter().map(ordered).collect::<Vec<_>>().join(", "),
        plain => format!("{plain:?}"),
    }
}

/// Uploads an object of Bob that only needs to be completed.
async fn upload(cloud: &TestCloud, http: &reqwest::Client, created: CreateReply) -> Subject {
    let object = encode_external_body(&[set_numbers(&[3.0])]).unwrap();
    let sha256 = hexadecimal(&Sha256::digest(&object));
    let asked = serde_json::json!({"bytes": object.len(), "sha256": sha256});
    let url = format!("{}/v1/spreadsheets/{}/uploads", cloud.url, created.id);
    let post = http.post(url).bearer_auth(cloud.token("bob", Role::Editor));
    let post = post.header("content-type", "application/json").body(asked.to_string());
    let granted = post.send().await.unwrap().bytes().await.unwrap();
    let granted: UploadReply = serde_json::from_slice(&granted).unwrap();
    let mut put = http.put(&granted.url);
    for (name, value) in granted.headers.iter().filter(|(name, _)| *name != "content-length") {
        put = put.header(name, value);
    }
    assert_eq!(put.body(object.clone()).send().await.unwrap().status(), 200);
    let (head, incarnation, upload) =
        (created.head, created.incarnation, granted.upload_id.to_string());
    let (upload_bytes, fork) = (object.len(), created.id);
    Subject { head, incarnation, fork, upload, upload_bytes, upload_sha256: sha256 }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_learns_of_or_changes_what_their_token_does_not_cover() {
    let world = World::new().await;
    let routes = routes(&world.cloud).await;
    let before = world.stored().await;
    let absent = LogId::from_uuid(uuid::Uuid::from_u128(0x1234_5678_1234_8678_9234_5678_1234_5678));
    let subject = cellar_base::identity::SubjectKey::new("cellar", "nobody");
    let absent_fork = LogId::derive_fork(&subject, absent, "absent").unwrap();
    let everything = world.cloud.token("root", Role::Owner);
    let hidden: Vec<String> = [world.bobs, world.bobs_fork, absent, absent_fork]
        .iter()
        .map(ToString::to_string)
        .chain(["not-an-id", "%ff", "%00", "..%2f..", "1"].map(str::to_owned))
        .chain([world.bobs.to_string().replace('-', ""), "x".repeat(2_000)])
        .collect();
    let (mut refused, mut told) = (0, 0);
    let load = &routes[0];
    let nothing = seen(world.ask(load, &everything, &absent.to_string()).await).await;
    assert_eq!(nothing.0, 404, "{load:?}");
    for route in &routes {
        // A missing spreadsheet, with access to all spreadsheets: every route gives the same
        // response, except that a completion looks for the object first.
        let there = seen(world.ask(route, &everything, &absent.to_string()).await).await;
        let completes = route.path.ends_with("/complete");
        assert!(there == nothing || (completes && there.0 == 422), "{route:?}: {there:?}");
        let expired = world.expired_token();
        let unauthorized = seen(world.ask(route, &expired, &absent.to_string()).await).await;
        assert_eq!(unauthorized.0, 401, "{route:?}");
        for seed in SEEDS {
            let mut random = fastrand::Rng::with_seed(seed);
            for id in hidden.iter().flat_map(|id| [id; TOKENS]) {
                // An editor of a fork also learns nothing about its source.
                let mut covers = vec![world.alices, world.bobs_fork];
                covers.retain(|log| log.to_string() != *id);
                let caller = world.random_caller(&mut random, &covers);
                let answer = seen(world.ask(route, &caller.token, id).await).await;
                let expected = if caller.is_accepted { &nothing } else { &unauthorized };
                assert_eq!(&answer, expected, "{route:?} {id} {caller:?}");
                refused += usize::from(caller.is_accepted);
                told += usize::from(caller.logs.contains(&world.bobs_fork));
            }
        }
    }
    assert!(refused > 1_000 && told > 300, "{refused} {told}");
    assert_eq!(world.stored().await, before, "something was stored");
    check_requests_are_valid(&world, &routes).await;
}

impl World {
    fn expired_token(&self) -> String {
        let claims = self.cloud.claims("mallory", Role::Owner);
        self.cloud.sign(&Claims { exp: claims.iat - 3_600, ..claims })
    }
}

/// Checks that all requests are valid: otherwise they could be refused for another reason.
async fn check_requests_are_valid(world: &World, routes: &[Route]) {
    let bob = world.cloud.token("bob", Role::Owner);
    let before = world.stored().await;
    for route in routes {
        let status = world.ask(route, &bob, &world.bobs.to_string()).await.status();
        // The chunks of the import were not uploaded, and only the local cloud has pokes.
        let is_good = status.is_success() || (route.path.ends_with("/checks") && status == 422);
        assert!(is_good, "{route:?}: {status}");
    }
    assert_ne!(world.stored().await, before, "nothing was stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_to_read_changes_nothing_and_learns_nothing_by_trying() {
    let world = World::new().await;
    let before = world.stored().await;
    let absent = LogId::from_uuid(uuid::Uuid::from_u128(7));
    let logs = vec![world.bobs, world.bobs_fork, absent];
    let viewer = world.cloud.token_for("mallory", Role::Viewer, logs.clone());
    let mut writes = 0;
    for route in routes(&world.cloud).await {
        let mut answers = Vec::new();
        for log in &logs {
            answers.push(seen(world.ask(&route, &viewer, &log.to_string()).await).await);
        }
        if route.writes() {
            writes += 1;
            assert_eq!(answers[0].0, 403, "{route:?}");
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{route:?}: {answers:?}");
        } else {
            let statuses: Vec<_> = answers.iter().map(|answer| answer.0.as_u16()).collect();
            assert_eq!(statuses, [200, 200, 404], "{route:?}");
        }
    }
    assert!(writes >= 7, "{writes}");
    assert_eq!(world.stored().await, before, "something was stored");
}
