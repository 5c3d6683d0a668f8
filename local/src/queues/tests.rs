//! Tests of queue properties, and of sending messages over HTTP.

use cellar_base::limits::MAX_MESSAGE_BYTES;
use cellar_engine::ports::Jobs as _;
use cellar_runtime::sqs::{SqsQueue, client_for_endpoint};
use cellar_stacks::{Architecture, Config, cellar_stack};
use serde_json::json;

use super::*;

fn read_rules_of(properties: &Value) -> Result<(QueueRules, Option<String>), LocalError> {
    let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
    read_rules(&template, "Q", properties.as_object().unwrap())
}

#[test]
fn reads_the_rules_of_the_template() {
    let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
    let properties = &template.resource("SnapshotQueue").unwrap().properties;
    let (rules, dead_letters) = read_rules(&template, "SnapshotQueue", properties).unwrap();
    assert_eq!(rules.max_receive_count, Some(1_000));
    assert_eq!(rules.retention_ms, 14 * 24 * 60 * 60 * 1_000);
    assert_eq!(dead_letters.as_deref(), Some("SnapshotDeadLetters"));
}

#[test]
fn rejects_invalid_queue_properties() {
    let default = read_rules_of(&serde_json::json!({})).unwrap().0;
    assert_eq!(default.retention_ms, DEFAULT_RETENTION_S * 1_000);
    let letters = |id: &str| serde_json::json!({"Fn::GetAtt": [id, "Arn"]});
    for properties in [
        serde_json::json!({"MessageRetentionPeriod": "long"}),
        serde_json::json!({"RedrivePolicy": {}}),
        serde_json::json!({"RedrivePolicy": {
            "maxReceiveCount": 0, "deadLetterTargetArn": letters("SnapshotDeadLetters")}}),
        serde_json::json!({"RedrivePolicy": {
            "maxReceiveCount": 1, "deadLetterTargetArn": letters("EntryTable")}}),
    ] {
        assert!(matches!(read_rules_of(&properties), Err(LocalError::Template { .. })));
    }
}

/// Queues in a temporary file, and an HTTP server for them.
struct Served {
    queues: Queues,
    server: crate::server::ServerThread,
    _folder: tempfile::TempDir,
}

const KEYS: (&str, &str) = ("key", "secret");

async fn serve() -> Served {
    let folder = tempfile::tempdir().unwrap();
    let store = EventStore::open(&folder.path().join("events.sqlite")).unwrap();
    let template = cellar_stack(&Config::default(), Architecture::X86_64).unwrap();
    let names = Names { template: &template, stack: "cellar", url: String::new() };
    let clock: Arc<dyn Clock> = Arc::new(cellar_engine::system::SystemClock);
    let queues = Queues::open(&template, &names, &store, &clock).unwrap();
    let roles = crate::roles::Roles::of_operator(KEYS);
    let server = start(queues.clone(), roles).unwrap();
    Served { queues, server, _folder: folder }
}

impl Served {
    fn queue(&self, url: &str, (access_key, secret_key): (&str, &str)) -> SqsQueue {
        let meter = Arc::default();
        let client =
            client_for_endpoint(&self.server.url(), "local", access_key, secret_key, &meter);
        SqsQueue::new(client, url)
    }
}

#[tokio::test]
async fn a_message_sent_over_http_arrives_in_its_queue() {
    let served = serve().await;
    let url = served.queues.0["SnapshotQueue"].url.clone();
    let queue = served.queue(&url, KEYS);
    let longest = "x".repeat(MAX_MESSAGE_BYTES);
    for body in ["{\"a\":\"ä\"}", longest.as_str()] {
        assert_eq!(queue.send(body).await, Ok(()));
        let received = served.queues.get("SnapshotQueue").unwrap().receive(1, 60).await.unwrap();
        assert_eq!(received[0].body, body);
    }
    assert!(queue.send("").await.is_err());
    assert_eq!(served.queues.get("SnapshotDeadLetters").unwrap().len().await, Ok(0));
    let elsewhere = served.queue("https://sqs.local.localhost/0/other", KEYS);
    let error = elsewhere.send("x").await.unwrap_err();
    assert!(!error.temporary && error.message.contains("does not exist"), "{error}");
    // Unsupported operations return an error.
    let error = queue.receive(1, 60).await.unwrap_err();
    assert!(!error.temporary && error.message.contains("ReceiveMessage"), "{error}");
}

