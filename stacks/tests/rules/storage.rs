//! Rules of the tables and the bucket.

use cellar_api::environment;
use cellar_stacks::{Config, Template};
use serde_json::{Value, json};

use super::{resources_of, template_of, with_everything};

#[test]
fn data_survives_the_stack() {
    let template = template_of(&Config::default());
    let tables: Vec<_> = resources_of(&template, "AWS::DynamoDB::Table").collect();
    assert_eq!(
        tables.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        ["EntryTable", "EventStreamTable", "FeedTable", "PendingSnapshotsTable", "SegmentTable"]
    );
    for (id, table) in tables {
        let properties = &table.properties;
        assert_eq!(properties["DeletionProtectionEnabled"], true, "{id}");
        // Tables are always encrypted with a free key of DynamoDB; any other key is billed.
        assert_eq!(properties.get("SSESpecification"), None, "{id}");
        let recovery = &properties["PointInTimeRecoverySpecification"];
        assert_eq!(recovery["PointInTimeRecoveryEnabled"], true, "{id}");
    }
    let bucket = &template.resource("Bucket").unwrap().properties;
    assert_eq!(bucket["VersioningConfiguration"]["Status"], "Enabled");
    assert!(bucket.contains_key("BucketEncryption"));
    for (id, deletion_policy) in [
        ("EntryTable", "Retain"),
        ("FeedTable", "Retain"),
        ("PendingSnapshotsTable", "Retain"),
        ("SegmentTable", "Retain"),
        ("EventStreamTable", "Retain"),
        // A failed deployment deletes the tables that it has created.
        ("Bucket", "RetainExceptOnCreate"),
        ("BucketPolicy", "RetainExceptOnCreate"),
    ] {
        let resource = template.resource(id).unwrap();
        assert_eq!(resource.deletion_policy.as_deref(), Some(deletion_policy), "{id}");
        assert_eq!(resource.update_replace_policy.as_deref(), Some("Retain"), "{id}");
    }
    // Resources without customer data declare that they may be deleted.
    for resource_type in ["AWS::SQS::Queue", "AWS::Logs::LogGroup"] {
        for (id, resource) in resources_of(&template, resource_type) {
            assert_eq!(resource.deletion_policy.as_deref(), Some("Delete"), "{id}");
            assert_eq!(resource.update_replace_policy.as_deref(), Some("Delete"), "{id}");
        }
    }
}

#[test]
fn each_incarnation_has_its_own_tables() {
    let (first, third) = (Config::default(), Config { incarnation: 3, ..Config::default() });
    let template = template_of(&third);
    let tables: Vec<_> =
        resources_of(&template, "AWS::DynamoDB::Table").map(|(id, _)| id).collect();
    let ids = [
        "EntryTableIncarnation3",
        "EventStreamTableIncarnation3",
        "FeedTableIncarnation3",
        "PendingSnapshotsTableIncarnation3",
        "SegmentTableIncarnation3",
    ];
    assert_eq!(tables, ids);
    let mut named = cellar_stacks::cellar::table_logical_ids(3).to_vec();
    named.push(cellar_stacks::cellar::feed_table_logical_id(3));
    named.sort();
    assert_eq!(named, ids);
    let functions = ["ApiFunction", "IndexerFunction"];
    let incarnations = |template: &Template| {
        functions.map(|id| {
            let function = &template.resource(id).unwrap().properties;
            function["Environment"]["Variables"].get(environment::INCARNATION).cloned()
        })
    };
    assert_eq!(incarnations(&template), [Some(json!("3")), Some(json!("3"))]);
    assert_eq!(incarnations(&template_of(&first)), [None, None]);
    // All references to a table use the new id, and nothing else changes.
    let renamed = template.to_json().replace("TableIncarnation3", "Table");
    let mut renamed: Value = serde_json::from_str(&renamed).unwrap();
    for id in functions {
        let variables = &mut renamed["Resources"][id]["Properties"]["Environment"]["Variables"];
        variables.as_object_mut().unwrap().remove(environment::INCARNATION);
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

/// The writes to the other tables are in proportion to those of the Entry table, or belong to the
/// catalog. A limit on them would stop work that is already begun.
#[test]
fn only_the_entry_table_has_a_write_limit_and_only_if_configured() {
    let limits = |config: &Config| {
        let template = template_of(config);
        let tables = resources_of(&template, "AWS::DynamoDB::Table");
        let limited = tables.filter_map(|(id, table)| {
            Some((id.to_owned(), table.properties.get("OnDemandThroughput")?.clone()))
        });
        limited.collect::<Vec<_>>()
    };
    assert_eq!(limits(&Config::default()), []);
    let mut config = Config::default();
    config.limits.write_units_per_second = Some(400);
    let expected = json!({"MaxWriteRequestUnits": 400});
    assert_eq!(limits(&config), [("EntryTable".to_owned(), expected)]);
}

#[test]
fn tables_have_their_keys_and_a_stream_where_a_function_reads_it() {
    let template = template_of(&Config::default());
    for (id, table) in resources_of(&template, "AWS::DynamoDB::Table") {
        let (partition, kind, sort, kind_of_sort) = match id {
            "EventStreamTable" => ("p", "S", "i", "N"),
            "FeedTable" => ("p", "S", "i", "S"),
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
    for id in ["EntryTable", "EventStreamTable"] {
        assert_eq!(stream(id), Some(&json!({"StreamViewType": "NEW_IMAGE"})), "{id}");
    }
    for id in ["SegmentTable", "PendingSnapshotsTable", "FeedTable"] {
        assert_eq!(stream(id), None, "{id}");
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
    // The rule applies to all prefixes: uploads and chunks of imports.
    assert!(rules[0]["Prefix"].is_null() && rules[0]["Filter"].is_null());
    assert_eq!(rules[1]["NoncurrentVersionExpiration"]["NoncurrentDays"], 30);
    assert!(rules[2]["TagFilters"].is_null());
    assert!(!rules[2]["AbortIncompleteMultipartUpload"].is_null());
}
