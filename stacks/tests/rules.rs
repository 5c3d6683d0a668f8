//! What Cellar's template promises: idle it costs nothing, no data is lost with it, nobody gets
//! more than is needed (design `5-quality.md` §3, §5).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "rules/encryption.rs"]
mod encryption;
#[path = "rules/events.rs"]
mod events;
#[path = "rules/operation.rs"]
mod operation;
#[path = "rules/roles.rs"]
mod roles;

use cellar_core::environment;
use cellar_core::upkeep::UpkeepPolicy;
use cellar_stacks::config::{Encryption, Webhook};
use cellar_stacks::template::Resource;
use cellar_stacks::{Architecture, Config, FeedScope, Lookup, Template, cellar_stack};
use serde_json::{Value, json};

/// Bytes that Lambda allows for all environment variables of a function.
const ENVIRONMENT_BYTES_MAX: usize = 4096;

fn template_of(config: &Config) -> Template {
    cellar_stack(config, Architecture::X86_64).unwrap()
}

/// A key of the customer's own.
const KEY: &str = "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";

fn with_key() -> Config {
    Config { encryption: Encryption { kms_key_arn: Some(KEY.to_owned()) }, ..Config::default() }
}

fn webhook() -> Webhook {
    Webhook { url: "https://hooks.example.com/cellar".to_owned(), events: true }
}

/// Everything that adds something to the stack.
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

/// Every key at every depth.
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

/// All statements that allow something, with the logical id of their role.
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
        // Each of these has no price while nobody uses it: the first ten alarms are free, and so
        // are the requests with which Lambda asks one queue for messages.
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

#[test]
fn data_survives_the_stack() {
    let template = template_of(&Config::default());
    let tables: Vec<_> = resources_of(&template, "AWS::DynamoDB::Table").collect();
    assert_eq!(
        tables.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        ["EntryTable", "IndexTable", "PendingSnapshotTable", "SegmentTable", "StreamTable"]
    );
    for (id, table) in tables {
        let properties = &table.properties;
        assert_eq!(properties["DeletionProtectionEnabled"], true, "{id}");
        // Always encrypted: with a key that DynamoDB owns, for nothing. Any other key is billed.
        assert_eq!(properties.get("SSESpecification"), None, "{id}");
        let recovery = &properties["PointInTimeRecoverySpecification"];
        assert_eq!(recovery["PointInTimeRecoveryEnabled"], true, "{id}");
    }
    let bucket = &template.resource("Bucket").unwrap().properties;
    assert_eq!(bucket["VersioningConfiguration"]["Status"], "Enabled");
    assert!(bucket.contains_key("BucketEncryption"));
    for (id, deletion_policy) in [
        ("EntryTable", "Retain"),
        ("IndexTable", "Retain"),
        ("PendingSnapshotTable", "Retain"),
        ("SegmentTable", "Retain"),
        ("StreamTable", "Retain"),
        // Whoever makes them in vain takes them away again.
        ("Bucket", "RetainExceptOnCreate"),
        ("BucketPolicy", "RetainExceptOnCreate"),
    ] {
        let resource = template.resource(id).unwrap();
        assert_eq!(resource.deletion_policy.as_deref(), Some(deletion_policy), "{id}");
        assert_eq!(resource.update_replace_policy.as_deref(), Some("Retain"), "{id}");
    }
    // What holds something that may go says so, too.
    for resource_type in ["AWS::SQS::Queue", "AWS::Logs::LogGroup"] {
        for (id, resource) in resources_of(&template, resource_type) {
            assert_eq!(resource.deletion_policy.as_deref(), Some("Delete"), "{id}");
            assert_eq!(resource.update_replace_policy.as_deref(), Some("Delete"), "{id}");
        }
    }
}

