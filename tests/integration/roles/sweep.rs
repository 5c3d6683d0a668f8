//! Uses every feature of the product once on one cloud. The template should not permit actions that
//! no feature used.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use cellar::{CellsQuery, FeedQuery, SpreadsheetsQuery};
use cellar_api::{
    wire::CompleteRequest, wire::CreateReply, wire::CreateRequest, wire::UploadRequest,
    wire::hexadecimal,
};
use cellar_base::identity::ClientKey;
use cellar_base::limits::{CATALOG_TIP_EVENTS, MAX_CACHED_TAILS, TIP_INDEX};
use cellar_base::position::Position;
use cellar_base::table_attributes::{STREAM, STREAM_INDEX, UNFOLDS};
use cellar_catalog::access::Role;
use cellar_catalog::spreadsheet::stream_of;
use cellar_engine::ports::{BlobKey, Blobs as _, PendingSnapshots as _};
use cellar_engine::reprocess::{Reprocess, ReprocessPorts};
use cellar_engine::sha256::sha256;
use cellar_engine::system::SystemClock;
use cellar_local::{Ports, Roles};
use cellar_log::append::{Request, Upload};
use cellar_log::entry::{FIRST_INCARNATION, encode_external_body};
use cellar_sheet::cell::Value;
use cellar_sheet::operation::{CellEdit, Operation, SetCells, SheetId};
use cellar_stacks::config::Webhook;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{append_one, set_numbers};
use cellar_tests::old_logs::{AS_LITTLE_AS_ALLOWED, DAY_MS, OldLogs};
use cellar_tests::receiver::{Answer, TestReceiver};
use cellar_tests::snapshots::wait_for_root;
use serde_json::{Value as Json, json};
use tokio::task::block_in_place;
use uuid::Uuid;

use super::unused;
use crate::imports::{Importer, Written};
use crate::journey::Project;
use crate::sync::group::{Group, edit};

const PATIENCE: Duration = Duration::from_secs(900);
const PAUSE: Duration = Duration::from_millis(50);
/// Entries between two snapshots, and bytes of a segment: the smallest configurable values.
const SNAPSHOT_ENTRIES: u32 = 10;
const SEGMENT_BYTES: u64 = 64 * 1024;
/// Number of segments after which the first segments are offloaded.
const SEGMENTS: u32 = 4;

/// Permitted actions that this test cannot use, each with the reason.
const UNSEEN: [&str; 12] = [
    // Used if an upload is completed again after more than a day: the API's clock cannot be
    // changed.
    "ApiRole Uploads s3:GetObjectTagging",
    // Lambda itself writes logs, with the function's role.
    "ApiRole OwnLogs logs:CreateLogStream",
    "ApiRole OwnLogs logs:PutLogEvents",
    "IndexerRole OwnLogs logs:CreateLogStream",
    "IndexerRole OwnLogs logs:PutLogEvents",
    "RelayRole OwnLogs logs:CreateLogStream",
    "RelayRole OwnLogs logs:PutLogEvents",
    "SnapshotRole OwnLogs logs:CreateLogStream",
    "SnapshotRole OwnLogs logs:PutLogEvents",
    "WebhookRole OwnLogs logs:CreateLogStream",
    "WebhookRole OwnLogs logs:PutLogEvents",
    // A failing receiver is given up after 12 hours.
    "WebhookRole DeadLetters sqs:SendMessage",
];
/// A needless permission, which the test adds to the template to prove that it finds such
/// permissions.
const NEEDLESS: &str = "ApiRole Needless dynamodb:Scan";

fn permit_needlessly(template: &mut Json) {
    let statements = "/Resources/ApiRole/Properties/Policies/0/PolicyDocument/Statement";
    let statements = template.pointer_mut(statements).unwrap().as_array_mut().unwrap();
    let resource = statements[0]["Resource"].clone();
    statements.push(json!({
        "Sid": "Needless", "Effect": "Allow", "Action": ["dynamodb:Scan"], "Resource": resource,
    }));
}

/// Returns letters that compress to about half their size.
fn noise(seed: u64, letters: usize) -> String {
    let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut text = String::new();
    while text.len() < letters {
        state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(seed);
        text.push_str(&format!("{state:016x}"));
    }
    text.truncate(letters);
    text
}

fn set_text(row: u32, text: String) -> Operation {
    let value = Some(Value::Text(text));
    let cells = vec![CellEdit { row, column: 0, value, formula: None, format: None }];
    Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
}

