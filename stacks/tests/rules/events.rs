//! Rules of the functions that read change streams and queues.

use cellar_api::environment;
use cellar_log::upkeep::LogPolicy;
use cellar_stacks::config::Webhook;
use cellar_stacks::{Config, FeedScope, Template};
use serde_json::{Value, json};

use super::{Echo, arn, resources_of, template_of, with_everything};

#[test]
fn the_relay_has_its_environment_variables() {
    let template = template_of(&Config::default());
    let function = template.resolved_properties("RelayFunction", &Echo).unwrap().unwrap();
    assert_eq!(
        function["Environment"]["Variables"],
        json!({
            environment::FUNCTION: environment::FUNCTION_RELAY,
            environment::SNAPSHOT_QUEUE: "<SnapshotQueue>",
            environment::DEAD_LETTER_QUEUE: "<ChangeStreamDeadLetters>",
            environment::BUCKET: "<Bucket>",
        })
    );
}

#[test]
fn the_snapshot_function_has_its_variables_and_configured_size() {
    let mut config = Config::default();
    (config.snapshots.memory_mb, config.snapshots.timeout_s) = (512, 900);
    let template = template_of(&config);
    let function = template.resolved_properties("SnapshotFunction", &Echo).unwrap().unwrap();
    assert_eq!((&function["MemorySize"], &function["Timeout"]), (&json!(512), &json!(900)));
    assert_eq!(
        function["Environment"]["Variables"],
        json!({
            environment::FUNCTION: environment::FUNCTION_SNAPSHOT,
            environment::ENTRY_TABLE: "<EntryTable>",
            environment::SEGMENT_TABLE: "<SegmentTable>",
            environment::PENDING_SNAPSHOTS_TABLE: "<PendingSnapshotsTable>",
            environment::BUCKET: "<Bucket>",
            environment::SNAPSHOT_QUEUE: "<SnapshotQueue>",
        })
    );
}

#[test]
fn each_snapshot_job_is_a_separate_invocation() {
    let template = template_of(&Config::default());
    assert_eq!(
        Value::Object(template.resource("SnapshotSource").unwrap().properties.clone()),
        json!({
            "BatchSize": 1,
            "Enabled": true,
            "EventSourceArn": {"Fn::GetAtt": ["SnapshotQueue", "Arn"]},
            "FunctionName": {"Fn::GetAtt": ["SnapshotFunction", "Arn"]},
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
            "ScalingConfig": {"MaximumConcurrency": 4},
        })
    );
}

#[test]
fn appends_start_snapshots_only_if_enabled() {
    let mut config = Config::default();
    let upkeep = |config: &Config| {
        let template = template_of(config);
        let function = template.resolved_properties("ApiFunction", &Echo).unwrap().unwrap();
        function["Environment"]["Variables"].get(environment::UPKEEP).cloned()
    };
    config.snapshots.entries = 77;
    let policy = upkeep(&config).unwrap();
    let policy: LogPolicy = serde_json::from_str(policy.as_str().unwrap()).unwrap();
    assert_eq!(policy, LogPolicy { snapshot_entries: 77, ..LogPolicy::default() });
    config.snapshots.enabled = false;
    assert_eq!(upkeep(&config), None);
}

#[test]
fn the_indexer_has_its_environment_variables() {
    let template = template_of(&Config::default());
    let function = template.resolved_properties("IndexerFunction", &Echo).unwrap().unwrap();
    assert_eq!(
        function["Environment"]["Variables"],
        json!({
            environment::FUNCTION: environment::FUNCTION_INDEXER,
            environment::EVENT_STREAM_TABLE: "<EventStreamTable>",
            environment::FEED_TABLE: "<FeedTable>",
            environment::DEAD_LETTER_QUEUE: "<ChangeStreamDeadLetters>",
        })
    );
}

/// Returns an event source, and the patterns of its filters.
fn source(id: &str) -> (Value, Vec<Value>) {
    let template = template_of(&Config::default());
    let mut properties = template.resource(id).unwrap().properties.clone();
    let filters = properties.remove("FilterCriteria").unwrap();
    let filters = filters["Filters"].as_array().unwrap().iter();
    let pattern = |filter: &Value| serde_json::from_str(filter["Pattern"].as_str().unwrap());
    (Value::Object(properties), filters.map(|filter| pattern(filter).unwrap()).collect())
}