#[test]
fn each_epoch_has_tables_of_its_own_and_the_api_knows_it() {
    let (first, third) = (Config::default(), Config { epoch: 3, ..Config::default() });
    let template = template_of(&third);
    let tables: Vec<_> =
        resources_of(&template, "AWS::DynamoDB::Table").map(|(id, _)| id).collect();
    let ids = [
        "EntryTableEpoch3",
        "IndexTableEpoch3",
        "PendingSnapshotTableEpoch3",
        "SegmentTableEpoch3",
        "StreamTableEpoch3",
    ];
    assert_eq!(tables, ids);
    let mut named = cellar_stacks::cellar::tables(3).to_vec();
    named.push(cellar_stacks::cellar::index_table(3));
    named.sort();
    assert_eq!(named, ids);
    let functions = ["ApiFunction", "IndexerFunction"];
    let epochs = |template: &Template| {
        functions.map(|id| {
            let function = &template.resource(id).unwrap().properties;
            function["Environment"]["Variables"].get(environment::EPOCH).cloned()
        })
    };
    assert_eq!(epochs(&template), [Some(json!("3")), Some(json!("3"))]);
    assert_eq!(epochs(&template_of(&first)), [None, None]);
    // All that names a table names the new one, and nothing else changes.
    let renamed = template.to_json().replace("TableEpoch3", "Table");
    let mut renamed: Value = serde_json::from_str(&renamed).unwrap();
    for id in functions {
        let variables = &mut renamed["Resources"][id]["Properties"]["Environment"]["Variables"];
        variables.as_object_mut().unwrap().remove(environment::EPOCH);
    }
    assert_eq!(renamed, template_of(&first).to_value());
}

#[test]
fn the_bucket_is_private() {
    for config in [Config::default(), with_everything()] {
        let template = template_of(&config);
        let bucket = &template.resource("Bucket").unwrap().properties;
        let blocked = &bucket["PublicAccessBlockConfiguration"];
        let kinds =
            ["BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"];
        for kind in kinds {
            assert_eq!(blocked[kind], true, "{kind}");
        }
        let owner = &bucket["OwnershipControls"]["Rules"][0]["ObjectOwnership"];
        assert_eq!(owner, "BucketOwnerEnforced");
    }
}

#[test]
fn deletion_protection_can_be_switched_off_but_retention_cannot() {
    let template = template_of(&Config { deletion_protection: false, ..Config::default() });
    for (id, table) in resources_of(&template, "AWS::DynamoDB::Table") {
        assert_eq!(table.properties["DeletionProtectionEnabled"], false, "{id}");
        assert_eq!(table.deletion_policy.as_deref(), Some("RetainExceptOnCreate"), "{id}");
        assert_eq!(table.update_replace_policy.as_deref(), Some("Retain"), "{id}");
    }
}

#[test]
fn tables_have_their_keys_and_a_stream_where_a_function_reads_it() {
    let template = template_of(&Config::default());
    for (id, table) in resources_of(&template, "AWS::DynamoDB::Table") {
        let (partition, kind, sort, kind_of_sort) = match id {
            "StreamTable" => ("p", "S", "i", "N"),
            "IndexTable" => ("p", "S", "i", "S"),
            _ => ("S", "B", "N", "N"),
        };
        assert_eq!(
            table.properties["AttributeDefinitions"],
            json!([
                {"AttributeName": partition, "AttributeType": kind},
                {"AttributeName": sort, "AttributeType": kind_of_sort}
            ]),
            "{id}"
        );
        assert_eq!(
            table.properties["KeySchema"],
            json!([
                {"AttributeName": partition, "KeyType": "HASH"},
                {"AttributeName": sort, "KeyType": "RANGE"}
            ]),
            "{id}"
        );
    }
    let stream = |id| template.resource(id).unwrap().properties.get("StreamSpecification");
    for id in ["EntryTable", "StreamTable"] {
        assert_eq!(stream(id), Some(&json!({"StreamViewType": "NEW_IMAGE"})), "{id}");
    }
    for id in ["SegmentTable", "PendingSnapshotTable", "IndexTable"] {
        assert_eq!(stream(id), None, "{id}");
    }
}

/// A list of one ARN.
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
    let below = |prefixes: &[&str]| json!({"StringLike": {"s3:prefix": prefixes}});
    let wanted = [
        ("ApiRole", below(&["archive/*", "sheets/*", "uploads/*"])),
        ("RelayRole", below(&["uploads/*"])),
        ("SnapshotRole", below(&["archive/*", "sheets/*", "uploads/*"])),
        ("WebhookRole", below(&["webhook/*"])),
    ];
    assert_eq!(listing, wanted);
}

