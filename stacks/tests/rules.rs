//! Rules of Cellar's template: an idle stack is free, no data is lost, and no role has more permissions
//! than necessary.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "rules/api.rs"]
mod api;
#[path = "rules/encryption.rs"]
mod encryption;
#[path = "rules/events.rs"]
mod events;
#[path = "rules/operation.rs"]
mod operation;
#[path = "rules/roles.rs"]
mod roles;
#[path = "rules/storage.rs"]
mod storage;

use cellar_stacks::config::{Encryption, Webhook};
use cellar_stacks::template::Resource;
use cellar_stacks::{Architecture, Config, DeployedValues, FeedScope, Template, cellar_stack};
use serde_json::{Value, json};

fn template_of(config: &Config) -> Template {
    cellar_stack(config, Architecture::X86_64).unwrap()
}

/// A customer-managed KMS key.
const KEY: &str = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";

fn with_key() -> Config {
    Config { encryption: Encryption { kms_key_arn: Some(KEY.to_owned()) }, ..Config::default() }
}

fn webhook() -> Webhook {
    Webhook { url: "https://hooks.example.com/cellar".to_owned(), payloads: true }
}

/// A configuration with every optional feature.
fn with_everything() -> Config {
    let mut config = Config { dashboard: true, tracing: true, ..with_key() };
    config.cors_origins = with_origins().cors_origins;
    config.alarms.email = Some("operators@example.com".to_owned());
    config.tags = [("team".to_owned(), "books".to_owned())].into();
    config.webhook = Some(webhook());
    config.feed = FeedScope::Everything;
    config
}

fn with_origins() -> Config {
    Config { cors_origins: vec!["https://a.example".to_owned()], ..Config::default() }
}

fn resources_of<'a>(
    template: &'a Template,
    resource_type: &'a str,
) -> impl Iterator<Item = (&'a str, &'a Resource)> {
    template.resources().filter(move |(_, resource)| resource.resource_type == resource_type)
}