#[test]
fn the_indexer_gets_every_append_and_no_event_batch() {
    let (relay, _) = source("RelaySource");
    let (indexer, patterns) = source("IndexerSource");
    let mut wanted = relay;
    wanted["EventSourceArn"] = json!({"Fn::GetAtt": ["EventStreamTable", "StreamArn"]});
    wanted["FunctionName"] = json!({"Fn::GetAtt": ["IndexerFunction", "Arn"]});
    assert_eq!(indexer, wanted, "but for what it reads and who, as the relay's");
    let appends = json!({"dynamodb": {"NewImage": {"a": {"N": [{"exists": true}]}}}});
    assert_eq!(patterns, [appends]);
}

#[test]
fn the_indexer_reads_log_entries_only_if_configured() {
    let template = template_of(&Config::default());
    assert!(template.resource("IndexerEntrySource").is_none());
    let indexer = |template: &Template| {
        template.resolved_properties("IndexerFunction", &Echo).unwrap().unwrap()
    };
    let mut wanted = indexer(&template);
    assert!(wanted["Environment"]["Variables"].get(environment::ENTRY_TABLE).is_none());
    let config = Config { feed: FeedScope::Everything, ..Config::default() };
    let template = template_of(&config);
    wanted["Environment"]["Variables"][environment::ENTRY_TABLE] = json!("<EntryTable>");
    assert_eq!(indexer(&template), wanted);
    let mut entries = template.resource("IndexerEntrySource").unwrap().properties.clone();
    let filters = entries.remove("FilterCriteria").unwrap();
    let pattern = filters["Filters"][0]["Pattern"].as_str().unwrap();
    let puts = json!({"eventName": ["INSERT"]});
    assert_eq!(serde_json::from_str::<Value>(pattern).unwrap(), puts);
    // An invocation for each edit would cost more than the edit.
    assert_eq!(entries.remove("MaximumBatchingWindowInSeconds"), Some(json!(5)));
    let (mut streams, _) = source("IndexerSource");
    streams["EventSourceArn"] = json!({"Fn::GetAtt": ["EntryTable", "StreamArn"]});
    // Concurrent batches of several shards wait for each other, so batches are large.
    streams["BatchSize"] = json!(1_000);
    assert_eq!(Value::Object(entries), streams, "but for that, as the other");
}

#[test]
fn the_webhook_exists_only_if_configured() {
    let template = template_of(&Config::default());
    assert!(!template.to_json().contains("Webhook"));
    assert!(
        !template.resource("FeedTable").unwrap().properties.contains_key("StreamSpecification")
    );
    let webhook = Webhook { payloads: false, ..super::webhook() };
    let url = webhook.url.clone();
    let template = template_of(&Config { webhook: Some(webhook), ..Config::default() });
    let function = template.resolved_properties("WebhookFunction", &Echo).unwrap().unwrap();
    let mut variables = json!({
        environment::FUNCTION: environment::FUNCTION_WEBHOOK,
        environment::EVENT_STREAM_TABLE: "<EventStreamTable>",
        environment::FEED_TABLE: "<FeedTable>",
        environment::BUCKET: "<Bucket>",
        environment::STACK: "<AWS::StackName>",
        environment::WEBHOOK_URL: url,
    });
    assert_eq!(function["Environment"]["Variables"], variables);
    let template = template_of(&with_everything());
    let function = template.resolved_properties("WebhookFunction", &Echo).unwrap().unwrap();
    variables[environment::WEBHOOK_EVENTS] = json!("true");
    assert_eq!(function["Environment"]["Variables"], variables);
    let source = template.resource("WebhookSource").unwrap().properties.clone();
    assert_eq!(source["EventSourceArn"], json!({"Fn::GetAtt": ["FeedTable", "StreamArn"]}));
    // A receiver that is down for half a day still gets all items.
    assert_eq!(
        (&source["MaximumRetryAttempts"], &source["BisectBatchOnFunctionError"]),
        (&json!(-1), &json!(false))
    );
    assert_eq!(source["MaximumRecordAgeInSeconds"], 43_200);
    let pattern = source["FilterCriteria"]["Filters"][0]["Pattern"].as_str().unwrap();
    let items = json!({"dynamodb": {"NewImage": {"b": {"N": [{"exists": true}]}}}});
    assert_eq!(serde_json::from_str::<Value>(pattern).unwrap(), items);
}