/// Uses the features of the command.
fn by_command(project: &Project) {
    let rows: String = (0..60_000).map(|row| format!("{row},{}\n", noise(row, 12))).collect();
    std::fs::write(project.path("large.csv"), rows).unwrap();
    let long = [1, 2, 3, 4].map(|seed| noise(seed, 60_000));
    let [a, b, c, d] = long.each_ref().map(String::as_str);
    for arguments in [
        &["import", "large.csv"][..],
        &["set", "A1", "new"],
        &["set", "A1", a, "A2", b, "A3", c, "A4", d],
        &["rows", "insert", "2"],
        &["undo"],
        &["get", "--range", "A1:B9"],
        &["get", "--range", "A1:B9", "--at", "0.1"],
        &["export", "out.csv"],
        &["history"],
        &["diff", "0.1"],
        &["stats"],
        &["fork", "--at", "0.2"],
        &["forks"],
        &["health"],
    ] {
        let run = project.cellar(arguments);
        // Exit code 2 of a diff reports differences.
        let expected = if arguments[0] == "diff" { 2 } else { 0 };
        assert_eq!(run.code, expected, "{}: {run:?}", arguments[0]);
    }
}

/// Pushes and pulls like a browser.
async fn by_browser(cloud: &TestCloud) {
    let group = Group::start(cloud).await;
    let pulled = group.pull(&Json::Null).await;
    group.push(&[edit("a", 1, 0, "one")]).await;
    assert_eq!(group.pull(&pulled["cookie"]).await["lastMutationIDChanges"], json!({"a": 1}));
}

async fn create(cloud: &TestCloud, nonce: &str) -> CreateReply {
    let request = CreateRequest::new(nonce.to_owned());
    cloud.client("alice").create(&request).await.unwrap()
}

/// Changes a spreadsheet's listing until its tip is split, and rebuilds the listing from its
/// events, because the unfold is lost.
async fn list(cloud: &TestCloud, created: CreateReply) {
    let http = reqwest::Client::new();
    let url = format!("{}/v1/spreadsheets/{}/details", cloud.url, created.id);
    let token = cloud.token("alice", Role::Owner);
    for number in 0..=CATALOG_TIP_EVENTS {
        let name = json!({"name": format!("Name {number}")});
        let renamed = http.patch(&url).bearer_auth(&token).json(&name).send().await.unwrap();
        assert_eq!(renamed.status(), 200);
    }
    let stream = stream_of(created.id).unwrap().to_string();
    let lost = cloud.dynamodb_client().update_item().table_name(&cloud.settings.event_stream_table);
    let lost = lost.key(STREAM, AttributeValue::S(stream));
    let lost = lost.key(STREAM_INDEX, AttributeValue::N(TIP_INDEX.to_string()));
    lost.update_expression(format!("REMOVE {UNFOLDS}")).send().await.unwrap();
    let details = http.get(&url).bearer_auth(&token).send().await.unwrap();
    let details: Json = serde_json::from_str(&details.text().await.unwrap()).unwrap();
    assert_eq!(details["name"], format!("Name {CATALOG_TIP_EVENTS}"));
    assert_eq!(details["members"].as_array().unwrap().len(), 1);
}