/// Collects all keys at any depth.
fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, inner) in entries {
                found.push(key.clone());
                keys(inner, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

/// Returns all allowing statements, with the logical id of their role.
fn allowed(template: &Template) -> Vec<(&str, &Value)> {
    let roles = resources_of(template, "AWS::IAM::Role");
    let statements = roles.flat_map(|(id, role)| {
        let policies = role.properties["Policies"].as_array().unwrap();
        let documents = policies.iter().map(|policy| &policy["PolicyDocument"]["Statement"]);
        documents.flat_map(move |list| list.as_array().unwrap().iter().map(move |one| (id, one)))
    });
    statements.filter(|(_, statement)| statement["Effect"] == "Allow").collect()
}

#[test]
fn an_idle_stack_costs_nothing_but_storage() {
    let mut told = with_origins();
    told.alarms.email = Some("operators@example.com".to_owned());
    for config in [Config::default(), with_origins(), told] {
        let template = template_of(&config);
        // These types are free in an idle stack: the first ten alarms of an account are free, and so are the
        // requests with which Lambda polls a queue.
        let free_while_idle = [
            "AWS::CloudWatch::Alarm",
            "AWS::DynamoDB::Table",
            "AWS::IAM::Role",
            "AWS::Lambda::EventSourceMapping",
            "AWS::Lambda::Function",
            "AWS::Lambda::Permission",
            "AWS::Lambda::Url",
            "AWS::Logs::LogGroup",
            "AWS::S3::Bucket",
            "AWS::S3::BucketPolicy",
            "AWS::SNS::Topic",
            "AWS::SQS::Queue",
            "AWS::SQS::QueuePolicy",
        ];
        for (id, resource) in template.resources() {
            assert!(free_while_idle.contains(&resource.resource_type.as_str()), "{id}");
        }
        assert!(resources_of(&template, "AWS::CloudWatch::Alarm").count() <= 10);
        let mut found = Vec::new();
        keys(&template.to_value(), &mut found);
        for priced in [
            "KMSMasterKeyID",
            "KMSMasterKeyId",
            "KmsKeyArn",
            "KmsKeyId",
            "KmsMasterKeyId",
            "ProvisionedConcurrencyConfig",
            "ProvisionedPollerConfig",
            "ProvisionedThroughput",
            "ReservedConcurrentExecutions",
            "SnapStart",
            "VpcConfig",
        ] {
            assert!(!found.iter().any(|key| key == priced), "{priced}");
        }
        for (id, table) in resources_of(&template, "AWS::DynamoDB::Table") {
            assert_eq!(table.properties["BillingMode"], "PAY_PER_REQUEST", "{id}");
        }
    }
}

#[test]
fn no_resource_has_a_fixed_physical_name() {
    let template = template_of(&with_everything());
    let names = [
        "AlarmName",
        "BucketName",
        "DashboardName",
        "LogGroupName",
        "ManagedPolicyName",
        "QueueName",
        "RoleName",
        "TableName",
        "TopicName",
    ];
    for (id, resource) in template.resources() {
        for name in names {
            assert!(!resource.properties.contains_key(name), "{id}");
        }
        if resource.resource_type == "AWS::Lambda::Function" {
            assert!(!resource.properties.contains_key("FunctionName"), "{id}");
        }
    }
}

/// Returns a list with the ARN of a resource.
fn arn(id: &str) -> Value {
    json!([{"Fn::GetAtt": [id, "Arn"]}])
}

#[test]
fn keys_are_listed_only_below_the_prefixes_that_a_role_reads() {
    let template = template_of(&with_everything());
    let mut listing = Vec::new();
    for (role, statement) in allowed(&template) {
        if statement["Action"].to_string().contains("s3:ListBucket") {
            assert_eq!(statement["Action"], json!(["s3:ListBucket"]), "{role}");
            listing.push((role, statement["Condition"].clone()));
        }
    }
    let below = |prefixes: &[&str]| json!({"StringLikeIfExists": {"s3:prefix": prefixes}});
    let wanted = [
        ("ApiRole", below(&["offloaded/*", "sheets/*", "uploads/*"])),
        ("RelayRole", below(&["uploads/*"])),
        ("SnapshotRole", below(&["offloaded/*", "sheets/*", "uploads/*"])),
        ("WebhookRole", below(&["webhook/*"])),
    ];
    assert_eq!(listing, wanted);
}

#[test]
fn wildcards_are_only_used_where_no_arn_is_supported() {
    let template = template_of(&with_everything());
    for (id, statement) in allowed(&template) {
        for action in statement["Action"].as_array().unwrap() {
            assert!(!action.as_str().unwrap().contains('*'), "{id}: {action}");
        }
        if statement["Resource"] == "*" {
            let sid = statement["Sid"].as_str().unwrap();
            assert!(["ListStreams", "Traces"].contains(&sid), "{id}: {sid}");
            let reason = &template.resource(id).unwrap().metadata["Reasons"][sid];
            assert!(reason.as_str().is_some_and(|reason| !reason.is_empty()), "{id}");
            continue;
        }
        for resource in statement["Resource"].as_array().unwrap() {
            if resource.to_string().contains('*') {
                // Objects with a prefix in the bucket of the stack, or chunks.
                let parts = &resource["Fn::Join"][1];
                assert_eq!(parts[0], json!({"Fn::GetAtt": ["Bucket", "Arn"]}), "{id}");
                let below = parts[1].as_str().unwrap();
                let known = ["/offloaded/*", "/sheets/*", "/sheets/*/chunks/*", "/uploads/*"];
                assert!(known.contains(&below), "{id}: {below}");
            }
        }
    }
}

/// Resolves every reference to its own name.
struct Echo;

impl DeployedValues for Echo {
    fn reference(&self, logical_id: &str) -> Option<String> {
        Some(format!("<{logical_id}>"))
    }

    fn attribute(&self, logical_id: &str, attribute: &str) -> Option<String> {
        Some(format!("<{logical_id}.{attribute}>"))
    }
}

#[test]
fn parameters_and_outputs_are_complete() {
    let template = template_of(&Config::default());
    let parameters: Vec<_> = template.parameters().collect();
    assert_eq!(
        parameters.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["ArtifactBucket", "ArtifactKey"]
    );
    assert!(parameters.iter().all(|(_, parameter)| parameter.default.is_none()));
    let outputs: Vec<_> = template
        .outputs()
        .map(|(name, output)| {
            let value = template.resolve(&output.value, &Echo).unwrap();
            (name, value.as_str().unwrap().to_owned())
        })
        .collect();
    let wanted = [
        ("ApiFunctionName", "<ApiFunction>"),
        ("ApiUrl", "<ApiUrl.FunctionUrl>"),
        ("BucketName", "<Bucket>"),
        ("EntryTableName", "<EntryTable>"),
        ("EventStreamTableName", "<EventStreamTable>"),
        ("FeedTableName", "<FeedTable>"),
        ("PendingSnapshotsTableName", "<PendingSnapshotsTable>"),
        ("SegmentTableName", "<SegmentTable>"),
        ("SnapshotQueueUrl", "<SnapshotQueue>"),
    ];
    assert_eq!(outputs, wanted.map(|(name, value)| (name, value.to_owned())));
}