#[test]
fn the_stream_is_read_from_its_start_and_no_record_blocks_it() {
    let (properties, patterns) = source("RelaySource");
    assert_eq!(
        properties,
        json!({
            "BatchSize": 100,
            "BisectBatchOnFunctionError": true,
            "DestinationConfig": {
                "OnFailure": {"Destination": {"Fn::GetAtt": ["ChangeStreamDeadLetters", "Arn"]}}
            },
            "Enabled": true,
            "EventSourceArn": {"Fn::GetAtt": ["EntryTable", "StreamArn"]},
            "FunctionName": {"Fn::GetAtt": ["RelayFunction", "Arn"]},
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
            "MaximumRecordAgeInSeconds": 43_200,
            "MaximumRetryAttempts": 100,
            "ParallelizationFactor": 1,
            "StartingPosition": "TRIM_HORIZON",
        })
    );
    assert_eq!(
        patterns,
        [
            json!({"eventName": ["INSERT"], "dynamodb": {"NewImage": {"T": {"S": ["S"]}}}}),
            json!({
                "eventName": ["INSERT"],
                "dynamodb": {"NewImage": {
                    "T": {"S": ["E", "I"]}, "E": {"S": [{"exists": true}]}
                }},
            }),
        ]
    );
}

#[test]
fn every_queue_has_dead_letters_or_an_alarm() {
    let template = template_of(&Config::default());
    let queues: Vec<_> = resources_of(&template, "AWS::SQS::Queue").collect();
    assert_eq!(queues.len(), 3);
    let named = |value: &Value, id: &str| value == &json!({"Fn::GetAtt": [id, "Arn"]});
    let takes_letters = |id: &str| {
        let redriven = queues.iter().any(|(_, queue)| {
            let redrive = queue.properties.get("RedrivePolicy");
            redrive.is_some_and(|redrive| named(&redrive["deadLetterTargetArn"], id))
        });
        let mut sources = resources_of(&template, "AWS::Lambda::EventSourceMapping");
        redriven
            || sources.any(|(_, source)| {
                named(&source.properties["DestinationConfig"]["OnFailure"]["Destination"], id)
            })
    };
    for (id, queue) in &queues {
        let properties = &queue.properties;
        assert_eq!(properties["MessageRetentionPeriod"], 14 * 24 * 60 * 60, "{id}");
        assert_eq!(properties["SqsManagedSseEnabled"], true, "{id}");
        // A queue either has a dead-letter queue, or is one and has an alarm.
        let watched = resources_of(&template, "AWS::CloudWatch::Alarm").any(|(_, alarm)| {
            alarm.properties["MetricName"] == "ApproximateNumberOfMessagesVisible"
                && alarm.properties["Dimensions"][0]["Value"]
                    == json!({"Fn::GetAtt": [id, "QueueName"]})
        });
        let is_safe = properties.contains_key("RedrivePolicy") || (takes_letters(id) && watched);
        assert!(is_safe, "{id}");
    }
    let snapshots = &template.resource("SnapshotQueue").unwrap().properties;
    assert_eq!(snapshots["RedrivePolicy"]["maxReceiveCount"], 1_000);
    // Six times the timeout of the snapshot function.
    assert_eq!(snapshots["VisibilityTimeout"], 6 * 300);
}

#[test]
fn queues_take_tls_only() {
    let template = template_of(&Config::default());
    for (id, _) in resources_of(&template, "AWS::SQS::Queue") {
        let url = json!({"Ref": id});
        let mut policies = resources_of(&template, "AWS::SQS::QueuePolicy");
        let (_, policy) = policies
            .find(|(_, policy)| policy.properties["Queues"] == json!([url]))
            .unwrap_or_else(|| panic!("{id} has no policy"));
        let statement = &policy.properties["PolicyDocument"]["Statement"][0];
        assert_eq!((&statement["Effect"], &statement["Principal"]), (&json!("Deny"), &json!("*")));
        assert_eq!(statement["Action"], json!(["sqs:*"]));
        assert_eq!(statement["Condition"], json!({"Bool": {"aws:SecureTransport": "false"}}));
        assert_eq!(statement["Resource"], arn(id));
    }
}

#[test]
fn every_function_has_a_role_and_a_log_group_of_its_own() {
    let template = template_of(&Config { log_retention_days: 5, ..Config::default() });
    let functions: Vec<_> = resources_of(&template, "AWS::Lambda::Function").collect();
    assert_eq!(functions.len(), 4);
    let (mut roles, mut groups) = (Vec::new(), Vec::new());
    for (id, function) in functions {
        let properties = &function.properties;
        roles.push(properties["Role"].to_string());
        let group = properties["LoggingConfig"]["LogGroup"]["Ref"].as_str().unwrap();
        assert_eq!(template.resource(group).unwrap().properties["RetentionInDays"], 5, "{id}");
        groups.push(group.to_owned());
    }
    roles.dedup();
    groups.dedup();
    assert_eq!((roles.len(), groups.len()), (4, 4));
}
