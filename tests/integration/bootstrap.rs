//! The real Lambda binary over the HTTP API of the Lambda runtime, with events of a function URL.

mod figures;
mod function;
mod sqs;
mod tls;

use std::collections::HashMap;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use cellar_api::environment;
use cellar_base::position::Position;
use cellar_catalog::access::Role;
use cellar_catalog::oidc::TokenAlgorithm;
use cellar_engine::logs::UpkeepOutcome;
use cellar_engine::ports::{Entries as _, ReadConsistency, Segments as _};
use cellar_local::Ports;
use cellar_log::entry::Content;
use cellar_log::upkeep::LogPolicy;
use cellar_snapshot::snapshot_job::SnapshotJob;
use cellar_tests::cloud::TestCloud;
use cellar_tests::edits::{log, request, set_numbers};
use cellar_tests::issuer::TestIssuer;
use cellar_tests::receiver::TestReceiver;
use cellar_web::{Contents, FILES};
use serde_json::{Value, json};

use self::function::Function;
use self::sqs::{DEAD_LETTERS_URL, JOBS_URL, Sqs};

/// The binary built with the tests; `bundle` runs the same tests on the binary of the bundle.
const PROGRAM: &str = env!("CARGO_BIN_EXE_test-bootstrap");

fn variables(cloud: &TestCloud) -> HashMap<&'static str, String> {
    let tokens = &cloud.settings.tokens;
    let keys: Vec<Value> =
        tokens.keys.iter().map(|key| json!({"id": key.id, "public_key": key.public_key})).collect();
    let own = HashMap::from([
        (environment::FUNCTION, environment::FUNCTION_API.to_owned()),
        (environment::ENTRY_TABLE, cloud.settings.entry_table.clone()),
        (environment::SEGMENT_TABLE, cloud.settings.segment_table.clone()),
        (environment::EVENT_STREAM_TABLE, cloud.settings.event_stream_table.clone()),
        (environment::FEED_TABLE, cloud.settings.feed_table.clone()),
        (environment::BUCKET, cloud.settings.bucket.clone()),
        (environment::REQUEST_TIMEOUT_MS, cloud.settings.request_timeout_ms.to_string()),
        (environment::STACK, cloud.settings.stack.clone()),
        (environment::TOKEN_ISSUER, tokens.issuer.clone()),
        (environment::TOKEN_AUDIENCE, tokens.audience.clone()),
        (environment::TOKEN_KEYS, json!(keys).to_string()),
        (environment::TOKEN_OIDC, json!(tokens.oidc).to_string()),
        ("AWS_ENDPOINT_URL_DYNAMODB", cloud.database_url.clone()),
        ("AWS_ACCESS_KEY_ID", cloud.credentials.0.clone()),
        ("AWS_SECRET_ACCESS_KEY", cloud.credentials.1.clone()),
    ]);
    of_lambda().into_iter().chain(own).collect()
}

/// Environment variables that Lambda sets.
fn of_lambda() -> HashMap<&'static str, String> {
    HashMap::from([
        ("AWS_REGION", "eu-central-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "test".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ("AWS_LAMBDA_FUNCTION_NAME", "cellar".to_owned()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "1".to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512".to_owned()),
    ])
}

fn request_event(method: &str, path: &str, headers: &Value, body: Option<&Value>) -> Value {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let time = "21/Nov/2026:08:00:00 +0000";
    json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": "anonymous", "apiId": "abc", "stage": "$default", "time": time,
            "domainName": "abc.lambda-url.eu-central-1.on.aws", "domainPrefix": "abc",
            "requestId": "1", "routeKey": "$default", "timeEpoch": 1_795_246_133_000_u64,
            "http": {
                "method": method, "path": path, "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1", "userAgent": "test",
            },
        },
        "body": body.map(Value::to_string), "isBase64Encoded": false,
    })
}

