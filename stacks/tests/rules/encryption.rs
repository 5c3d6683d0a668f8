//! Rules of a customer-managed key: it encrypts all stored data, and only roles that need it may use it.

use cellar_stacks::{Config, Template};
use serde_json::{Value, json};

use super::{KEY, allowed, resources_of, template_of, with_everything, with_key};

/// Returns the resources that store data, with the property that names the key.
fn keys_of(template: &Template) -> Vec<(String, Value)> {
    let key_of = |properties: &serde_json::Map<String, Value>, resource_type: &str| {
        Some(match resource_type {
            "AWS::DynamoDB::Table" => {
                properties.get("SSESpecification").map_or(Value::Null, |it| {
                    assert_eq!((&it["SSEEnabled"], &it["SSEType"]), (&json!(true), &json!("KMS")));
                    it["KMSMasterKeyId"].clone()
                })
            }
            "AWS::S3::Bucket" => {
                let encryption = &properties["BucketEncryption"];
                let rule = &encryption["ServerSideEncryptionConfiguration"][0];
                let by_default = &rule["ServerSideEncryptionByDefault"];
                let is_kms = by_default["SSEAlgorithm"] == "aws:kms";
                assert_eq!(rule["BucketKeyEnabled"] == true, is_kms, "each object would be billed");
                by_default["KMSMasterKeyID"].clone()
            }
            "AWS::SQS::Queue" => {
                // A queue has either a KMS key or SQS-managed encryption.
                let key = properties.get("KmsMasterKeyId").cloned().unwrap_or_default();
                assert_eq!(properties.contains_key("SqsManagedSseEnabled"), key.is_null());
                key
            }
            "AWS::Logs::LogGroup" => properties.get("KmsKeyId").cloned().unwrap_or_default(),
            "AWS::SNS::Topic" => properties.get("KmsMasterKeyId").cloned().unwrap_or_default(),
            _ => return None,
        })
    };
    let resources = template.resources();
    resources
        .filter_map(|(id, resource)| {
            let key = key_of(&resource.properties, &resource.resource_type)?;
            Some((id.to_owned(), key))
        })
        .collect()
}

#[test]
fn the_key_is_on_everything_that_is_stored_or_on_nothing() {
    let stored = keys_of(&template_of(&with_everything()));
    assert_eq!(stored.len(), 5 + 1 + 3 + 5 + 1, "tables, bucket, queues, log groups, topic");
    for (id, key) in stored {
        assert_eq!(key, KEY, "{id}");
    }
    for (id, key) in keys_of(&template_of(&Config::default())) {
        assert_eq!(key, Value::Null, "{id}");
    }
}

/// Returns the permissions of a role for the key: statement id, actions, and the service that calls KMS.
fn uses(template: &Template, role: &str) -> Vec<(String, Vec<String>, String)> {
    let own = allowed(template).into_iter().filter(|(id, _)| *id == role);
    let of_key = own.filter(|(_, statement)| statement["Action"].to_string().contains("kms:"));
    of_key
        .map(|(_, statement)| {
            assert_eq!(statement["Resource"], json!([KEY]), "{role}");
            let condition = statement["Condition"].as_object().unwrap();
            assert_eq!(condition.len(), 1, "{role}");
            let service = condition["StringEquals"]["kms:ViaService"]["Fn::Sub"].as_str().unwrap();
            let actions = statement["Action"].as_array().unwrap();
            let actions = actions.iter().map(|one| one.as_str().unwrap().to_owned()).collect();
            (statement["Sid"].as_str().unwrap().to_owned(), actions, service.to_owned())
        })
        .collect()
}

#[test]
fn each_function_uses_the_key_only_through_the_services_that_it_calls() {
    let template = template_of(&with_key());
    let through = |service: &str| format!("{service}.${{AWS::Region}}.amazonaws.com");
    let used = |sid: &str, actions: &[&str], service: &str| {
        let actions = actions.iter().map(|action| format!("kms:{action}")).collect::<Vec<_>>();
        (sid.to_owned(), actions, through(service))
    };
    let read_and_write =
        ["Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo"];
    let both = ["Decrypt", "GenerateDataKey"];
    let tables = || used("KeyOfTables", &read_and_write, "dynamodb");
    // Objects and presigned URLs, which have the permissions of the role that signed them.
    let bucket = || used("KeyOfBucket", &both, "s3");
    let queues = || used("KeyOfQueues", &both, "sqs");
    assert_eq!(uses(&template, "ApiRole"), [tables(), bucket()]);
    // The relay sends jobs and Lambda sends dead letters. The relay only deletes tags of objects.
    let stream = used("KeyOfStream", &["Decrypt"], "dynamodb");
    assert_eq!(uses(&template, "RelayRole"), [stream, queues()]);
    assert_eq!(uses(&template, "SnapshotRole"), [tables(), bucket(), queues()]);
    let everything = template_of(&with_everything());
    let stream = used("KeyOfStream", &["Decrypt"], "dynamodb");
    assert_eq!(uses(&everything, "WebhookRole"), [stream, tables(), bucket(), queues()]);
    let plain = template_of(&Config::default());
    for role in ["ApiRole", "RelayRole", "SnapshotRole"] {
        assert_eq!(uses(&plain, role), [], "{role}");
    }
}

#[test]
fn key_rules_are_not_suppressed_if_a_key_is_configured() {
    for (config, wanted) in [(Config::default(), true), (with_everything(), false)] {
        let text = template_of(&config).to_json();
        for rule in ["CKV_AWS_119", "CKV_AWS_27\"", "CKV_AWS_158", "has a monthly price"] {
            assert_eq!(text.contains(rule), wanted, "{rule}");
        }
    }
}

#[test]
fn the_alarm_topic_exists_only_for_an_email_address() {
    let template = template_of(&Config::default());
    assert_eq!(resources_of(&template, "AWS::SNS::Topic").count(), 0);
}