#[test]
fn wildcards_are_only_where_a_service_knows_nothing_narrower() {
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
                // Objects below a prefix of the stack's own bucket, or chunks.
                let parts = &resource["Fn::Join"][1];
                assert_eq!(parts[0], json!({"Fn::GetAtt": ["Bucket", "Arn"]}), "{id}");
                let below = parts[1].as_str().unwrap();
                let known = ["/archive/*", "/sheets/*", "/sheets/*/chunks/*", "/uploads/*"];
                assert!(known.contains(&below), "{id}: {below}");
            }
        }
    }
}

#[test]
fn the_bucket_takes_tls_only_and_forgets_what_is_pending() {
    let template = template_of(&Config::default());
    let policy = &template.resource("BucketPolicy").unwrap().properties["PolicyDocument"];
    let statement = &policy["Statement"][0];
    assert_eq!((&statement["Effect"], &statement["Principal"]), (&json!("Deny"), &json!("*")));
    assert_eq!(statement["Condition"], json!({"Bool": {"aws:SecureTransport": "false"}}));
    assert_eq!(statement["Resource"].as_array().unwrap().len(), 2);
    let rules = &template.resource("Bucket").unwrap().properties["LifecycleConfiguration"]["Rules"];
    assert_eq!(rules[0]["TagFilters"], json!([{"Key": "state", "Value": "pending"}]));
    assert_eq!(rules[0]["ExpirationInDays"], 3);
    // Wherever they are: uploads, and chunks of imports.
    assert!(rules[0]["Prefix"].is_null() && rules[0]["Filter"].is_null());
    assert_eq!(rules[1]["NoncurrentVersionExpiration"]["NoncurrentDays"], 30);
    assert!(rules[2]["TagFilters"].is_null());
    assert!(!rules[2]["AbortIncompleteMultipartUpload"].is_null());
}

#[test]
fn the_url_has_both_permissions() {
    let template = template_of(&Config::default());
    let url = &template.resource("ApiUrl").unwrap().properties;
    assert_eq!((&url["AuthType"], &url["InvokeMode"]), (&json!("NONE"), &json!("BUFFERED")));
    let permissions: Vec<_> = resources_of(&template, "AWS::Lambda::Permission")
        .map(|(_, resource)| Value::Object(resource.properties.clone()))
        .collect();
    let function = json!({"Fn::GetAtt": ["ApiFunction", "Arn"]});
    assert_eq!(
        permissions,
        [
            json!({
                "Action": "lambda:InvokeFunction",
                "FunctionName": function,
                "InvokedViaFunctionUrl": true,
                "Principal": "*"
            }),
            json!({
                "Action": "lambda:InvokeFunctionUrl",
                "FunctionName": function,
                "FunctionUrlAuthType": "NONE",
                "Principal": "*"
            }),
        ]
    );
}

#[test]
fn cors_is_there_only_for_configured_origins() {
    let plain = template_of(&Config::default());
    let cors = |template: &Template, id: &str, property: &str| {
        template.resource(id).unwrap().properties.get(property).cloned()
    };
    assert_eq!(cors(&plain, "ApiUrl", "Cors"), None);
    assert_eq!(cors(&plain, "Bucket", "CorsConfiguration"), None);
    let open = template_of(&with_origins());
    let origins = json!(["https://a.example"]);
    let api = cors(&open, "ApiUrl", "Cors").unwrap();
    assert_eq!(api["AllowOrigins"], origins);
    // Lambda refuses methods of more than six letters.
    let methods = api["AllowMethods"].as_array().unwrap();
    assert!(methods.iter().all(|method| method.as_str().unwrap().len() <= 6));
    let bucket = cors(&open, "Bucket", "CorsConfiguration").unwrap();
    assert_eq!(bucket["CorsRules"][0]["AllowedOrigins"], origins);
    // All that is signed of an upload, but for what a browser sends by itself.
    let allowed = bucket["CorsRules"][0]["AllowedHeaders"].as_array().unwrap();
    for signed in [
        "content-encoding",
        "content-type",
        "if-none-match",
        "x-amz-checksum-sha256",
        "x-amz-tagging",
    ] {
        assert!(allowed.contains(&json!(signed)), "{signed}");
    }
}