#[tokio::test]
async fn rejects_messages_with_a_wrong_key() {
    let served = serve().await;
    let url = served.queues.0["SnapshotQueue"].url.clone();
    for keys in [("key", "other"), ("other", "secret")] {
        let error = served.queue(&url, keys).send("x").await.unwrap_err();
        assert!(!error.temporary, "{error}");
    }
    let send = json!({ "QueueUrl": url, "MessageBody": "x" });
    let request = reqwest::Client::new()
        .post(served.server.url())
        .header("x-amz-target", "AmazonSQS.SendMessage");
    for request in [request.try_clone().unwrap(), request.header("origin", "https://example.com")] {
        let reply = request.body(send.to_string()).send().await.unwrap();
        assert_eq!(reply.status(), 403);
        assert!(!reply.headers().keys().any(|name| name.as_str().starts_with("access-control")));
    }
    assert_eq!(served.queues.get("SnapshotQueue").unwrap().len().await, Ok(0));
}

#[tokio::test]
async fn rejects_invalid_messages() {
    let served = serve().await;
    let url = served.queues.0["SnapshotQueue"].url.clone();
    let too_long = "x".repeat(MAX_MESSAGE_BYTES + 1);
    for (operation, body, kind) in [
        ("SendMessage", "{".to_owned(), "SerializationException"),
        ("SendMessage", "{}".to_owned(), "InvalidParameterValue"),
        ("SendMessage", json!({"QueueUrl": url, "MessageBody": 1}).to_string(), "InvalidParameter"),
        (
            "SendMessage",
            json!({"QueueUrl": url, "MessageBody": "x", "DelaySeconds": 9}).to_string(),
            "InvalidParameterValue",
        ),
        (
            "SendMessage",
            json!({"QueueUrl": url, "MessageBody": too_long}).to_string(),
            "InvalidMessageContents",
        ),
        ("PurgeQueue", json!({"QueueUrl": url}).to_string(), "UnknownOperationException"),
        ("", String::new(), "UnknownOperationException"),
    ] {
        let reply = server::handle_request(&served.queues, operation, body.as_bytes()).await;
        assert_eq!(reply.status(), 400, "{operation} {kind}");
        let bytes = axum::body::to_bytes(reply.into_body(), 10_000).await.unwrap();
        let error: Value = serde_json::from_slice(&bytes).unwrap();
        assert!(error["__type"].as_str().unwrap().contains(kind), "{error}");
    }
    assert_eq!(served.queues.get("SnapshotQueue").unwrap().len().await, Ok(0));
}

#[tokio::test]
async fn the_reply_has_the_md5_of_the_body() {
    let served = serve().await;
    let url = served.queues.0["SnapshotQueue"].url.clone();
    let body = json!({ "QueueUrl": url, "MessageBody": "This is a test message" }).to_string();
    let reply = server::handle_request(&served.queues, "SendMessage", body.as_bytes()).await;
    let bytes = axum::body::to_bytes(reply.into_body(), 10_000).await.unwrap();
    let sent: Value = serde_json::from_slice(&bytes).unwrap();
    // Example from the AWS reference.
    assert_eq!(sent["MD5OfMessageBody"], "fafb00f5732ab283681e124bf8747ed1");
    let received = served.queues.get("SnapshotQueue").unwrap().receive(1, 60).await.unwrap();
    assert_eq!(sent["MessageId"], received[0].id);
}
