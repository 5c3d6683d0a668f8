//! Rules of roles: each function has exactly the permissions that its code uses.

use cellar_stacks::config::Webhook;
use cellar_stacks::{Config, Template};
use serde_json::{Value, json};

use super::{allowed, arn, resources_of, template_of};

/// A use of a resource by a function: statement id, resource and actions.
type Use = (&'static str, Value, &'static [&'static str]);

/// Returns the allowing statements of a role.
fn allowed_by<'a>(template: &'a Template, role: &str) -> Vec<(&'a str, Vec<&'a str>, &'a Value)> {
    let own = allowed(template).into_iter().filter(|(id, _)| *id == role);
    own.map(|(_, statement)| {
        let actions = statement["Action"].as_array().unwrap();
        let actions = actions.iter().map(|action| action.as_str().unwrap()).collect();
        (statement["Sid"].as_str().unwrap(), actions, &statement["Resource"])
    })
    .collect()
}

/// Returns the ARN pattern of objects with a prefix.
fn below(prefix: &str) -> Value {
    json!([{"Fn::Join": ["", [{"Fn::GetAtt": ["Bucket", "Arn"]}, format!("/{prefix}/*")]]}])
}

/// Returns the ARN pattern of objects whose keys match a pattern.
fn like(pattern: &str) -> Value {
    json!([{"Fn::Join": ["", [{"Fn::GetAtt": ["Bucket", "Arn"]}, format!("/{pattern}")]]}])
}

/// The use of the log group by Lambda on behalf of a function.
fn by_lambda(log_group: &str) -> Use {
    ("OwnLogs", arn(log_group), &["logs:CreateLogStream", "logs:PutLogEvents"])
}

/// The use of X-Ray by a traced function.
fn traces() -> Use {
    ("Traces", json!("*"), &["xray:PutTelemetryRecords", "xray:PutTraceSegments"])
}

/// Uses of the API. A call without a permission only fails in AWS, with `AccessDenied`, so new calls must be
/// added here.
fn api() -> Vec<Use> {
    let mut uses = api_tables();
    uses.extend(api_objects());
    uses.push(by_lambda("ApiLogGroup"));
    uses
}

fn api_tables() -> Vec<Use> {
    vec![
        (
            "EntryTable",
            arn("EntryTable"),
            &[
                // `Entries::get`: a create, an append, a load, a completed upload (engine/src/logs).
                "dynamodb:GetItem",
                // `Entries::put` of an append, and the transactions of a create and of a roll.
                "dynamodb:PutItem",
                // `Entries::page`, `page_back` and `last`: every read.
                "dynamodb:Query",
            ],
        ),
        (
            "SegmentTable",
            arn("SegmentTable"),
            &[
                // `Segments::segment`: whether a segment has an offloaded segment.
                "dynamodb:GetItem",
                // The transactions of a create and of a roll.
                "dynamodb:PutItem",
                // `Segments::newest`: the head.
                "dynamodb:Query",
            ],
        ),
        (
            "EventStreamTable",
            arn("EventStreamTable"),
            &[
                // `Streams::tip`.
                "dynamodb:GetItem",
                // `Streams::put_first`, and the event batch of `Streams::split_off`.
                "dynamodb:PutItem",
                // `Streams::batches_before`: older events.
                "dynamodb:Query",
                // `Streams::update`, and the tip of `Streams::split_off`.
                "dynamodb:UpdateItem",
            ],
        ),
        // `Index::newest_incarnation` and `items`, and `Lists::listed`: the feed, and lists of spreadsheets.
        ("FeedTable", arn("FeedTable"), &["dynamodb:Query"]),
    ]
}

fn api_objects() -> Vec<Use> {
    vec![
        (
            "Uploads",
            below("uploads"),
            &[
                // `Blobs::keep`: an upload that is completed.
                "s3:DeleteObjectTagging",
                // `Blobs::get`: a completion, a check, a replay; `Blobs::presign_get`: the body of an entry.
                "s3:GetObject",
                // `Blobs::pending`: a completion that is repeated after more than a day.
                "s3:GetObjectTagging",
                // `Blobs::presign_put`: a grant, and the tag that it signs.
                "s3:PutObject",
                "s3:PutObjectTagging",
            ],
        ),
        // `Blobs::get` of `read_offloaded`: a segment that was purged.
        ("Offload", below("offloaded"), &["s3:GetObject"]),
        (
            "Chunks",
            like("sheets/*/chunks/*"),
            &[
                // `Blobs::put`: a chunk of an import that was verified.
                "s3:PutObject",
            ],
        ),
        // `Blobs::get` of a read through a snapshot and of a check; `Blobs::presign_get`: chunks for
        // clients.
        ("Sheets", below("sheets"), &["s3:GetObject"]),
        // No call: with this permission, S3 responds with 404 for missing objects of `Blobs::get` and `keep`.
        ("TellMissing", arn("Bucket"), &["s3:ListBucket"]),
    ]
}

/// Uses of the relay, and of Lambda on its behalf.
fn relay() -> Vec<Use> {
    let queues = json!([
        {"Fn::GetAtt": ["SnapshotQueue", "Arn"]}, {"Fn::GetAtt": ["ChangeStreamDeadLetters", "Arn"]}
    ]);
    let mut uses: Vec<Use> = vec![
        (
            "EntryStream",
            json!([{"Fn::GetAtt": ["EntryTable", "StreamArn"]}]),
            // Lambda reads the stream.
            &["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
        ),
        // Lambda reads the stream.
        ("ListStreams", json!("*"), &["dynamodb:ListStreams"]),
        // `Jobs::send` (runtime/src/sqs); Lambda sends failed records to the dead-letter queue.
        ("Queues", queues, &["sqs:SendMessage"]),
        // `PendingTags::remove_pending_tag`, which is `Blobs::keep`: it deletes tags and sets none.
        ("UploadTags", below("uploads"), &["s3:DeleteObjectTagging"]),
        // No call: with this permission, S3 responds with 404 for missing objects of `keep`.
        ("TellMissing", arn("Bucket"), &["s3:ListBucket"]),
    ];
    uses.push(by_lambda("RelayLogGroup"));
    uses
}

/// Uses of the indexer, and of Lambda on its behalf.
fn indexer() -> Vec<Use> {
    let mut uses: Vec<Use> = vec![
        (
            "StreamsStream",
            json!([{"Fn::GetAtt": ["EventStreamTable", "StreamArn"]}]),
            // Lambda reads the stream.
            &["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
        ),
        // Lambda reads the stream.
        ("ListStreams", json!("*"), &["dynamodb:ListStreams"]),
        // `Streams::tip` and `batches_before`: missing events, and the events from which spreadsheet lists are derived.
        ("ReadStreams", arn("EventStreamTable"), &["dynamodb:GetItem", "dynamodb:Query"]),
        (
            "FeedTable",
            arn("FeedTable"),
            &[
                // `Index::mark`.
                "dynamodb:GetItem",
                // `Index::put_item` and `begin_incarnation`, `Lists::put_listed`.
                "dynamodb:PutItem",
                // `Index::newest_incarnation` and `last_item`.
                "dynamodb:Query",
                // `Index::raise_mark`.
                "dynamodb:UpdateItem",
            ],
        ),
        // Lambda sends failed records to the dead-letter queue.
        ("DeadLetters", arn("ChangeStreamDeadLetters"), &["sqs:SendMessage"]),
    ];
    uses.push(by_lambda("IndexerLogGroup"));
    uses
}

/// Uses of the webhook function, and of Lambda on its behalf.
fn webhook(events: bool) -> Vec<Use> {
    let mut uses: Vec<Use> = vec![
        (
            "IndexStream",
            json!([{"Fn::GetAtt": ["FeedTable", "StreamArn"]}]),
            // Lambda reads the stream.
            &["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"],
        ),
        // Lambda reads the stream.
        ("ListStreams", json!("*"), &["dynamodb:ListStreams"]),
        // `WebhookProgresses::progress`, `Index::items` and `newest_incarnation`, `WebhookProgresses::advance`.
        (
            "FeedTable",
            arn("FeedTable"),
            &["dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem"],
        ),
    ];
    if events {
        // Payloads of events: `Streams::tip` and `batches_before`.
        let read: &[&str] = &["dynamodb:GetItem", "dynamodb:Query"];
        uses.push(("ReadStreams", arn("EventStreamTable"), read));
    }
    uses.extend::<Vec<Use>>(vec![
        // `WebhookSecrets::get`.
        ("Secrets", like("webhook/secrets.json"), &["s3:GetObject", "s3:PutObject"]),
        ("TellMissing", arn("Bucket"), &["s3:ListBucket"]),
        // Lambda sends failed records to the dead-letter queue.
        ("DeadLetters", arn("ChangeStreamDeadLetters"), &["sqs:SendMessage"]),
    ]);
    uses.push(by_lambda("WebhookLogGroup"));
    uses
}

#[test]
fn the_webhook_may_do_exactly_what_its_code_does() {
    for events in [false, true] {
        let webhook = Some(Webhook { payloads: events, ..super::webhook() });
        let template = template_of(&Config { webhook, ..Config::default() });
        let uses = self::webhook(events);
        let uses = uses.iter().map(|(sid, resource, actions)| (*sid, actions.to_vec(), resource));
        assert_eq!(allowed_by(&template, "WebhookRole"), uses.collect::<Vec<_>>());
    }
}

/// Uses of the snapshot function, and of Lambda on its behalf.
fn snapshot() -> Vec<Use> {
    let mut uses: Vec<Use> = vec![
        // `Entries::get` and `page`: the builder reads the log.
        ("ReadEntries", arn("EntryTable"), &["dynamodb:GetItem", "dynamodb:Query"]),
        // `Entries::set_root` and `replace_root`.
        ("SetRoot", arn("EntryTable"), &["dynamodb:UpdateItem"]),
        (
            "SegmentTable",
            arn("SegmentTable"),
            // `Segments::segment` and `raise_last_snapshot`.
            &["dynamodb:GetItem", "dynamodb:UpdateItem"],
        ),
        (
            "PendingSnapshotsTable",
            arn("PendingSnapshotsTable"),
            // `PendingSnapshots::delete`, `create` and `replace`, `first_up_to` and `first_after`.
            &["dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query"],
        ),
        // `Blobs::get` and `put`: chunks and roots.
        ("Sheets", below("sheets"), &["s3:GetObject", "s3:PutObject"]),
        // `Blobs::get`: the bodies of large entries.
        ("Uploads", below("uploads"), &["s3:GetObject"]),
        // `Blobs::get`: entries of offloaded segments.
        ("Offload", below("offloaded"), &["s3:GetObject"]),
        // No call: with this permission, S3 responds with 404 for missing objects of `Blobs::get`.
        ("TellMissing", arn("Bucket"), &["s3:ListBucket"]),
        (
            "Jobs",
            arn("SnapshotQueue"),
            &[
                // `Jobs::change_visibility`.
                "sqs:ChangeMessageVisibility",
                // Lambda receives messages, deletes finished ones, and reads the attributes of the queue.
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ReceiveMessage",
                // `Jobs::send`: an earlier or the next snapshot.
                "sqs:SendMessage",
            ],
        ),
    ];
    uses.push(by_lambda("SnapshotLogGroup"));
    uses
}

#[test]
fn of_an_entry_nothing_but_its_root_can_be_changed() {
    let template = template_of(&Config::default());
    let updates = allowed(&template).into_iter().filter(|(_, statement)| {
        let actions = statement["Action"].as_array().unwrap();
        let changes = ["dynamodb:UpdateItem", "dynamodb:DeleteItem"];
        statement["Resource"] == arn("EntryTable")
            && actions.iter().any(|action| changes.contains(&action.as_str().unwrap()))
    });
    let updates: Vec<_> = updates.map(|(role, statement)| (role, statement.clone())).collect();
    let [(role, statement)] = updates.as_slice() else { panic!("{updates:?}") };
    assert_eq!((*role, &statement["Action"]), ("SnapshotRole", &json!(["dynamodb:UpdateItem"])));
    // Key and condition of the request name the keys and the type; the update sets `E`.
    let attributes = json!({"ForAllValues:StringEquals": {
        "dynamodb:Attributes": ["E", "N", "S", "T"]
    }});
    assert_eq!(statement["Condition"], attributes);
}

#[test]
fn each_function_may_do_exactly_what_its_code_does() {
    let roles = [
        ("ApiRole", api()),
        ("RelayRole", relay()),
        ("IndexerRole", indexer()),
        ("SnapshotRole", snapshot()),
    ];
    for tracing in [false, true] {
        let template = template_of(&Config { tracing, ..Config::default() });
        assert_eq!(resources_of(&template, "AWS::IAM::Role").count(), roles.len());
        for (role, uses) in &roles {
            let traces = tracing.then(traces);
            let uses = uses.iter().chain(&traces);
            let uses = uses.map(|(sid, resource, actions)| (*sid, actions.to_vec(), resource));
            assert_eq!(allowed_by(&template, role), uses.collect::<Vec<_>>(), "{role}");
        }
        let mode = if tracing { "Active" } else { "PassThrough" };
        for (id, function) in resources_of(&template, "AWS::Lambda::Function") {
            assert_eq!(function.properties["TracingConfig"]["Mode"], mode, "{id}");
        }
    }
}