/// The change stream has only the last event of an event stream: the indexer reads the other events
/// from the tip and the event batch, and the feed then contains all of them.
async fn index(cloud: &TestCloud) {
    let (text, number) = (
        |text: &str| AttributeValue::S(text.to_owned()),
        |number: u64| AttributeValue::N(number.to_string()),
    );
    let bytes = || AttributeValue::B(aws_sdk_dynamodb::primitives::Blob::new([7; 16]));
    let event = || {
        let event = [("t".to_owned(), number(1)), ("w".to_owned(), bytes())];
        AttributeValue::M(event.into())
    };
    let put = |stream: &str, index: u64, next: u64, events: usize| {
        let (kinds, events) = (vec![text("Said"); events], vec![event(); events]);
        let put = cloud.dynamodb_client().put_item().table_name(&cloud.settings.event_stream_table);
        put.item("p", text(stream))
            .item("i", number(index))
            .item("n", number(next))
            .item("c", AttributeValue::L(kinds))
            .item("e", AttributeValue::L(events))
    };
    put("Sweep-1", 0, 2, 2).send().await.unwrap();
    // An unreadable event becomes a dead letter.
    put("Sweep-2", TIP_INDEX, 0, 1).item("a", number(1)).send().await.unwrap();
    let tip = put("Sweep-1", TIP_INDEX, 3, 1).item("a", number(1)).item("b", number(0));
    let tip = tip.item("etag", bytes()).item("u", AttributeValue::L(Vec::new()));
    tip.send().await.unwrap();
    // A request that may write makes the event sources poll.
    create(cloud, "indexed").await;
    let operator = cloud.client("operator");
    let told = async || {
        let page = operator.feed_page(&FeedQuery::default()).await.unwrap();
        let spans = page.items.into_iter().flat_map(|item| item.spans);
        spans.filter(|span| span.stream == "Sweep-1").map(|span| span.kinds.len()).sum::<usize>()
    };
    let wait = async {
        while told().await < 3 {
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("the indexer indexes the missing events");
    let alice =
        cloud.client("alice").spreadsheets_page(&SpreadsheetsQuery::default()).await.unwrap();
    assert!(!alice.spreadsheets.is_empty());
}

/// Appends until the log has a segment with this number and all its snapshots are finished.
async fn grow(cloud: &TestCloud, created: CreateReply) -> Position {
    let client = cloud.client("alice");
    let (mut head, mut id) = (created.head, 0);
    while head.segment() < SEGMENTS {
        id += 1;
        let text = set_text(u32::try_from(id).unwrap(), noise(id, 12_000));
        let request = append_one(created, "grow", id, head, text);
        head = client.spreadsheet(created.id).append(&request).await.unwrap().head;
        head = head.max(client.spreadsheet(created.id).head().await.unwrap().head);
        assert!(id < 2_000, "the log does not roll: {head}");
    }
    wait_for_root(&client, created.id, Position::new(SEGMENTS, 0).unwrap()).await;
    head
}

/// Makes the snapshot worker process enough other spreadsheets to evict its cached state, so that
/// it reads the offloaded segment.
async fn evict_worker_cache(cloud: &TestCloud) {
    for number in 0..MAX_CACHED_TAILS {
        let created = create(cloud, &format!("distracts {number}")).await;
        let edited = edit_on(cloud, created, "distracts").await;
        let least = Position::new(0, edited.entry_number() - SNAPSHOT_ENTRIES).unwrap();
        wait_for_root(&cloud.client("alice"), created.id, least).await;
    }
}

/// Offloads old segments, and reads the state at their start with the API and with the snapshot
/// worker.
async fn offload(world: &OldLogs, created: CreateReply) {
    world.clock.advance_ms(2 * DAY_MS);
    let mut deleted = 0;
    for planned in world.plans(created.id, AS_LITTLE_AS_ALLOWED).await {
        deleted += world.offloader().execute(&planned).await.unwrap().deleted;
    }
    assert!(deleted > 0, "nothing was purged");
    let cloud = &world.cloud;
    let query = CellsQuery::default().at_position(Position::new(0, 3).unwrap());
    let read = cloud.client("alice").spreadsheet(created.id).cells_page(&query).await.unwrap();
    assert_eq!(read.cells.len(), 3);

    let (pending, _) = cloud.pending_snapshots();
    let pending = Arc::new(pending);
    evict_worker_cache(cloud).await;
    let reprocess = Reprocess::new(ReprocessPorts {
        entries: Arc::clone(&world.tables) as _,
        segments: Arc::clone(&world.tables) as _,
        retention: Arc::clone(&world.tables) as _,
        pending: Arc::clone(&pending) as _,
        blobs: Arc::clone(&world.blobs) as _,
        jobs: Arc::clone(cloud.queue("SnapshotQueue")) as _,
        clock: Arc::new(SystemClock),
    });
    let plan = reprocess.plan_rebuild(created.id).await.unwrap();
    let last = plan.snapshots.last().unwrap().at;
    reprocess.start_rebuild(&plan, |_, _| {}).await.unwrap();
    let end = cellar_snapshot::snapshot_job::SnapshotJob { log: created.id, position: last };
    let wait = async {
        while pending.first_up_to(end).await.unwrap().is_some() {
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("all snapshots are rebuilt");
}

/// Imports a sheet with so many tiles that its index refers to chunks of the index.
async fn import(cloud: TestCloud) -> TestCloud {
    let importer = Importer::on(cloud).await;
    let sheet = Written::new(200, &[0, 1, 2, 5, 127, 128, 129], 5);
    importer.prepare(&sheet).await;
    let head = importer.head().await;
    let request = importer.request(1, head, vec![sheet.operation(1, "Many", None)]);
    importer.append(&request).await;
    importer.cloud
}

/// Returns how often a permission was used.
fn used(roles: &Roles, role: &str, action: &str) -> u64 {
    let permissions = roles.permissions().into_iter();
    permissions.filter(|one| one.role == role && one.action == action).map(|one| one.used).sum()
}

/// Appends edits until a snapshot is due.
async fn edit_on(cloud: &TestCloud, created: CreateReply, client: &str) -> Position {
    let api = cloud.client("alice");
    let mut base = api.spreadsheet(created.id).head().await.unwrap().head;
    for id in 1..=u64::from(SNAPSHOT_ENTRIES) {
        let request = append_one(created, client, id, base, set_numbers(&[1.0]));
        base = api.spreadsheet(created.id).append(&request).await.unwrap().head;
    }
    base
}

/// Builds snapshots with large entries: one whose body exists, and one whose body was lost after
/// its completion.
async fn read_bodies(world: &OldLogs) {
    let cloud = &world.cloud;
    let (created, client) = (create(cloud, "bodies").await, cloud.client("alice"));
    let tags = || used(&cloud.roles, "RelayRole", "s3:DeleteObjectTagging");
    for (name, is_lost) in [("stays", false), ("is lost", true)] {
        let relayed = tags();
        let body = encode_external_body(&[set_text(9, name.to_owned())]).unwrap();
        let (bytes, sha256) = (u64::try_from(body.len()).unwrap(), hexadecimal(&sha256(&body)));
        let request = UploadRequest { bytes, sha256: sha256.clone() };
        let grant = client.spreadsheet(created.id).request_upload(&request).await.unwrap();
        client.upload(&grant, body).await.unwrap();
        let base = client.spreadsheet(created.id).head().await.unwrap().head;
        let (incarnation, client_name) = (created.incarnation, name.to_owned());
        let request = CompleteRequest {
            client_id: client_name,
            incarnation,
            acked_id: 0,
            first_id: 1,
            base,
            bytes,
            sha256,
        };
        client.spreadsheet(created.id).complete_upload(grant.upload_id, &request).await.unwrap();
        let wait = async {
            while tags() == relayed {
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("the relay removes the tag");
        if is_lost {
            let key = format!("uploads/{}/{}", created.id, grant.upload_id);
            world.blobs.delete(&BlobKey::new(key).unwrap()).await.unwrap();
        }
        let edited = edit_on(cloud, created, &format!("after {name}")).await;
        if !is_lost {
            let least = Position::new(0, edited.entry_number() - SNAPSHOT_ENTRIES).unwrap();
            wait_for_root(&client, created.id, least).await;
        }
    }
}

/// Reads missing objects: completes an upload without an object, and reads an entry whose body
/// never existed.
async fn miss(world: &OldLogs) {
    let cloud = &world.cloud;
    let created = create(cloud, "missing").await;
    let client = cloud.client("alice");
    let sha256 = [7; 32];
    let request = CompleteRequest {
        client_id: "late".to_owned(),
        incarnation: created.incarnation,
        acked_id: 0,
        first_id: 1,
        base: created.head,
        bytes: 10,
        sha256: hexadecimal(&sha256),
    };
    assert!(
        client.spreadsheet(created.id).complete_upload(Uuid::new_v4(), &request).await.is_err()
    );
    let upload = Upload {
        object: format!("uploads/{}/{}", created.id, Uuid::new_v4()),
        bytes: 10,
        sha256,
        operations: [set_numbers(&[1.0])].into(),
        base: created.head,
    };
    let key = ClientKey([5; 8]);
    let request =
        Request::of_upload(created.id, key, None, FIRST_INCARNATION, 0, 1, upload).unwrap();
    TestCloud::logs(&world.tables).append(request).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_roles_permit_what_is_done_and_no_more() {
    let receiver = TestReceiver::start().await;
    // The receiver is unavailable at first, so that later deliveries must look up their events.
    receiver.answers(Answer::Status(503));
    let webhook = Some(Webhook { url: receiver.url().to_owned(), payloads: true });
    let configure = |config: &mut cellar_stacks::Config| {
        config.webhook = webhook;
        config.feed = cellar_stacks::FeedScope::Everything;
        config.snapshots.entries = SNAPSHOT_ENTRIES;
        config.snapshots.segment_bytes = SEGMENT_BYTES;
    };
    let cloud = TestCloud::start_changed(Ports::default(), configure, permit_needlessly).await;
    let project = Project::new()
        .with_variable("CELLAR_URL", cloud.url.clone())
        .with_variable("CELLAR_TOKEN", cloud.token("alice", Role::Owner));
    block_in_place(|| by_command(&project));
    by_browser(&cloud).await;
    list(&cloud, create(&cloud, "listed").await).await;
    receiver.answers(Answer::Accepted);
    index(&cloud).await;
    let created = create(&cloud, "grows").await;
    grow(&cloud, created).await;
    block_in_place(|| {
        // Through snapshots, whose objects the command loads by presigned URLs.
        let id = created.id.to_string();
        let run = project.cellar(&["-s", &id, "get", "--range", "A1:A9"]);
        assert_eq!(run.code, 0, "{run:?}");
    });
    let world = OldLogs::on(import(cloud).await);
    offload(&world, created).await;
    read_bodies(&world).await;
    miss(&world).await;

    let roles = &world.cloud.roles;
    let expected: Vec<&str> = [NEEDLESS].into_iter().chain(UNSEEN).collect();
    // The relay and the worker may still be running, and the indexer gives up an unreadable record
    // only after 102 s.
    let wait = async {
        while unused(roles).len() > expected.len() {
            tokio::time::sleep(PAUSE).await;
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(150), wait).await;
    assert_eq!(roles.denials(), [""; 0], "an action was refused");
    let mut unused = unused(roles);
    unused.sort();
    let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
    expected.sort();
    assert_eq!(unused, expected, "permitted but unused actions");
}