fn body_of(answer: &Value) -> Value {
    assert_eq!(answer["isBase64Encoded"], false, "{answer}");
    serde_json::from_str(answer["body"].as_str().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_serves_the_api_as_a_lambda() {
    serves_the_api(PROGRAM).await;
}

pub(crate) async fn serves_the_api(program: &str) {
    let issuer = TestIssuer::start(TokenAlgorithm::Rs256).await;
    let believed = vec![issuer.config()];
    let cloud = TestCloud::start_configured(Ports::default(), |it| it.tokens.oidc = believed).await;
    let mut function = Function::start(program, variables(&cloud)).await;
    let token = cloud.token("alice", Role::Owner);

    let health = function.request("GET", "/v1/health", "", None).await;
    assert_eq!((&health["statusCode"], &body_of(&health)["ok"]), (&json!(200), &json!(true)));

    serves_the_page(&mut function).await;

    let nonce = json!({"nonce": "lambda"});
    let created = function.request("POST", "/v1/spreadsheets", &token, Some(&nonce)).await;
    assert_eq!(created["statusCode"], 201, "{created}");
    let (id, incarnation) =
        (body_of(&created)["id"].clone(), body_of(&created)["incarnation"].clone());
    let id = id.as_str().unwrap();

    let cells = json!([{"row": 0, "column": 0, "value": "über Lambda"}]);
    let append = json!({
        "client_id": "c", "incarnation": incarnation,
        "mutations": [{"id": 1, "base": 0, "op": {"setCells": {"cells": cells}}}],
    });
    let path = format!("/v1/spreadsheets/{id}/entries");
    let appended = function.request("POST", &path, &token, Some(&append)).await;
    assert_eq!(appended["statusCode"], 200, "{appended}");

    let path = format!("/v1/spreadsheets/{id}/cells?range=A1%3AB2&at=1");
    let read = function.request("GET", &path, &token, None).await;
    assert_eq!(body_of(&read)["cells"][0]["value"], "über Lambda", "{read}");

    // The function fetches the issuer's keys itself.
    let own = function.request("GET", "/v1/spreadsheets", &issuer.token("ann"), None).await;
    assert_eq!((&own["statusCode"], issuer.asked()), (&json!(200), 2), "{own}");

    // A function URL decodes `+` to a space, and it forwards other characters as they are.
    for query in ["name=a b", "name=\"<ü>\"|{}`^\\", "name=%", "name=#&limit=1"] {
        let list = format!("/v1/spreadsheets?{query}");
        let listed = function.request("GET", &list, &token, None).await;
        assert_eq!(listed["statusCode"], 200, "{query}: {listed}");
    }

    let missing = function.request("GET", &path.replace(id, "nothing"), &token, None).await;
    assert_eq!(missing["statusCode"], 404);
    assert_eq!(missing["headers"]["content-type"], "application/problem+json");
    assert_eq!(body_of(&missing)["type"], "urn:cellar:problem:not-found");
}

/// A response of Lambda is JSON, so compressed bytes are sent in Base64.
async fn serves_the_page(function: &mut Function) {
    for file in FILES {
        for encoding in ["br", "identity"] {
            let expected = match (encoding, file.contents) {
                ("br", Contents::Brotli(bytes)) => (json!("br"), bytes.to_vec()),
                _ => (Value::Null, file.plain().unwrap().into_owned()),
            };
            let headers = json!({"accept": "text/html", "accept-encoding": encoding});
            let response = function.call(request_event("GET", file.path, &headers, None)).await;
            assert_eq!(response["statusCode"], 200, "{} {encoding}", file.path);
            let body = response["body"].as_str().unwrap();
            let bytes = match response["isBase64Encoded"].as_bool().unwrap() {
                true => BASE64_STANDARD.decode(body).unwrap(),
                false => body.as_bytes().to_vec(),
            };
            let received = (response["headers"]["content-encoding"].clone(), bytes);
            assert_eq!(received, expected, "{} {encoding}", file.path);
        }
    }
    let headers = json!({"accept": "text/html"});
    let page = function.call(request_event("GET", "/", &headers, None)).await;
    let policy = page["headers"]["content-security-policy"].as_str().unwrap();
    assert!(policy.contains("connect-src 'self' https://"), "{policy}");
    assert!(policy.contains(".s3.eu-central-1.amazonaws.com"), "{policy}");
}

/// Returns the change stream record of a new Snapshot entry.
fn record(sequence_number: &str, entry: &str) -> Value {
    let key = json!({"B": "AAAAAAAAAAAAAAAAAAAABwAAAAA="});
    json!({
        "eventID": sequence_number, "eventName": "INSERT", "eventVersion": "1.1",
        "eventSource": "aws:dynamodb", "awsRegion": "eu-central-1",
        "eventSourceARN": "arn:aws:dynamodb:eu-central-1:0:table/T/stream/L",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_795_246_133, "StreamViewType": "NEW_IMAGE",
            "Keys": {"S": key, "N": {"N": entry}},
            "NewImage": {"S": key, "N": {"N": entry}, "T": {"S": "S"}, "H": {"B": "AA=="}},
            "SequenceNumber": sequence_number, "SizeBytes": 60,
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_relays_a_stream_as_a_lambda() {
    relays_a_stream(PROGRAM).await;
}

pub(crate) async fn relays_a_stream(program: &str) {
    let sqs = Sqs::default();
    let own = HashMap::from([
        (environment::FUNCTION, environment::FUNCTION_RELAY.to_owned()),
        (environment::SNAPSHOT_QUEUE, JOBS_URL.to_owned()),
        (environment::DEAD_LETTER_QUEUE, DEAD_LETTERS_URL.to_owned()),
        (environment::BUCKET, "bucket".to_owned()),
        ("AWS_ENDPOINT_URL_SQS", sqs.start().await),
    ]);
    let variables = own.into_iter().chain(of_lambda()).collect();
    let mut relay = Function::start(program, variables).await;

    let poisoned = record("101", "-1");
    let records = [record("100", "3"), poisoned, record("102", "4")];
    let answer = relay.call(json!({ "Records": records })).await;
    assert_eq!(
        answer,
        json!({"batchItemFailures": []}),
        "the invalid record does not block others"
    );
    let log = "00000000-0000-0000-0000-000000000007";
    let job = |num: u32| json!({"version": 1, "log": log, "segment": 0, "num": num});
    assert_eq!(sqs.take_sent(JOBS_URL), [job(3), job(4)]);
    let dead_letters = sqs.take_sent(DEAD_LETTERS_URL);
    assert_eq!(dead_letters.len(), 1);
    assert_eq!(dead_letters[0]["sequenceNumber"], "101");

    sqs.down.store(true, Ordering::SeqCst);
    let records = [record("103", "5"), record("104", "6")];
    let answer = relay.call(json!({ "Records": records })).await;
    assert_eq!(answer, json!({"batchItemFailures": [{"itemIdentifier": "103"}]}));
    let answer = relay.call(json!({ "Records": [record("105", "-1")] })).await;
    assert_eq!(answer, json!({"batchItemFailures": [{"itemIdentifier": "105"}]}));
    sqs.down.store(false, Ordering::SeqCst);
    let answer = relay.call(json!({ "Records": records })).await;
    assert_eq!(answer, json!({"batchItemFailures": []}));
    assert_eq!(sqs.take_sent(JOBS_URL), [job(5), job(6)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_indexes_a_stream_as_a_lambda() {
    indexes_a_stream(PROGRAM).await;
}

pub(crate) async fn indexes_a_stream(program: &str) {
    // No other indexer runs: the cloud's own event source gets no records.
    let nothing = |template: &mut Value| {
        let filter = json!({ "Pattern": json!({ "eventName": ["NEVER"] }).to_string() });
        let source = &mut template["Resources"]["IndexerSource"]["Properties"];
        source["FilterCriteria"] = json!({ "Filters": [filter] });
    };
    let cloud = TestCloud::start_changed(cellar_local::Ports::default(), |_| {}, nothing).await;
    let alice = cellar::Client::new(&cloud.url, Some(&cloud.token_of("alice"))).unwrap();
    let name = Some("Budget".to_owned());
    let request = cellar_api::wire::CreateRequest { nonce: "indexed".to_owned(), name };
    let id = alice.create(&request).await.unwrap().id;

    let sqs = Sqs::default();
    let own = [
        (environment::FUNCTION, environment::FUNCTION_INDEXER.to_owned()),
        (environment::DEAD_LETTER_QUEUE, DEAD_LETTERS_URL.to_owned()),
        ("AWS_ENDPOINT_URL_SQS", sqs.start().await),
    ];
    let variables = variables(&cloud).into_iter().chain(own).collect();
    let mut indexer = Function::start(program, variables).await;
    let record = json!({
        "eventID": "1", "eventName": "INSERT", "eventVersion": "1.1",
        "eventSource": "aws:dynamodb", "awsRegion": "eu-central-1",
        "eventSourceARN": "arn:aws:dynamodb:eu-central-1:0:table/T/stream/L",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_795_246_133, "StreamViewType": "NEW_IMAGE",
            "Keys": {"p": {"S": format!("Spreadsheet-{id}")}, "i": {"N": "2147483647"}},
            "NewImage": {
                "p": {"S": format!("Spreadsheet-{id}")}, "i": {"N": "2147483647"},
                "n": {"N": "1"}, "a": {"N": "1"}, "c": {"L": [{"S": "Created"}]},
            },
            "SequenceNumber": "100", "SizeBytes": 60,
        },
    });
    // Lambda repeats an invocation that got no response.
    for _ in 0..2 {
        let answer = indexer.call(json!({ "Records": [record.clone()] })).await;
        assert_eq!(answer, json!(null), "nothing failed");
    }
    let mut bad = record;
    bad["dynamodb"]["NewImage"]["n"] = json!({"N": "x"});
    let answer = indexer.call(json!({ "Records": [bad] })).await;
    assert_eq!(answer, json!(null));
    assert_eq!(sqs.take_sent(DEAD_LETTERS_URL)[0]["sequenceNumber"], "100");

    let page = cloud.client("operator").feed_page(&cellar::FeedQuery::default()).await.unwrap();
    assert_eq!(page.items.len(), 1, "{page:?}");
    assert_eq!(page.items[0].spans[0].stream, format!("Spreadsheet-{id}"));
    let listed = alice.spreadsheets_page(&cellar::SpreadsheetsQuery::default()).await.unwrap();
    assert_eq!((listed.spreadsheets[0].id, listed.spreadsheets[0].name.as_str()), (id, "Budget"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_delivers_the_feed_to_public_addresses_only() {
    delivers_to_public_addresses_only(PROGRAM).await;
}

pub(crate) async fn delivers_to_public_addresses_only(program: &str) {
    let cloud = TestCloud::start_without_snapshots().await;
    let alice = cellar::Client::new(&cloud.url, Some(&cloud.token_of("alice"))).unwrap();
    let name = Some("Budget".to_owned());
    let request = cellar_api::wire::CreateRequest { nonce: "delivered".to_owned(), name };
    alice.create(&request).await.unwrap();
    let operator = cloud.client("operator");
    while operator.feed_page(&cellar::FeedQuery::default()).await.unwrap().items.is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let receiver = TestReceiver::start().await;
    let own = [
        (environment::FUNCTION, environment::FUNCTION_WEBHOOK.to_owned()),
        (environment::WEBHOOK_URL, receiver.url().to_owned()),
        (environment::WEBHOOK_EVENTS, "true".to_owned()),
        ("AWS_ENDPOINT_URL_S3", cloud.buckets_url.clone()),
    ];
    let variables = variables(&cloud).into_iter().chain(own).collect();
    let mut webhook = Function::start(program, variables).await;
    let record = json!({
        "eventID": "1", "eventName": "INSERT", "eventVersion": "1.1",
        "eventSource": "aws:dynamodb", "awsRegion": "eu-central-1",
        "eventSourceARN": "arn:aws:dynamodb:eu-central-1:0:table/T/stream/L",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_795_246_133, "StreamViewType": "NEW_IMAGE",
            "Keys": {"p": {"S": "$AppendsEpoch-0_0"}, "i": {"S": "000000"}},
            "NewImage": {"p": {"S": "$AppendsEpoch-0_0"}, "i": {"S": "000000"}, "b": {"N": "1"}},
            "SequenceNumber": "100", "SizeBytes": 60,
        },
    });
    // An item is due, but a function in AWS does not deliver to loopback addresses.
    let refused = webhook.call(json!({ "Records": [record] })).await;
    let message = refused["errorMessage"].as_str().unwrap();
    assert!(message.contains("not on the public internet"), "{refused}");
    assert!(receiver.arrived().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_makes_snapshots_as_a_lambda() {
    makes_snapshots(PROGRAM).await;
}

pub(crate) async fn makes_snapshots(program: &str) {
    let cloud = TestCloud::start_without_snapshots().await;
    let (tables, _) = cloud.tables_at(&cloud.database_url);
    let (logs, log) = (TestCloud::logs(&tables), log("snapshot"));
    logs.create(log, None).await.unwrap();
    let edit = set_numbers(&[1.0, 2.5]);
    logs.append(request(log, None, 1, Position::FIRST, edit)).await.unwrap();
    let policy = LogPolicy { snapshot_entries: 1, ..LogPolicy::default() };
    let UpkeepOutcome::Snapshot(position) = logs.upkeep(log, &policy).await.unwrap() else {
        panic!()
    };

    let own = HashMap::from([
        (environment::FUNCTION, environment::FUNCTION_SNAPSHOT.to_owned()),
        (environment::PENDING_SNAPSHOTS_TABLE, cloud.pending_snapshots_table()),
        (environment::SNAPSHOT_QUEUE, JOBS_URL.to_owned()),
        ("AWS_ENDPOINT_URL_SQS", Sqs::default().start().await),
        ("AWS_ENDPOINT_URL_S3", cloud.buckets_url.clone()),
    ]);
    let variables = variables(&cloud).into_iter().chain(own).collect();
    let mut function = Function::start(program, variables).await;
    let job = SnapshotJob { log, position };
    let message = |id: &str, body: &str| {
        json!({
            "messageId": id, "receiptHandle": "receipt", "body": body, "attributes": {},
            "messageAttributes": {}, "md5OfBody": "", "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:eu-central-1:0:q", "awsRegion": "eu-central-1",
        })
    };
    // The first entry of the log also requested a snapshot, which may or may not be built.
    let answer = function.call(json!({"Records": [message("1", &job.encode())]})).await;
    assert_eq!(answer, json!({"batchItemFailures": []}));
    let entry = tables.get(log, position).await.unwrap().unwrap();
    let Content::Snapshot { root: Some(root), .. } = &entry.content else { panic!("{entry:?}") };
    assert!(root.starts_with(&format!("sheets/{log}/roots/")), "{root}");
    let last =
        tables.segment(log, 0, ReadConsistency::Strong).await.unwrap().unwrap().last_snapshot;
    assert_eq!(last, Some(position.entry_number()));
    let broken = function.call(json!({"Records": [message("2", "nonsense")]})).await;
    assert!(broken["errorMessage"].as_str().unwrap().contains("is not a snapshot job"), "{broken}");
}

#[test]
fn a_function_without_its_environment_says_what_is_missing() {
    for (function, expected) in [
        ("api", environment::TOKEN_KEYS),
        ("relay", environment::SNAPSHOT_QUEUE),
        ("snapshot", environment::ENTRY_TABLE),
        ("nonsense", "nonsense"),
        ("", environment::FUNCTION),
    ] {
        let output = Command::new(PROGRAM)
            .env_clear()
            .env(environment::FUNCTION, function)
            .output()
            .unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && log.contains(expected), "{log}");
    }
}