#[test]
fn the_configuration_reaches_the_function() {
    let text = "api: {memory_mb: 2048, timeout_s: 12}\nlog_retention_days: 5\n";
    let config = Config::parse(text, "cellar.yaml").unwrap();
    let template = cellar_stack(&config, Architecture::Arm64).unwrap();
    let function = &template.resource("ApiFunction").unwrap().properties;
    assert_eq!(function["Architectures"], json!(["arm64"]));
    assert_eq!((&function["MemorySize"], &function["Timeout"]), (&json!(2048), &json!(12)));
    assert_eq!(function["LoggingConfig"]["LogGroup"], json!({"Ref": "ApiLogGroup"}));
    assert_eq!(template.resource("ApiLogGroup").unwrap().properties["RetentionInDays"], 5);
}

/// Answers every question with the question.
struct Echo;

impl Lookup for Echo {
    fn reference(&self, logical_id: &str) -> Option<String> {
        Some(format!("<{logical_id}>"))
    }

    fn attribute(&self, logical_id: &str, attribute: &str) -> Option<String> {
        Some(format!("<{logical_id}.{attribute}>"))
    }
}

#[test]
fn the_environment_is_what_the_runtime_reads() {
    let template = template_of(&Config::default());
    let function = template.resolved_properties("ApiFunction", &Echo).unwrap().unwrap();
    assert_eq!(
        function["Environment"]["Variables"],
        json!({
            environment::FUNCTION: environment::FUNCTION_API,
            environment::ENTRY_TABLE: "<EntryTable>",
            environment::SEGMENT_TABLE: "<SegmentTable>",
            environment::STREAM_TABLE: "<StreamTable>",
            environment::INDEX_TABLE: "<IndexTable>",
            environment::UPKEEP: serde_json::json!(UpkeepPolicy::default()).to_string(),
            environment::BUCKET: "<Bucket>",
            environment::STACK: "<AWS::StackName>",
            environment::REQUEST_TIMEOUT_MS: "28000",
            environment::TOKEN_ISSUER: "cellar",
            environment::TOKEN_AUDIENCE: "cellar",
            environment::TOKEN_KEYS: "[]",
        })
    );
    assert_eq!(function["Code"], json!({"S3Bucket": "<ArtifactBucket>", "S3Key": "<ArtifactKey>"}));
}

#[test]
fn the_largest_configuration_fits_into_lambdas_environment() {
    let mut config = Config::default();
    let issuer = |number: usize| {
        let url = format!("https://{number}.{}", "i".repeat(190));
        serde_json::from_value(json!({"issuer": url, "audience": "a".repeat(200)})).unwrap()
    };
    config.tokens.oidc = (0..4).map(issuer).collect();
    let largest = |letters: &usize| {
        let config = &mut config.clone();
        config.tokens.issuer = "c".repeat(*letters);
        config.problems().is_empty()
    };
    let letters = (1..=255).take_while(largest).count();
    config.tokens.issuer = "c".repeat(letters);
    config.tokens.not_before_s = Some(253_402_300_799);
    config.epoch = 9_999;
    // Names of resources are at most 255 characters, that of a stack 128.
    let names = 5 * 255 + 128;
    let template = template_of(&config);
    let function = template.resolved_properties("ApiFunction", &Echo).unwrap().unwrap();
    let variables = function["Environment"]["Variables"].as_object().unwrap();
    let bytes: usize =
        variables.iter().map(|(name, value)| name.len() + value.as_str().unwrap().len()).sum();
    assert!(bytes + names <= ENVIRONMENT_BYTES_MAX, "{bytes}");
}

#[test]
fn parameters_and_outputs_are_these() {
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
        ("IndexTableName", "<IndexTable>"),
        ("PendingSnapshotTableName", "<PendingSnapshotTable>"),
        ("SegmentTableName", "<SegmentTable>"),
        ("SnapshotQueueUrl", "<SnapshotQueue>"),
        ("StreamTableName", "<StreamTable>"),
    ];
    assert_eq!(outputs, wanted.map(|(name, value)| (name, value.to_owned())));
}
